#include "api/rest/blobs/readable_content.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/large_value.h"

namespace varve::serve {
namespace {

class BlobContent final : public ReadableContent {
 public:
  explicit BlobContent(BlobReader reader) noexcept : reader_(std::move(reader)) {}
  const BlobState& state() const noexcept override { return reader_.state(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const override {
    return reader_.read(offset, buffer);
  }

 private:
  const BlobReader reader_;
};

/// A content never changes, and its number is a time that no other content has. So the number is its version.
class ValueContent final : public ReadableContent {
 public:
  ValueContent(LargeValueReader reader, std::uint64_t crc64) : reader_(std::move(reader)) {
    state_.name = std::to_string(reader_.value().id());
    state_.modified = DateTime{reader_.value().id()};
    state_.created = state_.modified;
    state_.etag = ETag::of_timestamp(state_.modified);
    state_.length = reader_.length();
    state_.crc64 = crc64;
  }
  const BlobState& state() const noexcept override { return state_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const override {
    return reader_.read(offset, buffer);
  }

 private:
  const LargeValueReader reader_;
  BlobState state_;
};

/// Returns the number that a text is, or nothing if a number is written otherwise.
std::optional<std::uint64_t> number_of_value(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text;
  return is_number ? std::optional(number) : std::nullopt;
}

Status no_such_content() {
  return service_error::blob_not_found("no entity owns a content of this number");
}

Result<std::shared_ptr<const ReadableContent>> open_value(const BlobCall& call, Store& store,
                                                          const BlobReadOptions& options) {
  if (options.conditions.lease) {
    return Status(Code::kPreconditionFailed, "the content of an entity has no lease")
        .with_service_error("LeaseNotPresentWithBlobOperation");
  }
  const std::optional<std::uint64_t> number = number_of_value(call.target.blob);
  if (!number) return no_such_content();
  Result<LargeValueReader> reader = store.open_large_value(call.address.account, *number);
  if (reader.status().service_error() == "LargeValueNotFound") return no_such_content();
  if (!reader.ok()) return reader.status();
  const Result<std::uint64_t> crc64 = reader->crc64();
  if (!crc64.ok()) return crc64.status();
  return std::shared_ptr<const ReadableContent>(std::make_shared<ValueContent>(*std::move(reader), *crc64));
}

}  // namespace

Result<std::shared_ptr<const ReadableContent>> ReadableContent::open(const BlobCall& call, Store& store,
                                                                     const BlobReadOptions& options) {
  if (names_large_value(call.target)) return open_value(call, store, options);
  const Result<Container> container = store.open_container(call.address.account, call.target.container);
  if (!container.ok()) return container.status();
  Result<BlobReader> reader = container->read(call.target.blob, options);
  if (!reader.ok()) return reader.status();
  return std::shared_ptr<const ReadableContent>(std::make_shared<BlobContent>(*std::move(reader)));
}

bool names_large_value(const BlobTarget& target) noexcept {
  return target.container == kValuesContainer;
}

Status check_value_operation(Operation operation) {
  if (operation == Operation::kGetBlob || operation == Operation::kGetBlobState) return Status();
  return refused("UnsupportedHttpVerb", "the content of an entity can only be read; write the entity to change it");
}

}  // namespace varve::serve
