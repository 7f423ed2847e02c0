// Owns: the structs of the C interface that grow: options that a caller of another version passed, and figures for it.
// Must never: read or write beyond the size that the caller named.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "varve/result.h"
#include "varve/status.h"

namespace varve::c {

/// Copies options. Null gives the defaults. Fields that the caller's version lacks are zero.
/// Errors: kInvalidArgument (`size` is too small), kUnsupported (a field that this library does not know is set).
template <typename T>
Result<T> read_sized(const T* given) noexcept {
  static_assert(std::is_trivial_v<T> && std::is_standard_layout_v<T>);
  T copy{};
  if (given == nullptr) return copy;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > 65'536) {
    return Status::invalid_argument("the size field of an options struct is not set; set it to sizeof the struct");
  }
  std::memcpy(static_cast<void*>(&copy), given, std::min(size, sizeof copy));
  const char* const bytes = reinterpret_cast<const char*>(given);
  if (size > sizeof copy && std::any_of(bytes + sizeof copy, bytes + size, [](char byte) { return byte != 0; })) {
    return Status::unsupported("an options struct sets a field that this version of the library does not know");
  }
  return copy;
}

/// Copies figures to the caller's struct. Fields that this library does not know become zero.
/// Errors: kInvalidArgument (null, or its `size` is too small).
template <typename T>
Status write_sized(T values, T* given) noexcept {
  static_assert(std::is_trivial_v<T> && std::is_standard_layout_v<T>);
  if (given == nullptr) return Status::invalid_argument("a pointer for the result is NULL and must not be");
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > 65'536) {
    return Status::invalid_argument("the size field of a result struct is not set; set it to sizeof the struct");
  }
  values.size = size;
  std::memset(static_cast<void*>(given), 0, size);
  std::memcpy(static_cast<void*>(given), &values, std::min(size, sizeof values));
  return Status();
}

}  // namespace varve::c
