// Owns: the queue of coroutines that return to a loop's thread, and waking the thread once for all of them.
// Must never: allocate memory, or fail: a coroutine that cannot return would continue on another thread.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <coroutine>
#include <cstddef>
#include <utility>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace varve::serve {

/// The queue of one context, which one thread runs. asio::use_service() finds it. The leader of a commit group posts
/// all members to it one after the other. For each member, waking the thread and locking its queue would cost more than
/// the member's work.
class HomeQueue final : public boost::asio::execution_context::service {
 public:
  /// A coroutine's node in the queue. It belongs to one connection, and holds one coroutine at a time.
  class Place {
    friend class HomeQueue;
    std::coroutine_handle<> coroutine_;
    Place* next_ = nullptr;
  };

  static inline boost::asio::execution_context::id id{};  // NOLINT(readability-identifier-naming): the library's name
  explicit HomeQueue(boost::asio::execution_context& context)
      : service(context), context_(static_cast<boost::asio::io_context&>(context)) {}

  /// Resumes the coroutine on the context's thread, after all earlier posts. Any thread may call it. The place must
  /// stay alive until then.
  void post(Place& place, std::coroutine_handle<> coroutine) noexcept {
    place.coroutine_ = coroutine;
    Place* last = arrived_.load(std::memory_order_relaxed);
    do {
      place.next_ = last;
    } while (!arrived_.compare_exchange_weak(last, &place, std::memory_order_release, std::memory_order_relaxed));
    if (last == nullptr) boost::asio::post(context_, Turn{this});  // Otherwise a turn is already posted.
  }

 private:
  /// Provides the memory of the single turn that is posted at a time.
  template <typename T>
  class Allocator {
   public:
    using value_type = T;  // NOLINT(readability-identifier-naming): the language's name
    explicit Allocator(HomeQueue& queue) noexcept : queue_(&queue) {}
    template <typename Other>
    Allocator(const Allocator<Other>& other) noexcept : queue_(other.queue_) {}  // NOLINT(google-explicit-constructor)

    T* allocate([[maybe_unused]] std::size_t count) noexcept {
      static_assert(sizeof(T) <= kTurnBytes && alignof(T) <= alignof(std::max_align_t));
      assert(count == 1);
      return reinterpret_cast<T*>(queue_->memory_.data());
    }
    void deallocate(T* /*memory*/, std::size_t /*count*/) noexcept {}
    template <typename Other>
    bool operator==(const Allocator<Other>& other) const noexcept {
      return queue_ == other.queue_;
    }

   private:
    template <typename Other>
    friend class Allocator;
    HomeQueue* queue_;
  };

  struct Turn {
    using allocator_type = Allocator<void>;  // NOLINT(readability-identifier-naming): the library's name
    allocator_type get_allocator() const noexcept { return allocator_type(*queue); }
    void operator()() const { queue->resume_all(); }

    HomeQueue* queue;
  };

  /// Resumes the coroutines in the order of their arrival. If one throws, the remaining ones are posted again.
  void resume_all() {
    struct Rest {
      ~Rest() {
        while (first != nullptr) {
          Place* const place = std::exchange(first, first->next_);
          queue->post(*place, place->coroutine_);
        }
      }
      HomeQueue* queue;
      Place* first = nullptr;
    } rest{this};
    for (Place* place = arrived_.exchange(nullptr, std::memory_order_acquire); place != nullptr;) {
      Place* const earlier = std::exchange(place->next_, rest.first);
      rest.first = std::exchange(place, earlier);
    }
    while (rest.first != nullptr) std::exchange(rest.first, rest.first->next_)->coroutine_.resume();
  }

  void shutdown() noexcept override {}

  static constexpr std::size_t kTurnBytes = 128;
  boost::asio::io_context& context_;
  std::atomic<Place*> arrived_{nullptr};  // the latest first
  alignas(std::max_align_t) std::array<std::byte, kTurnBytes> memory_{};
};

}  // namespace varve::serve
