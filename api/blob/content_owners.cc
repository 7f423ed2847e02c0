// Owns: the count of owners (content_owners.h).
// Must never: count a change twice.
#include "api/blob/content_owners.h"

#include <algorithm>
#include <cassert>

#include "api/catalog/work_rows.h"

namespace varve {
namespace {

constexpr std::uint64_t kPartsAtOnce = 64;

void remove_plain(format::TableId contents, ContentId content, std::uint64_t length, format::BatchBuilder& batch) {
  batch.remove(content_head_key(contents, content));
  batch.let_go_of(length);
  for (std::uint64_t offset = 0; offset < length; offset += kPartBytes) {
    batch.remove(content_part_key(contents, content, offset));
  }
}

}  // namespace

ContentOwners::ContentOwners(format::TableId contents, std::vector<ContentId> planned)
    : contents_(contents), planned_(std::move(planned)) {
  std::sort(planned_.begin(), planned_.end());
  planned_.erase(std::unique(planned_.begin(), planned_.end()), planned_.end());
  keys_.reserve(planned_.size());
  for (const ContentId content : planned_) keys_.push_back(content_head_key(contents_, content));
}

bool ContentOwners::is_planned(ContentId content) const noexcept {
  return std::binary_search(planned_.begin(), planned_.end(), content);
}

std::size_t ContentOwners::place_of(ContentId content) const noexcept {
  const auto planned = std::lower_bound(planned_.begin(), planned_.end(), content);
  assert(planned != planned_.end() && *planned == content);
  return static_cast<std::size_t>(planned - planned_.begin());
}

Result<bool> ContentOwners::settle(std::span<const engine::Newest> heads, format::BatchBuilder& batch) {
  bool has_work = false;
  for (const auto& [content, change] : changes_) {
    if (change == 0) continue;
    const engine::Newest& state = head_of(content, heads);
    if (!state.value && change < 0) continue;  // What a removal lets go of is gone already.
    if (!state.value) return Status::corruption("a content that a blob names is missing");
    Result<ContentHead> head = decode_content_head(*state.value);
    if (!head.ok()) return head.status();
    const std::int64_t owners = static_cast<std::int64_t>(head->owners) + change;
    if (owners < 0 || owners > INT32_MAX) return Status::corruption("a content has fewer owners than name it");
    head->owners = static_cast<std::uint32_t>(owners);
    const bool is_plain = head->kind == ContentKind::kPlain || head->kind == ContentKind::kValue;
    const bool leaves_at_once = owners == 0 && is_plain && head->length <= kPartsAtOnce * kPartBytes;
    if (leaves_at_once) {
      remove_plain(contents_, content, head->length, batch);
      continue;
    }
    batch.put(content_head_key(contents_, content), encode_content_head(*head));
    if (owners > 0) continue;
    batch.put(work_key({WorkKind::kLeaving, content, format::account_of(contents_)}), encode_work());
    has_work = true;
  }
  return has_work;
}

}  // namespace varve
