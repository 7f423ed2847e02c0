// Owns: the memory in which a coroutine's way back to its connection's thread is posted.
// Must never: be used for two at a time.
#pragma once

#include <array>
#include <cassert>
#include <coroutine>
#include <cstddef>

namespace varve::serve {

/// Of one connection. It stands in the connection, so that there is always some (home_thread.h).
class WayHome {
 public:
  template <typename T>
  class Allocator {
   public:
    using value_type = T;  // NOLINT(readability-identifier-naming): the language's name
    explicit Allocator(WayHome& way) noexcept : way_(&way) {}
    template <typename Other>
    Allocator(const Allocator<Other>& other) noexcept : way_(other.way_) {}  // NOLINT(google-explicit-constructor)

    T* allocate([[maybe_unused]] std::size_t count) noexcept {
      static_assert(sizeof(T) <= kBytes && alignof(T) <= alignof(std::max_align_t));
      assert(count == 1);
      return reinterpret_cast<T*>(way_->memory_.data());
    }
    void deallocate(T* /*memory*/, std::size_t /*count*/) noexcept {}
    template <typename Other>
    bool operator==(const Allocator<Other>& other) const noexcept {
      return way_ == other.way_;
    }

   private:
    template <typename Other>
    friend class Allocator;
    WayHome* way_;
  };

  /// What is posted.
  struct Step {
    using allocator_type = Allocator<void>;  // NOLINT(readability-identifier-naming): the library's name
    allocator_type get_allocator() const noexcept { return allocator_type(*way); }
    void operator()() const { coroutine.resume(); }

    WayHome* way;
    std::coroutine_handle<> coroutine;
  };
  Step step(std::coroutine_handle<> coroutine) noexcept { return {this, coroutine}; }

 private:
  static constexpr std::size_t kBytes = 128;
  alignas(std::max_align_t) std::array<std::byte, kBytes> memory_{};
};

}  // namespace varve::serve
