// Owns: the calls of the C interface that write and read large values.
#include "api/c/large_values.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/page.h"
#include "api/c/sized.h"
#include "api/c/values.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

varve_large_value shown_value(const LargeValue& value) noexcept {
  return {value.id(), value.length()};
}

Status give_value_reader(Result<LargeValueReader> opened, const std::shared_ptr<Gate>& gate,
                         varve_large_value_reader** reader) {
  if (!opened.ok()) return opened.status();
  return give_handle(std::make_unique<ValueReaderObject>(*std::move(opened), gate), reader);
}

/// Reads the two keys of an entity, and calls `body` with them.
template <typename Body>
Status with_keys(const varve_text& partition_key, const varve_text& row_key, const Body& body) {
  const Result<std::string_view> partition = read_text(partition_key, "PartitionKey");
  if (!partition.ok()) return partition.status();
  const Result<std::string_view> row = read_text(row_key, "RowKey");
  if (!row.ok()) return row.status();
  return body(*partition, *row);
}

Result<std::vector<std::string>> read_property_names(const varve_text* names, std::size_t count) {
  if (names == nullptr && count != 0) return null_pointer("properties");
  if (count > limits::kSelectedNamesMax) {
    return Status::invalid_argument("more than " + std::to_string(limits::kSelectedNamesMax) +
                                    " large values are to be opened in one call")
        .with_service_error("InvalidInput");
  }
  return read_names(names, count, "properties");
}

/// The readers that a call gives to its caller. Those of a call that fails are freed.
class GivenReaders {
 public:
  GivenReaders(varve_large_value_reader** readers, std::size_t count) noexcept : readers_(readers), count_(count) {
    for (std::size_t i = 0; readers_ != nullptr && i < count_; ++i) readers_[i] = nullptr;
  }
  ~GivenReaders() {
    for (std::size_t i = 0; !is_kept_ && readers_ != nullptr && i < count_; ++i) {
      varve_large_value_reader_free(readers_[i]);
      readers_[i] = nullptr;
    }
  }
  GivenReaders(const GivenReaders&) = delete;
  GivenReaders& operator=(const GivenReaders&) = delete;

  bool are_missing() const noexcept { return readers_ == nullptr && count_ != 0; }
  Status give(std::size_t index, LargeValueReader reader, const std::shared_ptr<Gate>& gate) {
    return give_handle(std::make_unique<ValueReaderObject>(std::move(reader), gate), &readers_[index]);
  }
  void keep() noexcept { is_kept_ = true; }

 private:
  varve_large_value_reader** const readers_;
  const std::size_t count_;
  bool is_kept_ = false;
};

/// Gives the readers and the entity to the caller.
Status give_opened(std::optional<OpenedEntity> opened, const std::shared_ptr<Gate>& gate, GivenReaders& readers,
                   varve_page** page) {
  auto made = std::make_unique<PageObject>();
  if (opened) {
    made->add(opened->entity);
    for (std::size_t i = 0; i < opened->values.size(); ++i) {
      if (!opened->values[i]) continue;
      if (Status given = readers.give(i, *std::move(opened->values[i]), gate); !given.ok()) return given;
    }
  }
  if (Status given = give_handle(std::move(made), page); !given.ok()) return given;
  readers.keep();
  return Status();
}

}  // namespace
}  // namespace varve::c

// -- Writing ----------------------------------------------------------------------------------------------------------

varve_status* varve_large_value_writer_open(const varve_table* table, varve_large_value_writer** writer) {
  if (writer != nullptr) *writer = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](vc::TableObject& held) -> varve::Status {
    if (writer == nullptr) return vc::null_pointer("writer");
    varve::Result<varve::LargeValueWriter> begun = held.table.write_large_value();
    if (!begun.ok()) return begun.status();
    return vc::give_handle(std::make_unique<vc::ValueWriterObject>(*std::move(begun), held.gate()), writer);
  });
}

varve_status* varve_large_value_writer_append(varve_large_value_writer* writer, varve_text bytes) {
  return vc::call_on<vc::ValueWriterObject>(writer, [&](vc::ValueWriterObject& held) -> varve::Status {
    const varve::Result<std::string_view> read = vc::read_text(bytes, "bytes");
    return read.ok() ? held.writer.append(*read) : read.status();
  });
}

varve_status* varve_large_value_writer_finish(varve_large_value_writer* writer, varve_large_value* value) {
  if (value != nullptr) *value = varve_large_value{0, 0};
  return vc::call_on<vc::ValueWriterObject>(writer, [&](vc::ValueWriterObject& held) -> varve::Status {
    if (value == nullptr) return vc::null_pointer("value");
    const varve::Result<varve::LargeValue> finished = held.writer.finish();
    if (!finished.ok()) return finished.status();
    *value = vc::shown_value(*finished);
    return varve::Status();
  });
}

void varve_large_value_writer_free(varve_large_value_writer* writer) {
  vc::free_handle(writer, vc::Kind::kValueWriter);
}

// -- Reading ----------------------------------------------------------------------------------------------------------

