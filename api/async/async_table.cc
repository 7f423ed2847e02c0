// Owns: the operations of a table, in steps that end where the operation would wait (async.h).
// Must never: refuse or change anything that the operation of the same name on Table would not. Both consist of the
// same steps (entity_read.h, entity_write.h).
#include <span>
#include <type_traits>
#include <utility>

#include "api/async/async_call.h"
#include "api/async/owned_options.h"
#include "api/commit/commit.h"
#include "api/core/table_state.h"
#include "api/model/guarded.h"
#include "api/read/aggregation_state.h"
#include "api/read/entity_read.h"
#include "api/read/row_listing.h"
#include "api/read/scan_read.h"
#include "api/write/entity_change.h"
#include "api/write/entity_write.h"
#include "varve/async.h"
#include "varve/version.h"

namespace varve {

/// The operations as coroutines on the shared state of the handle. The handle itself may be gone before they end.
struct VARVE_LOCAL AsyncTable::Verbs {
  using Found = Result<std::vector<std::optional<Entity>>>;

  /// The arguments that every operation has.
  struct Called {
    Called(const AsyncTable& on, std::stop_token with_stop)
        : state(on.table_.state_), stop(std::move(with_stop)), home(on.home_) {}
    std::shared_ptr<const Table::State> state;
    std::stop_token stop;
    HomeThread* home;
  };
  static AsyncCall call_of(Called& called) {
    return AsyncCall(called.state->core, std::move(called.stop), called.home);
  }

  /// Makes an operation end on the home thread. Most operations end there already.
  template <typename T>
  static Task<T> ending_at_home(const AsyncTable& table, Task<T> verb) {
    if (table.home_ == nullptr) return verb;
    return at_home(table.home_, std::move(verb));
  }

  /// `co_await RulesAsked(call, state)` returns the grant of the handle's rules. If a rule may block, for example on a
  /// read of the store, a worker thread evaluates the rules. Otherwise the operation continues at once.
  class RulesAsked {
   public:
    RulesAsked(AsyncCall& call, const Table::State& state) noexcept : call_(call), state_(state) {}
    RulesAsked(const RulesAsked&) = delete;
    RulesAsked& operator=(const RulesAsked&) = delete;

    bool await_ready() noexcept {
      if (state_.access && state_.access->may_wait()) return false;
      ask();
      return true;
    }
    void await_suspend(std::coroutine_handle<> coroutine) noexcept {
      back_.set(coroutine);
      call_.async().workers().post(asking_);
    }
    Result<Grant> await_resume() noexcept { return std::move(granted_); }

   private:
    struct Asking final : engine::Step {
      explicit Asking(RulesAsked& of) noexcept : asked(of) {}
      void run() noexcept override {
        asked.ask();
        asked.call_.async().executor().post(asked.back_);
      }
      RulesAsked& asked;
    };
    void ask() noexcept {
      granted_ = guarded([this] { return state_.grant(); });
    }

    AsyncCall& call_;
    const Table::State& state_;
    Asking asking_{*this};
    ResumeStep back_;
    Result<Grant> granted_ = Grant();
  };

  // -- Reads ------------------------------------------------------------------------------------------------------

  /// Reads from the catalog the state that the operation reads, and the table's id in it.
  static Task<Result<ResolvedTable>> resolve(AsyncCall& call, const Table::State& state, const ReadOptions& options) {
    co_await call.to_worker();
    Result<ResolvedTable> resolved = guarded(
        [&]() -> Result<ResolvedTable> { return resolve_for_read(call.core(), state.name, *state.entry, options); });
    co_await call.back();
    co_return resolved;
  }

  static Task<Found> read(AsyncCall& call, const Table::State& state, std::span<const EntityKey> keys,
                          const ReadOptions& options) {
    std::optional<ResolvedTable> table;
    if (!options.snapshot) table = call.core().catalog().resolve_cached(*state.entry);
    if (!table) {
      Result<ResolvedTable> resolved = co_await resolve(call, state, options);
      if (!resolved.ok()) co_return resolved.status();
      table.emplace(std::move(*resolved));
    }
    const Result<WantedKeys> wanted = wanted_keys(table->id, keys, call.core().limits());
    if (!wanted.ok()) co_return wanted.status();
    const std::vector<std::string_view> sort_keys = wanted->views();
    if (call.core().backend().answers_wait()) {
      co_await call.to_worker();
      const Status confirmed = table->view.may_answer();  // for all reads of the view
      co_await call.back();
      if (!confirmed.ok()) co_return confirmed;
    }
    auto found = co_await PointReads(call, table->view, sort_keys, table->view.version(), engine::EntryPart::kAll);
    if (!found.ok()) co_return found.status();
    if (Status stopped = call.check_stop(); !stopped.ok()) co_return stopped;
    table->view.keep_live(*found);
    co_return decode_found(keys, *wanted, *found, options);
  }

