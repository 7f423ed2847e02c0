// Owns: table files as text: footer, index, runs, blocks, entries, tables.
// Must never: show data that does not verify as valid. The deep check of format/ reads the file and calls this code.
#include "format/keys/ends.h"
#include "format/keys/value_pointer.h"
#include "format/table/table_footer.h"
#include "format/table/table_verify.h"
#include "tools/varve/inspect/inspect.h"

namespace varve::tool {

namespace {

using format::BlockHandle;

InspectField place_field(std::string name, const BlockHandle& handle) {
  return {std::move(name),
          {{"offset", handle.offset}, {"bytes", handle.bytes}},
          std::to_string(handle.offset) + " (" + std::to_string(handle.bytes) + " bytes)"};
}

std::string_view compression_name(format::BlockCompression compression) noexcept {
  switch (compression) {
    case format::BlockCompression::kNone: return "none";
    case format::BlockCompression::kZstd: return "zstd";
    case format::BlockCompression::kZstdDictionary: return "zstd with dictionary";
  }
  return "unknown";
}

InspectFields end_fields(const format::Ends& ends) {
  return {number_field("entries", ends.count), version_field("smallest", ends.smallest),
          version_field("largest", ends.largest)};
}

class TableInspector final : public format::TableVisitor {
 public:
  TableInspector(const InspectOptions& options, InspectOutput& out) : options_(options), out_(out) {}

  void on_index(const format::TableIndex& index) override {
    const format::TableProperties& properties = index.properties();
    out_.item(
        index.footer().properties.offset, "properties",
        {number_field("entries", properties.entry_count), number_field("deletions", properties.tombstone_count),
         number_field("runs", properties.run_count), number_field("data_blocks", properties.block_count),
         number_field("data_bytes", properties.data_bytes), number_field("raw_bytes", properties.raw_bytes),
         number_field("key_bytes", properties.key_bytes), number_field("value_bytes", properties.value_bytes),
         number_field("tables", properties.table_count), version_field("smallest_version", properties.smallest_version),
         version_field("largest_version", properties.largest_version)});
    out_.part("smallest_key", key_fields(properties.smallest_key));
    out_.part("largest_key", key_fields(properties.largest_key));
    if (properties.ends.count > 0) out_.part("ends", end_fields(properties.ends));
    for (const format::DictionaryEntry& dictionary : properties.dictionaries) {
      out_.item(dictionary.block.offset, "dictionary",
                {number_field("bytes", dictionary.block.bytes), hex_field("content_hash", dictionary.content_hash)});
    }
  }

  void on_run(const format::RunEntry& run) override {
    out_.item(run.offset, "run",
              {number_field("bytes", run.bytes()), number_field("data_blocks", run.block_count),
               number_field("data_bytes", run.data_bytes), number_field("raw_bytes", run.raw_bytes),
               place_field("filter_partition", run.filter()), place_field("index_partition", run.index()),
               number_field("entries", run.entry_count), number_field("deletions", run.tombstone_count)});
    if (!options_.blocks && !options_.entries) {
      out_.part("smallest_key", key_fields(run.smallest_key));
      out_.part("largest_key", key_fields(run.largest_key));
    }
  }

  void on_block(const BlockHandle& handle, const format::BlockFrame& frame) override {
    if (!options_.blocks) return;
    out_.item(
        handle.offset, "block",
        {word_field("type", format::block_type_name(frame.type)), number_field("bytes", handle.bytes),
         number_field("raw_bytes", frame.raw_bytes), word_field("compression", compression_name(frame.compression))});
  }

  void on_entry(const format::DataEntry& entry) override {
    if (!options_.entries || !out_.wanted()) return;
    InspectFields fields = key_fields(entry.key);
    fields.push_back(version_field("version", entry.version));
    if (entry.kind == format::Kind::kDelete) return out_.part("delete", fields);
    std::string_view value = entry.value;
    if (format::has_end(entry.kind)) {
      fields.push_back(version_field("end", format::end_in(value)));
      value = format::behind_end(value);
    }
    if (format::is_external(entry.kind)) return show_external(std::move(fields), value);
    for (InspectField& field : value_fields(value)) fields.push_back(std::move(field));
    out_.part("put", fields);
  }

  void on_directory(const std::vector<format::DirectoryEntry>& tables) override {
    for (const format::DirectoryEntry& table : tables) {
      out_.item(table.offset, "table",
                {table_field("id", table.table), number_field("entries", table.entry_count),
                 number_field("deletions", table.tombstone_count), number_field("bytes", table.bytes)});
    }
  }

 private:
  void show_external(InspectFields fields, std::string_view bytes) {
    const Result<format::ValuePointer> pointer = format::decode_value_pointer(bytes);
    if (!pointer.ok()) return;  // The check that follows reports it.
    fields.push_back(number_field("value_file", pointer->file));
    fields.push_back(number_field("value_offset", pointer->offset));
    fields.push_back(number_field("value_bytes", pointer->bytes));
    fields.push_back(hex_field("value_hash", pointer->content_hash));
    out_.part("put", fields);
  }

  const InspectOptions& options_;
  InspectOutput& out_;
};

bool show_footer(std::string_view file, std::uint64_t seed, InspectOutput& out) {
  const std::uint64_t offset = file.size() - format::kTableFooterBytes;
  const Result<format::TableFooter> footer = format::decode_table_footer(file.substr(offset), {seed, offset});
  if (!footer.ok()) {
    out.damage(offset, footer.status());
    return false;
  }
  out.item(offset, "footer",
           {place_field("top_index", footer->top_index), place_field("properties", footer->properties),
            place_field("table_directory", footer->directory)});
  return true;
}

}  // namespace

void inspect_table(std::string_view file, const format::FileHeader& header, const InspectOptions& options,
                   InspectOutput& out) {
  if (file.size() < format::kSectorBytes || file.size() % format::kSectorBytes != 0) {
    return out.damage(file.size(), Status::corruption("the size of a table file must be a multiple of 4,096"));
  }
  if (!show_footer(file, header.seed, out)) return;
  const format::ReadBytes read = [file](std::uint64_t offset, std::uint64_t bytes) -> Result<std::string_view> {
    if (offset > file.size() || bytes > file.size() - offset)
      return Status::corruption("bytes from " + std::to_string(offset) + " on go past the end of the file");
    return file.substr(offset, bytes);
  };
  TableInspector inspector(options, out);
  const Result<format::TableFileEntry> verified =
      format::verify_table({header.number, header.seed, file.size()}, read, &inspector);
  if (!verified.ok()) return out.damage(std::nullopt, verified.status());
  out.item(file.size(), "end", {word_field("state", "whole"), hex_field("content_hash", verified->content_hash)});
}

}  // namespace varve::tool
