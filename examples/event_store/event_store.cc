// SPDX-License-Identifier: Apache-2.0
// Owns: an event store: append-only streams of amounts, and a balance that is computed from the events of a stream.
// Must never: change or delete an event that was appended.
//
// A stream is one partition of the table Events. Its rows are:
//   00000000000000000001, ...   the events in their order, each with Kind and Amount
//   head                        the position of the last event; "head" sorts after all digits
// The table Balances has one row for each stream: the balance, and the position up to which it was computed.
#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <varve/if_exists.h>
#include <varve/keys.h>
#include <varve/query_builder.h>
#include <varve/store.h>

namespace {

using namespace varve;

constexpr std::string_view kUsage =
    "usage: event_store DIRECTORY append STREAM any|POSITION KIND=AMOUNT...\n"
    "       event_store DIRECTORY read STREAM [FROM]\n"
    "       event_store DIRECTORY balance STREAM\n";
constexpr std::string_view kAccount = "example";
constexpr std::string_view kHead = "head";
constexpr int kAttemptsMax = 16;
/// A transaction has at most 100 operations, and one of them writes the head.
constexpr std::size_t kEventsMax = limits::kTransactionOperationsMax - 1;

struct Event {
  std::string kind;
  std::int64_t amount = 0;
};

std::optional<std::int64_t> number_from(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Positions begin at 1. Twenty digits hold every number, so this cannot fail.
std::string event_key(std::int64_t position) {
  return *zero_padded(static_cast<std::uint64_t>(position), 20);
}

/// Appends the events in one transaction, and returns the position of the last one. If `expected` is set, the stream
/// must end there: kPreconditionFailed if it ends elsewhere. If another writer appends first, its transaction changes
/// the head's ETag. Then this one is refused as a whole, and begins again.
Result<std::int64_t> append(Table& table, const std::string& stream, const std::vector<Event>& events,
                            std::optional<std::int64_t> expected) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const Result<std::optional<Entity>> head = table.get(stream, kHead);
    if (!head.ok()) return head.status();
    std::int64_t last = 0;
    if (head->has_value()) {
      const Result<std::int64_t> stored = (*head)->get<std::int64_t>("Last");
      if (!stored.ok()) return stored.status();
      last = *stored;
    }
    if (expected && *expected != last) {
      return Status(Code::kPreconditionFailed, "the stream ends at position " + std::to_string(last) + ", not at " +
                                                   std::to_string(*expected) + "; read it and decide again");
    }
    EntityGroupTransaction transaction;
    for (const Event& event : events) {
      transaction.insert(Entity(stream, event_key(++last)).set("Kind", event.kind).set("Amount", event.amount));
    }
    Entity new_head(stream, std::string(kHead));
    new_head.set("Last", last);
    if (head->has_value()) {
      transaction.replace(new_head, (*head)->etag());
    } else {
      transaction.insert(new_head);
    }
    const Result<std::vector<ETag>> written = table.execute(transaction);
    if (written.ok()) return last;
    const bool lost_race = written.code() == Code::kPreconditionFailed || written.code() == Code::kExists;
    if (!lost_race) return written.status();
  }
  return Status(Code::kBusy, "other writers appended first, " + std::to_string(kAttemptsMax) + " times");
}

/// Calls `visit(position, event)` for each event from this position on.
template <typename Visit>
Status read_events(const Table& table, const std::string& stream, std::int64_t from, Visit visit) {
  auto rows = Query<>().in(ScanRange::rows(stream, event_key(from), std::string(kHead))).run(table);
  for (auto& row : rows) {
    if (!row.ok()) return row.status();
    const Result<std::string> kind = row->get<std::string>("Kind");
    const Result<std::int64_t> amount = row->get<std::int64_t>("Amount");
    const std::optional<std::int64_t> position = number_from(row->row_key());
    if (!kind.ok()) return kind.status();
    if (!amount.ok()) return amount.status();
    if (!position) return Status::corruption("the key " + row->row_key() + " is not a position");
    visit(*position, Event{*kind, *amount});
  }
  return {};
}

