// Owns: the merge of several queries (merged_cursor.h).
// Must never: return an entity while another query may have a smaller one.
#include "varve/merged_cursor.h"

#include <algorithm>
#include <string_view>

#include "varve/limits.h"

namespace varve {
namespace {

/// Compares two UTF-8 texts in the order of UTF-16 code units. In this order, characters above U+FFFF (lead
/// bytes from F0) come before U+E000 to U+FFFF (lead bytes EE and EF).
int compare_texts(std::string_view a, std::string_view b) {
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (differ.first == a.end() || differ.second == b.end()) {
    return differ.first == a.end() ? (differ.second == b.end() ? 0 : -1) : 1;
  }
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0xEE || byte == 0xEF ? byte + 0x10U : byte;
  };
  return rank(*differ.first) < rank(*differ.second) ? -1 : 1;
}

bool is_before(const Entity& a, const Entity& b, MergeOrder order) {
  const int by_row = compare_texts(a.row_key(), b.row_key());
  const int by_partition = compare_texts(a.partition_key(), b.partition_key());
  const int first = order == MergeOrder::kKey ? by_partition : by_row;
  return first != 0 ? first < 0 : (order == MergeOrder::kKey ? by_row : by_partition) < 0;
}

}  // namespace

MergedPages::MergedPages(std::vector<PageCursor> sources, Options options) : options_(std::move(options)) {
  sources_.reserve(sources.size());
  for (PageCursor& pages : sources) sources_.push_back(Source{std::move(pages), {}, 0, false, Status()});
  options_.pages_ahead = std::max<std::size_t>(options_.pages_ahead, 1);
}

void MergedPages::read_ahead(Source& source) const {
  while (!source.ended && source.ahead.size() < options_.pages_ahead) {
    Result<std::optional<Page>> page = source.pages.next();
    if (!page.ok()) source.error = page.status();
    source.ended = !page.ok() || !page->has_value();
    if (!source.ended && !(*page)->entities.empty()) source.ahead.push_back(std::move((*page)->entities));
  }
}

Status MergedPages::fill() {
  std::vector<std::function<void()>> tasks;
  for (Source& source : sources_) {
    if (source.ended || source.ahead.size() >= options_.pages_ahead) continue;
    tasks.emplace_back([this, &source] { read_ahead(source); });
  }
  if (options_.run_all) {
    options_.run_all(tasks);
  } else {
    for (const std::function<void()>& task : tasks) task();
  }
  for (const Source& source : sources_) {
    if (!source.error.ok()) return source.error;
  }
  return Status();
}

MergedPages::Source* MergedPages::smallest() {
  Source* found = nullptr;
  for (Source& source : sources_) {
    if (source.ahead.empty()) continue;
    if (found == nullptr ||
        is_before(source.ahead.front()[source.at], found->ahead.front()[found->at], options_.order)) {
      found = &source;
    }
  }
  return found;
}

Result<std::optional<Page>> MergedPages::next() {
  Page page;
  while (!ended_ && page.entities.size() < limits::kPageEntitiesMax && options_.take > 0) {
    const bool wanting = std::any_of(sources_.begin(), sources_.end(),
                                     [](const Source& source) { return source.ahead.empty() && !source.ended; });
    if (wanting && !page.entities.empty()) break;  // nothing is read before it is needed
    if (wanting) {
      if (Status filled = fill(); !filled.ok()) {
        ended_ = true;
        return filled;
      }
    }
    Source* const source = smallest();
    if (source == nullptr) break;
    page.entities.push_back(std::move(source->ahead.front()[source->at++]));
    if (options_.take != PageCursor::kNoLimit) --options_.take;
    if (source->at == source->ahead.front().size()) {
      source->ahead.pop_front();
      source->at = 0;
    }
  }
  ended_ = page.entities.empty();
  if (ended_) return std::optional<Page>();
  return std::optional<Page>(std::move(page));
}

PageCost MergedPages::cost() const {
  PageCost all;
  for (const Source& source : sources_) all += source.pages.cost();
  return all;
}

}  // namespace varve
