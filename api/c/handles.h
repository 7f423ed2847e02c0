// Owns: the handles of the C interface: numbers that name objects, and stay refusable after the object is gone.
// Must never: follow a handle as an address, take a lock, or let an object go while a call uses it.
//
// A handle has the number of a slot, the generation of its use, and the kind of the object. Slots are reused, but
// generations differ, so an old handle is recognized. All is atomic, so a forked child can go on at any moment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "api/c/gate.h"
#include "varve/c.h"
#include "varve/result.h"
#include "varve/status.h"

namespace varve::c {

/// The kinds of handles. No kind is zero, so no handle is null.
enum class Kind : std::uint8_t {
  kResources = 1,
  kStore,
  kTable,
  kSnapshot,
  kPage,
  kCursor,
  kTransaction,
  kLoader,
  kList,
  kPlan,
  kReport,
  kQueue,
  kMessages,
  kMetadata,
  kStop,
  kContainer,
  kBlobs,
  kBlobWriter,
  kBlobReader,
  kBlocks,
  kValueWriter,
  kValueReader,
  kIndexes,
  kPolicies,
  kProperties,
};

/// What a handle names.
class Object {
 public:
  /// `gate` is that of the store that the object's calls use, or null.
  explicit Object(Kind kind, std::shared_ptr<Gate> gate = nullptr) noexcept : kind_(kind), gate_(std::move(gate)) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Kind kind() const noexcept { return kind_; }
  const std::shared_ptr<Gate>& gate() const noexcept { return gate_; }

  /// Marks that a thread uses the object, for kinds that one thread at a time may use. Returns false if another one
  /// does.
  bool take_turn() noexcept { return !in_turn_.exchange(true, std::memory_order_acquire); }
  void end_turn() noexcept { in_turn_.store(false, std::memory_order_release); }

 private:
  const Kind kind_;
  const std::shared_ptr<Gate> gate_;
  std::atomic<bool> in_turn_{false};
};

/// Gives the object a handle. Returns null if there is no memory; the object is then destroyed.
void* add_handle(std::unique_ptr<Object> object) noexcept;

/// Finds the object and keeps it until unpin(). Errors: kInvalidArgument (null, or no handle of this kind), kClosed (it
/// was freed).
Result<Object*> pin(const void* handle, Kind kind) noexcept;
/// Ends a pin. The last one of a freed handle destroys the object.
void unpin(const void* handle) noexcept;

/// Frees a handle: it is refused from now on, and its object goes after the last call that uses it. Returns false if
/// there was nothing to free.
bool free_handle(const void* handle, Kind kind) noexcept;

/// Returns the number of handles that are not freed.
std::size_t open_handles() noexcept;

/// An object that is kept while this value exists.
template <typename T>
class Pin {
 public:
  explicit Pin(const void* handle) noexcept : handle_(handle), found_(pin(handle, T::kKind)) {}
  ~Pin() {
    if (found_.ok()) unpin(handle_);
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  bool ok() const noexcept { return found_.ok(); }
  const Status& status() const noexcept { return found_.status(); }
  T* operator->() const { return static_cast<T*>(*found_); }
  T& operator*() const { return *static_cast<T*>(*found_); }

 private:
  const void* const handle_;
  const Result<Object*> found_;
};

}  // namespace varve::c
