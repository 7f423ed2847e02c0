#include "tools/varve/input/peeked_input.h"

#include <algorithm>
#include <cstring>

namespace varve::tool {

namespace {

constexpr std::size_t kPeekBytes = 4096;

}  // namespace

std::string_view PeekedInput::peek(bool (*is_unclear)(std::string_view)) {
  while (below_->end() == InputEnd::kNone && (first_.empty() || is_unclear(first_))) {
    const std::size_t before = first_.size();
    first_.resize(before + kPeekBytes);
    first_.resize(before + below_->read(first_.data() + before, kPeekBytes));
  }
  return first_;
}

std::size_t PeekedInput::read(char* bytes, std::size_t size) {
  if (used_ < first_.size()) {
    const std::size_t taken = std::min(size, first_.size() - used_);
    std::memcpy(bytes, first_.data() + used_, taken);
    used_ += taken;
    return taken;
  }
  const std::size_t got = below_->read(bytes, size);
  return got > 0 ? got : end_like(*below_);
}

}  // namespace varve::tool
