// Owns: reading a table for its check, and comparing (table_check.h).
// Must never: accept a figure without counting it again.
#include "engine/tables/table_check.h"

#include <span>
#include <string>

#include "format/keys/ends.h"
#include "format/table/table_verify.h"

namespace varve::engine {

namespace {

/// Compares the manifest's entry with the counted one. Fields that only the manifest has are not compared.
bool tells_the_same(format::TableFileEntry manifest, const format::TableFileEntry& counted) {
  manifest.level = counted.level;
  manifest.origin = counted.origin;
  manifest.adopted_version = counted.adopted_version;
  manifest.unknown_fields = counted.unknown_fields;
  return manifest == counted;
}

/// Checks every entry whose value is in another file. Keeps the first failure.
class PointerVisitor final : public format::TableVisitor {
 public:
  explicit PointerVisitor(const CheckValue& check) noexcept : check_(check) {}
  void on_entry(const format::DataEntry& entry) override {
    if (!format::is_external(entry.kind) || !failure_.ok()) return;
    failure_ = check_(format::has_end(entry.kind) ? format::behind_end(entry.value) : entry.value);
  }
  const Status& failure() const noexcept { return failure_; }

 private:
  const CheckValue& check_;
  Status failure_;
};

}  // namespace

Status check_table(const TableFile& file, const CheckValue& check_value) {
  const Result<const OpenTable*> opened = file.open();
  if (!opened.ok()) return opened.status();
  const OpenTable& table = **opened;
  std::string buffer;
  const format::ReadBytes read = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
    buffer.resize(bytes);
    if (Status done = table.file->read_past_cache(offset, std::as_writable_bytes(std::span(buffer))); !done.ok()) {
      return done;
    }
    return std::string_view(buffer);
  };
  const format::TableFileEntry& entry = file.entry();
  PointerVisitor pointers(check_value);
  const Result<format::TableFileEntry> counted =
      format::verify_table({entry.number, entry.seed, entry.size_bytes}, read, &pointers);
  if (!counted.ok()) return counted.status().in_file(table.name);
  if (!pointers.failure().ok()) return pointers.failure();
  if (tells_the_same(entry, *counted)) return Status();
  return Status::corruption("its content differs from what the manifest records").in_file(table.name);
}

}  // namespace varve::engine
