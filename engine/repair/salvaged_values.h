// Owns: values that entries of a damaged store's tables point to.
// Must never: give a value that is not the one its entry names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/repair/losses.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// Neither manifest nor header is asked: the hash in the entry proves the value. One thread at a time.
class SalvagedValues {
 public:
  /// `directory` outlives it.
  explicit SalvagedValues(io::Directory& directory) noexcept : directory_(directory) {}

  /// What an entry of kind kPutExternal points to. Errors: kCorruption (also: the file is missing), those of io.
  Result<std::string> read(std::string_view pointer);
  /// Where it should be, without keys and versions.
  Loss place_of(std::string_view pointer) const;

 private:
  io::Directory& directory_;
  std::uint64_t number_ = 0;  // of file_
  std::unique_ptr<io::ReadableFile> file_;
};

}  // namespace varve::engine
