// Owns: the stages of a load (load.h).
// Must never: remove a file that the manifest may name.
#include "engine/load/load.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <new>
#include <utility>

#include "engine/commit/commit_queue.h"
#include "engine/compaction/compactor.h"
#include "engine/compaction/tree.h"
#include "engine/manifest/unfinished_loads.h"
#include "engine/tables/table_file.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

namespace {

/// Number of attempts to install, each after compaction made room in the levels.
constexpr int kInstallAttempts = 3;

Status no_level() {
  return {Code::kBusy, "every level has a file that spans the keys of the table; compact the store first"};
}

}  // namespace

/// Rows of files that are not installed yet.
class Load::Rows {
 public:
  explicit Rows(TableFiles& tables) noexcept : tables_(tables) {}
  ~Rows() {
    for (const Row& row : rows_) tables_.discard(row);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  using Row = std::vector<format::TableFileEntry>;
  /// Adds the row that a lane ends with. Errors: those of LoadLane::finish_row().
  Status add_row_of(LoadLane& lane) {
    rows_.emplace_back();  // First, so that no file is lost for lack of memory.
    Result<Row> row = lane.finish_row();
    if (!row.ok() || row->empty()) {
      rows_.pop_back();
      return row.status();
    }
    rows_.back() = *std::move(row);
    return Status();
  }
  /// Orders the rows by their keys. Returns whether no two of them overlap.
  bool are_apart() {
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& left, const Row& right) { return left.front().smallest_key < right.front().smallest_key; });
    return std::adjacent_find(rows_.begin(), rows_.end(), [](const Row& left, const Row& right) {
             return left.back().largest_key >= right.front().smallest_key;
           }) == rows_.end();
  }
  Row take_all() {
    Row all;
    std::size_t files = 0;
    for (const Row& row : rows_) files += row.size();
    all.reserve(files);
    for (Row& row : rows_) std::move(row.begin(), row.end(), std::back_inserter(all));
    rows_.clear();
    return all;
  }
  void move_to(Sorter& sorter) {
    while (!rows_.empty()) {
      sorter.take_row(std::move(rows_.back()));
      rows_.pop_back();
    }
  }

 private:
  TableFiles& tables_;
  std::vector<Row> rows_;
};

namespace {

/// Options of a lane that is not alone. Several lanes keep the processors busy without several threads of each.
LoadOptions of_further_lanes(LoadOptions options) noexcept {
  options.write_threads = 1;
  return options;
}

}  // namespace

Load::Load(const LoadParts& parts, const LoadOptions& options)
    : parts_(parts),
      options_(options),
      lane_options_(of_further_lanes(options)),
      first_(sink(), parts.table_files, options_, version_),
      mutex_(parts.table_files.scheduler()) {
  assert(options.merge_width >= 2);
}

Load::~Load() {
  abandon();
}

TableSink Load::sink() const noexcept {
  return parts_.tree.sink(parts_.closed);
}

void Load::watch(format::TableId table) {
  watch_.emplace(parts_.queue.watches(), table);
}

void Load::begin(format::TableId table, CommitVersion version) {
  assert(table_ == 0);
  assert(version <= parts_.queue.visible());
  table_ = table;
  version_ = version;
}

Status Load::check_open() const {
  if (has_failed_.load(std::memory_order_acquire)) {
    const io::MutexGuard guard(mutex_);
    return failure_;
  }
  if (stage_.load(std::memory_order_relaxed) == Stage::kEnded) return Status(Code::kClosed, "the load has ended");
  if (parts_.closed.load(std::memory_order_relaxed))
    return Status(Code::kClosed, "the store was closed; open it again");
  return Status();
}

/// Keeps the first error, and removes the files at once, because a full disk needs their space.
Status Load::fail(const Status& status) noexcept {
  Status first = fail(first_, status);
  abandon();
  return first;
}

/// Other lanes may be in use. Each of them removes its own files when it learns of the failure.
Status Load::fail(LoadLane& lane, const Status& status) noexcept {
  (void)lane.end();
  const io::MutexGuard guard(mutex_);
  if (failure_.ok()) failure_ = status;
  has_failed_.store(true, std::memory_order_release);
  return failure_;
}

