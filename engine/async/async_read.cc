// Owns: counting the searches of one read (async_read.h).
// Must never: search tables for a key that a memtable has.
#include "engine/async/async_read.h"

#include <new>
#include <utility>

#include "engine/engine_state.h"
#include "engine/levels/levels.h"

namespace varve::engine {

class AsyncRead::KeySearch final : public SearchStep {
 public:
  KeySearch(AsyncRead& read, std::size_t place, const Levels& levels, std::string_view sort_key, CommitVersion at_most,
            EntryPart part)
      : SearchStep(levels, sort_key, at_most, part), place_(place), read_(read) {}

  std::size_t place() const noexcept { return place_; }
  /// Returns true if no read is needed.
  bool look(BlockReader& blocks) noexcept {
    has_ended_ = try_now(blocks);
    return has_ended_;
  }
  bool has_ended() const noexcept { return has_ended_; }
  void run() noexcept override {
    if (--read_.under_way_ == 0) read_.end_->run();
  }

 private:
  const std::size_t place_;
  AsyncRead& read_;
  bool has_ended_ = false;
};

AsyncRead::AsyncRead(Executor& executor, const ReadView& view) noexcept : executor_(executor), view_(view) {}

AsyncRead::~AsyncRead() = default;

Result<bool> AsyncRead::look(std::span<const std::string_view> sort_keys, CommitVersion at_most, EntryPart part) {
  const ReadState& state = *view_.pin_;
  is_answer_ = at_most != format::kCommitVersionMax;
  try {
    found_.resize(sort_keys.size());
    for (std::size_t place = 0; place < sort_keys.size(); ++place) {
      found_[place] = read_memtables(state, sort_keys[place], at_most);
      if (found_[place] || state.tables->file_count() == 0) continue;
      KeySearch& search = *searches_.emplace_back(
          std::make_unique<KeySearch>(*this, place, *state.tables, sort_keys[place], at_most, part));
      if (!search.look(*view_.state_->blocks)) ++under_way_;
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  return under_way_ == 0;
}

void AsyncRead::begin(Step& end) noexcept {
  end_ = &end;
  for (const std::unique_ptr<KeySearch>& search : searches_) {
    if (!search->has_ended()) executor_.begin(*search);
  }
}

Result<std::vector<std::optional<FoundEntry>>> AsyncRead::take() {
  if (is_answer_) {
    if (Status fresh = view_.may_answer(); !fresh.ok()) return fresh;
  }
  for (const std::unique_ptr<KeySearch>& search : searches_) {
    Result<std::optional<FoundEntry>> entry = search->take();
    if (!entry.ok()) return entry.status();
    found_[search->place()] = *std::move(entry);
  }
  return std::move(found_);
}

}  // namespace varve::engine
