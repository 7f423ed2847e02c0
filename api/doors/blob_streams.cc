// Owns: the writer and the reader of a blob (blob.h).
// Must never: publish half of a content.
#include <algorithm>
#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/write/blob_checks.h"
#include "api/write/blob_writer_state.h"
#include "varve/blob.h"

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
    return state_->block_id ? stage_written_block(*state_) : publish_written_blob(*state_);
  });
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
