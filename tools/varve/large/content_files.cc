#include "tools/varve/large/content_files.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "tools/varve/content/content_output.h"

namespace varve::tool {

Status ContentFiles::make_directory() const {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (!error && std::filesystem::is_directory(directory_, error)) return Status();
  return Status::io_error(directory_ + ": cannot be created" + (error ? ": " + error.message() : ""));
}

Status ContentFiles::write(const Entity& entity) {
  for (const Property& property : entity.properties()) {
    const LargeValue* const value = property.value.get_if<LargeValue>();
    if (value == nullptr || written_.contains(value->id())) continue;
    const Result<LargeValueReader> reader =
        table_.open_large_value(entity.partition_key(), entity.row_key(), property.name, options_);
    if (!reader.ok()) return reader.status();
    const ReadContent read = [&](std::uint64_t offset, std::span<char> buffer) { return reader->read(offset, buffer); };
    const std::string path = (std::filesystem::path(directory_) / std::to_string(value->id())).string();
    if (Status done = content_to_file(read, {0, reader->length()}, path, false); !done.ok()) return done;
    written_.insert(value->id());
  }
  return Status();
}

}  // namespace varve::tool
