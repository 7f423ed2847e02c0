// Owns: the collecting of a chunk's entries, and the making of its runs (run_chunk.h).
// Must never: make a run that depends on what the chunk held before.
#include "engine/tables/run_chunk.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "format/bytes/bytes.h"

namespace varve::engine {
namespace {

/// Room for copies of keys and values. A chunk rarely needs more, and then takes it piece by piece.
constexpr std::size_t kCopiedBytes = std::size_t{4} << 20;

}  // namespace

void HotBlocks::begin(std::uint64_t maker_begin, TableWriter* writer, std::uint64_t file_begin, std::uint64_t bytes) {
  rule_ = HotRule();
  maker_begin_ = maker_begin;
  writer_ = writer;
  file_begin_ = file_begin;
  copies_.clear();
  contents_.clear();
  given_ = 0;
  if (writer == nullptr) contents_.reserve(bytes);
}

void HotBlocks::take(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept {
  if (!rule_.wants(type)) return;
  if (writer_ != nullptr) {
    return writer_->keep_hot(type, {place.offset - maker_begin_ + file_begin_, place.bytes}, content);
  }
  const std::size_t begin = contents_.size();
  try {
    contents_.append(content);
    copies_.push_back({type, place, begin, content.size()});
  } catch (const std::bad_alloc&) {
    contents_.resize(begin);
  }
}

void HotBlocks::give(TableWriter& writer, const format::RunEntry& run, std::uint64_t begin) noexcept {
  for (; given_ < copies_.size() && copies_[given_].place.offset < run.end(); ++given_) {
    const Copy& copy = copies_[given_];
    writer.keep_hot(copy.type, {copy.place.offset - run.offset + begin, copy.place.bytes},
                    std::string_view(contents_).substr(copy.begin, copy.bytes));
  }
}

void RunChunk::begin(const Plan& plan) {
  plan_ = plan;
  weight_ = 0;
  items_.clear();
  used_bytes_ = 0;
  large_.clear();
  if (maker_) maker_->clear();
}

Status RunChunk::begin_runs() {
  if (!maker_) {
    Result<std::unique_ptr<format::RunMaker>> made = format::RunMaker::make(*plan_.table);
    if (!made.ok()) return made.status();
    maker_ = *std::move(made);
  }
  maker_->expect(plan_.stored_per_1024);
  maker_->show_blocks_to(plan_.keeps_hot ? &hot_ : nullptr);
  if (plan_.keeps_hot) hot_.begin(maker_->offset(), plan_.writer, plan_.file_begin, plan_.weight_max);
  return Status();
}

Status RunChunk::add(const Entry& entry, bool was_in_memory, bool stays) {
  if (weight_ == 0 && !plan_.collects) {
    if (Status begun = begin_runs(); !begun.ok()) return begun;
  }
  weight_ += weight_of(entry);
  Item item{entry, was_in_memory};
  if (!plan_.collects) return make_now(item);
  if (!stays) {
    item.entry.sort_key = copy(entry.sort_key);
    item.entry.value = copy(entry.value);
  }
  items_.push_back(item);
  return Status();
}

/// Returns a view of a copy that stays until begin().
std::string_view RunChunk::copy(std::string_view bytes) {
  if (memory_.bytes().empty()) {
    Result<io::PageMemory> memory = io::PageMemory::map(kCopiedBytes);
    if (!memory.ok()) throw std::bad_alloc();
    memory_ = *std::move(memory);
  }
  const std::string_view room = format::as_text(memory_.bytes());
  if (room.size() - used_bytes_ < bytes.size()) return large_.emplace_back(bytes);
  const std::string_view place = room.substr(used_bytes_, bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(memory_.bytes().data()) + used_bytes_);
  used_bytes_ += bytes.size();
  return place;
}

Status RunChunk::make_now(const Item& item) {
  const Entry& entry = item.entry;
  if (Status added = maker_->add({entry.sort_key, entry.version, entry.kind, entry.value}); !added.ok()) return added;
  hot_.rule().count_entry(item.was_in_memory);  // The add may have ended the block before.
  return Status();
}

Status RunChunk::make() noexcept {
  try {
    if (plan_.collects) {
      if (Status begun = begin_runs(); !begun.ok()) return begun;
      for (const Item& item : items_) {
        if (Status made = make_now(item); !made.ok()) return made;
      }
    }
    maker_->finish();
    return Status();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Result<RunChunk::Made> RunChunk::append_to(TableWriter& writer) {
  Made made;
  for (const format::MadeRun& run : maker_->runs()) {
    const std::uint64_t begin = writer.begin_run();
    assert(plan_.writer == nullptr || begin == plan_.file_begin + made.bytes);
    if (plan_.keeps_hot) hot_.give(writer, run.entry, begin);
    const Result<std::uint64_t> appended = writer.append_made(*maker_, run);
    if (!appended.ok()) return appended.status();
    assert(*appended == begin);
    made.bytes += run.entry.bytes();
    made.blocks += run.entry.block_count;
  }
  made.stored_per_1024 = maker_->stored_per_1024();
  return made;
}

}  // namespace varve::engine