Result<LoadLane*> Load::add_lane() {
  if (Status open = check_open(); !open.ok()) return open;
  try {
    auto lane = std::make_unique<LoadLane>(sink(), parts_.table_files, lane_options_, version_);
    const io::MutexGuard guard(mutex_);
    return more_.emplace_back(std::move(lane)).get();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status Load::add(LoadLane& lane, std::string_view sort_key, std::string_view value, Kind kind) {
  if (Status open = check_open(); !open.ok()) {
    (void)lane.end();
    return open;
  }
  assert(stage_ == Stage::kAdding);
  assert(format::table_id_of(sort_key) == table_);
  try {
    Status added = lane.add(sort_key, value, kind);
    return added.ok() ? added : fail(lane, added);
  } catch (const std::bad_alloc&) {
    return fail(lane, Status::out_of_memory());
  }
}

Status Load::install() {
  if (Status open = check_open(); !open.ok()) return open;
  assert(stage_ == Stage::kAdding);
  try {
    Result<std::vector<format::TableFileEntry>> files = finish_files();
    if (!files.ok()) return fail(files.status());
    if (!files->empty()) {
      if (Status installed = install_files(*std::move(files)); !installed.ok()) return fail(installed);
    }
  } catch (const std::bad_alloc&) {
    return fail(Status::out_of_memory());
  }
  stage_ = Stage::kInstalled;
  return Status();
}

std::vector<LoadLane*> Load::lanes() {
  std::vector<LoadLane*> all = {&first_};
  const io::MutexGuard guard(mutex_);
  for (const std::unique_ptr<LoadLane>& lane : more_) all.push_back(lane.get());
  return all;
}

Result<std::vector<format::TableFileEntry>> Load::finish_files() {
  const std::vector<LoadLane*> all = lanes();
  Rows rows(parts_.table_files);
  bool is_sorted = true;
  for (LoadLane* const lane : all) {
    if (Status ended = rows.add_row_of(*lane); !ended.ok()) return ended;
    is_sorted = is_sorted && lane->sorter() == nullptr;
  }
  if (is_sorted && rows.are_apart()) {
    std::vector<format::TableFileEntry> files = rows.take_all();
    end_lanes();
    return files;
  }
  return merge(rows, all);
}

Result<std::vector<format::TableFileEntry>> Load::merge(Rows& rows, const std::vector<LoadLane*>& lanes) {
  Sorter none(sink(), parts_.table_files, options_, version_);
  Sorter* sorter = nullptr;
  for (LoadLane* const lane : lanes) {
    if (lane->sorter() == nullptr) continue;
    if (sorter == nullptr) {
      sorter = lane->sorter();
    } else if (Status taken = sorter->take_all_of(*lane->sorter()); !taken.ok()) {
      return taken;
    }
  }
  if (sorter == nullptr) sorter = &none;
  rows.move_to(*sorter);
  const Result<std::unique_ptr<WriteBehind>> files =
      WriteBehind::start(sink(), table_options(kLastLevel), options_, version_);
  if (!files.ok()) return files.status();
  if (Status merged = sorter->merge_into(**files); !merged.ok()) return merged;
  Result<std::vector<format::TableFileEntry>> merged = (*files)->finish();
  end_lanes();
  count_merged((*files)->written_bytes() + none.written_bytes());
  return merged;
}

/// The lanes keep their figures.
void Load::end_lanes() noexcept {
  if (std::exchange(lanes_have_ended_, true)) return;
  const io::MutexGuard guard(mutex_);
  std::uint64_t written = first_.end();
  for (const std::unique_ptr<LoadLane>& lane : more_) written += lane->end();
  parts_.counters.written_bytes.fetch_add(written, std::memory_order_relaxed);
}

Status Load::install_files(std::vector<format::TableFileEntry> files) {
  format::ManifestEdit edit;
  edit.added_tables = std::move(files);
  UnaddedFiles unadded(parts_.table_files, edit.added_tables);
  edit.added_loading_ids = {table_};
  Status installed;
  try {
    for (int attempt = 1; attempt <= kInstallAttempts; ++attempt) {
      const Result<bool> has_level = parts_.tree.install(edit);
      installed = has_level.ok() && !*has_level ? no_level() : has_level.status();
      if (!has_level.ok() || *has_level || attempt == kInstallAttempts) break;
      if (Status compacted = parts_.compactor.wait_until_done(); !compacted.ok()) break;
    }
  } catch (const std::bad_alloc&) {
    installed = Status::out_of_memory();  // Before the edit; from the edit on, the tree returns errors itself.
  }
  // If the store has stopped, the manifest may name the files.
  if (installed.ok() || parts_.queue.health() == Health::kPoisoned) unadded.release();
  return installed;
}

void Load::end(const Status& committed) noexcept {
  switch (committed.code()) {
    case Code::kOk:
      parts_.counters.loads.fetch_add(1, std::memory_order_relaxed);
      parts_.counters.entries.fetch_add(progress().entities, std::memory_order_relaxed);
      stage_ = Stage::kEnded;
      break;
    case Code::kUnknown:   // B4
    case Code::kPoisoned:  // The manifest marks the id as loading, which is enough for the next open.
    case Code::kFenced:
    case Code::kLocked:
    case Code::kClosed: stage_ = Stage::kEnded; break;
    default: abandon();
  }
  watch_.reset();
}

void Load::abandon() noexcept {
  end_lanes();
  watch_.reset();
  if (stage_ == Stage::kInstalled && has_entries()) make_dead();  // B3
  stage_ = Stage::kEnded;
}

/// If this fails, the next open does it.
void Load::make_dead() noexcept {
  if (parts_.closed.load(std::memory_order_relaxed) || parts_.queue.health() == Health::kPoisoned) return;
  try {
    format::ManifestEdit edit;
    edit.removed_loading_ids = {table_};
    edit.added_dead_ids = {dead_load(table_)};
    (void)parts_.tree.apply(std::move(edit), [](ReadState&) {});
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Load::count_merged(std::uint64_t bytes) noexcept {
  merged_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  parts_.counters.written_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

LoadProgress Load::progress() const noexcept {
  LoadProgress all = first_.progress();
  all.written_bytes += merged_bytes_.load(std::memory_order_relaxed);
  const io::MutexGuard guard(mutex_);
  for (const std::unique_ptr<LoadLane>& lane : more_) {
    const LoadProgress one = lane->progress();
    all.entities += one.entities;
    all.sorted_entities += one.sorted_entities;
    all.bytes += one.bytes;
    all.written_bytes += one.written_bytes;
  }
  return all;
}

}  // namespace varve::engine