  static Task<Found> get_many(Called called, std::vector<EntityKey> keys, ReadOptions options) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    if (Status queries = granted->check_query(); !queries.ok()) co_return queries;
    if (Status checked = check_read(*granted, keys, options); !checked.ok()) co_return checked;
    co_return co_await read(call, *called.state, keys, options);
  }

  static Task<Result<std::optional<Entity>>> get(Called called, EntityKey key, ReadOptions options) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    const std::span<const EntityKey> keys(&key, 1);
    if (Status checked = check_read(*granted, keys, options); !checked.ok()) co_return checked;
    Found found = co_await read(call, *called.state, keys, options);
    if (!found.ok()) co_return found.status();
    co_return std::move(found->front());
  }

  /// Reads a page. The thread that begins it also ends it if that needs no wait and is short. Otherwise a worker thread
  /// continues where this thread has stopped.
  template <typename Read>
  static Task<Status> read_page(AsyncCall& call, Read& read) {
    const PageShare share = call.async().is_on_its_thread() ? PageShare::of_executor() : PageShare::of_caller();
    Result<bool> is_complete = false;
    if (!call.core().backend().answers_wait()) is_complete = guarded([&] { return read.go_on(share); });
    if (is_complete.ok() && !*is_complete) {
      co_await call.to_worker();
      is_complete = guarded([&] { return read.go_on(PageShare()); });
      co_await call.back();
    }
    co_return is_complete.status();
  }

  static TableCall call_on(const Table::State& state, const Grant& grant) {
    return {*state.core, state.name, *state.entry, grant};
  }

  template <Wanted wanted, typename Answer>
  static Task<Answer> scan(Called called, Scan scan, EntityReader reader = nullptr) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    ScanRead read(call_on(*called.state, *granted), scan, wanted, call.stop(), reader ? &reader : nullptr);
    if (Status ended = co_await read_page(call, read); !ended.ok()) co_return ended;
    if constexpr (wanted == Wanted::kCount) {
      co_return read.take_count();
    } else {
      co_return read.take_page();
    }
  }

  static Task<Result<Aggregated>> aggregate(Called called, Scan scan, Aggregation into) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    if (Status usable = into.state_->begin(); !usable.ok()) co_return usable;
    ScanRead read(call_on(*called.state, *granted), scan, Wanted::kCount, call.stop());
    read.fold_into(*into.state_);
    if (Status ended = co_await read_page(call, read); !ended.ok()) co_return ended;
    into.state_->end();
    co_return Aggregated{std::move(into), read.take_count()};
  }

  static Task<Result<RowListingPage>> list_rows(Called called, RowListing listing) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    RowListingRead read(call_on(*called.state, *granted), listing, call.stop());
    if (Status ended = co_await read_page(call, read); !ended.ok()) co_return ended;
    co_return read.take_page();
  }

  // -- Writes -----------------------------------------------------------------------------------------------------

  static Task<Result<WriteTarget>> resolve_target(AsyncCall& call, const Table::State& state) {
    if (std::optional<WriteTarget> cached = call.core().catalog().target_in_cache(*state.entry)) {
      co_return *std::move(cached);
    }
    co_await call.to_worker();
    Result<WriteTarget> resolved = guarded(
        [&]() -> Result<WriteTarget> { return call.core().catalog().resolve_target(state.name, *state.entry); });
    co_await call.back();
    co_return resolved;
  }

  static Task<Result<format::TableId>> resolve_for_write(AsyncCall& call, const Table::State& state) {
    if (const format::TableId live = state.entry->live_id(); live != 0) co_return live;
    co_await call.to_worker();
    const Result<format::TableId> resolved = guarded(
        [&]() -> Result<format::TableId> { return call.core().catalog().resolve_for_write(state.name, *state.entry); });
    co_await call.back();
    co_return resolved;
  }

  /// Waits for the locks on the asynchronous thread, because the turn arrives there.
  static Task<Result<engine::PartitionGuard>> wait_for_locks(AsyncCall& call, const Change& change) {
    if (!call.async().is_on_its_thread()) co_await call.back();
    LockWait wait(call, change.wait_max);
    if (Status asked = wait.ask(change.locks_needed(), change.row_needed()); !asked.ok()) co_return asked;
    for (;;) {
      const Result<bool> is_held = wait.advance();
      if (!is_held.ok()) co_return is_held.status();
      if (*is_held) co_return wait.take();
      if (Status turn = co_await wait.turn(); !turn.ok()) co_return turn;
    }
  }

  /// Takes the locks if that needs no wait. Otherwise the guard is empty.
  static Result<engine::PartitionGuard> try_locks(AsyncCall& call, const Change& change) {
    const std::span<const std::uint64_t> hashes = change.locks_needed();
    return hashes.size() == 1 ? call.async().try_lock(hashes.front(), change.row_needed()) : engine::PartitionGuard();
  }

  /// Steps 3 to 5 of a commit.
  static Task<Refusal> judge(AsyncCall& call, Change& change) {
    const StatesWanted wanted = change.states_wanted();
    const engine::ReadView view = call.core().backend().view();
    auto found = co_await PointReads(call, view, wanted.keys, format::kCommitVersionMax, wanted.part);
    if (!found.ok()) co_return found.status();
    std::vector<engine::Newest> states;
    states.reserve(found->size());
    for (std::optional<engine::FoundEntry>& entry : *found) states.push_back(view.newest_of(std::move(entry)));
    co_return change.judge(view, states);
  }

  static Task<Status> report(AsyncCall& call, const Refusal& refusal) {
    if (call.core().backend().is_published(refusal.rests_on) && !call.core().backend().answers_wait()) {
      const Status fresh = call.core().backend().may_answer();
      co_return fresh.ok() ? refusal.status : fresh;
    }
    co_await call.to_worker();
    Status status = reported(call.core().backend(), refusal);
    co_await call.back();
    co_return status;
  }

  /// Walks the change through the steps of varve::commit(), from the lock on. Errors: the refusals before a commit
  /// begins.
  static Task<Result<Commit::End>> commit_once(AsyncCall& call, Change& change) {
    // Other coroutines that are ready on the home thread begin their commits together with this one. So the commits
    // share one write of the log.
    co_await TurnAtHome(call.home());
    Result<engine::PartitionGuard> locks = try_locks(call, change);
    if (locks.ok() && !locks->holds_any()) {
      change.request.room->let_go();  // The holder of a lock may be waiting for this room.
      locks = co_await wait_for_locks(call, change);
    }
    if (!locks.ok()) co_return locks.status();
    const Refusal refusal = co_await judge(call, change);
    if (refusal.is_refused()) {
      locks->release();
      co_return co_await report(call, refusal);
    }
    if (Status stopped = call.check_stop(); !stopped.ok()) co_return stopped;
    change.request.locks = std::move(*locks);
    change.request.batch = change.take_batch();
    co_return co_await Commit(call, std::move(change.request));
  }

  /// Commits writes to a table with large values or with a unique index.
  static Task<Result<ETag>> commit_on_worker(AsyncCall& call, const Table::State& state,
                                             std::span<PreparedWrite> writes, const WriteOptions& options,
                                             bool in_transaction) {
    co_await call.to_worker();
    Result<ETag> etag = guarded([&]() -> Result<ETag> {
      if (Status stopped = call.check_stop(); !stopped.ok()) return stopped;
      return commit_writes(call.core(), state.name, *state.entry, writes, options, in_transaction);
    });
    co_await call.back();
    co_return etag;
  }

  /// Does the work of commit_writes().
  static Task<Result<ETag>> commit(AsyncCall& call, const Table::State& state, std::vector<PreparedWrite> writes,
                                   const WriteOptions& options, bool in_transaction) {
    if (Status tag = check_tag(options.tag); !tag.ok()) co_return tag;
    Result<WriteTarget> table = co_await resolve_target(call, state);
    engine::RoomGrant room;
    for (bool is_first = true;; is_first = false) {
      if (!table.ok()) co_return no_table_to_write(table.status(), in_transaction);
      if (must_count_owners(*table, writes))
        co_return co_await commit_on_worker(call, state, writes, options, in_transaction);
      place_writes(writes, *table);
      EntityChange change(call.core(), {table->id}, writes, options, in_transaction, EntityChange::Writes::kKept);
      change.request.room = &room;
      if (is_first && call.core().backend().is_pacing()) {
        co_await call.to_worker();
        call.core().backend().pace(change.paced_bytes);
        co_await call.back();
      }
      const Result<Commit::End> end = co_await commit_once(call, change);
      const Status failure = end.ok() ? end->version.status() : end.status();
      if (failure.ok()) co_return ETag::of_timestamp(DateTime{*end->version});
      if (is_made_for_other_indexes(failure)) {
        table = co_await resolve_target(call, state);
        continue;
      }
      if (!end.ok() || end->room_need.in_active == 0) {
        Result<format::TableId> now = table->id;
        if (rests_on_an_entity(failure)) now = co_await resolve_for_write(call, state);
        co_return reported_failure(failure, state.name, table->id, now, in_transaction);
      }
      // The operation holds nothing now. The next attempt judges the writes again, because other writers may commit
      // meanwhile.
      co_await call.to_worker();
      const Status found = call.async().wait_for_room(end->room_need, room);
      co_await call.back();
      if (!found.ok()) co_return found;
    }
  }

  static Status check_writable(const Table::State& state) {
    if (!state.core->backend().read_only()) return Status();
    return Status(Code::kReadOnly, "the store was opened read-only; open it for writing");
  }

  /// `terms` receives those of the write, unless it is null. It outlives the task.
  static Task<Result<ETag>> write(Called called, WriteOperation operation, OwnedWriteOptions owned,
                                  std::shared_ptr<WriteTerms>* terms = nullptr) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    if (Status writable = check_writable(*called.state); !writable.ok()) co_return writable;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    Result<PreparedWrite> prepared = prepare_write(*granted, operation, called.state->core->limits());
    if (!prepared.ok()) co_return prepared.status();
    if (terms != nullptr) *terms = prepared->terms;
    std::vector<PreparedWrite> writes;
    writes.push_back(std::move(*prepared));
    const WriteOptions options = owned.options();
    const Result<ETag> etag = co_await commit(call, *called.state, std::move(writes), options, false);
    if (etag.ok() && operation.kind == WriteOperation::Kind::kRemove) co_return ETag();
    co_return etag;
  }

  static Task<Result<Entity>> patched(Called called, WriteOperation operation, OwnedWriteOptions owned) {
    std::shared_ptr<WriteTerms> terms;
    const Result<ETag> etag = co_await write(std::move(called), std::move(operation), std::move(owned), &terms);
    if (!etag.ok()) co_return etag.status();
    co_return terms->take_patched(*etag);
  }

  static Task<Result<std::vector<ETag>>> execute(Called called, EntityGroupTransaction transaction,
                                                 OwnedWriteOptions owned) {
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    if (Status writable = check_writable(*called.state); !writable.ok()) co_return writable;
    const Result<Grant> granted = co_await RulesAsked(call, *called.state);
    if (!granted.ok()) co_return granted.status();
    Result<std::vector<PreparedWrite>> writes =
        prepare_transaction(*granted, transaction.operations(), called.state->core->limits());
    if (!writes.ok()) co_return writes.status();
    std::vector<ETag> etags(transaction.size());
    const WriteOptions options = owned.options();
    const Result<ETag> etag = co_await commit(call, *called.state, std::move(*writes), options, true);
    if (!etag.ok()) co_return etag.status();
    set_etags(transaction.operations(), *etag, etags);
    co_return std::move(etags);
  }

  /// Runs a verb of the blocking handle on a worker thread. `verb` owns what it needs.
  template <typename Verb>
  static Task<std::invoke_result_t<Verb&, Table&>> on_worker(Called called, Table table, Verb verb) {
    using Answer = std::invoke_result_t<Verb&, Table&>;
    AsyncCall call = call_of(called);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    co_await call.to_worker();
    Answer answer = guarded([&]() -> Answer {
      if (Status stopped = call.check_stop(); !stopped.ok()) return stopped;
      return verb(table);
    });
    co_await call.back();
    co_return answer;
  }
};

