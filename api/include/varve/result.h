// SPDX-License-Identifier: Apache-2.0
// Owns: a value, or the reason why there is no value. It is a leaf header: like status.h, every layer may include it.
// Must never: return a value that does not exist. Reading the value of a failed Result aborts the process.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "status.h"

namespace varve {
namespace result_detail {

/// Ends the process: a program read the value of a failed Result. Prints the Status to standard error first.
[[noreturn]] inline void abort_without_value(const Status& status) noexcept {
  std::fputs(("varve: the value of a failed Result was read: " + status.to_string() + "\n").c_str(), stderr);
  std::abort();
}

/// False for every type. A function that asserts it does not compile if it is used.
template <typename T>
inline constexpr bool kNever = false;

}  // namespace result_detail

/// Holds a `T`, or a Status that is not Ok. Check ok() before reading the value.
template <typename T>
class [[nodiscard]] Result {
 public:
  /// The type of the value.
  using value_type = T;

  // These constructors are implicit, so that a function can return a value or a Status directly.
  /// Holds this value; ok() is true.
  Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  /// Holds this error; ok() is false. An Ok ends the process, because it has no value.
  Result(Status status) noexcept : status_(std::move(status)) {
    if (status_.ok()) std::abort();  // An Ok without a value is a bug of the function that returned it.
  }

  /// Returns whether there is a value.
  bool ok() const noexcept { return value_.has_value(); }
  /// Returns the error, or Ok if there is a value. A temporary Result gives it by value.
  /// @{
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }
  Status status() const&& noexcept { return status_; }
  /// @}
  /// Returns the code of status(); kOk if there is a value.
  Code code() const noexcept { return status_.code(); }

  /// Returns the value. If there is none, prints the error to standard error and ends the process. A temporary Result
  /// gives its value by value, so that a loop over `(*call()).member` is safe: the language keeps the value until the
  /// loop ends.
  /// @{
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T operator*() && { return std::move(checked()); }
  T operator*() const&& { return const_cast<Result*>(this)->checked(); }
  /// @}
  /// Returns a pointer to the value. If there is none, prints the error to standard error and ends the process. A
  /// temporary Result is refused by the compiler: a loop over a member would use it after its end.
  /// @{
  T* operator->() & { return &checked(); }
  const T* operator->() const& { return &const_cast<Result*>(this)->checked(); }
  T* operator->() && { return pointer_into_temporary(); }
  const T* operator->() const&& { return pointer_into_temporary(); }
  /// @}

 private:
  static T* pointer_into_temporary() noexcept {
    static_assert(result_detail::kNever<T>,
                  "a temporary Result ends before its members do: hold the Result in a variable, or write "
                  "(*call()).member");
    return nullptr;
  }

  T& checked() {
    if (!value_.has_value()) result_detail::abort_without_value(status_);
    return *value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace varve
