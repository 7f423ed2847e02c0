// Owns: the search for the next row that can be read (row_walk.h).
// Must never: try without an end: each try reads a block.
#include "api/blob/row_walk.h"

#include <algorithm>
#include <utility>

namespace varve {
namespace {

/// Keys that are tried to get past a block. Each try halves the range of keys that may be in it.
constexpr int kTriesPastABlock = 512;

bool hides_rows(const Status& status) noexcept {
  return status.code() == Code::kCorruption || status.code() == Code::kUnsupported;
}

/// Returns the text in the middle of two texts, which are taken as fractions of base 256.
std::string middle_of(const std::string& low, const std::string& high) {
  const std::size_t size = std::max(low.size(), high.size()) + 1;
  const auto digit = [](const std::string& text, std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  std::string middle(size, '\0');
  unsigned int carry = 0;
  for (std::size_t i = size; i-- > 0;) {
    const unsigned int sum = digit(low, i) + digit(high, i) + carry;
    middle[i] = static_cast<char>(sum & 0xFFU);
    carry = sum >> 8;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const unsigned int present = carry * 256 + digit(middle, i);
    middle[i] = static_cast<char>(present / 2);
    carry = present & 1U;
  }
  middle.erase(middle.find_last_not_of('\0') + 1);
  return middle;
}

}  // namespace

RowWalk::RowWalk(const engine::ReadView& view, std::string_view from, std::string_view end, bool values_stay)
    : view_(view), end_(end), values_stay_(values_stay), last_(from) {
  begin_at(from);
  if (!valid()) pass_damage();
}

void RowWalk::next() {
  last_.assign(cursor_->key());
  cursor_->next();
  if (!valid()) pass_damage();
}

void RowWalk::begin_at(std::string_view from) {
  cursor_.emplace(view_.cursor(from, end_));
  if (values_stay_) cursor_->leave_values();
  cursor_->seek_to_first();
}

void RowWalk::pass_damage() {
  while (!valid() && !cursor_->status().ok()) {
    if (failure_.ok()) failure_ = cursor_->status();
    if (!hides_rows(cursor_->status())) return;
    if (!cursor_->unread_key().empty()) {
      last_.assign(cursor_->unread_key()).push_back('\0');
      begin_at(last_);
      continue;
    }
    if (!pass_block()) return;
  }
}

bool RowWalk::pass_block() {
  std::string low = last_;
  std::string high = end_;
  for (int tries = 0; tries < kTriesPastABlock; ++tries) {
    std::string middle = middle_of(low, high);
    if (middle <= low || middle >= high) break;
    begin_at(middle);
    const bool is_hidden = !valid() && hides_rows(cursor_->status()) && cursor_->unread_key().empty();
    (is_hidden ? low : high) = std::move(middle);
  }
  if (high == end_) return false;  // The last try failed too, so the walk has ended.
  last_ = std::move(high);
  begin_at(last_);
  return true;
}

}  // namespace varve