Task<Result<ETag>> AsyncTable::write(WriteOperation operation, WriteOptions options, std::stop_token stop) const {
  return Verbs::ending_at_home(
      *this, Verbs::write({*this, std::move(stop)}, std::move(operation), OwnedWriteOptions(options)));
}

Task<Status> AsyncTable::status_of(Task<Result<ETag>> write) {
  const Result<ETag> written = co_await write;
  co_return written.status();
}

Task<Result<Entity>> AsyncTable::patched(WriteOperation operation, WriteOptions options, std::stop_token stop) const {
  return Verbs::ending_at_home(
      *this, Verbs::patched({*this, std::move(stop)}, std::move(operation), OwnedWriteOptions(options)));
}

Task<Result<std::vector<ETag>>> AsyncTable::execute(EntityGroupTransaction transaction, WriteOptions options,
                                                    std::stop_token stop) const {
  return Verbs::ending_at_home(
      *this, Verbs::execute({*this, std::move(stop)}, std::move(transaction), OwnedWriteOptions(options)));
}

Task<Result<ExecutedTransaction>> AsyncTable::execute_with_messages(EntityGroupTransaction transaction,
                                                                    std::vector<MessageWrite> messages,
                                                                    WriteOptions options, std::stop_token stop) const {
  auto verb = [transaction = std::move(transaction), messages = std::move(messages),
               owned = OwnedWriteOptions(options)](Table& table) {
    return table.execute_with_messages(transaction.operations(), messages, owned.options());
  };
  return Verbs::ending_at_home(*this, Verbs::on_worker({*this, std::move(stop)}, table_, std::move(verb)));
}

