#include "tools/varve/transfer/table_transfer.h"

#include <optional>
#include <utility>
#include <vector>

#include "format/keys/sort_key.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/session/entity_reader.h"
#include "tools/varve/session/entity_walk.h"
#include "tools/varve/transfer/batch_writer.h"

namespace varve::tool {

namespace {

/// Visits an entity of the source, of the target, or both if they have the same key. An absent one is null.
using VisitPair = std::function<Status(const Entity* source, const Entity* target)>;

/// Returns a text whose order is the order of keys in every table service.
Result<std::string> order_of(const Entity& entity) {
  return format::encode_sort_key(format::make_table_id(1, 1), entity.partition_key(), entity.row_key());
}

/// An entity that was read and not visited yet.
class Cursor {
 public:
  Cursor(const TableAccess* table, const ReadOptions& options) {
    if (table != nullptr) reader_.emplace(*table, options);
  }
  Status advance() {
    entity_ = nullptr;
    if (!reader_) return Status();
    const Result<const Entity*> next = (*reader_).next();
    if (!next.ok()) return next.status();
    entity_ = *next;
    if (entity_ == nullptr) return Status();
    Result<std::string> order = order_of(*entity_);
    if (!order.ok()) return order.status();
    order_ = *std::move(order);
    return Status();
  }
  const Entity* entity() const noexcept { return entity_; }
  const std::string& order() const noexcept { return order_; }

 private:
  std::optional<EntityReader> reader_;
  const Entity* entity_ = nullptr;
  std::string order_;
};

/// Reads both tables in key order. `target` may be null, for a table that does not exist.
Status for_each_pair(const TableAccess& source, const ReadOptions& source_options, const TableAccess* target,
                     const ReadOptions& target_options, const VisitPair& visit) {
  Cursor left(&source, source_options);
  Cursor right(target, target_options);
  if (Status read = left.advance(); !read.ok()) return read;
  if (Status read = right.advance(); !read.ok()) return read;
  while (left.entity() != nullptr || right.entity() != nullptr) {
    if (stop_signal_seen() != 0) return {Code::kCancelled, "stopped by a signal"};
    const bool has_both = left.entity() != nullptr && right.entity() != nullptr;
    const bool takes_left = right.entity() == nullptr || (has_both && left.order() <= right.order());
    const bool takes_right = left.entity() == nullptr || (has_both && right.order() <= left.order());
    Status visited = visit(takes_left ? left.entity() : nullptr, takes_right ? right.entity() : nullptr);
    if (!visited.ok()) return visited;
    if (takes_left) {
      if (Status read = left.advance(); !read.ok()) return read;
    }
    if (takes_right) {
      if (Status read = right.advance(); !read.ok()) return read;
    }
  }
  return Status();
}

/// The tables of the target: one to read, and one for each thread that writes.
struct Target {
  std::unique_ptr<TableAccess> table;
  std::vector<std::unique_ptr<StoreAccess>> connections;
  std::vector<std::unique_ptr<TableAccess>> of_threads;
};

Result<Target> open_target(const TransferSide& to, const std::string& table, const TransferOptions& options) {
  Target target;
  if (to.store == nullptr) return target;
  Result<std::unique_ptr<TableAccess>> opened =
      options.dry_run ? to.store->open_table(to.account, table) : open_or_make_table(*to.store, to.account, table);
  if (options.dry_run && opened.code() == Code::kNotFound) return target;
  if (!opened.ok()) return opened.status();
  target.table = *std::move(opened);
  for (std::size_t i = 0; i < options.threads && !options.dry_run; ++i) {
    StoreAccess* store = to.store;
    if (to.connect) {
      Result<std::unique_ptr<StoreAccess>> connection = to.connect();
      if (!connection.ok()) return connection.status();
      target.connections.push_back(*std::move(connection));
      store = target.connections.back().get();
    }
    Result<std::unique_ptr<TableAccess>> own = store->open_table(to.account, table);
    if (!own.ok()) return own.status();
    target.of_threads.push_back(*std::move(own));
  }
  return target;
}

bool is_same(const Entity* source, const Entity* target) {
  return source != nullptr && target != nullptr && have_same_values(*source, *target);
}

}  // namespace

Status transfer_table(const TransferSide& from, const TransferSide& to, const std::string& table,
                      const TransferOptions& options, const std::function<void()>& progress, TransferFigures& figures) {
  const Result<std::unique_ptr<TableAccess>> source = from.store->open_table(from.account, table);
  if (!source.ok()) return source.status();
  const Result<ReadOptions> of_source = options_of_present_state(*from.store);
  if (!of_source.ok()) return of_source.status();
  Result<Target> opened = open_target(to, table, options);
  if (!opened.ok()) return opened.status();
  Target& target = *opened;
  Result<ReadOptions> of_target = to.store == nullptr ? ReadOptions() : options_of_present_state(*to.store);
  if (!of_target.ok()) return of_target.status();
  BatchWriter writer(std::move(target.of_threads));
  Status ended = for_each_pair(**source, *of_source, target.table.get(), *of_target,
                               [&](const Entity* entity, const Entity* there) {
                                 if (entity == nullptr) return Status();
                                 ++figures.read;
                                 progress();
                                 if (is_same(entity, there)) return Status();
                                 ++figures.written;
                                 return options.dry_run ? Status() : writer.add(*entity);
                               });
  const Status flushed = writer.flush();
  if (ended.ok()) ended = flushed;
  if (!ended.ok() || options.dry_run) return ended;
  of_target = options_of_present_state(*to.store);
  if (!of_target.ok()) return of_target.status();
  return for_each_pair(**source, *of_source, target.table.get(), *of_target,
                       [&](const Entity* entity, const Entity* there) {
                         if (entity == nullptr) {
                           ++figures.only_in_target;
                         } else if (!is_same(entity, there)) {
                           ++figures.different;
                         }
                         return Status();
                       });
}

}  // namespace varve::tool
