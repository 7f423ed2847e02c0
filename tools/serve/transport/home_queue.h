// Owns: the coroutines that come home to a loop's thread, and waking it once for all that came meanwhile.
// Must never: take memory, or fail: who cannot come home would go on elsewhere.
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

/// Of one context, which one thread runs; asio::use_service() finds it. The leader of a group of commits sends all of
/// its members home one after the other: to wake the thread and to take its queue's lock for each costs more than to
/// serve it.
class HomeQueue final : public boost::asio::execution_context::service {
 public:
  /// Where a coroutine stands in the queue. Of one connection, for one coroutine at a time.
  class Place {
    friend class HomeQueue;
    std::coroutine_handle<> coroutine_;
    Place* next_ = nullptr;
  };

  static inline boost::asio::execution_context::id id{};  // NOLINT(readability-identifier-naming): the library's name
  explicit HomeQueue(boost::asio::execution_context& context)
      : service(context), context_(static_cast<boost::asio::io_context&>(context)) {}

  /// Resumes it on the context's thread, behind what was posted before. Any thread. The place outlives that.
  void post(Place& place, std::coroutine_handle<> coroutine) noexcept {
    place.coroutine_ = coroutine;
    Place* last = arrived_.load(std::memory_order_relaxed);
    do {
      place.next_ = last;
    } while (!arrived_.compare_exchange_weak(last, &place, std::memory_order_release, std::memory_order_relaxed));
    if (last == nullptr) boost::asio::post(context_, Turn{this});  // Else there is one on its way.
  }

 private:
  /// The memory of the one turn that is posted at a time.
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

  /// In the order in which they came. Where one throws, those behind it have another turn.
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
  std::atomic<Place*> arrived_{nullptr};  // the last one first
  alignas(std::max_align_t) std::array<std::byte, kTurnBytes> memory_{};
};

}  // namespace varve::serve
