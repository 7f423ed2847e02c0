// Owns: the beginning of a row, and its questions (dead_row.h).
// Must never: ask if no stretch can be known.
#include "engine/read/dead_row.h"

#include <utility>

namespace varve::engine {

void DeadRow::begin_at(std::string_view edge) {
  is_open_ = is_on();
  was_sent_ = true;
  adjoins_ = false;
  keys_ = 0;
  if (is_open_) edge_.assign(edge);
}

bool DeadRow::take(std::string_view key, std::string_view suffix) {
  if (!is_open_) {
    begin_at(key);
    edge_.append(suffix);
    was_sent_ = false;
  }
  return ++keys_ % kKeysBetweenQuestions == 0 || std::exchange(was_sent_, false);
}

std::optional<std::string> DeadRow::end_of(std::string_view key) {
  if (!is_on()) return std::nullopt;
  std::optional<std::string> end = stretches_->end_of(key, moment_);
  was_sent_ = was_sent_ || end.has_value();
  adjoins_ = adjoins_ || end.has_value();
  return end;
}

std::optional<std::string> DeadRow::begin_below(std::string_view key) {
  if (!is_on()) return std::nullopt;
  std::optional<std::string> begin = stretches_->begin_below(key, moment_);
  was_sent_ = was_sent_ || begin.has_value();
  adjoins_ = adjoins_ || begin.has_value();
  return begin;
}

}  // namespace varve::engine