Task<Result<WhereProgress>> AsyncTable::delete_where(Where where, WhereOptions options) const {
  OwnedWriteOptions owned(options.write);
  std::stop_token stop = options.stop;
  auto verb = [where = std::move(where), options = std::move(options), owned = std::move(owned)](Table& table) mutable {
    options.write = owned.options();
    return table.delete_where(where, options);
  };
  return Verbs::ending_at_home(*this, Verbs::on_worker({*this, std::move(stop)}, table_, std::move(verb)));
}

Task<Result<WhereProgress>> AsyncTable::update_where(Where where, PropertyChanges changes, WhereOptions options) const {
  OwnedWriteOptions owned(options.write);
  std::stop_token stop = options.stop;
  auto verb = [where = std::move(where), changes = std::move(changes), options = std::move(options),
               owned = std::move(owned)](Table& table) mutable {
    options.write = owned.options();
    return table.update_where(where, changes, options);
  };
  return Verbs::ending_at_home(*this, Verbs::on_worker({*this, std::move(stop)}, table_, std::move(verb)));
}

Task<Result<std::optional<Entity>>> AsyncTable::get(std::string partition_key, std::string row_key, ReadOptions options,
                                                    std::stop_token stop) const {
  EntityKey key{std::move(partition_key), std::move(row_key)};
  return Verbs::ending_at_home(*this, Verbs::get({*this, std::move(stop)}, std::move(key), std::move(options)));
}

