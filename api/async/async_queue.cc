// Owns: the operations of a queue as tasks (async.h). Only the wait for a message has steps of its own.
// Must never: occupy a thread while a get waits for a message.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "api/async/async_call.h"
#include "api/async/owned_options.h"
#include "api/async/row_wait.h"
#include "api/core/queue_state.h"
#include "api/model/guarded.h"
#include "api/write/message_take.h"
#include "varve/async.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL AsyncQueue::Verbs {
  template <typename Verb>
  using AnswerOf = std::invoke_result_t<Verb&, Queue&>;

  template <typename T>
  static Task<T> ending_at_home(HomeThread* home, Task<T> verb) {
    if (home == nullptr) return verb;
    return at_home(home, std::move(verb));
  }

  template <typename Verb>
  static Task<AnswerOf<Verb>> run(Queue queue, std::stop_token stop, HomeThread* home, Verb verb) {
    AsyncCall call(queue.state_->core, std::move(stop), home);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    co_await call.to_worker();
    AnswerOf<Verb> answer = guarded([&]() -> AnswerOf<Verb> {
      if (Status stopped = call.check_stop(); !stopped.ok()) return stopped;
      return verb(queue);
    });
    co_await call.back();
    co_return answer;
  }
  template <typename Verb>
  static Task<AnswerOf<Verb>> on_worker(const AsyncQueue& on, std::stop_token stop, Verb verb) {
    return ending_at_home(on.home_, run(on.queue_, std::move(stop), on.home_, std::move(verb)));
  }

  /// Takes messages after a wake-up, on a worker thread.
  template <typename Work>
  class WokenLook final : public RowWait::Look {
   public:
    explicit WokenLook(Work& work) noexcept : work_(work) {}
    void run() noexcept override { work_(); }

   private:
    Work& work_;
  };

  /// The rounds of Queue::get(). Each look runs on a worker thread, and the wait between two of them on none.
  static Task<Result<std::vector<ReceivedMessage>>> get(Queue queue, HomeThread* home, GetOptions options,
                                                        std::optional<Queue> dead_letter) {
    using Messages = std::vector<ReceivedMessage>;
    const std::shared_ptr<const Queue::State> state = queue.state_;
    const Queue::State* const grave = dead_letter ? dead_letter->state_.get() : nullptr;
    if (dead_letter) options.dead_letter = &*dead_letter;
    AsyncCall call(state->core, {}, home);
    if (Status begun = co_await call.begin(); !begun.ok()) co_return begun;
    Backend& backend = state->core->backend();
    io::Clock& clock = backend.env().clock;
    const std::chrono::nanoseconds deadline =
        clock.monotonic() + std::clamp(options.wait, std::chrono::milliseconds(0), kMessageWaitMax);
    std::shared_ptr<LiveQueue> live;
    std::optional<RowWait> wait;  // left before the queue
    std::optional<Result<TakenMessages>> answer;
    const auto look = [&] {
      answer = guarded([&]() -> Result<TakenMessages> {
        if (Status checked = check_take(*state, grave, options); !checked.ok()) return checked;
        return take_messages(*state, grave, options);
      });
    };
    const auto look_awake = [&] {
      wait->begin_look();
      if (!live->has_ended()) look();
      wait->end_wake_up();
    };
    WokenLook woken(look_awake);
    for (;;) {
      if (!answer) {
        if (wait) wait->begin_look();
        co_await call.to_worker();
        look();
        co_await call.back();
      }
      Result<TakenMessages> taken = *std::exchange(answer, std::nullopt);
      if (!taken.ok()) co_return taken.status();
      if (!taken->messages.empty() || options.wait == std::chrono::milliseconds(0)) {
        co_return std::move(taken->messages);
      }
      if (taken->from != live) {  // the first round, or the queue was cleared; the next look sees what came before
        wait.reset();
        live = taken->from;
        wait.emplace(call, live->row(), options.stop);
        continue;
      }
      if (live->has_ended()) co_return Status(Code::kClosed, "the store was closed; open it again");
      if (options.stop.stop_requested() || clock.monotonic() >= deadline) co_return Messages();
      const Result<bool> looks_again =
          co_await wait->change(deadline, time_until_visible(*taken, backend.time()), &woken);
      if (answer) continue;  // The look of the wake-up was made, and its messages must not be lost.
      if (!looks_again.ok()) co_return looks_again.status();
      if (live->has_ended()) co_return Status(Code::kClosed, "the store was closed; open it again");
      if (!*looks_again) co_return Messages();
    }
  }
};

Task<Result<SentMessage>> AsyncQueue::put(std::string text, PutOptions options, std::stop_token stop) const {
  return Verbs::on_worker(
      *this, std::move(stop),
      [text = std::move(text), options, key = std::string(options.deduplication_key)](Queue& queue) mutable {
        options.deduplication_key = key;
        return queue.put(text, options);
      });
}

Task<Result<std::vector<ReceivedMessage>>> AsyncQueue::get(GetOptions options) const {
  std::optional<Queue> dead_letter;
  if (options.dead_letter != nullptr) dead_letter = *options.dead_letter;
  return Verbs::ending_at_home(home_, Verbs::get(queue_, home_, std::move(options), std::move(dead_letter)));
}

Task<Result<std::vector<Message>>> AsyncQueue::peek(std::uint32_t count, std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [count](Queue& queue) { return queue.peek(count); });
}

Task<Status> AsyncQueue::remove(Guid id, PopReceipt receipt, WriteOptions options, std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [id, receipt, owned = OwnedWriteOptions(options)](Queue& queue) {
    return queue.remove(id, receipt, owned.options());
  });
}

Task<Result<UpdatedMessage>> AsyncQueue::update(Guid id, PopReceipt receipt, std::chrono::milliseconds hold,
                                                std::optional<std::string> text, WriteOptions options,
                                                std::stop_token stop) const {
  return Verbs::on_worker(
      *this, std::move(stop),
      [id, receipt, hold, text = std::move(text), owned = OwnedWriteOptions(options)](Queue& queue) {
        const std::optional<std::string_view> replacement =
            text ? std::optional<std::string_view>(*text) : std::nullopt;
        return queue.update(id, receipt, hold, replacement, owned.options());
      });
}

Task<Status> AsyncQueue::clear(std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [](Queue& queue) { return queue.clear(); });
}

Task<Result<QueueFigures>> AsyncQueue::figures(std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [](Queue& queue) { return queue.figures(); });
}

Task<Status> AsyncQueue::set_metadata(std::vector<MetadataPair> metadata, std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop),
                          [metadata = std::move(metadata)](Queue& queue) { return queue.set_metadata(metadata); });
}

Task<Result<std::vector<MetadataPair>>> AsyncQueue::metadata(std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [](Queue& queue) { return queue.metadata(); });
}

Task<Status> AsyncQueue::set_access_policies(std::vector<AccessPolicy> policies, std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [policies = std::move(policies)](Queue& queue) {
    return queue.set_access_policies(policies);
  });
}

Task<Result<std::vector<AccessPolicy>>> AsyncQueue::access_policies(std::stop_token stop) const {
  return Verbs::on_worker(*this, std::move(stop), [](Queue& queue) { return queue.access_policies(); });
}

}  // namespace varve
