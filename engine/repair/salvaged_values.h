// Owns: the values that entries of a damaged store's tables point to.
// Must never: return a value other than the one that the entry names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/repair/losses.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// Reads values without manifest and header: the hash in the entry proves the value. One thread at a time may use it.
class SalvagedValues {
 public:
  /// `directory` must outlive this object.
  explicit SalvagedValues(io::Directory& directory) noexcept : directory_(directory) {}

  /// Returns the value that an entry of kind kPutExternal points to. Errors: kCorruption (also: the file is missing),
  /// those of io.
  Result<std::string> read(std::string_view pointer);
  /// Returns the loss of the value's place, without keys and versions.
  Loss place_of(std::string_view pointer) const;

 private:
  io::Directory& directory_;
  std::uint64_t number_ = 0;  // of file_
  std::unique_ptr<io::ReadableFile> file_;
};

}  // namespace varve::engine
