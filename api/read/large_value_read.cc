// Owns: the reads of large values (large_value_read.h).
// Must never: read an entity and its contents at two versions.
#include "api/read/large_value_read.h"

#include <algorithm>
#include <utility>

#include "api/blob/content_rows.h"
#include "api/model/guarded.h"
#include "api/model/large_value_maker.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/read/entity_read.h"
#include "varve/names.h"

namespace varve {

/// Makes readers.
struct LargeValueOpener {
  static LargeValueReader open(const std::shared_ptr<StoreCore>& core, const Snapshot& pinned, format::TableId contents,
                               LargeValue value) {
    core->keep_blobs();
    auto state = std::make_unique<LargeValueReader::State>();
    state->core = core;
    state->pin = std::make_unique<ReaderPin>(core->reader_pins(), pinned);
    state->contents = contents;
    state->value = value;
    return LargeValueReader(std::move(state));
  }
};

LargeValueReader::LargeValueReader(std::unique_ptr<const State> state) noexcept : state_(std::move(state)) {}
LargeValueReader::LargeValueReader(LargeValueReader&&) noexcept = default;
LargeValueReader& LargeValueReader::operator=(LargeValueReader&&) noexcept = default;
LargeValueReader::~LargeValueReader() = default;

LargeValue LargeValueReader::value() const noexcept {
  return state_->value;
}

Result<std::size_t> LargeValueReader::read(std::uint64_t offset, std::span<char> buffer) const {
  return guarded([&]() -> Result<std::size_t> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const std::uint64_t length = state_->value.length();
    if (offset >= length) return std::size_t{0};
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), length - offset));
    const ReaderPin::Use use(*state_->pin);
    const Result<engine::ReadView> view = state_->core->view(use);
    if (!view.ok()) return view.status();
    const Status read = read_plain(*view, state_->contents, state_->value.id(), offset, buffer.first(bytes));
    if (!read.ok()) return read;
    return bytes;
  });
}

Result<std::uint64_t> LargeValueReader::crc64() const {
  return guarded([&]() -> Result<std::uint64_t> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const ReaderPin::Use use(*state_->pin);
    const Result<engine::ReadView> view = state_->core->view(use);
    if (!view.ok()) return view.status();
    const auto found = view->get(content_head_key(state_->contents, state_->value.id()));
    if (!found.ok()) return found.status();
    if (!*found) return Status::corruption("the content of a LargeValue has no head");
    const Result<ContentHead> head = decode_content_head((*found)->value);
    if (!head.ok()) return head.status();
    if (!head->crc64) return Status::corruption("the content of a LargeValue has no CRC-64");
    return *head->crc64;
  });
}

Result<std::optional<OpenedEntity>> read_opened_entity(const GrantedTable& from, std::string_view partition_key,
                                                       std::string_view row_key,
                                                       std::span<const std::string> properties,
                                                       const ReadOptions& options) {
  const std::shared_ptr<StoreCore>& core = from.core;
  ReadOptions at = options;
  if (!at.snapshot) at.snapshot = core->snapshot();
  if (!at.select.empty()) at.select.insert(at.select.end(), properties.begin(), properties.end());
  Result<std::optional<Entity>> found =
      read_entity(*core, from.name, from.entry, from.grant, partition_key, row_key, at);
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<OpenedEntity>();
  const Result<engine::ReadView> view = core->view(at.snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> table = Catalog::resolve_at(*view, from.name);
  if (!table.ok()) return table.status();
  OpenedEntity opened;
  opened.values.resize(properties.size());
  for (std::size_t i = 0; i < properties.size(); ++i) {
    const Value* const value = (*found)->find(properties[i]);
    const LargeValue* const large = value == nullptr ? nullptr : value->get_if<LargeValue>();
    if (large == nullptr) continue;
    opened.values[i] = LargeValueOpener::open(core, *at.snapshot, contents_of(*table), *large);
  }
  opened.entity = *std::move(*found);
  return std::optional<OpenedEntity>(std::move(opened));
}

Result<LargeValueReader> open_large_value(const std::shared_ptr<StoreCore>& core, std::string_view account,
                                          std::uint64_t id) {
  if (!check_account_name(account).ok()) return no_such_account(account);
  const Snapshot pinned = core->snapshot();
  const Result<engine::ReadView> view = core->view(pinned);
  if (!view.ok()) return view.status();
  const Result<std::optional<AccountRow>> owner = Catalog::find_account(*view, account);
  if (!owner.ok()) return owner.status();
  if (!*owner) return no_such_account(account);
  const format::TableId contents = contents_of_account((*owner)->number);
  const auto found = view->get(content_head_key(contents, id));
  if (!found.ok()) return found.status();
  const Result<ContentHead> head = *found ? decode_content_head((*found)->value) : ContentHead();
  if (!head.ok()) return head.status();
  if (head->kind != ContentKind::kValue || head->owners == 0) {
    return service_error::large_value_not_found("no entity of the account owns the content " + std::to_string(id));
  }
  return LargeValueOpener::open(core, pinned, contents, LargeValueMaker::make({id, head->length}));
}

Result<LargeValueReader> open_large_value(const GrantedTable& from, std::string_view partition_key,
                                          std::string_view row_key, std::string_view property,
                                          const ReadOptions& options) {
  const std::string wanted(property);
  Result<std::optional<OpenedEntity>> opened = read_opened_entity(from, partition_key, row_key, {&wanted, 1}, options);
  if (!opened.ok()) return opened.status();
  if (!*opened) {
    return service_error::resource_not_found("the entity " + quoted(partition_key) + ", " + quoted(row_key) +
                                             " does not exist");
  }
  if (std::optional<LargeValueReader>& reader = (*opened)->values.front()) return *std::move(reader);
  return (*opened)->entity.get<LargeValue>(property).status();
}

}  // namespace varve