varve_status* varve_large_value_reader_open(const varve_table* table, varve_text partition_key, varve_text row_key,
                                            varve_text property, const varve_read_options* options,
                                            varve_large_value_reader** reader) {
  if (reader != nullptr) *reader = nullptr;
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (reader == nullptr) return vc::null_pointer("reader");
    const varve::Result<varve::ReadOptions> chosen = vc::read_read_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::string_view> name = vc::read_text(property, "property");
    if (!name.ok()) return name.status();
    return vc::with_keys(partition_key, row_key, [&](auto partition, auto row) {
      return vc::give_value_reader(held.table.open_large_value(partition, row, *name, *chosen), held.gate(), reader);
    });
  });
}

varve_status* varve_large_value_reader_open_id(varve_store* store, varve_text account, uint64_t id,
                                               varve_large_value_reader** reader) {
  if (reader != nullptr) *reader = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (reader == nullptr) return vc::null_pointer("reader");
    const varve::Result<std::string_view> owner = vc::read_text(account, "account");
    if (!owner.ok()) return owner.status();
    return vc::give_value_reader(held.store->open_large_value(*owner, id), held.gate(), reader);
  });
}

varve_status* varve_large_value_reader_value(const varve_large_value_reader* reader, varve_large_value* value) {
  return vc::call_on<vc::ValueReaderObject>(reader, [&](const vc::ValueReaderObject& held) -> varve::Status {
    if (value == nullptr) return vc::null_pointer("value");
    *value = vc::shown_value(held.reader.value());
    return varve::Status();
  });
}

varve_status* varve_large_value_reader_read(const varve_large_value_reader* reader, uint64_t offset, void* buffer,
                                            size_t size, size_t* count) {
  if (count != nullptr) *count = 0;
  return vc::call_on<vc::ValueReaderObject>(reader, [&](const vc::ValueReaderObject& held) -> varve::Status {
    if (count == nullptr) return vc::null_pointer("count");
    if (buffer == nullptr && size != 0) return vc::null_pointer("buffer");
    const varve::Result<std::size_t> got = held.reader.read(offset, std::span<char>(static_cast<char*>(buffer), size));
    if (!got.ok()) return got.status();
    *count = *got;
    return varve::Status();
  });
}

varve_status* varve_large_value_reader_crc64(const varve_large_value_reader* reader, uint64_t* crc64) {
  if (crc64 != nullptr) *crc64 = 0;
  return vc::call_on<vc::ValueReaderObject>(reader, [&](const vc::ValueReaderObject& held) -> varve::Status {
    if (crc64 == nullptr) return vc::null_pointer("crc64");
    const varve::Result<std::uint64_t> found = held.reader.crc64();
    if (!found.ok()) return found.status();
    *crc64 = *found;
    return varve::Status();
  });
}

void varve_large_value_reader_free(varve_large_value_reader* reader) {
  vc::free_handle(reader, vc::Kind::kValueReader);
}

// NOLINTNEXTLINE(readability-function-size): what C returns is a parameter.
varve_status* varve_transaction_get_opened(varve_transaction* transaction, const varve_table* table,
                                           const varve_key* key, const varve_read_options* options,
                                           const varve_text* properties, size_t count, varve_page** page,
                                           varve_large_value_reader** readers) {
  if (page != nullptr) *page = nullptr;
  vc::GivenReaders given(readers, count);
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::TableObject> from(table);
    if (!from.ok()) return from.status();
    if (key == nullptr) return vc::null_pointer("key");
    if (page == nullptr) return vc::null_pointer("page");
    if (given.are_missing()) return vc::null_pointer("readers");
    const varve::Result<varve::ReadOptions> chosen = vc::read_read_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::vector<std::string>> names = vc::read_property_names(properties, count);
    if (!names.ok()) return names.status();
    return vc::with_keys(key->partition_key, key->row_key, [&](auto partition, auto row) -> varve::Status {
      varve::Result<std::optional<varve::OpenedEntity>> opened =
          held.transaction.get_opened(from->table, partition, row, *names, *chosen);
      if (!opened.ok()) return opened.status();
      return vc::give_opened(*std::move(opened), held.gate(), given, page);
    });
  });
}

// NOLINTNEXTLINE(readability-function-size): what C returns is a parameter.
varve_status* varve_table_get_opened(const varve_table* table, varve_text partition_key, varve_text row_key,
                                     const varve_read_options* options, const varve_text* properties, size_t count,
                                     varve_page** page, varve_large_value_reader** readers) {
  if (page != nullptr) *page = nullptr;
  vc::GivenReaders given(readers, count);
  return vc::call_on<vc::TableObject>(table, [&](const vc::TableObject& held) -> varve::Status {
    if (page == nullptr) return vc::null_pointer("page");
    if (given.are_missing()) return vc::null_pointer("readers");
    const varve::Result<varve::ReadOptions> chosen = vc::read_read_options(options);
    if (!chosen.ok()) return chosen.status();
    const varve::Result<std::vector<std::string>> names = vc::read_property_names(properties, count);
    if (!names.ok()) return names.status();
    return vc::with_keys(partition_key, row_key, [&](auto partition, auto row) -> varve::Status {
      varve::Result<std::optional<varve::OpenedEntity>> opened = held.table.get_opened(partition, row, *names, *chosen);
      if (!opened.ok()) return opened.status();
      return vc::give_opened(*std::move(opened), held.gate(), given, page);
    });
  });
}
