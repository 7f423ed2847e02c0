// Owns: making runs separately from their file (run_maker.h).
// Must never: return a run without the sizes of its blocks.
#include "format/table/run_maker.h"

#include <cassert>
#include <span>
#include <utility>

#include "format/bytes/checksum.h"
#include "format/log/file_header.h"

namespace varve::format {
namespace {

constexpr std::uint64_t kApartSeed = 0;
/// The offset within a sector at which runs usually begin (run_builder.h), so that blocks are aligned equally here and
/// in the file.
constexpr std::uint64_t kApartOffset = kFileHeaderBytes;
/// Most runs need no more.
constexpr std::size_t kRunBytesUsual = kRunBlocksMax * kSectorBytes * 9 / 8;
/// Number of data, filter and index blocks.
constexpr std::size_t kBlocksOfRunMax = kRunBlocksMax + 2;

}  // namespace

Result<std::unique_ptr<RunMaker>> RunMaker::make(const TableOptions& options) {
  Result<std::optional<Compressor>> compressor = make_compressor(options);
  if (!compressor.ok()) return compressor.status();
  return std::unique_ptr<RunMaker>(new RunMaker(options, *std::move(compressor)));
}

RunMaker::RunMaker(const TableOptions& options, std::optional<Compressor> compressor)
    : compressor_(std::move(compressor)),
      dictionary_hash_(content_hash(options.dictionary)),
      output_(kApartSeed, OutputUse::kApart),
      run_(options.filter, compressor_.has_value() ? &*compressor_ : nullptr, &output_) {
  blocks_.reserve(kBlocksOfRunMax);
  output_.reserve(kRunBytesUsual);
  output_.begin_again(kApartOffset);
  output_.show_blocks_to(this);
}

void RunMaker::take(BlockType type, BlockHandle place, std::string_view content) noexcept {
  assert(blocks_.size() < blocks_.capacity());
  blocks_.push_back(static_cast<std::uint32_t>(place.bytes));
  if (observer_ != nullptr) observer_->take(type, place, content);
}

Status RunMaker::add(const DataEntry& entry) {
  if (Status valid = check_entry(entry); !valid.ok()) return valid;
  if (run_.would_overfill(entry)) cut_block();
  if (run_.is_full()) end_run();
  tables_.add(entry, output_.offset(), run_.block_is_empty());
  run_.add(entry);
  last_version_ = entry.version;
  return Status();
}

void RunMaker::cut_block() {
  tables_.end_block(run_.cut_block().bytes);
}

void RunMaker::finish() {
  if (!run_.empty()) end_run();
}

void RunMaker::end_run() {
  if (!run_.block_is_empty()) cut_block();
  RunEntry entry = run_.finish(dictionary_hash_);
  runs_.push_back({std::move(entry), blocks_, tables_.take(), last_version_});
  blocks_.clear();
}

void RunMaker::clear() noexcept {
  assert(run_.empty());
  runs_.clear();
  output_.begin_again(kApartOffset);
}

std::string_view RunMaker::stamp(const MadeRun& run, FilePlace to) noexcept {
  const std::span<char> all = output_.pending_to_stamp();
  const std::uint64_t first = output_.offset() - all.size();
  const std::span<char> bytes = all.subspan(run.entry.offset - first, run.entry.bytes());
  std::uint64_t within = 0;
  for (const std::uint32_t block : run.blocks) {
    restamp_block(bytes.subspan(within, block), {kApartSeed, run.entry.offset + within}, {to.seed, to.offset + within});
    within += block;
  }
  assert(within == bytes.size());
  return {bytes.data(), bytes.size()};
}

}  // namespace varve::format
