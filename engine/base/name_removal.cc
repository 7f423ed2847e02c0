// Owns: counting holds (name_removal.h).
// Must never: use the directory under its mutex.
#include "engine/base/name_removal.h"

#include <cassert>
#include <new>

namespace varve::engine {

NameRemoval::Hold& NameRemoval::Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    release();
    removal_ = std::exchange(other.removal_, nullptr);
  }
  return *this;
}

void NameRemoval::Hold::release() noexcept {
  if (removal_ != nullptr) std::exchange(removal_, nullptr)->end_hold();
}

NameRemoval::~NameRemoval() {
  const io::MutexGuard guard(mutex_);
  assert(holds_ == 0);
}

NameRemoval::Hold NameRemoval::hold() noexcept {
  const io::MutexGuard guard(mutex_);
  ++holds_;
  return Hold(*this);
}

bool NameRemoval::is_held() noexcept {
  const io::MutexGuard guard(mutex_);
  return holds_ > 0;
}

void NameRemoval::remove(std::string name) noexcept {
  {
    const io::MutexGuard guard(mutex_);
    if (holds_ > 0) {
      try {
        put_off_.push_back(std::move(name));
      } catch (const std::bad_alloc&) {
        return;  // It remains as a stray file.
      }
      return;
    }
  }
  remove_now(name);
}

void NameRemoval::remove_now(const std::string& name) noexcept {
  try {
    (void)directory_.remove(name);
  } catch (const std::bad_alloc&) {
    // It remains as a stray file.
  }
}

void NameRemoval::end_hold() noexcept {
  std::vector<std::string> due;
  {
    const io::MutexGuard guard(mutex_);
    assert(holds_ > 0);
    if (--holds_ == 0) due.swap(put_off_);
  }
  for (const std::string& name : due) remove_now(name);
}

}  // namespace varve::engine
