// Owns: each operation of the door as one operation of librados.
// Must never: retry. What an unknown outcome means is known above the door (S6).
#include "io/rados/librados_door.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/parents_object.h"
#include "io/posix/posix_process.h"
#include "io/rados/librados_connection.h"
#include "io/rados/rados_names.h"
#include "io/scheduler.h"

namespace varve::io {

namespace {

/// Values of librados.h.
constexpr int kFullTry = 64;     // answer ENOSPC on a full pool instead of waiting
constexpr int kFullForce = 128;  // use the reserve of a full pool
constexpr int kOrderSnapshots = 512;
constexpr int kCreateExclusive = 1;
constexpr std::uint8_t kCompareEqual = 1;
/// The hint about an object of a table: sequential writes (1), random reads (8), appends alone (16), incompressible (512). A
/// hint of sequential reads would let a disk use large checksum blocks, and a read of one block would cost more.
constexpr std::uint32_t kHintOfCompressed = 1 | 8 | 16 | 512;

constexpr std::uint32_t kBlocklistSeconds = 3600;
constexpr std::uint64_t kEntriesAtOnce = 1000;
/// Handles of pools that are kept for the next change of the same epoch.
constexpr std::size_t kContextsMax = 16;

/// Returns an errno of librados as the door gives it.
ObjectAnswer answer_of(int result) noexcept {
  return result < 0 ? -result : 0;
}

int flags_of(const ObjectChange& change) noexcept {
  return kOrderSnapshots | (change.may_exceed ? kFullForce : kFullTry);
}

const char* chars(std::span<const std::byte> bytes) noexcept {
  return reinterpret_cast<const char*>(bytes.data());
}

/// A change while it is built.
class BuiltWrite {
 public:
  explicit BuiltWrite(const LibradosCalls& calls) : calls_(calls), write_(calls.create_write_op()) {}
  ~BuiltWrite() { calls_.release_write_op(write_); }
  BuiltWrite(const BuiltWrite&) = delete;
  BuiltWrite& operator=(const BuiltWrite&) = delete;

  /// The order counts: what a change requires comes first.
  void build(const ObjectChange& change) {
    if (change.presence == ObjectChange::Presence::kMustExist) {
      calls_.write_op_assert_exists(write_);
    } else {
      calls_.write_op_create(write_, kCreateExclusive, nullptr);
    }
    for (const auto& [name, value] : change.expected_attributes) {
      calls_.write_op_cmpxattr(write_, name.c_str(), kCompareEqual, value.data(), value.size());
    }
    if (change.removes) {
      calls_.write_op_remove(write_);
      return;
    }
    for (const auto& [name, value] : change.attributes) {
      calls_.write_op_setxattr(write_, name.c_str(), value.data(), value.size());
    }
    if (change.compressed_bytes_max > 0) {  // before the bytes, which the disk then places by it
      calls_.write_op_set_alloc_hint2(write_, change.compressed_bytes_max, change.bytes.size(), kHintOfCompressed);
    }
    if (!change.bytes.empty()) {
      calls_.write_op_write(write_, chars(change.bytes), change.bytes.size(), change.offset);
    }
    set_entries(change.entries);
    std::vector<const char*> removed;
    for (const std::string& key : change.entries_removed) removed.push_back(key.c_str());
    if (!removed.empty()) calls_.write_op_omap_rm_keys(write_, removed.data(), removed.size());
  }

  RadosWrite get() const noexcept { return write_; }

 private:
  void set_entries(const TextMap& entries) {
    if (entries.empty()) return;
    std::vector<const char*> keys;
    std::vector<const char*> values;
    std::vector<std::size_t> sizes;
    for (const auto& [key, value] : entries) {
      keys.push_back(key.c_str());
      values.push_back(value.data());
      sizes.push_back(value.size());
    }
    calls_.write_op_omap_set(write_, keys.data(), values.data(), sizes.data(), keys.size());
  }

