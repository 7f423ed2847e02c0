// Owns: the streams ahead of scans, and the thread that fills them (walk_ahead.h).
// Must never: read, decompress or close a file under the mutex.
#include "engine/tables/walk_ahead.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "format/table/index_cursor.h"

namespace varve::engine {

namespace {

constexpr std::uint64_t kAheadBytesMin = std::uint64_t{64} << 10;
/// A stream has so many reads ahead of its scan.
constexpr std::uint64_t kAheadReadsMax = 4;
/// Smallest useful bound in bytes. Below it, a scan by itself reads as much at once.
constexpr std::uint64_t kWorthBytes = std::uint64_t{1} << 20;
/// Bytes beyond a stream's edge at which a scan may still belong to the stream. The index and filter are between two
/// runs.
constexpr std::uint64_t kGapBytes = std::uint64_t{1} << 20;
/// A larger block is freed at once, so that the blocks waiting to be freed take little memory.
constexpr std::uint64_t kLeftBlockBytesMax = std::uint64_t{32} << 10;
/// A stream is abandoned after this many uses of other streams since its last use.
constexpr std::uint64_t kUsesToLeave = 256;

/// Iterates over the blocks of a run from a place on, in the direction of a scan. A block that contains the place is
/// included.
class BlocksOfRun {
 public:
  BlocksOfRun(format::IndexCursor& index, std::uint64_t edge, WalkAhead::Way way) : index_(index), way_(way) {
    if (is_forward()) {
      index_.seek_to_first();
      while (index_.valid() && index_.block().offset + index_.block().bytes <= edge) index_.next();
    } else {
      index_.seek_to_last();
      while (index_.valid() && index_.block().offset >= edge) index_.previous();
    }
  }

  bool valid() const noexcept { return index_.valid(); }
  format::BlockHandle block() const noexcept { return index_.block(); }
  void step() { is_forward() ? index_.next() : index_.previous(); }

 private:
  bool is_forward() const noexcept { return way_ == WalkAhead::Way::kForward; }

