// Owns: the length of a list, and its end (places_ahead.h).
// Must never: keep memory for a list that has ended.
#include "api/queue/places_ahead.h"

#include <algorithm>
#include <utility>

namespace varve {

PlacesAhead::Making PlacesAhead::begin() noexcept {
  if (!is_empty() || (making_ != 0 && ++beside_ <= kBesideMax)) return {};
  if (size_ == 0) {
    size_ = kFew;
    return {};
  }
  if (rest_left_ > 0) {
    --rest_left_;
    return {};
  }
  making_ = ++makings_;
  beside_ = 0;
  least_noted_ = std::numeric_limits<Ticks>::max();
  return {making_, size_};
}

void PlacesAhead::give_up(const Making& making) noexcept {
  if (making.number == making_) making_ = 0;
}

void PlacesAhead::end(const Making& making, std::vector<TimedPlace> places, engine::CommitVersion version) noexcept {
  if (making.number != making_) return;
  making_ = 0;
  rest_ = places.empty() ? std::min(2 * rest_ + 1, kRestMax) : 0;
  rest_left_ = rest_;
  if (places.size() >= size_) size_ = std::min(2 * size_, kMany);
  const auto is_sure = [this](const TimedPlace& place) { return place.time < least_noted_; };
  places.erase(std::find_if_not(places.begin(), places.end(), is_sure), places.end());
  places_ = std::move(places);
  next_ = 0;
  version_ = version;
}

void PlacesAhead::note(Ticks visible) noexcept {
  least_noted_ = std::min(least_noted_, visible);
  if (!is_empty() && visible <= places_.back().time) clear();
}

const TimedPlace* PlacesAhead::first(engine::CommitVersion version, Ticks now) const noexcept {
  if (is_empty() || version < version_ || places_[next_].time > now) return nullptr;
  return &places_[next_];
}

void PlacesAhead::pop() noexcept {
  if (++next_ == places_.size()) clear();
}

void PlacesAhead::pass(Sequence sequence) noexcept {
  if (!is_empty() && places_[next_].sequence == sequence) pop();
}

void PlacesAhead::clear() noexcept {
  std::vector<TimedPlace>().swap(places_);
  next_ = 0;
}

}  // namespace varve