  const LibradosCalls& calls_;
  RadosWrite write_;
};

class BuiltRead {
 public:
  explicit BuiltRead(const LibradosCalls& calls) : calls_(calls), read_(calls.create_read_op()) {}
  ~BuiltRead() { calls_.release_read_op(read_); }
  BuiltRead(const BuiltRead&) = delete;
  BuiltRead& operator=(const BuiltRead&) = delete;
  RadosRead get() const noexcept { return read_; }

 private:
  const LibradosCalls& calls_;
  RadosRead read_;
};

/// An iterator of an answer. It ends when no memory is left for what it gives, too.
class AnswerList {
 public:
  explicit AnswerList(void (*end)(RadosList)) noexcept : end_(end) {}
  ~AnswerList() {
    if (list_ != nullptr) end_(list_);
  }
  AnswerList(const AnswerList&) = delete;
  AnswerList& operator=(const AnswerList&) = delete;
  RadosList* place() noexcept { return &list_; }
  RadosList get() const noexcept { return list_; }

 private:
  void (*const end_)(RadosList);
  RadosList list_ = nullptr;
};

/// An operation in flight. Its completion may write into this object, and into the memory of a read, until wait()
/// returns.
class InFlight {
 public:
  explicit InFlight(const LibradosCalls& calls) : calls_(calls) {
    if (calls_.aio_create_completion2(this, &InFlight::finish, &completion_) < 0) completion_ = nullptr;
  }
  ~InFlight() {
    if (completion_ != nullptr) calls_.aio_release(completion_);
  }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  bool is_made() const noexcept { return completion_ != nullptr; }
  RadosCompletion get() const noexcept { return completion_; }

  bool has_ended() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_finished_;
  }
  /// Returns the result of the operation, also a second time.
  int wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, [this] { return is_finished_; });
    return calls_.aio_get_return_value(completion_);
  }
  /// Returns the result of the operation. One that is given up has ended as well: the library then completes it at once.
  int wait(RadosContext context, std::chrono::milliseconds patience) {
    /// How often an operation is given up again, in case that the library had not sent it yet.
    constexpr std::chrono::milliseconds kAgain{100};
    bool is_given_up = false;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!finished_.wait_for(lock, is_given_up ? kAgain : patience, [this] { return is_finished_; })) {
      is_given_up = true;
      lock.unlock();
      (void)calls_.aio_cancel(context, completion_);  // May call finish().
      lock.lock();
    }
    const int result = calls_.aio_get_return_value(completion_);
    return is_given_up && result < 0 ? -ETIMEDOUT : result;
  }

 private:
  /// Called by a thread of the library, as the last use of this object by it.
  static void finish(RadosCompletion /*completion*/, void* argument) {
    auto& ended = *static_cast<InFlight*>(argument);
    const std::lock_guard<std::mutex> lock(ended.mutex_);
    ended.is_finished_ = true;
    ended.finished_.notify_one();
  }

  const LibradosCalls& calls_;
  RadosCompletion completion_ = nullptr;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_finished_ = false;  // guarded by mutex_
};

/// A change that the library has, or one that it did not take.
class LibradosChange final : public SentChange {
 public:
  explicit LibradosChange(const LibradosConnection& connection) noexcept : connection_(connection) {}
  ~LibradosChange() override {
    if (is_sent_ && is_foreign()) leave_to_parent(in_flight_);  // The parent's threads write into it.
    if (is_sent_ && in_flight_ != nullptr) (void)in_flight_->wait();
  }
  LibradosChange(const LibradosChange&) = delete;
  LibradosChange& operator=(const LibradosChange&) = delete;

  void send(std::shared_ptr<PoolContext> context, const ObjectChange& change) {
    in_flight_ = std::make_unique<InFlight>(connection_.calls());
    if (!in_flight_->is_made()) return refuse(ENOMEM);
    context_ = std::move(context);
    BuiltWrite write(connection_.calls());
    write.build(change);  // The library copies the bytes.
    const int sent = connection_.calls().aio_write_op_operate(write.get(), context_->get(), in_flight_->get(),
                                                              change.object.c_str(), nullptr, flags_of(change));
    sent < 0 ? refuse(answer_of(sent)) : accept();
  }
  void refuse(ObjectAnswer answer) noexcept {
    refusal_ = answer;
    in_flight_.reset();
  }

