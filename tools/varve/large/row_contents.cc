#include "tools/varve/large/row_contents.h"

#include <algorithm>
#include <filesystem>

#include "tools/varve/input/file_input.h"
#include "tools/varve/large/entity_contents.h"

namespace varve::tool {

namespace {

/// The most names of files whose contents later rows can share.
constexpr std::size_t kKnownMax = 10'000;

/// Returns whether a path with this name is in the directory. The names come with the rows, which may be a stranger's.
bool stays_inside(const std::filesystem::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  return std::none_of(name.begin(), name.end(), [](const std::filesystem::path& part) { return part == ".."; });
}

}  // namespace

Result<LargeValue> RowContents::value_of(ValueAccess& values, const std::string& file) const {
  if (!stays_inside(file)) {
    return Status::invalid_argument("\"" + file + "\" names no file in the directory of --contents");
  }
  const Result<std::unique_ptr<FileInput>> input = FileInput::open((std::filesystem::path(directory_) / file).string());
  if (!input.ok()) return Status::invalid_argument(std::string(input.status().message()));
  const Result<LargeValue> value = write_content(values, **input, false);
  if ((*input)->end() != InputEnd::kError) return value;
  return Status::invalid_argument(std::string(value.status().message()));  // only this row is refused
}

Result<ETag> RowContents::write(ValueAccess& values, const WriteOperation& row, const std::vector<std::string>& names,
                                const WriteOptions& options) {
  for (;;) {
    WriteOperation whole = row;
    Values used;
    bool shares = false;
    for (const std::string& name : names) {
      const Value* const given = row.entity.find(name);
      const std::string* const named = given == nullptr ? nullptr : given->get_if<std::string>();
      if (named == nullptr) {
        values.discard();
        return Status::invalid_argument("the property \"" + name + "\" is given twice");
      }
      const std::string& file = *named;
      if (const auto known = known_.find(file); known != known_.end()) {
        used.insert(*known);
        shares = true;
      }
      if (!used.contains(file)) {
        const Result<LargeValue> value = value_of(values, file);
        if (!value.ok()) {
          values.discard();
          return value.status().in_file("\"" + name + "\"");
        }
        used.emplace(file, *value);
      }
      whole.entity.set(name, used.at(file));
    }
    const Result<ETag> written = values.write(whole, options);
    if (shares && written.status().service_error() == "LargeValueNotFound") {  // its last owner was replaced
      for (const auto& [file, value] : used) known_.erase(file);
      continue;
    }
    if (!written.ok()) return written;
    if (known_.size() > kKnownMax) known_.clear();
    known_.insert(used.begin(), used.end());
    return written;
  }
}

}  // namespace varve::tool
