// Owns: the calls of the C interface on blobs, except streams and blocks (blob_streams.cc).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include "api/c/blobs.h"
#include "api/c/queues.h"
#include "api/c/sized.h"
#include "api/c/wait_end.h"
#include "varve/limits.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

/// Tails into a buffer. `given` was read from the caller's struct.
Status tail_into(ContainerObject& held, std::string_view blob, std::uint64_t offset, const varve_tail_options& given,
                 std::span<char> buffer, varve_tail* tail) {
  Result<std::stop_token> asked = read_stop(given.stop);
  if (!asked.ok()) return asked.status();
  std::optional<WaitEnd> end;
  if (given.wait_ms != 0 && held.gate()->is_own_process()) end.emplace(held.gate()->closing(), *std::move(asked));
  BlobTailOptions options;
  options.offset = offset;
  options.bytes_max = std::min(buffer.size(), limits::kAppendBytesMax);
  options.wait = to_milliseconds(given.wait_ms);
  if (end) options.stop = end->token();
  if (given.created != 0) options.created = DateTime{given.created};
  const Result<BlobTail> found = held.container.tail(blob, options);
  if (!found.ok()) return found.status();
  const bool was_ended = found->bytes.empty() && end && held.gate()->closing().stop_requested();
  if (was_ended) return Status(Code::kClosed, "the store is being closed");
  std::copy(found->bytes.begin(), found->bytes.end(), buffer.begin());
  return write_sized(varve_tail{0, found->bytes.size(), found->length, from_etag(found->etag), found->created.ticks},
                     tail);
}

/// Changes a part of a blob's state by `change`, which gets the name and the options.
template <typename Change>
varve_status* change_blob(const varve_container* container, const varve_text& blob,
                          const varve_blob_change_options* options, varve_blobs** written, const Change& change) {
  forget(written);
  return call_on_blob(container, blob, [&](ContainerObject& held, std::string_view name) -> Status {
    const Result<BlobChangeOptions> read = read_blob_change_options(options);
    if (!read.ok()) return read.status();
    return change(held.container, name, *read);
  });
}

}  // namespace
}  // namespace varve::c

varve_status* varve_blob_put(const varve_container* container, varve_text blob, varve_text content,
                             const varve_blob_write_options* options, varve_blobs** written) {
  vc::forget(written);
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    const varve::Result<std::string_view> bytes = vc::read_text(content, "content");
    if (!bytes.ok()) return bytes.status();
    const varve::Result<varve::BlobWriteOptions> read = vc::read_blob_write_options(options);
    if (!read.ok()) return read.status();
    return vc::write_blob(written, [&] { return held.container.put(name, *bytes, *read); });
  });
}

// NOLINTNEXTLINE(readability-function-size): what C returns is a parameter.
varve_status* varve_blob_get(const varve_container* container, varve_text blob, const varve_blob_read_options* options,
                             uint64_t offset, void* buffer, size_t size, size_t* count, uint64_t* length) {
  if (count != nullptr) *count = 0;
  if (length != nullptr) *length = 0;
  return vc::call_on_blob(container, blob, [&](const vc::ContainerObject& held, auto name) -> varve::Status {
    if (count == nullptr) return vc::null_pointer("count");
    if (buffer == nullptr && size != 0) return vc::null_pointer("buffer");
    const varve::Result<varve::BlobReadOptions> read = vc::read_blob_read_options(options);
    if (!read.ok()) return read.status();
    const varve::Result<varve::BlobReader> reader = held.container.read(name, *read);
    if (!reader.ok()) return reader.status();
    const varve::Result<std::size_t> got = reader->read(offset, std::span<char>(static_cast<char*>(buffer), size));
    if (!got.ok()) return got.status();
    *count = *got;
    if (length != nullptr) *length = reader->state().length;
    return varve::Status();
  });
}

varve_status* varve_blob_state(const varve_container* container, varve_text blob,
                               const varve_blob_read_options* options, varve_blobs** state) {
  vc::forget(state);
  return vc::call_on_blob(container, blob, [&](const vc::ContainerObject& held, auto name) -> varve::Status {
    if (state == nullptr) return vc::null_pointer("state");
    const varve::Result<varve::BlobReadOptions> read = vc::read_blob_read_options(options);
    if (!read.ok()) return read.status();
    return vc::show_blob(state, [&] { return held.container.state(name, *read); });
  });
}

varve_status* varve_blob_remove(const varve_container* container, varve_text blob,
                                const varve_blob_change_options* options) {
  return vc::change_blob(container, blob, options, nullptr,
                         [](varve::Container& held, auto name, const auto& read) { return held.remove(name, read); });
}

varve_status* varve_blob_list(const varve_container* container, const varve_blob_list_options* options,
                              varve_blobs** blobs) {
  vc::forget(blobs);
  return vc::call_on<vc::ContainerObject>(container, [&](const vc::ContainerObject& held) -> varve::Status {
    if (blobs == nullptr) return vc::null_pointer("blobs");
    const varve::Result<varve::BlobListing> read = vc::read_blob_listing(options);
    if (!read.ok()) return read.status();
    varve::Result<varve::BlobPage> page = held.container.list(*read);
    if (!page.ok()) return page.status();
    return vc::give_handle(std::make_unique<vc::BlobsObject>(*std::move(page)), blobs);
  });
}