  ObjectAnswer await() noexcept override {
    if (!is_sent_) return refusal_;
    return is_foreign() ? ENOTCONN : answer_of(in_flight_->wait());
  }
  bool is_answered() noexcept override { return !is_sent_ || is_foreign() || in_flight_->has_ended(); }

 private:
  bool is_foreign() const noexcept { return !connection_.owner().is_this_process(); }
  void accept() noexcept { is_sent_ = true; }

  const LibradosConnection& connection_;
  std::shared_ptr<PoolContext> context_;
  std::unique_ptr<InFlight> in_flight_;
  ObjectAnswer refusal_ = 0;
  bool is_sent_ = false;
};

/// Returns the text of one pool in the monitors' list of all, or nothing.
std::string_view pool_in(std::string_view list, std::string_view name) noexcept {
  constexpr std::string_view kMark = "\"pool_name\":\"";
  for (std::size_t at = list.find(kMark); at != std::string_view::npos; at = list.find(kMark)) {
    list.remove_prefix(at + kMark.size());
    if (list.starts_with(name) && list.substr(name.size()).starts_with('"')) return list.substr(0, list.find(kMark));
  }
  return {};
}

/// Returns the text between the mark and the end, or nothing.
std::string_view between(std::string_view text, std::string_view mark, char end) noexcept {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find(end));
}

/// Asks the monitors to blocklist clients, one at a time, on a thread of its own. The library's call waits for a
/// majority of them, and for the map of the cluster that follows. A takeover must not wait for either.
class Blocklisting {
 public:
  explicit Blocklisting(const LibradosConnection& connection) : connection_(connection) {}
  /// Waits for the answers to all questions. The library bounds the time of each.
  ~Blocklisting() {
    if (!connection_.owner().is_this_process()) leave_to_parent(thread_);
  }
  Blocklisting(const Blocklisting&) = delete;
  Blocklisting& operator=(const Blocklisting&) = delete;

  /// Returns the answer that came, or EINPROGRESS. A question that failed is asked again.
  ObjectAnswer ask(std::string_view client) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const std::string name(client);
    Question& question = questions_.try_emplace(name, Question{name}).first->second;
    if (question.answer == 0 || question.answer == EACCES || question.answer == EPERM) return question.answer;
    question.answer = EINPROGRESS;
    if (is_asking_) return EINPROGRESS;
    thread_.reset();  // An earlier thread has nothing left to do.
    auto kept = std::make_unique<Thread>();
    Result<Thread> started = scheduler_.start("varve-blocklist", [this] { run(); });
    if (!started.ok()) return EINPROGRESS;  // The next call starts one.
    *kept = *std::move(started);
    thread_ = std::move(kept);
    is_asking_ = true;
    return EINPROGRESS;
  }

 private:
  struct Question {
    std::string client;
    ObjectAnswer answer = EINPROGRESS;
  };

  void run() noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const auto open = std::find_if(questions_.begin(), questions_.end(),
                                     [](const auto& asked) { return asked.second.answer == EINPROGRESS; });
      if (open == questions_.end()) break;
      Question& question = open->second;  // No question is ever removed.
      lock.unlock();
      const int result =
          connection_.calls().blocklist_add(connection_.cluster(), question.client.data(), kBlocklistSeconds);
      lock.lock();
      question.answer = answer_of(result);
    }
    is_asking_ = false;
  }

  const LibradosConnection& connection_;
  Scheduler scheduler_;
  std::mutex mutex_;
  std::map<std::string, Question> questions_;  // by client; guarded by mutex_, as is_asking_
  bool is_asking_ = false;
  std::unique_ptr<Thread> thread_;
};

class LibradosDoor final : public ObjectDoor {
 public:
  explicit LibradosDoor(std::unique_ptr<LibradosConnection> connection)
      : connection_(std::move(connection)), calls_(connection_->calls()), blocklisting_(*connection_) {}

