// Owns: copying runs (run_copy.h).
// Must never: copy a byte that was not verified in its source.
#include "format/table/run_copy.h"

#include "format/bytes/checksum.h"
#include "format/table/index_cursor.h"

namespace varve::format {
namespace {

class RunCopy {
 public:
  RunCopy(const RunSource& source, FilePlace to) : run_(*source.run), source_(source), to_(to), bytes_(source.bytes) {}

  Status check_index(Decompressor& decompressor) {
    const BlockHandle handle = run_.index();
    const Result<std::string> content = decode_block(part(handle), {source_.file_seed, handle.offset},
                                                     BlockType::kIndexPartition, decompressor, nullptr);
    if (!content.ok()) return content.status();
    IndexCursor index;
    if (Status opened = index.open(*content, run_); !opened.ok()) return opened;
    std::uint64_t entry_count = 0;
    std::string last_separator;
    for (index.seek_to_first(); index.valid(); index.next()) {
      if (Status moved = move_data_block(index.block()); !moved.ok()) return moved;
      entry_count += index.entry().entry_count;
      last_separator = index.separator();
    }
    if (!index.status().ok()) return index.status();
    const bool complete = moved_bytes_ == run_.data_bytes && moved_blocks_ == run_.block_count;
    if (!complete || entry_count != run_.entry_count || raw_bytes_ != run_.raw_bytes ||
        last_separator != run_.largest_key) {
      return Status::corruption("index partition: disagrees with the top index");
    }
    return Status();
  }

  Status move_partitions() {
    for (const auto& [handle, type] :
         {std::pair{run_.filter(), BlockType::kFilterPartition}, std::pair{run_.index(), BlockType::kIndexPartition}}) {
      if (Result<BlockFrame> moved = move(handle, type); !moved.ok()) return moved.status();
    }
    return Status();
  }

  std::string take_bytes() { return std::move(bytes_); }

 private:
  std::string_view part(const BlockHandle& handle) const {
    return source_.bytes.substr(handle.offset - run_.offset, handle.bytes);
  }

  Status move_data_block(const BlockHandle& handle) {
    if (handle.offset != run_.offset + moved_bytes_) {
      return Status::corruption("index partition: a block does not follow the previous block");
    }
    const Result<BlockFrame> frame = move(handle, BlockType::kData);
    if (!frame.ok()) return frame.status();
    if (frame->compression == BlockCompression::kZstdDictionary && !run_.dictionary_hash.has_value()) {
      return Status::corruption("data block: needs a dictionary, but its run names none");
    }
    moved_bytes_ += handle.bytes;
    raw_bytes_ += frame->raw_bytes;
    ++moved_blocks_;
    return Status();
  }

  /// Verifies the block at its source place, and stamps the copy for its new place.
  Result<BlockFrame> move(const BlockHandle& handle, BlockType type) {
    const FilePlace from{source_.file_seed, handle.offset};
    const Result<BlockFrame> frame = open_block(part(handle), from, type);
    if (!frame.ok()) return frame.status();
    const std::uint64_t within = handle.offset - run_.offset;
    restamp_block({bytes_.data() + within, static_cast<std::size_t>(handle.bytes)}, from,
                  {to_.seed, to_.offset + within});
    return frame;
  }

  const RunEntry& run_;
  const RunSource& source_;
  FilePlace to_;
  std::string bytes_;
  std::uint64_t moved_bytes_ = 0;
  std::uint64_t moved_blocks_ = 0;
  std::uint64_t raw_bytes_ = 0;
};

}  // namespace

Result<std::string> copy_run(const RunSource& source, FilePlace to, Decompressor& decompressor) {
  const RunEntry& run = *source.run;
  if (source.bytes.size() != run.bytes()) return Status::invalid_argument("the bytes given are not those of the run");
  const bool named = run.dictionary_hash.has_value();
  if (named ? content_hash(source.dictionary) != *run.dictionary_hash : !source.dictionary.empty()) {
    return Status::invalid_argument("the dictionary given is not the one that the run names");
  }
  RunCopy copy(source, to);
  if (Status moved = copy.check_index(decompressor); !moved.ok()) return moved;
  if (Status moved = copy.move_partitions(); !moved.ok()) return moved;
  return copy.take_bytes();
}

}  // namespace varve::format
