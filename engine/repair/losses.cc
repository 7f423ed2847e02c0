// Owns: finding the losses that affect a row (losses.h).
// Must never: examine a loss again that ends before the present keys.
#include "engine/repair/losses.h"

#include <utility>

namespace varve::engine {

void Losses::add(Loss loss) {
  open_.reserve(open_.size() + 1);
  all_.push_back(std::move(loss));
  open_.push_back(all_.size() - 1);
}

// Separate from the template below, because Clang 14 cannot compare strings there.
void Losses::close_those_before(std::string_view key) {
  std::erase_if(open_, [&](std::size_t at) { return all_[at].largest_key && *all_[at].largest_key < key; });
}

template <typename Visit>
bool Losses::visit_hiding(std::string_view key, CommitVersion version, const Visit& visit) {
  close_those_before(key);
  bool hides = false;
  for (const std::size_t at : open_) {
    Loss& loss = all_[at];
    if (!loss.covers(key) || loss.largest_version <= version) continue;
    hides = true;
    visit(loss);
  }
  return hides;
}

bool Losses::may_hide(std::string_view key, CommitVersion version) {
  return visit_hiding(key, version, [](Loss&) {});
}

bool Losses::count_row(std::string_view key, CommitVersion version) {
  return visit_hiding(key, version, [](Loss& loss) { ++loss.rows_possibly_stale; });
}

}  // namespace varve::engine
