#include "tools/varve/large/entity_contents.h"

#include <algorithm>
#include <utility>

#include "tools/varve/content/content_input.h"

namespace varve::tool {

Result<EntityContents> EntityContents::open(const std::vector<std::string>& words) {
  EntityContents contents;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      return Status::invalid_argument("--content must be NAME=FILE, not \"" + word + "\"");
    }
    const std::string name = word.substr(0, equals);
    const std::string file = word.substr(equals + 1);
    const auto is_given = [&](const File& other) {
      return other.property == name || (file == "-" && other.input->name() == "standard input");
    };
    if (std::any_of(contents.files_.begin(), contents.files_.end(), is_given)) {
      return Status::invalid_argument("--content names \"" + name + "\", or standard input, twice");
    }
    Result<std::unique_ptr<FileInput>> input = FileInput::open(file);
    if (!input.ok()) return input.status();
    contents.files_.push_back({name, *std::move(input)});
  }
  return contents;
}

Status EntityContents::check(const Entity& entity) const {
  for (const File& file : files_) {
    if (entity.find(file.property) == nullptr) continue;
    return Status::invalid_argument("the property \"" + file.property + "\" is given as a value and by --content");
  }
  return Status();
}

Status EntityContents::write(Table& table, Entity& entity) {
  for (const File& file : files_) {
    const Result<LargeValue> value = write_content(table, *file.input, true, writers_);
    if (value.code() == Code::kCancelled) stop_signal_ = file.input->stop_signal();
    if (!value.ok()) return value.status();
    entity.set(file.property, *value);
  }
  return Status();
}

Result<LargeValue> write_content(Table& table, FileInput& input, bool shows_progress,
                                 std::vector<LargeValueWriter>& writers) {
  Result<LargeValueWriter> begun = table.write_large_value();
  if (!begun.ok()) return with_large_value_hint(begun.status(), std::string(table.name()));
  LargeValueWriter& writer = writers.emplace_back(*std::move(begun));
  const Status read =
      read_content(input, shows_progress, [&writer](std::string_view piece) { return writer.append(piece); });
  if (!read.ok()) return read;
  return writer.finish();
}

Status with_large_value_hint(const Status& failure, const std::string& table) {
  if (failure.service_error() != "InvalidInput") return failure;
  return Status::invalid_argument("the table " + table + " cannot have large values")
      .with_service_error("InvalidInput")
      .with_hint("`varve table create --large-values` creates a table that can");
}

}  // namespace varve::tool
