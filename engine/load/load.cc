// Owns: the stages of a load (load.h).
// Must never: remove a file that the manifest may name.
#include "engine/load/load.h"

#include <cassert>
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

}  // namespace

Load::Load(const LoadParts& parts, const LoadOptions& options) : parts_(parts), options_(options) {
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

/// Uses the options of the last level, because nearly all loaded data stays there.
Status Load::begin_files() {
  Result<std::unique_ptr<WriteBehind>> files =
      WriteBehind::start(sink(), table_options(kLastLevel), options_, version_);
  if (!files.ok()) return files.status();
  files_ = *std::move(files);
  return Status();
}

Status Load::check_open() const {
  if (!failure_.ok()) return failure_;
  if (stage_ == Stage::kEnded) return Status(Code::kClosed, "the load has ended");
  if (parts_.closed.load(std::memory_order_relaxed))
    return Status(Code::kClosed, "the store was closed; open it again");
  return Status();
}

/// Keeps the first error, and removes the files at once, because a full disk needs their space.
Status Load::fail(const Status& status) noexcept {
  failure_ = status;
  abandon();
  return failure_;
}

Status Load::add(std::string_view sort_key, std::string_view value) {
  if (Status open = check_open(); !open.ok()) return open;
  assert(stage_ == Stage::kAdding);
  assert(format::table_id_of(sort_key) == table_);
  try {
    if (Status added = add_checked(sort_key, value); !added.ok()) return fail(added);
  } catch (const std::bad_alloc&) {
    return fail(Status::out_of_memory());
  }
  ++progress_.entities;
  progress_.bytes += sort_key.size() + value.size();
  return Status();
}

Status Load::add_checked(std::string_view sort_key, std::string_view value) {
  if (!sorter_) {
    if (!files_) {
      if (Status begun = begin_files(); !begun.ok()) return begun;
    }
    const bool in_order = progress_.entities == 0 || files_->compare_with_last(sort_key) <= 0;
    if (in_order) return files_->add(sort_key, value);
    if (Status begun = begin_sorting(); !begun.ok()) return begun;
  }
  ++progress_.sorted_entities;
  return sorter_->add(sort_key, value);
}

Status Load::begin_sorting() {
  sorter_ = std::make_unique<Sorter>(sink(), parts_.table_files, options_, version_);
  Result<std::vector<format::TableFileEntry>> row = files_->finish();
  if (!row.ok()) return row.status();
  count_written(files_->written_bytes());
  files_.reset();
  sorter_->take_row(*std::move(row));
  return Status();
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

Result<std::vector<format::TableFileEntry>> Load::finish_files() {
  if (!files_ && !sorter_) return std::vector<format::TableFileEntry>();
  if (sorter_) {
    if (Status begun = begin_files(); !begun.ok()) return begun;
    if (Status merged = sorter_->merge_into(*files_); !merged.ok()) return merged;
    count_written(sorter_->written_bytes());
    sorter_.reset();
  }
  Result<std::vector<format::TableFileEntry>> files = files_->finish();
  count_written(files_->written_bytes());
  files_.reset();
  return files;
}

Status Load::install_files(std::vector<format::TableFileEntry> files) {
  format::ManifestEdit edit;
  edit.added_loading_ids = {table_};
  edit.added_tables = std::move(files);
  Status installed;
  try {
    for (int attempt = 1; attempt <= kInstallAttempts; ++attempt) {
      installed = parts_.tree.install(edit);
      if (installed.code() != Code::kBusy || attempt == kInstallAttempts) break;
      if (Status compacted = parts_.compactor.wait_until_done(); !compacted.ok()) break;
    }
  } catch (const std::bad_alloc&) {
    installed = Status::out_of_memory();  // Before the edit; from the edit on, the tree returns errors itself.
  }
  if (installed.ok()) return installed;
  // If the store has stopped, the manifest may name the files.
  if (parts_.queue.health() != Health::kPoisoned) parts_.table_files.discard(edit.added_tables);
  return installed;
}

void Load::end(const Status& committed) noexcept {
  switch (committed.code()) {
    case Code::kOk:
      parts_.counters.loads.fetch_add(1, std::memory_order_relaxed);
      parts_.counters.entries.fetch_add(progress_.entities, std::memory_order_relaxed);
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
  if (sorter_) count_written(sorter_->written_bytes());
  if (files_) count_written(files_->written_bytes());
  sorter_.reset();
  files_.reset();
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

void Load::count_written(std::uint64_t bytes) noexcept {
  progress_.written_bytes += bytes;
  parts_.counters.written_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

LoadProgress Load::progress() const noexcept {
  LoadProgress progress = progress_;
  if (files_) progress.written_bytes += files_->written_bytes();
  if (sorter_) progress.written_bytes += sorter_->written_bytes();
  return progress;
}

}  // namespace varve::engine
