// Owns: closing a descriptor of the operating system.
// Must never: have two owners.
#pragma once

#include <utility>

#include <unistd.h>

namespace varve::tool {

/// A number below 0 means none.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int number = -1) noexcept : number_(number) {}
  ~OwnedDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(other.release()) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace varve::tool