  ~LibradosDoor() override {
    if (!is_foreign()) return;
    // The child leaves all of it to its parent: the library has no threads here.
    for (const auto& [epoch, context] : contexts_) context->leave_to_parent();
  }

  std::string client() const override { return connection_->client(); }

  ObjectAnswer change(const ObjectChange& change) override {
    if (is_foreign()) return ENOTCONN;
    const Result<std::shared_ptr<PoolContext>> context = context_of(change.epoch);
    if (!context.ok()) return context.status().os_error() == 0 ? ENOMEM : context.status().os_error();
    BuiltWrite write(calls_);
    write.build(change);
    if (change.patience.count() > 0) return answer_of(change_in_time(write, change, (*context)->get()));
    return answer_of(
        calls_.write_op_operate(write.get(), (*context)->get(), change.object.c_str(), nullptr, flags_of(change)));
  }

  std::unique_ptr<SentChange> send(const ObjectChange& change) override {
    auto sent = std::make_unique<LibradosChange>(*connection_);
    if (is_foreign()) {
      sent->refuse(ENOTCONN);
    } else if (Result<std::shared_ptr<PoolContext>> context = context_of(change.epoch); context.ok()) {
      sent->send(*std::move(context), change);
    } else {
      sent->refuse(context.status().os_error() == 0 ? ENOMEM : context.status().os_error());
    }
    return sent;
  }

  ObjectAnswer look(std::string_view object, ObjectLook& found) override {
    if (is_foreign()) return ENOTCONN;
    AnswerList list(calls_.getxattrs_end);
    BuiltRead read(calls_);
    std::time_t ignored_time = 0;
    int stat_result = 0;
    int list_result = 0;
    calls_.read_op_stat(read.get(), &found.size_bytes, &ignored_time, &stat_result);
    calls_.read_op_getxattrs(read.get(), list.place(), &list_result);
    const int result = operate(read, object);
    found.attributes.clear();
    if (result < 0 || stat_result < 0 || list_result < 0) {
      return answer_of(result < 0 ? result : stat_result < 0 ? stat_result : list_result);
    }
    const char* name = nullptr;
    const char* value = nullptr;
    std::size_t size = 0;
    int next = 0;
    while ((next = calls_.getxattrs_next(list.get(), &name, &value, &size)) == 0 && name != nullptr) {
      found.attributes[name] = size == 0 ? std::string() : std::string(value, size);
    }
    return answer_of(next);
  }

