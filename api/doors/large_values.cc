// Owns: the writer of a large value (large_value.h), and the verbs of a table that begin and open large values.
// Must never: let an entity name a content before all of it was added.
#include <utility>

#include "api/core/table_state.h"
#include "api/model/guarded.h"
#include "api/model/large_value_maker.h"
#include "api/model/service_error.h"
#include "api/read/large_value_read.h"
#include "api/write/content_writer.h"
#include "format/bytes/crc64.h"
#include "varve/large_value.h"
#include "varve/store.h"
#include "varve/table.h"

namespace varve {

struct VARVE_LOCAL LargeValueWriter::State {
  State(std::shared_ptr<StoreCore> store, format::TableId table)
      : core(std::move(store)),
        content(std::make_shared<ContentWriter>(core, table, ContentWriter::Inline::kNo, ContentKind::kValue)) {}

  const std::shared_ptr<StoreCore> core;
  const std::shared_ptr<ContentWriter> content;
  std::optional<LargeValue> finished{};
};

LargeValueWriter::LargeValueWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
LargeValueWriter::LargeValueWriter(LargeValueWriter&&) noexcept = default;
LargeValueWriter& LargeValueWriter::operator=(LargeValueWriter&&) noexcept = default;
LargeValueWriter::~LargeValueWriter() = default;

Status LargeValueWriter::append(std::string_view bytes) {
  return guarded([&]() -> Status {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (state_->finished) return service_error::invalid_input("the content is finished; begin another one");
    if (Status added = state_->content->append(bytes); !added.ok()) return added;
    return Status();
  });
}

std::uint64_t LargeValueWriter::length() const noexcept {
  return state_->content->length();
}

Result<LargeValue> LargeValueWriter::finish() {
  return guarded([&]() -> Result<LargeValue> {
    if (Status writable = state_->core->check_writable(); !writable.ok()) return writable;
    if (state_->finished) return *state_->finished;
    ContentWriter& content = *state_->content;
    if (Status whole = content.check(); !whole.ok()) return whole;
    content.end();
    if (Status whole = content.check(); !whole.ok()) return whole;
    ContentWriter::offer(state_->content);
    state_->finished = LargeValueMaker::make({content.piece().content, content.length()});
    return *state_->finished;
  });
}

Result<LargeValueWriter> Table::write_large_value() {
  return guarded([&]() -> Result<LargeValueWriter> {
    StoreCore& core = *state_->core;
    if (Status writable = core.check_writable(); !writable.ok()) return writable;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    if (Status allowed = granted->check_write_content(); !allowed.ok()) return allowed;
    const Result<format::TableId> table = core.catalog().resolve_for_write(state_->name, *state_->entry);
    if (!table.ok()) return table.status();
    if (!has_large_values(*table)) {
      return service_error::invalid_input(
          "the table cannot have large values; create it with TableOptions::has_large_values");
    }
    core.keep_blobs();
    return LargeValueWriter(std::make_unique<LargeValueWriter::State>(state_->core, *table));
  });
}

Result<LargeValueReader> Table::open_large_value(std::string_view partition_key, std::string_view row_key,
                                                 std::string_view property, const ReadOptions& options) const {
  return guarded([&]() -> Result<LargeValueReader> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return varve::open_large_value({state_->core, state_->name, *state_->entry, *granted}, partition_key, row_key,
                                   property, options);
  });
}

Result<std::optional<OpenedEntity>> Table::get_opened(std::string_view partition_key, std::string_view row_key,
                                                      std::span<const std::string> properties,
                                                      const ReadOptions& options) const {
  return guarded([&]() -> Result<std::optional<OpenedEntity>> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    const Result<Grant> granted = state_->grant();
    if (!granted.ok()) return granted.status();
    return read_opened_entity({state_->core, state_->name, *state_->entry, *granted}, partition_key, row_key,
                              properties, options);
  });
}

Result<LargeValueReader> Store::open_large_value(std::string_view account, std::uint64_t id) const {
  return guarded([&]() -> Result<LargeValueReader> {
    if (Status open = core_->check_open(); !open.ok()) return open;
    return varve::open_large_value(core_, account, id);
  });
}

}  // namespace varve
