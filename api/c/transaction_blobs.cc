// Owns: the calls of the C interface that change and read blobs in transactions.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/c/blobs.h"
#include "api/c/objects.h"
#include "varve/store_transaction.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

/// Calls `body` with the transaction, the container and the name of a blob.
template <typename Body>
varve_status* call_with_blob(varve_transaction* transaction, const varve_container* container, const varve_text& blob,
                             const Body& body) noexcept {
  return call_on<TransactionObject>(transaction, [&](TransactionObject& held) -> Status {
    const Use<ContainerObject> of(container);
    if (!of.ok()) return of.status();
    const Result<std::string_view> name = read_text(blob, "blob");
    if (!name.ok()) return name.status();
    return body(held, of->container, *name);
  });
}

}  // namespace
}  // namespace varve::c

varve_status* varve_transaction_publish_blob(varve_transaction* transaction, varve_blob_writer* writer) {
  return vc::call_on<vc::TransactionObject>(transaction, [&](vc::TransactionObject& held) -> varve::Status {
    const vc::Use<vc::BlobWriterObject> given(writer);
    if (!given.ok()) return given.status();
    if (varve::Status usable = given->check(); !usable.ok()) return usable;
    varve::BlobWriter taken = *std::move(given->writer);
    given->writer.reset();
    held.transaction.publish(std::move(taken));
    return varve::Status();
  });
}

varve_status* varve_transaction_put_blob(varve_transaction* transaction, const varve_container* container,
                                         varve_text blob, varve_text content, const varve_blob_write_options* options) {
  return vc::call_with_blob(transaction, container, blob,
                            [&](vc::TransactionObject& held, const auto& of, auto name) -> varve::Status {
                              const varve::Result<std::string_view> bytes = vc::read_text(content, "content");
                              if (!bytes.ok()) return bytes.status();
                              varve::Result<varve::BlobWriteOptions> read = vc::read_blob_write_options(options);
                              if (!read.ok()) return read.status();
                              held.transaction.put(of, std::string(name), std::string(*bytes), *std::move(read));
                              return varve::Status();
                            });
}

varve_status* varve_transaction_remove_blob(varve_transaction* transaction, const varve_container* container,
                                            varve_text blob, const varve_blob_change_options* options) {
  return vc::call_with_blob(
      transaction, container, blob, [&](vc::TransactionObject& held, const auto& of, auto name) -> varve::Status {
        const varve::Result<varve::BlobChangeOptions> read = vc::read_blob_change_options(options);
        if (!read.ok()) return read.status();
        held.transaction.remove(of, std::string(name), *read);
        return varve::Status();
      });
}

varve_status* varve_transaction_copy_blob(varve_transaction* transaction, const varve_container* container,
                                          varve_text blob, const varve_container* source, varve_text source_blob,
                                          const varve_blob_copy_options* options) {
  return vc::call_with_blob(
      transaction, container, blob, [&](vc::TransactionObject& held, const auto& of, auto name) -> varve::Status {
        const vc::Use<vc::ContainerObject> from(source);
        if (!from.ok()) return from.status();
        const varve::Result<std::string_view> from_name = vc::read_text(source_blob, "source_blob");
        if (!from_name.ok()) return from_name.status();
        varve::Result<varve::BlobCopyOptions> read = vc::read_blob_copy_options(options);
        if (!read.ok()) return read.status();
        held.transaction.copy(of, std::string(name), from->container, std::string(*from_name), *std::move(read));
        return varve::Status();
      });
}

varve_status* varve_transaction_read_blob(varve_transaction* transaction, const varve_container* container,
                                          varve_text blob, const varve_blob_conditions* conditions,
                                          varve_blob_reader** reader) {
  if (reader != nullptr) *reader = nullptr;
  return vc::call_with_blob(
      transaction, container, blob, [&](vc::TransactionObject& held, const auto& of, auto name) -> varve::Status {
        if (reader == nullptr) return vc::null_pointer("reader");
        const varve::Result<varve::BlobConditions> read = vc::read_conditions(conditions);
        if (!read.ok()) return read.status();
        varve::Result<varve::BlobReader> opened = held.transaction.read(of, name, *read);
        if (!opened.ok()) return opened.status();
        return vc::give_handle(std::make_unique<vc::BlobReaderObject>(*std::move(opened), held.gate()), reader);
      });
}

varve_status* varve_transaction_written_blob(const varve_transaction* transaction, size_t index,
                                             varve_blobs** written) {
  vc::forget(written);
  return vc::call_on<vc::TransactionObject>(transaction, [&](const vc::TransactionObject& held) -> varve::Status {
    if (written == nullptr) return vc::null_pointer("written");
    const std::vector<varve::BlobState>& states = held.transaction.written_blobs();
    if (index < states.size()) {
      return vc::show_blob(written, [&] { return varve::Result<varve::BlobState>(states[index]); });
    }
    return varve::Status(varve::Code::kNotFound, "the transaction has written " + std::to_string(states.size()) +
                                                     " blobs, so none has the index " + std::to_string(index));
  });
}
