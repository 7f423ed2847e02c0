#include "tools/varve/table/table_copy.h"

#include <memory>

#include "api/doors/copied_ends.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/reach/local_access.h"
#include "tools/varve/session/entity_reader.h"
#include "tools/varve/session/entity_walk.h"
#include "varve/loader.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

Status stopped_copy() {
  return {Code::kCancelled, "stopped by a signal; nothing was copied"};
}

/// Each entity keeps the end that it has. The rule of the source made some of these ends, and knows nothing of the others.
Status add_copy(Loader& loader, const CopiedEnds& ends, const Entity& entity) {
  const Result<std::uint64_t> end = ends.end_of(entity);
  return end.ok() ? CopiedEnds::add(loader, entity, *end) : end.status();
}

Status fill(Loader& loader, const Table& source, const Snapshot& snapshot, const CopiedEnds& ends, Progress& progress) {
  Status added;
  ReadOptions options;
  options.snapshot = snapshot;
  const Status read = for_each_entity(*access_to(source), options, progress, [&](const Entity& entity) {
    added = stop_signal_seen() == 0 ? add_copy(loader, ends, entity) : stopped_copy();
    return added.ok();
  });
  return added.ok() ? read : added;
}

bool is_same(const TableName& a, const TableName& b) {
  return a.account == b.account && lower_case(a.table) == lower_case(b.table);
}

/// Returns whether both tables have the same entities, apart from their Timestamps.
Result<bool> have_same_entities(Store& store, const Table& one, const Table& other) {
  const Result<Snapshot> snapshot = store.snapshot();
  if (!snapshot.ok()) return snapshot.status();
  ReadOptions options;
  options.snapshot = *snapshot;
  const std::unique_ptr<TableAccess> left_table = access_to(one);
  const std::unique_ptr<TableAccess> right_table = access_to(other);
  EntityReader of_one(*left_table, options);
  EntityReader of_other(*right_table, options);
  for (;;) {
    const Result<const Entity*> a = of_one.next();
    if (!a.ok()) return a.status();
    const Result<const Entity*> b = of_other.next();
    if (!b.ok()) return b.status();
    const Entity* const left = *a;
    const Entity* const right = *b;
    if (left == nullptr || right == nullptr) return left == right;
    if (!have_same_values(*left, *right)) return false;
  }
}

}  // namespace

Result<std::uint64_t> copy_table(Store& store, const TableName& from, const TableName& to, Progress& progress) {
  if (is_same(from, to)) return Status::invalid_argument("the names are those of one table, \"" + from.table + "\"");
  if (Status named = check_table_name(to.table); !named.ok()) return named;
  Result<Table> source = store.open_table(from.account, from.table);
  if (!source.ok()) return source.status();
  if (source->write_large_value().ok()) {
    return Status::invalid_argument("the table " + from.table + " may have large values, which are not copied")
        .with_hint("`varve export --contents` and `varve import --contents` take contents to another table");
  }
  const Result<std::optional<TableExpiry>> expiry = store.table_expiry(from.account, from.table);
  if (!expiry.ok()) return expiry.status();
  const Result<std::vector<IndexInfo>> indexes = store.indexes(from.account, from.table);
  if (!indexes.ok()) return indexes.status();
  const Result<Snapshot> snapshot = store.snapshot();
  if (!snapshot.ok()) return snapshot.status();
  const Result<CopiedEnds> ends = CopiedEnds::of(*snapshot, from.account, from.table);
  if (!ends.ok()) return ends.status();
  if (Status made = store.create_account(to.account); !made.ok() && made.code() != Code::kExists) return made;
  const bool was_there = store.open_table(to.account, to.table).ok();
  Result<Loader> loader = store.load_table(to.account, to.table);
  if (!loader.ok()) return loader.status();
  Loader& target = *loader;
  if (Status filled = fill(target, *source, *snapshot, *ends, progress); !filled.ok()) {
    target.abort();
    return filled;
  }
  const Result<ETag> finished = target.finish();
  if (!finished.ok()) return finished.status();
  if (*expiry && !was_there) {
    if (Status set = store.set_table_expiry(to.account, to.table, *expiry); !set.ok()) {
      (void)store.drop_table(to.account, to.table);  // the first failure is the one to report
      return set;
    }
  }
  for (const IndexInfo& index : *indexes) {
    if (index.state == IndexState::kFailed) continue;
    const Status built = store.create_index(to.account, to.table, index.definition);
    if (built.ok()) continue;
    if (was_there) {
      return built.with_hint("the table " + to.table + " has the entities now, and lacks the index " +
                             index.definition.name + "; create it, or delete the entities");
    }
    (void)store.drop_table(to.account, to.table);  // the first failure is the one to report
    return built;
  }
  return target.progress().entities;
}

Result<std::uint64_t> rename_table(Store& store, const TableName& from, const TableName& to, Progress& progress) {
  const bool is_taken = !is_same(from, to) && store.open_table(to.account, to.table).ok();
  if (is_taken)
    return Status::exists("the table " + to.table + " exists already; drop it first, or choose another name");
  Result<std::uint64_t> copied = copy_table(store, from, to, progress);
  if (!copied.ok()) return copied;
  const Result<Table> source = store.open_table(from.account, from.table);
  if (!source.ok()) return source.status();
  const Result<Table> target = store.open_table(to.account, to.table);
  if (!target.ok()) return target.status();
  const Result<bool> same = have_same_entities(store, *source, *target);
  if (!same.ok()) return same.status();
  if (!*same) return Status::corruption("the copy differs from " + from.table + "; both tables stay");
  const Result<std::vector<AccessPolicy>> policies = store.access_policies(from.account, from.table);
  if (!policies.ok()) return policies.status();
  if (!policies->empty()) {
    if (Status set = store.set_access_policies(to.account, to.table, *policies); !set.ok()) return set;
  }
  if (Status dropped = store.drop_table(from.account, from.table); !dropped.ok()) return dropped;
  return copied;
}

}  // namespace varve::tool
