// Owns: the writer and the reader of a blob (blob.h), and the changes of blobs in transactions (blob_write.h).
// Must never: publish half of a content.
#include <algorithm>
#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/write/append_change.h"
#include "api/write/blob_checks.h"
#include "api/write/blob_part.h"
#include "api/write/blob_writer_state.h"
#include "varve/blob.h"
#include "varve/blob_write.h"

namespace varve {

BlobWriter::BlobWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
BlobWriter::BlobWriter(BlobWriter&&) noexcept = default;
BlobWriter& BlobWriter::operator=(BlobWriter&&) noexcept = default;
BlobWriter::~BlobWriter() = default;

Status BlobWriter::append(std::string_view bytes) {
  return guarded([&]() -> Status {
    if (Status usable = state_->check_usable(); !usable.ok()) return usable;
    return state_->content.append(bytes);
  });
}

std::uint64_t BlobWriter::length() const noexcept {
  return state_->content.length();
}

BlobProperties& BlobWriter::properties() & noexcept {
  return state_->options.properties;
}

Result<BlobState> BlobWriter::publish() {
  return guarded([&]() -> Result<BlobState> {
    if (Status usable = state_->check_usable(); !usable.ok()) return usable;
    if (Status checked = check_blob_properties(state_->options.properties); !checked.ok()) return checked;
    state_->is_over = true;
    if (state_->append) return append_written_content(*state_);
    return state_->block_id ? stage_written_block(*state_) : publish_written_blob(*state_);
  });
}

BlobWrite::BlobWrite(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
BlobWrite::BlobWrite(BlobWrite&&) noexcept = default;
BlobWrite& BlobWrite::operator=(BlobWrite&&) noexcept = default;
BlobWrite::~BlobWrite() = default;

BlobWrite BlobWrite::publish(BlobWriter writer) {
  auto state = std::make_unique<State>();
  state->writer = std::move(writer.state_);
  return BlobWrite(std::move(state));
}

BlobWrite BlobWrite::put(const Container& container, std::string blob, std::string content, BlobWriteOptions options) {
  auto state = std::make_unique<State>();
  state->kind = State::Kind::kPut;
  state->container = container.state_;
  state->blob = std::move(blob);
  state->content = std::move(content);
  state->write_options = std::move(options);
  return BlobWrite(std::move(state));
}

BlobWrite BlobWrite::remove(const Container& container, std::string blob, const BlobChangeOptions& options) {
  auto state = std::make_unique<State>();
  state->kind = State::Kind::kRemove;
  state->container = container.state_;
  state->blob = std::move(blob);
  state->conditions = options.conditions;
  return BlobWrite(std::move(state));
}

BlobWrite BlobWrite::copy(const Container& container, std::string blob, const Container& source,
                          std::string source_blob, BlobCopyOptions options) {
  auto state = std::make_unique<State>();
  state->kind = State::Kind::kCopy;
  state->container = container.state_;
  state->blob = std::move(blob);
  state->source = source.state_;
  state->source_blob = std::move(source_blob);
  state->copy_options = std::move(options);
  state->copy_id = Guid::random();
  return BlobWrite(std::move(state));
}

BlobReader::BlobReader(std::unique_ptr<const State> state) noexcept : state_(std::move(state)) {}
BlobReader::BlobReader(BlobReader&&) noexcept = default;
BlobReader& BlobReader::operator=(BlobReader&&) noexcept = default;
BlobReader::~BlobReader() = default;

const BlobState& BlobReader::state() const& noexcept {
  return state_->state;
}

Result<std::size_t> BlobReader::read(std::uint64_t offset, std::span<char> buffer) const {
  return guarded([&]() -> Result<std::size_t> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const std::uint64_t length = state_->row.length;
    if (offset >= length) return std::size_t{0};
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), length - offset));
    if (Status read = state_->read(offset, buffer.first(bytes)); !read.ok()) return read;
    return bytes;
  });
}

}  // namespace varve