Task<Result<std::vector<std::optional<Entity>>>> AsyncTable::get_many(std::vector<EntityKey> keys, ReadOptions options,
                                                                      std::stop_token stop) const {
  return Verbs::ending_at_home(*this, Verbs::get_many({*this, std::move(stop)}, std::move(keys), std::move(options)));
}

Task<Result<Page>> AsyncTable::scan(Scan scan, std::stop_token stop) const {
  return Verbs::ending_at_home(*this,
                               Verbs::scan<Wanted::kEntities, Result<Page>>({*this, std::move(stop)}, std::move(scan)));
}

Task<Result<Page>> AsyncTable::scan_in_place(Scan scan, EntityReader reader, std::stop_token stop) const {
  return Verbs::ending_at_home(*this, Verbs::scan<Wanted::kEntities, Result<Page>>({*this, std::move(stop)},
                                                                                   std::move(scan), std::move(reader)));
}

Task<Result<RowListingPage>> AsyncTable::list_rows(RowListing listing, std::stop_token stop) const {
  return Verbs::ending_at_home(*this, Verbs::list_rows({*this, std::move(stop)}, std::move(listing)));
}

Task<Result<Count>> AsyncTable::count(Scan scan, std::stop_token stop) const {
  return Verbs::ending_at_home(*this,
                               Verbs::scan<Wanted::kCount, Result<Count>>({*this, std::move(stop)}, std::move(scan)));
}

Task<Result<Aggregated>> AsyncTable::aggregate(Scan scan, Aggregation into, std::stop_token stop) const {
  return Verbs::ending_at_home(*this, Verbs::aggregate({*this, std::move(stop)}, std::move(scan), std::move(into)));
}

Task<Result<ScanPlan>> AsyncTable::explain(Scan scan, std::stop_token stop) const {
  auto verb = [scan = std::move(scan)](const Table& table) { return table.explain(scan); };
  return Verbs::ending_at_home(*this, Verbs::on_worker({*this, std::move(stop)}, table_, std::move(verb)));
}

}  // namespace varve
