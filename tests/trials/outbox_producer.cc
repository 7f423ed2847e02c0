// Owns: the producer of the outbox trial that embeds the store: it commits entities with their messages, and notes begun
// and acknowledged puts in a ledger (ledger.py).
// Must never: note a put as acknowledged before its commit has returned.
//
// Usage: varve-outbox-producer STORE LEDGER NAME ITEMS SEED sync|buffered
//   NAME begins the names of the items. Two threads make ITEMS items in total, with short pauses drawn from SEED. Then the
//   store is closed. Exit codes: 0 done, 1 a failure, 2 the command line.
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "varve/store.h"
#include "varve/store_transaction.h"

namespace varve::trials {

namespace {

constexpr std::string_view kAccount = "devstoreaccount1";  // the account of a server without keys of its own
constexpr std::string_view kQueue = "work";
constexpr int kThreads = 2;
constexpr std::uint32_t kPauseMax = 1'000;  // microseconds
constexpr std::uint64_t kLargeTextEvery = 16;
constexpr std::size_t kLargeText = 20'000;

struct Words {
  std::string store;
  std::string ledger;
  std::string name;
  std::uint64_t items = 0;
  std::uint64_t seed = 0;
  Durability durability = Durability::kSync;
};

bool parse_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Words> parse_words(int count, char** words) {
  if (count != 7) return std::nullopt;
  Words parsed{words[1], words[2], words[3]};
  if (!parse_number(words[4], parsed.items) || !parse_number(words[5], parsed.seed)) return std::nullopt;
  const std::string_view durability = words[6];
  if (durability != "sync" && durability != "buffered") return std::nullopt;
  parsed.durability = durability == "sync" ? Durability::kSync : Durability::kBuffered;
  return parsed;
}

[[noreturn]] void give_up(const std::string& failure) {
  std::fprintf(stderr, "varve-outbox-producer: %s\n", failure.c_str());
  std::_Exit(1);  // the other thread may be in a commit
}

/// Each line is one write, so it survives the end of the process. Any thread may use it.
class Notes {
 public:
  explicit Notes(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) give_up(path + ": cannot be opened");
  }
  ~Notes() { ::close(file_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  void add(std::string_view kind, const std::string& item) const {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t moment = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    const std::string line = std::to_string(moment) + " " + std::string(kind) + " " + item + " -\n";
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) give_up("the ledger is cut");
  }

 private:
  const int file_;
};

struct Outbox {
  std::unique_ptr<Store> store;
  Table orders;
  Queue queue;
};

/// An earlier producer may have been killed between any two of these steps.
Status make_names(Store& store) {
  if (Status made = store.create_account(kAccount); !made.ok() && made.code() != Code::kExists) return made;
  for (const std::string_view table : {"Orders", "Done"}) {
    const Status made = store.create_table(kAccount, table).status();
    if (!made.ok() && made.code() != Code::kExists) return made;
  }
  const Status made = store.create_queue(kAccount, kQueue).status();
  return made.code() == Code::kExists ? Status() : made;
}

Result<Outbox> open_outbox(const Words& words) {
  StoreOptions options;
  options.create_if_absent = true;
  Result<std::unique_ptr<Store>> store = Store::open(words.store, options);
  if (!store.ok()) return store.status();
  if (Status made = make_names(**store); !made.ok()) return made;
  Result<Table> orders = (*store)->open_table(kAccount, "Orders");
  if (!orders.ok()) return orders.status();
  Result<Queue> queue = (*store)->open_queue(kAccount, kQueue);
  if (!queue.ok()) return queue.status();
  return Outbox{*std::move(store), *std::move(orders), *std::move(queue)};
}

std::string item_name(const std::string& life, std::uint64_t number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "-%06llu", static_cast<unsigned long long>(number));
  return life + text.data();
}

/// As ledger.py makes it.
std::string text_of(const std::string& item, std::uint64_t number) {
  std::string text = item + " x";
  if (number % kLargeTextEvery == 0) text.resize(kLargeText, 'x');
  return text;
}

void put_item(Outbox& outbox, const Notes& notes, Durability durability, const std::string& item,
              std::uint64_t number) {
  Result<StoreTransaction> transaction = outbox.store->begin_transaction();
  if (!transaction.ok()) give_up("no transaction: " + transaction.status().to_string());
  transaction->insert(outbox.orders, Entity(item.substr(item.size() - 1), item))
      .put(outbox.queue, text_of(item, number));
  notes.add("put-begun", item);
  if (const Status done = transaction->commit({.durability = durability}).status(); !done.ok())
    give_up("a put failed: " + done.to_string());
  notes.add("put", item);
}

void produce(Outbox& outbox, const Notes& notes, const Words& words, std::uint64_t thread) {
  std::mt19937_64 random(words.seed * kThreads + thread);
  for (std::uint64_t number = thread; number < words.items; number += kThreads) {
    put_item(outbox, notes, words.durability, item_name(words.name, number), number);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % kPauseMax));
  }
}

int run(int count, char** texts) {
  const std::optional<Words> words = parse_words(count, texts);
  if (!words) {
    std::fputs("usage: varve-outbox-producer STORE LEDGER NAME ITEMS SEED sync|buffered\n", stderr);
    return 2;
  }
  const Notes notes(words->ledger);
  Result<Outbox> outbox = open_outbox(*words);
  if (!outbox.ok()) give_up("the store could not be opened: " + outbox.status().to_string());
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] { produce(*outbox, notes, *words, thread); });
    }
  }
  if (Status closed = outbox->store->close(); !closed.ok()) give_up("close failed: " + closed.to_string());
  return 0;
}

}  // namespace

}  // namespace varve::trials

int main(int argc, char** argv) {
  return varve::trials::run(argc, argv);
}
