// Owns: zstd: its contexts, which cost more to make than a block costs to compress, and dictionaries.
// Must never: decide what is worth compressing, or let zstd write behind the buffer it was given.
//
// Failures of memory are std::bad_alloc, as elsewhere.
// Source: RFC 8878, Zstandard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct ZSTD_CDict_s;
struct ZSTD_DDict_s;

namespace varve::format {

/// Levels below 1 leave out the entropy coding: half the time of level 1, and a quarter to a half more bytes. There is
/// no level 0.
inline constexpr int kCompressionLevelMin = -7;
inline constexpr int kCompressionLevelMax = 19;
/// A dictionary larger than this gains nothing with blocks of a few KiB.
inline constexpr std::size_t kDictionaryBytesMax = std::size_t{1} << 20;

/// A dictionary made ready for decompression. Never changes: any number of threads may share it.
class Dictionary {
 public:
  /// Errors: kCorruption (not a zstd dictionary, or over kDictionaryBytesMax).
  static Result<std::shared_ptr<const Dictionary>> load(std::string_view bytes);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// The name by which runs know it.
  std::uint64_t content_hash() const noexcept { return content_hash_; }
  /// What it was loaded from.
  std::string_view bytes() const noexcept { return bytes_; }
  std::size_t memory_bytes() const noexcept;

 private:
  friend class Decompressor;
  explicit Dictionary(std::string_view bytes);

  const std::string bytes_;
  ZSTD_DDict_s* digested_;
  std::uint64_t content_hash_;
};

/// A dictionary for blocks like the samples, of at most `bytes_max` bytes. The same samples give the same dictionary.
/// Some hundred samples, together a hundred times the dictionary's size, are a good measure.
/// Errors: kInvalidArgument (too few samples, or nothing in common).
Result<std::string> train_dictionary(const std::vector<std::string>& samples, std::size_t bytes_max);

/// One thread at a time.
class Compressor {
 public:
  /// `level` from kCompressionLevelMin to kCompressionLevelMax, and not 0 (asserted); `dictionary` may be empty: none.
  /// Errors: kInvalidArgument (not a zstd dictionary).
  static Result<Compressor> make(int level, std::string_view dictionary);
  /// With plain content in place of a dictionary, to try whether one would help. No Decompressor reads what it
  /// compresses.
  static Result<Compressor> make_for_trial(int level, std::string_view content);
  ~Compressor();
  Compressor(Compressor&& other) noexcept;
  Compressor& operator=(Compressor&& other) noexcept;

  bool has_dictionary() const noexcept { return dictionary_ != nullptr; }
  /// The compressed bytes, valid until the next call; empty if they would be more than `bytes_max`.
  std::string_view compress(std::string_view raw, bool with_dictionary, std::size_t bytes_max);

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };
  struct FreeDictionary {
    void operator()(ZSTD_CDict_s* dictionary) const noexcept;
  };
  Compressor() = default;
  static Compressor make_plain(int level);

  std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;
  std::unique_ptr<ZSTD_CDict_s, FreeDictionary> dictionary_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_bytes_ = 0;
};

/// A skippable frame (RFC 8878, section 3.1.2): magic and u32 count of the bytes that follow, which mean nothing.
/// Decompressors pass over it.
inline constexpr std::uint32_t kZstdSkippableMagic = 0x184D2A50;
inline constexpr std::size_t kZstdSkippableHeadBytes = 8;

/// How many bytes the zstd frame takes that stands at the front of `bytes`, with the skippable one that may follow it;
/// nothing where none does, or not all of it. What it holds is not looked at.
std::optional<std::size_t> zstd_frame_bytes(std::string_view bytes) noexcept;

/// One thread at a time.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&& other) noexcept;
  Decompressor& operator=(Decompressor&& other) noexcept;

  /// Fills `raw` exactly. `dictionary` may be null: none. Errors: kCorruption; `raw` may have been written to.
  Status decompress(std::string_view stored, const Dictionary* dictionary, std::span<char> raw) noexcept;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
};

}  // namespace varve::format
