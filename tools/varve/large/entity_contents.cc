#include "tools/varve/large/entity_contents.h"

#include <algorithm>
#include <utility>

#include "tools/varve/content/content_input.h"

namespace varve::tool {

namespace {

/// Returns the failure of a begin with a hint, if it says that the table cannot have large values.
Status with_large_value_hint(const Status& failure) {
  if (failure.service_error() != "InvalidInput") return failure;
  return Status::invalid_argument("the table cannot have large values")
      .with_service_error("InvalidInput")
      .with_hint("`varve table create --large-values` creates a table that can");
}

}  // namespace

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

Status EntityContents::write(ValueAccess& values, Entity& entity) {
  for (const File& file : files_) {
    const Result<LargeValue> value = write_content(values, *file.input, true);
    if (value.code() == Code::kCancelled) stop_signal_ = file.input->stop_signal();
    if (!value.ok()) return value.status();
    entity.set(file.property, *value);
  }
  return Status();
}

Result<std::unique_ptr<ValueAccess>> reach_values(StoreAccess& access, const Place& place) {
  if (access.local() != nullptr) {
    Result<Table> table = access.local()->open_table(place.account, place.table);
    if (!table.ok()) return table.status();
    return values_of(*std::move(table));
  }
  if (std::unique_ptr<ValueAccess> served = values_through_server_of(place.store, place.account, place.table)) {
    return served;
  }
  return Status::invalid_argument("contents are written into the store; give its directory in place of an address");
}

Result<LargeValue> write_content(ValueAccess& values, FileInput& input, bool shows_progress) {
  if (Status begun = values.begin(); !begun.ok()) return with_large_value_hint(begun);
  const Status read =
      read_content(input, shows_progress, [&values](std::string_view piece) { return values.append(piece); });
  if (!read.ok()) return read;
  return values.finish();
}

}  // namespace varve::tool
