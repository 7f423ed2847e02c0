// Owns: the joining of boxes (key_boxes.h).
// Must never: recurse, or hold more boxes than kBoxesMax.
#include "api/filter/key_boxes.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "api/model/ascii.h"
#include "format/keys/sort_key.h"
#include "varve/condition.h"

namespace varve {
namespace {

constexpr std::size_t kBoxesMax = 4096;
constexpr std::uint64_t kStepsBase = 64;
constexpr std::uint64_t kStepsOfComparison = 32;
constexpr std::uint64_t kStepsOfBox = 4;
constexpr std::size_t kBytesOfStep = 256;

KeyTexts intersection(const KeyTexts& a, const KeyTexts& b) {
  KeyTexts both;
  both.lower = std::max(a.lower, b.lower);
  both.upper = !a.upper ? b.upper : !b.upper ? a.upper : std::min(*a.upper, *b.upper);
  both.is_point = a.is_point || b.is_point;
  return both;
}

KeyBox intersection(const KeyBox& a, const KeyBox& b) {
  return {intersection(a.partition_keys, b.partition_keys), intersection(a.row_keys, b.row_keys)};
}

/// Returns the smallest interval that contains both.
KeyTexts hull(const KeyTexts& a, const KeyTexts& b) {
  KeyTexts both;
  both.is_point = a.is_point && b.is_point && a.lower == b.lower;
  both.lower = std::min(a.lower, b.lower);
  if (a.upper && b.upper) both.upper = std::max(*a.upper, *b.upper);
  return both;
}

/// Returns the empty text, which sorts first.
std::string lowest_text() {
  std::string encoded;
  const Status appended = format::append_text(encoded, {});
  return appended.ok() ? encoded : std::string();
}

/// Returns the texts for which the comparison with the literal is true, or nothing if there are none.
std::optional<KeyTexts> texts_of(CompareOperator compare, const Value& literal) {
  const auto* const text = literal.get_if<std::string>();
  if (text == nullptr) {  // A key is a String, and less than a literal of another type.
    const bool always = compare == CompareOperator::kNotEqual || compare == CompareOperator::kLess ||
                        compare == CompareOperator::kLessOrEqual;
    return always ? std::optional<KeyTexts>(KeyTexts()) : std::nullopt;
  }
  std::string encoded;
  const Status appended = format::append_text(encoded, *text);
  if (!appended.ok()) return KeyTexts();  // Cannot happen: the filter is valid UTF-8.
  const std::string behind = format::end_of_prefix(encoded);
  switch (compare) {
    case CompareOperator::kEqual: return KeyTexts{encoded, behind, true};
    case CompareOperator::kNotEqual: return KeyTexts();
    case CompareOperator::kGreater: return KeyTexts{behind, std::nullopt, false};
    case CompareOperator::kGreaterOrEqual: return KeyTexts{encoded, std::nullopt, false};
    case CompareOperator::kLess: return KeyTexts{lowest_text(), encoded, false};
    case CompareOperator::kLessOrEqual: return KeyTexts{lowest_text(), behind, false};
  }
  return KeyTexts();
}

/// Returns the texts that begin with a prefix. Their end is a text too, so that explain() can show it.
KeyTexts texts_with_prefix(std::string_view prefix) {
  KeyTexts texts;
  const std::string end = prefix_successor(prefix);
  std::string upper;
  // Cannot fail: the filter is valid UTF-8.
  if (!format::append_text_prefix(texts.lower, prefix).ok() || !format::append_text_prefix(upper, end).ok())
    return KeyTexts();
  if (!end.empty()) texts.upper = std::move(upper);
  return texts;
}

/// Returns the texts from the one in upper case to the one in lower case. Every other letter case of the text lies
/// between them, because A to Z come before a to z.
KeyTexts texts_of_any_case(std::string_view text) {
  std::string lower(text);
  std::string upper(text);
  std::transform(text.begin(), text.end(), lower.begin(), ascii_lower);
  std::transform(text.begin(), text.end(), upper.begin(), ascii_upper);
  KeyTexts texts;
  std::string last;
  if (!format::append_text(texts.lower, upper).ok() || !format::append_text(last, lower).ok()) return KeyTexts();
  texts.is_point = lower == upper;
  texts.upper = format::end_of_prefix(last);
  return texts;
}

/// Returns one point for each text of a list. A key equals no literal of another type.
std::vector<KeyTexts> texts_of(const ValueList& list) {
  std::vector<KeyTexts> all;
  for (const Value& text : list.of_type(PropertyType::kString)) {
    if (auto texts = texts_of(CompareOperator::kEqual, text)) all.push_back(*std::move(texts));
  }
  return all;
}

/// Returns intervals that hold every text for which the comparison is true.
std::vector<KeyTexts> texts_of(const Comparison& comparison) {
  switch (comparison.kind) {
    case Comparison::Kind::kLiteral: {
      std::optional<KeyTexts> texts = texts_of(comparison.compare, comparison.literal);
      if (!texts) return {};
      return {*std::move(texts)};
    }
    case Comparison::Kind::kList: return texts_of(*comparison.list);
    case Comparison::Kind::kStartsWith: return {texts_with_prefix(comparison.text())};
    case Comparison::Kind::kEqualsIgnoringCase: return {texts_of_any_case(comparison.text())};
    case Comparison::Kind::kProperty:
    case Comparison::Kind::kEndsWith:
    case Comparison::Kind::kContains:
    case Comparison::Kind::kExists: break;
  }
  return {KeyTexts()};
}

/// Returns true if the intervals hold no text for which the comparison is false.
bool is_exact_for_keys(const Comparison& comparison) noexcept {
  switch (comparison.kind) {
    case Comparison::Kind::kLiteral:
      return comparison.compare != CompareOperator::kNotEqual || comparison.literal.get_if<std::string>() == nullptr;
    case Comparison::Kind::kList:
    case Comparison::Kind::kStartsWith:
    case Comparison::Kind::kExists: return true;
    default: return false;
  }
}

std::vector<KeyBox> boxes_of(const Comparison& comparison) {
  if (comparison.subject == Comparison::Subject::kTimestamp || comparison.subject == Comparison::Subject::kCustom) {
    return {KeyBox()};
  }
  std::vector<KeyBox> boxes;
  for (KeyTexts& texts : texts_of(comparison)) {
    if (texts.is_empty()) continue;
    KeyBox& box = boxes.emplace_back();
    (comparison.subject == Comparison::Subject::kPartitionKey ? box.partition_keys : box.row_keys) = std::move(texts);
  }
  return boxes;
}

std::size_t bytes_of(const KeyTexts& texts) noexcept {
  return texts.lower.size() + (texts.upper ? texts.upper->size() : 0);
}

/// Returns the effort of making one box from each of these, in steps.
std::uint64_t steps_for(const std::vector<KeyBox>& boxes) noexcept {
  std::uint64_t steps = 0;
  for (const KeyBox& box : boxes)
    steps += kStepsOfBox + (bytes_of(box.partition_keys) + bytes_of(box.row_keys)) / kBytesOfStep;
  return steps;
}

/// Returns one box that contains all of these. There must be at least one.
KeyBox hull(const std::vector<KeyBox>& boxes, PlanEffort& effort) {
  effort.count(boxes.size());
  KeyBox all = boxes.front();
  for (const KeyBox& box : boxes) {
    all.partition_keys = hull(all.partition_keys, box.partition_keys);
    all.row_keys = hull(all.row_keys, box.row_keys);
  }
  return all;
}

std::vector<KeyBox> crossed(const std::vector<KeyBox>& a, const std::vector<KeyBox>& b) {
  std::vector<KeyBox> both;
  for (const KeyBox& of_a : a) {
    for (const KeyBox& of_b : b) {
      KeyBox box = intersection(of_a, of_b);
      if (!box.is_empty()) both.push_back(std::move(box));
    }
  }
  return both;
}

}  // namespace

PlanEffort::PlanEffort(std::size_t comparisons) noexcept
    : left_(kStepsBase + kStepsOfComparison * comparisons * static_cast<std::uint64_t>(std::bit_width(comparisons))) {}

bool PlanEffort::spend(std::uint64_t steps) noexcept {
  if (steps > left_) return false;
  left_ -= steps;
  spent_ += steps;
  return true;
}

KeyCover cover_of(const Comparison& comparison) {
  const bool is_key =
      comparison.subject == Comparison::Subject::kPartitionKey || comparison.subject == Comparison::Subject::kRowKey;
  KeyCover cover;
  cover.boxes = boxes_of(comparison);
  cover.is_exact = is_key && is_exact_for_keys(comparison);
  cover.names_row_keys = comparison.subject == Comparison::Subject::kRowKey;
  return cover;
}

/// Appends all boxes to the largest set. So if unions are nested, a box moves only when its set at least doubles.
KeyCover union_of(std::vector<KeyCover> covers, PlanEffort& effort) {
  KeyCover all;
  all.is_exact = true;
  std::size_t boxes = 0;
  std::size_t largest = 0;
  bool is_everything = false;
  effort.count(covers.size());
  for (std::size_t i = 0; i < covers.size(); ++i) {
    all.is_exact = all.is_exact && covers[i].is_exact;
    all.names_row_keys = all.names_row_keys || covers[i].names_row_keys;
    is_everything = is_everything || covers[i].is_everything();
    boxes += covers[i].boxes.size();
    if (covers[i].boxes.size() > covers[largest].boxes.size()) largest = i;
  }
  if (is_everything) return all;
  const bool is_hull = boxes > kBoxesMax || !effort.spend(boxes - covers[largest].boxes.size());
  all.boxes = std::move(covers[largest].boxes);
  if (is_hull) all.boxes = {hull(all.boxes, effort)};
  for (std::size_t i = 0; i < covers.size(); ++i) {
    std::vector<KeyBox>& more = covers[i].boxes;
    if (i == largest || more.empty()) continue;
    if (is_hull) {
      all.boxes = {hull({all.boxes.front(), hull(more, effort)}, effort)};
    } else {
      all.boxes.insert(all.boxes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
  }
  all.is_exact = all.is_exact && !is_hull;
  return all;
}

/// Intersects single boxes first, then sets in order of size. So each step leaves as few boxes as possible.
KeyCover intersection_of(std::vector<KeyCover> covers, std::vector<bool>& left_out, PlanEffort& effort) {
  left_out.assign(covers.size(), false);
  KeyCover both;
  both.is_exact = true;
  std::vector<std::size_t> several;
  for (std::size_t i = 0; i < covers.size(); ++i) {
    both.is_exact = both.is_exact && covers[i].is_exact;
    both.names_row_keys = both.names_row_keys || covers[i].names_row_keys;
    effort.count(1);
    if (covers[i].boxes.size() > 1) {
      several.push_back(i);
    } else if (both.boxes.empty() || covers[i].boxes.empty()) {
      both.boxes.clear();
    } else if (!covers[i].is_everything()) {
      both.boxes.front() = intersection(both.boxes.front(), covers[i].boxes.front());
      if (both.boxes.front().is_empty()) both.boxes.clear();
    }
  }
  std::sort(several.begin(), several.end(), [&](std::size_t a, std::size_t b) {
    effort.count(1);
    return covers[a].boxes.size() < covers[b].boxes.size();
  });
  for (const std::size_t i : several) {
    if (both.boxes.empty()) break;
    if (both.is_everything()) {
      both.boxes = std::move(covers[i].boxes);
      continue;
    }
    const bool fits =
        both.boxes.size() * covers[i].boxes.size() <= kBoxesMax &&
        effort.spend(both.boxes.size() * steps_for(covers[i].boxes) + covers[i].boxes.size() * steps_for(both.boxes));
    left_out[i] = !fits;
    both.is_exact = both.is_exact && fits;
    if (fits) both.boxes = crossed(both.boxes, covers[i].boxes);
  }
  return both;
}

}  // namespace varve
