// Owns: the operations of a container as tasks (async.h). Only the wait for an append has steps of its own.
// Must never: occupy a thread while a tail waits for an append.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "api/async/async_call.h"
#include "api/async/row_wait.h"
#include "api/blob/blob_followers.h"
#include "api/core/container_state.h"
#include "api/model/guarded.h"
#include "api/read/blob_tail.h"
#include "varve/async.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL AsyncContainer::Verbs {
  template <typename Verb>
  using AnswerOf = std::invoke_result_t<Verb&, Container&>;

  template <typename T>
  static Task<T> ending_at_home(HomeThread* home, Task<T> verb) {
    if (home == nullptr) return verb;
    return at_home(home, std::move(verb));
  }

  template <typename Verb>
  static Task<AnswerOf<Verb>> run(Container container, std::stop_token stop, HomeThread* home, Verb verb) {
    AsyncCall call(container.state_->core, std::move(stop), home);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    co_await call.to_worker();
    AnswerOf<Verb> answer = guarded([&]() -> AnswerOf<Verb> {
      if (Status stopped = call.check_stop(); !stopped.ok()) return stopped;
      return verb(container);
    });
    co_await call.back();
    co_return answer;
  }
  template <typename Verb>
  static Task<AnswerOf<Verb>> on_worker(const AsyncContainer& on, std::stop_token stop, Verb verb) {
    return ending_at_home(on.home_, run(on.container_, std::move(stop), on.home_, std::move(verb)));
  }

  /// The rounds of Container::tail(). Each look runs on a worker thread, and the wait between two of them on none.
  static Task<Result<BlobTail>> tail(Container container, HomeThread* home, std::string blob, BlobTailOptions options) {
    const std::shared_ptr<const Container::State> state = container.state_;
    AsyncCall call(state->core, {}, home);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    StoreCore& core = *state->core;
    io::Clock& clock = core.backend().env().clock;
    const std::chrono::nanoseconds deadline =
        clock.monotonic() + std::clamp(options.wait, std::chrono::milliseconds(0), kTailWaitMax);
    std::optional<BlobFollowers::Following> following;
    std::optional<RowWait> wait;  // leaves before the blob
    for (;;) {
      if (wait) wait->begin_look();
      co_await call.to_worker();
      Result<TailLook> look = guarded([&]() -> Result<TailLook> {
        if (Status checked = check_tail(blob, options); !checked.ok()) return checked;
        return look_at_tail(*state, blob, options);
      });
      co_await call.back();
      if (!look.ok()) co_return look.status();
      const bool waits = look->tail.bytes.empty() && options.wait > std::chrono::milliseconds(0);
      if (!waits) co_return std::move(look->tail);
      if (!following || following->key() != look->key) {  // what came before the entry is seen by the next look
        wait.reset();
        following.emplace(core.followers(), look->key);
        wait.emplace(call, following->row(), options.stop);
        continue;
      }
      if (following->row().has_ended()) co_return tail_was_closed();
      if (options.stop.stop_requested() || clock.monotonic() >= deadline) co_return std::move(look->tail);
      const Result<bool> looks_again = co_await wait->change(deadline, std::nullopt);
      if (!looks_again.ok()) co_return looks_again.status();
      if (following->row().has_ended()) co_return tail_was_closed();
      if (!*looks_again) co_return std::move(look->tail);
    }
  }
};

Task<Result<BlobState>> AsyncContainer::put(std::string blob, std::string content, BlobWriteOptions options,
                                            std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop),
                          [blob = std::move(blob), content = std::move(content),
                           options = std::move(options)](Container& on) { return on.put(blob, content, options); });
}

Task<Result<BlobState>> AsyncContainer::state(std::string blob, BlobReadOptions options, std::stop_token stop) const {
  return Verbs::on_worker(
      *this, std::move(stop),
      [blob = std::move(blob), options = std::move(options)](Container& on) { return on.state(blob, options); });
}

Task<Status> AsyncContainer::remove(std::string blob, BlobChangeOptions options, std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop),
                          [blob = std::move(blob), options](Container& on) { return on.remove(blob, options); });
}

Task<Result<BlobState>> AsyncContainer::create_append_blob(std::string blob, BlobWriteOptions options,
                                                           std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop),
                          [blob = std::move(blob), options = std::move(options)](Container& on) {
                            return on.create_append_blob(blob, options);
                          });
}

Task<Result<AppendedBlock>> AsyncContainer::append(std::string blob, std::string bytes, AppendOptions options,
                                                   std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop),
                          [blob = std::move(blob), bytes = std::move(bytes), options](Container& on) {
                            return on.append(blob, bytes, options);
                          });
}

Task<Result<BlobTail>> AsyncContainer::tail(std::string blob, BlobTailOptions options) const {
  return Verbs::ending_at_home(home_, Verbs::tail(container_, home_, std::move(blob), std::move(options)));
}

}  // namespace varve
