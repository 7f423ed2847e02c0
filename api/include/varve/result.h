// SPDX-License-Identifier: Apache-2.0
// Owns: a value, or the reason why there is no value. It is a leaf header: like status.h, every layer may include it.
// Must never: return a value that does not exist. Reading the value of a failed Result aborts the process.
#pragma once

#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include "status.h"

#pragma GCC visibility push(default)

namespace varve {

/// Holds a `T`, or a Status that is not Ok. Check ok() before reading the value.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // These constructors are implicit, so that a function can return a value or a Status directly.
  Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  Result(Status status) noexcept : status_(std::move(status)) {
    if (status_.ok()) std::abort();  // An Ok without a value is a bug of the function that returned it.
  }

  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }
  Code code() const noexcept { return status_.code(); }

  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

 private:
  T& checked() {
    if (!value_.has_value()) std::abort();
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace varve

#pragma GCC visibility pop
