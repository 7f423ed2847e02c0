// Owns: the frame of every call of the C interface: handles are checked, exceptions end, failures become values.
// Must never: let an exception out.
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/c/handles.h"
#include "varve/c.h"
#include "varve/status.h"

namespace varve::c {

/// Returns null for Ok, else a copy that the caller frees. If memory runs out, the copy has the code alone.
varve_status* to_c(const Status& status) noexcept;
/// Returns the Status of a callback's result, and frees the result.
Status take_status(varve_status* status) noexcept;

/// Calls `body`, which returns a Status.
template <typename Body>
varve_status* guarded_call(Body&& body) noexcept {
  try {
    return to_c(std::forward<Body>(body)());
  } catch (const std::bad_alloc&) {
    return to_c(Status::out_of_memory());
  } catch (const std::length_error&) {
    return to_c(Status::out_of_memory());
  } catch (...) {
    return to_c(Status(Code::kUnknown, "a callback or a library threw an exception; expected a returned status"));
  }
}

/// One call's use of an object: the object stays, and its store does not close meanwhile. If one thread at a time may
/// use objects of the kind, this thread has its turn.
template <typename T>
class Use {
 public:
  explicit Use(const void* handle) noexcept : pin_(handle) {
    if (!pin_.ok()) {
      status_ = pin_.status();
    } else if (pin_->gate() != nullptr && !pin_->gate()->enter()) {
      status_ = Status(Code::kClosed, "the store was closed");
    } else if (T::kOneThread && !pin_->take_turn()) {
      status_ = Status::invalid_argument("another thread uses the handle now; use it from one thread at a time");
      if (pin_->gate() != nullptr) pin_->gate()->leave();
    }
  }
  ~Use() {
    if (!ok()) return;
    if (T::kOneThread) pin_->end_turn();
    if (pin_->gate() != nullptr) pin_->gate()->leave();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  bool ok() const noexcept { return status_.ok(); }
  const Status& status() const noexcept { return status_; }
  T* operator->() const { return &*pin_; }
  T& operator*() const { return *pin_; }

 private:
  const Pin<T> pin_;
  Status status_;
};

/// Calls `body` with the object that a handle names.
template <typename T, typename Body>
varve_status* call_on(const void* handle, Body&& body) noexcept {
  return guarded_call([&]() -> Status {
    const Use<T> use(handle);
    return use.ok() ? body(*use) : use.status();
  });
}

/// Returns an error that names a pointer which must not be null.
inline Status null_pointer(std::string_view name) noexcept {
  return Status::invalid_argument(name).in_file("a pointer is NULL and must not be");
}

/// Stores the handle of a new object in `*handle`. Errors: kOutOfMemory.
template <typename Handle>
Status give_handle(std::unique_ptr<Object> object, Handle** handle) noexcept {
  *handle = static_cast<Handle*>(add_handle(std::move(object)));
  return *handle == nullptr ? Status::out_of_memory() : Status();
}

/// A handle that a call gives before it knows what the object shows. Takes it back, by an exception too, unless keep()
/// was called.
template <typename Object, typename Handle>
class EarlyHandle {
 public:
  explicit EarlyHandle(Handle** handle) noexcept : handle_(handle) {}
  ~EarlyHandle() {
    if (handle_ == nullptr) return;
    free_handle(*handle_, Object::kKind);
    *handle_ = nullptr;
  }
  EarlyHandle(const EarlyHandle&) = delete;
  EarlyHandle& operator=(const EarlyHandle&) = delete;

  void keep() noexcept { handle_ = nullptr; }

 private:
  Handle** handle_;
};

}  // namespace varve::c