  ObjectAnswer entries(std::string_view object, TextMap& found) override {
    if (is_foreign()) return ENOTCONN;
    found.clear();
    std::string after;
    for (;;) {
      AnswerList list(calls_.omap_get_end);
      BuiltRead read(calls_);
      unsigned char has_more = 0;
      int list_result = 0;
      calls_.read_op_omap_get_vals2(read.get(), after.c_str(), "", kEntriesAtOnce, list.place(), &has_more,
                                    &list_result);
      const int result = operate(read, object);
      if (result < 0 || list_result < 0) return answer_of(result < 0 ? result : list_result);
      const ObjectAnswer taken = take_entries(list.get(), found, after);
      if (taken != 0 || has_more == 0) return taken;
    }
  }

  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    std::chrono::milliseconds patience) override {
    if (is_foreign()) return ENOTCONN;
    const std::string name(object);
    char* const memory = reinterpret_cast<char*>(bytes.data());
    const int result = patience.count() == 0
                           ? calls_.read(connection_->reader(), name.c_str(), memory, bytes.size(), offset)
                           : read_in_time(name, offset, {memory, bytes.size()}, patience);
    count = result < 0 ? 0 : static_cast<std::size_t>(result);
    return answer_of(result);
  }

  ObjectAnswer look_at_pool(std::string_view object, PoolLook& found) override {
    if (is_foreign()) return ENOTCONN;
    const Result<std::string> pools =
        connection_->ask_monitors(R"({"prefix":"osd pool ls","detail":"detail","format":"json"})");
    if (!pools.ok()) return pools.status().os_error() == 0 ? EIO : pools.status().os_error();
    const std::string_view pool = pool_in(*pools, connection_->pool());
    const Result<std::uint64_t> copies_min = parse_number(between(pool, "\"min_size\":", ','));
    if (!copies_min.ok()) return EIO;
    const std::string flags = "," + std::string(between(pool, "\"flags_names\":\"", '"')) + ",";
    const Result<std::string> group = connection_->ask_monitors(
        R"({"prefix":"osd map","format":"json","pool":")" + connection_->pool() + R"(","object":")" +
        std::string(object) + R"(","nspace":")" + kRadosNamespace + "\"}");
    if (!group.ok()) return group.status().os_error() == 0 ? EIO : group.status().os_error();
    const std::string_view acting = between(*group, "\"acting\":[", ']');
    found.is_full = flags.find(",full,") != std::string::npos || flags.find(",full_quota,") != std::string::npos;
    found.is_nearly_full = flags.find(",nearfull,") != std::string::npos;
    found.copies_min = *copies_min;
    found.copies = acting.empty() ? 0 : static_cast<std::uint64_t>(std::count(acting.begin(), acting.end(), ',')) + 1;
    return 0;
  }

  ObjectAnswer blocklist(std::string_view client) override {
    if (is_foreign()) return ENOTCONN;
    return blocklisting_.ask(client);
  }

 private:
  bool is_foreign() const noexcept { return !connection_->owner().is_this_process(); }

  int change_in_time(const BuiltWrite& write, const ObjectChange& change, RadosContext context) const {
    InFlight pending(calls_);
    if (!pending.is_made()) return -ENOMEM;
    const int begun = calls_.aio_write_op_operate(write.get(), context, pending.get(), change.object.c_str(), nullptr,
                                                  flags_of(change));
    return begun < 0 ? begun : pending.wait(context, change.patience);
  }

  int read_in_time(const std::string& name, std::uint64_t offset, std::span<char> bytes,
                   std::chrono::milliseconds patience) const {
    InFlight pending(calls_);
    if (!pending.is_made()) return -ENOMEM;
    const int begun =
        calls_.aio_read(connection_->reader(), name.c_str(), pending.get(), bytes.data(), bytes.size(), offset);
    return begun < 0 ? begun : pending.wait(connection_->reader(), patience);
  }

  int operate(const BuiltRead& read, std::string_view object) const {
    return calls_.read_op_operate(read.get(), connection_->reader(), std::string(object).c_str(), 0);
  }

  /// Moves the entries of one answer to `found`. `after` becomes the last key.
  ObjectAnswer take_entries(RadosList list, TextMap& found, std::string& after) const {
    for (;;) {
      char* key = nullptr;
      char* value = nullptr;
      std::size_t key_size = 0;
      std::size_t value_size = 0;
      const int next = calls_.omap_get_next2(list, &key, &value, &key_size, &value_size);
      if (next < 0) return answer_of(next);
      if (key == nullptr) return 0;
      after.assign(key, key_size);
      found[after] = value_size == 0 ? std::string() : std::string(value, value_size);
    }
  }

  /// Returns the pool's handle with an epoch as its snapshot sequence.
  Result<std::shared_ptr<PoolContext>> context_of(std::uint64_t epoch) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = contexts_.find(epoch);
    if (found != contexts_.end()) return found->second;
    if (contexts_.size() >= kContextsMax) {
      std::erase_if(contexts_, [](const auto& kept) { return kept.second.use_count() == 1; });
    }
    Result<std::shared_ptr<PoolContext>> made = connection_->make_context(epoch);
    if (made.ok()) contexts_.emplace(epoch, *made);
    return made;
  }

  const std::unique_ptr<LibradosConnection> connection_;
  const LibradosCalls& calls_;
  Blocklisting blocklisting_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<PoolContext>> contexts_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<ObjectDoor> make_librados_door(std::unique_ptr<LibradosConnection> connection) {
  return std::make_unique<LibradosDoor>(std::move(connection));
}

}  // namespace varve::io