  format::IndexCursor& index_;
  const WalkAhead::Way way_;
};

}  // namespace

bool WalkAhead::covers(const Stream& stream, std::uint64_t offset) noexcept {
  const std::uint64_t edge = stream.place.edge;
  if (stream.way == Way::kForward) return offset >= stream.walk_offset && offset <= edge + kGapBytes;
  return offset <= stream.walk_offset && offset + kGapBytes >= edge;
}

WalkAhead::Stream* WalkAhead::stream_at(std::uint64_t cache_id, Way way, std::uint64_t offset) noexcept {
  for (Stream& stream : streams_) {
    if (stream.cache_id == cache_id && stream.way == way && covers(stream, offset)) return &stream;
  }
  return nullptr;
}

/// Returns the scan's own stream, a free stream, or null. First frees the streams that were abandoned.
WalkAhead::Stream* WalkAhead::stream_for(std::uint64_t cache_id, Way way, std::uint64_t offset) noexcept {
  if (Stream* const own = stream_at(cache_id, way, offset); own != nullptr) return own->is_planned ? nullptr : own;
  Stream* free = nullptr;
  for (Stream& stream : streams_) {
    if (stream.is_planned) continue;
    if (uses_ - stream.last_use > kUsesToLeave) clear(stream);
    if (stream.cache_id == 0 || (stream.place.is_end && stream.pieces.empty())) free = &stream;
  }
  return free;
}

void WalkAhead::pop(Stream& stream) noexcept {
  Piece& first = stream.pieces.front();
  used_bytes_ -= first.bytes();
  const bool is_small = first.block && first.block->memory_bytes() <= kLeftBlockBytesMax;
  if (is_small && left_.size() < left_.capacity()) left_.push_back(std::move(first.block));  // There is room.
  stream.pieces.pop_front();
}

void WalkAhead::clear(Stream& stream) noexcept {
  while (!stream.pieces.empty()) pop(stream);
  stream.cache_id = 0;
}

/// Returns the piece at `offset`, or null. Removes the pieces that the scan has passed.
WalkAhead::Piece* WalkAhead::piece_at(Stream& stream, std::uint64_t offset) noexcept {
  const auto is_behind = [&](std::uint64_t place) {
    return stream.way == Way::kForward ? place < offset : place > offset;
  };
  while (!stream.pieces.empty() && is_behind(stream.pieces.front().handle.offset)) pop(stream);
  if (stream.pieces.empty() || stream.pieces.front().handle.offset != offset) return nullptr;
  return &stream.pieces.front();
}

bool WalkAhead::wants_more(const Stream& stream) const noexcept {
  if (stream.cache_id == 0 || stream.place.is_end || stream.is_planned) return false;
  const std::uint64_t edge = stream.place.edge;
  const std::uint64_t ahead_bytes = std::max(edge, stream.walk_offset) - std::min(edge, stream.walk_offset);
  return ahead_bytes < stream.window_bytes && used_bytes_ + read_bytes_max_ <= bytes_max_;
}

bool WalkAhead::start_thread() noexcept {
  if (has_thread_) return true;
  try {
    left_.reserve(2 * kLeftMax);
    Result<io::Thread> thread = queues_.scheduler().start("varve-ahead", [this] { run(); });
    if (!thread.ok()) return false;
    thread_ = *std::move(thread);
    has_thread_ = true;
  } catch (const std::bad_alloc&) {
  }
  return has_thread_;
}

/// Returns the position in the file of a scan that reaches the block.
std::uint64_t WalkAhead::edge_of(const BlockWanted& wanted, Way way) noexcept {
  return way == Way::kForward ? wanted.handle.offset : wanted.handle.offset + wanted.handle.bytes;
}

WalkAhead::Brought WalkAhead::next(const TableFile& file, const BlockWanted& wanted, Way way) noexcept {
  const std::uint64_t cache_id = wanted.table->cache_id;
  const std::uint64_t offset = wanted.handle.offset;
  const io::MutexGuard guard(mutex_);
  for (;;) {
    Stream* const stream = stream_at(cache_id, way, offset);
    if (stream == nullptr || stopping_) return {};
    stream->last_use = ++uses_;
    stream->walk_offset = offset;
    Piece* const piece = piece_at(*stream, offset);
    const bool wants_more_now = wants_more(*stream);
    if (wants_more_now) {
      if (!stream->file) stream->file = file.shared_from_this();
      wake_.notify_one();
    }
    const bool is_awaited = piece == nullptr
                                ? stream->is_planned || (wants_more_now && stream->place.edge == edge_of(wanted, way))
                                : piece->stage == Stage::kOnTheWay || piece->stage == Stage::kAtThread;
    if (is_awaited) {
      changed_.wait(mutex_);
      continue;
    }
    if (piece == nullptr || piece->stage == Stage::kFailed) return {PinnedBlock(), nullptr, true};
    if (piece->block) return {piece->block.again(), nullptr, true};
    piece->stage = Stage::kAtWalk;
    return {PinnedBlock(), piece->stored, true};
  }
}

void WalkAhead::go_on_from(const TableFile& file, const BlockWanted& wanted, std::uint64_t edge, Way way,
                           std::uint64_t bytes) noexcept {
  if (bytes_max_ < kWorthBytes) return;
  const OpenTable& table = *wanted.table;
  std::shared_ptr<const TableFile> left;  // released after the mutex
  const io::MutexGuard guard(mutex_);
  Stream* const stream = stopping_ ? nullptr : stream_for(table.cache_id, way, wanted.handle.offset);
  if (stream == nullptr || !start_thread()) return;
  clear(*stream);
  left = std::exchange(stream->file, file.shared_from_this());
  stream->cache_id = table.cache_id;
  stream->way = way;
  stream->place = {static_cast<std::size_t>(wanted.run - table.index.runs().data()), edge, false};
  stream->walk_offset = wanted.handle.offset;
  stream->window_bytes = std::max(2 * bytes, kAheadBytesMin);
  stream->last_use = ++uses_;
  wake_.notify_one();
  changed_.notify_all();  // A scan may wait for a piece that was cleared.
}

void WalkAhead::stop() noexcept {
  {
    const io::MutexGuard guard(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  thread_.join();
  std::array<std::shared_ptr<const TableFile>, kStreams> left;  // released after the mutex
  const io::MutexGuard guard(mutex_);
  for (std::size_t i = 0; i < kStreams; ++i) {
    clear(streams_[i]);
    left[i] = std::move(streams_[i].file);
  }
  left_.clear();
  changed_.notify_all();
}

void WalkAhead::run() noexcept {
  Hands hands;
  hands.tools = blocks_.lend();
  for (bool is_over = false; !is_over;) {
    const std::size_t in_flight = hands.queue ? hands.queue->in_flight() : 0;
    Work work = next_work(in_flight);
    if (in_flight > 0) reap(hands, work.kind == Work::Kind::kReap ? 1 : 0);
    switch (work.kind) {
      case Work::Kind::kEnd: is_over = true; break;
      case Work::Kind::kRead: read(work, hands); break;
      case Work::Kind::kTakeOut: take_out(work, hands); break;
      case Work::Kind::kReap:
      case Work::Kind::kLetGo: break;  // done above, or with the end of `work`
    }
  }
  while (hands.queue && hands.queue->in_flight() > 0) reap(hands, hands.queue->in_flight());
  if (hands.queue) queues_.give_back(std::move(hands.queue));
  if (hands.tools) blocks_.give_back(std::move(hands.tools));
}

WalkAhead::Work WalkAhead::next_work(std::size_t in_flight) noexcept {
  const io::MutexGuard guard(mutex_);
  for (;;) {
    if (stopping_) return {};
    // Reading comes first: the device must never rest while a scan is running.
    std::optional<Work> work = in_flight < kReadsMax ? reading() : std::nullopt;
    if (!work) work = taking_out();
    if (!work && in_flight > 0) {
      work.emplace();
      work->kind = Work::Kind::kReap;
    }
    if (!work) work = letting_go();
    if (work) {
      if (left_.size() >= kLeftMax || work->kind == Work::Kind::kLetGo) take_left(work->left);
      return *std::move(work);
    }
    wake_.wait(mutex_);
  }
}

std::optional<WalkAhead::Work> WalkAhead::reading() noexcept {
  for (Stream& stream : streams_) {
    if (!stream.file || !wants_more(stream)) continue;
    stream.is_planned = true;
    Work work;
    work.kind = Work::Kind::kRead;
    work.stream = &stream;
    work.file = stream.file;
    work.way = stream.way;
    work.place = stream.place;
    work.bytes = std::min(stream.window_bytes, read_bytes_max_);
    stream.window_bytes =
        std::min({2 * stream.window_bytes, kAheadReadsMax * read_bytes_max_, bytes_max_ / kStoredPart});
    return work;
  }
  return std::nullopt;
}

std::optional<WalkAhead::Work> WalkAhead::taking_out() noexcept {
  for (Stream& stream : streams_) {
    if (!stream.file) continue;
    for (std::size_t i = kPiecesLeftToWalk; i < stream.pieces.size(); ++i) {
      Piece& piece = stream.pieces[i];
      if (piece.stage != Stage::kStored) continue;
      if (used_bytes_ + piece.handle.bytes > bytes_max_) return std::nullopt;
      piece.stage = Stage::kAtThread;
      Work work;
      work.kind = Work::Kind::kTakeOut;
      work.stream = &stream;
      work.file = stream.file;
      work.place.run = piece.run;
      work.handle = piece.handle;
      work.stored = piece.stored;
      return work;
    }
  }
  return std::nullopt;
}

/// Takes all left blocks, except the last ones, which the scans may still use.
void WalkAhead::take_left(std::vector<PinnedBlock>& left) noexcept {
  if (left_.size() <= kStreams) return;
  const auto end = left_.end() - static_cast<std::ptrdiff_t>(kStreams);
  try {
    left.assign(std::move_iterator(left_.begin()), std::move_iterator(end));
  } catch (const std::bad_alloc&) {
  }
  left_.erase(left_.begin(), end);
}

/// Releases the files, since there is no work. A file that leaves the store must not wait for the next scan.
std::optional<WalkAhead::Work> WalkAhead::letting_go() noexcept {
  Work work;
  bool any = false;
  for (std::size_t i = 0; i < kStreams; ++i) {
    any = any || streams_[i].file;
    work.idle[i] = std::move(streams_[i].file);
  }
  if (!any) return std::nullopt;
  work.kind = Work::Kind::kLetGo;
  return work;
}

/// Reads the next blocks. After any failure, the scan reads on by itself from that place.
void WalkAhead::read(Work& work, Hands& hands) noexcept {
  try {
    Result<std::vector<Piece>> planned = plan(work, work.place);
    if (planned.ok() && !planned->empty() && !submit(work, hands, *planned).ok()) planned = Status::out_of_memory();
    work.place.is_end = work.place.is_end || !planned.ok();
  } catch (const std::bad_alloc&) {
    work.place.is_end = true;
  }
  const io::MutexGuard guard(mutex_);
  work.stream->place = work.place;
  work.stream->is_planned = false;
  changed_.notify_all();
}

Status WalkAhead::submit(const Work& work, Hands& hands, std::vector<Piece>& pieces) {
  if (!hands.queue) {
    Result<std::unique_ptr<io::ReadQueue>> queue = queues_.take();
    if (!queue.ok()) return queue.status();
    hands.queue = *std::move(queue);
  }
  const OpenTable& table = *work.file->open_already();
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end_of_last = 0;
  for (const Piece& piece : pieces) {
    begin = std::min(begin, piece.handle.offset);
    end_of_last = std::max(end_of_last, piece.handle.offset + piece.handle.bytes);
  }
  const auto stored = std::make_shared<StoredBytes>();
  if (Status ready = stored->prepare(begin, end_of_last - begin, table.file->size_bytes()); !ready.ok()) return ready;
  const auto free = std::find_if(hands.readings.begin(), hands.readings.end(),
                                 [](const Reading& reading) { return reading.file == nullptr; });
  free->stream = work.stream;
  free->file = work.file;
  free->stored = stored;
  const auto tag = static_cast<std::uint64_t>(free - hands.readings.begin());
  Status sent = show(*work.stream, pieces, stored);
  Result<FilePin> pinned = sent.ok() ? table.file->pin_for_long() : sent;
  if (pinned.ok()) {
    free->pin = *std::move(pinned);
    sent = hands.queue->submit(*free->pin, stored->offset(), stored->bytes(), tag);
  } else if (sent.ok()) {
    sent = table.file->read_exactly(stored->offset(), stored->bytes());  // No descriptor can be kept for it.
  }
  if (sent.ok()) blocks_.count_read(stored->bytes().size());
  if (!sent.ok() || !free->pin) {
    end(*free, sent.ok());
    return sent;
  }
  (void)hands.queue->reap({}, 0);  // starts the read
  return Status();
}

/// Adds the pieces to the stream. From now on scans wait for them.
Status WalkAhead::show(Stream& stream, std::vector<Piece>& pieces,
                       const std::shared_ptr<const StoredBytes>& stored) noexcept {
  const io::MutexGuard guard(mutex_);
  try {
    for (Piece& piece : pieces) {
      piece.stored = stored;
      stream.pieces.push_back(std::move(piece));
      used_bytes_ += stream.pieces.back().bytes();
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  return Status();
}

void WalkAhead::reap(Hands& hands, std::size_t wait_count) noexcept {
  std::array<io::FinishedRead, kReadsMax> finished;
  const std::size_t count = hands.queue->reap(finished, wait_count);
  for (std::size_t i = 0; i < count; ++i) end(hands.readings[finished[i].tag], finished[i].status.ok());
}

void WalkAhead::end(Reading& reading, bool is_here) noexcept {
  {
    const io::MutexGuard guard(mutex_);
    for (Piece& piece : reading.stream->pieces) {
      if (piece.stored == reading.stored) piece.stage = is_here ? Stage::kStored : Stage::kFailed;
    }
    changed_.notify_all();
  }
  reading.pin.release();
  reading = {};
}

Result<std::vector<WalkAhead::Piece>> WalkAhead::plan(const Work& work, Place& place) {
  std::vector<Piece> pieces;
  const OpenTable& table = *work.file->open_already();  // opened by the scan
  const std::vector<format::RunEntry>& runs = table.index.runs();
  const format::RunEntry& run = runs[place.run];
  const Result<PinnedBlock> content = blocks_.get({&table, run.index(), format::BlockType::kIndexPartition, &run});
  if (!content.ok()) return content.status();
  format::IndexCursor index;
  if (Status opened = index.open((*content)->content(), run); !opened.ok()) return opened;

  const bool is_forward = work.way == Way::kForward;
  const std::uint64_t start = place.edge;
  const auto passed_bytes = [&] { return is_forward ? place.edge - start : start - place.edge; };
  BlocksOfRun blocks(index, start, work.way);
  for (; blocks.valid() && passed_bytes() < work.bytes; blocks.step()) {
    const format::BlockHandle handle = blocks.block();
    place.edge = is_forward ? handle.offset + handle.bytes : handle.offset;
    if (blocks_.cache().contains(table.cache_id, handle.offset)) continue;
    pieces.push_back({place.run, handle, nullptr, PinnedBlock(), Stage::kOnTheWay});
  }
  if (Status walked = index.status(); !walked.ok()) return walked;
  if (!blocks.valid()) {
    place.is_end = is_forward ? place.run + 1 == runs.size() : place.run == 0;
    if (!place.is_end) place.run += is_forward ? 1 : std::size_t(-1);
    if (!place.is_end) {
      place.edge = is_forward ? runs[place.run].offset : runs[place.run].offset + runs[place.run].data_bytes;
    }
  }
  return pieces;
}

void WalkAhead::take_out(const Work& work, Hands& hands) noexcept {
  if (!hands.tools) hands.tools = blocks_.lend();
  const OpenTable& table = *work.file->open_already();
  const BlockWanted wanted{&table, work.handle, format::BlockType::kData, &table.index.runs()[work.place.run]};
  Result<PinnedBlock> block = Status::out_of_memory();
  if (hands.tools) block = blocks_.take(wanted, *work.stored, *hands.tools, BlockPriority::kPassing);
  const io::MutexGuard guard(mutex_);
  for (Piece& piece : work.stream->pieces) {
    if (piece.stored != work.stored || piece.handle.offset != work.handle.offset) continue;
    if (!block.ok()) {
      piece.stage = Stage::kAtWalk;  // The scan decodes it again, and reports the error.
    } else {
      used_bytes_ -= piece.bytes();
      piece.block = *std::move(block);
      piece.stored.reset();
      piece.stage = Stage::kReady;
      used_bytes_ += piece.bytes();
    }
    changed_.notify_all();
    return;
  }
}

}  // namespace varve::engine