varve_status* varve_blob_set_properties(const varve_container* container, varve_text blob,
                                        const varve_blob_properties* properties,
                                        const varve_blob_change_options* options, varve_blobs** written) {
  return vc::change_blob(container, blob, options, written,
                         [&](varve::Container& held, auto name, const auto& read) -> varve::Status {
                           const varve::Result<varve::BlobProperties> given = vc::read_properties(properties);
                           if (!given.ok()) return given.status();
                           return vc::write_blob(written, [&] { return held.set_properties(name, *given, read); });
                         });
}

varve_status* varve_blob_set_metadata(const varve_container* container, varve_text blob,
                                      const varve_metadata_pair* pairs, size_t count,
                                      const varve_blob_change_options* options, varve_blobs** written) {
  return vc::change_blob(container, blob, options, written,
                         [&](varve::Container& held, auto name, const auto& read) -> varve::Status {
                           const auto given = vc::read_metadata(pairs, count);
                           if (!given.ok()) return given.status();
                           return vc::write_blob(written, [&] { return held.set_metadata(name, *given, read); });
                         });
}

varve_status* varve_blob_set_tags(const varve_container* container, varve_text blob, const varve_metadata_pair* pairs,
                                  size_t count, const varve_blob_change_options* options, varve_blobs** written) {
  return vc::change_blob(container, blob, options, written,
                         [&](varve::Container& held, auto name, const auto& read) -> varve::Status {
                           const auto given = vc::read_tags(pairs, count);
                           if (!given.ok()) return given.status();
                           return vc::write_blob(written, [&] { return held.set_tags(name, *given, read); });
                         });
}

varve_status* varve_blob_set_tier(const varve_container* container, varve_text blob, int32_t tier,
                                  const varve_blob_change_options* options, varve_blobs** written) {
  return vc::change_blob(container, blob, options, written,
                         [&](varve::Container& held, auto name, const auto& read) -> varve::Status {
                           const varve::Result<varve::BlobTier> given = vc::read_tier(tier);
                           if (!given.ok()) return given.status();
                           return vc::write_blob(written, [&] { return held.set_tier(name, *given, read); });
                         });
}

varve_status* varve_blob_copy(const varve_container* container, varve_text blob, const varve_container* source,
                              varve_text source_blob, const varve_blob_copy_options* options, varve_blobs** written) {
  vc::forget(written);
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    const vc::Use<vc::ContainerObject> from(source);
    if (!from.ok()) return from.status();
    const varve::Result<std::string_view> from_name = vc::read_text(source_blob, "source_blob");
    if (!from_name.ok()) return from_name.status();
    const varve::Result<varve::BlobCopyOptions> read = vc::read_blob_copy_options(options);
    if (!read.ok()) return read.status();
    return vc::write_blob(written, [&] { return held.container.copy(name, from->container, *from_name, *read); });
  });
}

varve_status* varve_blob_create_append(const varve_container* container, varve_text blob,
                                       const varve_blob_write_options* options, varve_blobs** written) {
  vc::forget(written);
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    const varve::Result<varve::BlobWriteOptions> read = vc::read_blob_write_options(options);
    if (!read.ok()) return read.status();
    return vc::write_blob(written, [&] { return held.container.create_append_blob(name, *read); });
  });
}

varve_status* varve_blob_append(const varve_container* container, varve_text blob, varve_text bytes,
                                const varve_append_options* options, varve_appended_block* appended) {
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    const varve::Result<std::string_view> read = vc::read_text(bytes, "bytes");
    if (!read.ok()) return read.status();
    const varve::Result<varve::AppendOptions> chosen = vc::read_append_options(options);
    if (!chosen.ok()) return chosen.status();
    // A wrong size must be refused before the bytes are appended.
    if (appended != nullptr) {
      if (varve::Status sized = vc::write_sized(varve_appended_block{}, appended); !sized.ok()) return sized;
    }
    const varve::Result<varve::AppendedBlock> done = held.container.append(name, *read, *chosen);
    if (!done.ok() || appended == nullptr) return done.status();
    return vc::write_sized(varve_appended_block{0, done->offset, vc::from_etag(done->etag), done->append_count},
                           appended);
  });
}

varve_status* varve_blob_tail(const varve_container* container, varve_text blob, uint64_t offset,
                              const varve_tail_options* options, void* buffer, size_t buffer_size, varve_tail* tail) {
  return vc::call_on_blob(container, blob, [&](vc::ContainerObject& held, auto name) -> varve::Status {
    if (tail == nullptr) return vc::null_pointer("tail");
    if (buffer == nullptr) return vc::null_pointer("buffer");
    if (varve::Status sized = vc::write_sized(varve_tail{}, tail); !sized.ok()) return sized;
    const varve::Result<varve_tail_options> given = vc::read_sized(options);
    if (!given.ok()) return given.status();
    return vc::tail_into(held, name, offset, *given, {static_cast<char*>(buffer), buffer_size}, tail);
  });
}
