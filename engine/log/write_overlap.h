// Owns: whether the log's writes are usually in flight beside each other.
// Must never: let a single write decide it.
#pragma once

#include <cstdint>

namespace varve::engine {

/// Number of writes that are judged together.
inline constexpr std::uint32_t kOverlapWindow = 64;

/// A value. It changes to usual when a quarter of a window's writes began beside another one, and back when an eighth
/// or fewer did.
class WriteOverlap {
 public:
  void note(bool begins_beside_another) noexcept {
    ++writes_;
    if (begins_beside_another) ++beside_;
    if (writes_ < kOverlapWindow) return;
    is_usual_ = is_usual_ ? beside_ > kOverlapWindow / 8 : beside_ >= kOverlapWindow / 4;
    writes_ = 0;
    beside_ = 0;
  }
  bool is_usual() const noexcept { return is_usual_; }

 private:
  std::uint32_t writes_ = 0;
  std::uint32_t beside_ = 0;
  bool is_usual_ = false;
};

}  // namespace varve::engine