/// Continues the balance after its stored position. Balance and position are in one entity. So each event counts once,
/// even if the process dies at any point.
Status update_balance(Store& store, const Table& events, const std::string& stream) {
  Result<Table> balances = create_table_if_absent(store, kAccount, "Balances");
  if (!balances.ok()) return balances.status();
  const Result<std::optional<Entity>> stored = balances->get(stream, "balance");
  if (!stored.ok()) return stored.status();
  std::int64_t position = 0;
  std::int64_t balance = 0;
  if (stored->has_value()) {
    const Result<std::int64_t> old_position = (*stored)->get<std::int64_t>("Position");
    const Result<std::int64_t> old_balance = (*stored)->get<std::int64_t>("Balance");
    if (!old_position.ok()) return old_position.status();
    if (!old_balance.ok()) return old_balance.status();
    position = *old_position;
    balance = *old_balance;
  }
  const std::int64_t begin = position;
  const Status read = read_events(events, stream, begin + 1, [&](std::int64_t at, const Event& event) {
    position = at;
    balance += event.amount;
  });
  if (!read.ok()) return read;
  if (position != begin) {
    Entity updated(stream, "balance");
    updated.set("Position", position).set("Balance", balance);
    const Result<ETag> saved =
        stored->has_value() ? balances->replace(updated, (*stored)->etag()) : balances->insert(updated);
    if (!saved.ok()) return saved.status();
  }
  std::cout << "balance " << balance << " at position " << position << ", " << position - begin << " new events\n";
  return {};
}

/// Returns Ok, or the reason why the command failed. `arguments` are those after DIRECTORY.
Status run(Store& store, const std::vector<std::string>& arguments) {
  if (Status made = create_account_if_absent(store, kAccount); !made.ok()) return made;
  Result<Table> events = create_table_if_absent(store, kAccount, "Events");
  if (!events.ok()) return events.status();
  const Result<std::string> stream = escape_key(arguments[1]);
  if (!stream.ok()) return stream.status();
  if (arguments[0] == "balance" && arguments.size() == 2) return update_balance(store, *events, *stream);
  if (arguments[0] == "read" && arguments.size() <= 3) {
    const std::optional<std::int64_t> from = arguments.size() == 3 ? number_from(arguments[2]) : 1;
    if (!from || *from < 1) return Status::invalid_argument("FROM must be a position, 1 or more");
    return read_events(*events, *stream, *from, [](std::int64_t position, const Event& event) {
      std::cout << position << " " << event.kind << " " << event.amount << "\n";
    });
  }
  if (arguments[0] != "append" || arguments.size() < 4)
    return Status::invalid_argument("unknown command; run the program without arguments for help");
  std::vector<Event> added;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    if (equals == std::string::npos) return Status::invalid_argument("an event must be KIND=AMOUNT");
    const std::optional<std::int64_t> amount = number_from(std::string_view(arguments[i]).substr(equals + 1));
    if (!amount) return Status::invalid_argument("AMOUNT must be an integer in " + arguments[i]);
    added.push_back({arguments[i].substr(0, equals), *amount});
  }
  if (added.size() > kEventsMax) return Status::invalid_argument("at most 99 events can be appended together");
  const std::optional<std::int64_t> expected = number_from(arguments[2]);
  if (!expected && arguments[2] != "any") return Status::invalid_argument("POSITION must be a number, or any");
  const Result<std::int64_t> last = append(*events, *stream, added, expected);
  if (!last.ok()) return last.status();
  std::cout << "appended " << added.size() << " events; " << arguments[1] << " ends at " << *last << "\n";
  return {};
}

/// Returns the exit code: 0 done, 1 failed, 2 invalid arguments, 3 conflict, 4 unknown outcome.
int report(const Status& status) {
  if (status.ok()) return 0;
  std::cerr << "event_store: " << status.to_string() << "\n";
  if (status.code() == Code::kInvalidArgument) return 2;
  if (status.code() == Code::kPreconditionFailed || status.code() == Code::kExists) return 3;
  if (status.code() != Code::kUnknown) return 1;
  std::cerr << "The events may or may not be appended. Read the stream before you append them again.\n";
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    std::cerr << kUsage;
    return 2;
  }
  Result<std::unique_ptr<Store>> store = Store::open(arguments[0], {.create_if_absent = true});
  if (!store.ok()) return report(store.status());
  const int code = report(run(**store, {arguments.begin() + 1, arguments.end()}));
  const int closed = report((*store)->close());
  return code != 0 ? code : closed;
}
