// Owns: zstd contexts, which cost more to create than a block costs to compress, and zstd dictionaries.
// Must never: decide which blocks are worth compressing, or let zstd write past the end of the buffer that it got.
//
// If memory runs out, the functions throw std::bad_alloc, like the rest of the code.
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

/// Levels below 1 leave out the entropy coding. They take half the time of level 1 and produce a quarter to a half more
/// bytes. Level 0 does not exist.
inline constexpr int kCompressionLevelMin = -7;
inline constexpr int kCompressionLevelMax = 19;
/// Limit of a dictionary in bytes. A larger dictionary gains nothing for blocks of a few KiB.
inline constexpr std::size_t kDictionaryBytesMax = std::size_t{1} << 20;

/// A dictionary that is prepared for decompression. It never changes, so any number of threads may share it.
class Dictionary {
 public:
  /// Errors: kCorruption (not a zstd dictionary, or over kDictionaryBytesMax).
  static Result<std::shared_ptr<const Dictionary>> load(std::string_view bytes);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// Returns the hash by which runs name the dictionary.
  std::uint64_t content_hash() const noexcept { return content_hash_; }
  /// Returns the memory that this object keeps, in bytes.
  std::uint64_t memory_bytes() const noexcept;
  /// Returns the bytes that the dictionary was loaded from.
  std::string_view bytes() const noexcept { return bytes_; }

 private:
  friend class Decompressor;
  explicit Dictionary(std::string_view bytes);

  const std::string bytes_;
  ZSTD_DDict_s* digested_;
  std::uint64_t content_hash_;
};

/// Trains a dictionary of at most `bytes_max` bytes for blocks that resemble the samples. Equal samples give an equal
/// dictionary. A good choice is some hundred samples with together a hundred times the dictionary's size.
/// Errors: kInvalidArgument (too few samples, or samples with nothing in common).
Result<std::string> train_dictionary(const std::vector<std::string>& samples, std::size_t bytes_max);

/// Compresses blocks. One thread at a time may use a Compressor.
class Compressor {
 public:
  /// `level` is from kCompressionLevelMin to kCompressionLevelMax, and not 0 (asserted). An empty `dictionary` means no
  /// dictionary.
  /// Errors: kInvalidArgument (not a zstd dictionary).
  static Result<Compressor> make(int level, std::string_view dictionary);
  /// Makes a compressor that uses plain content in place of a dictionary, to measure whether a dictionary would help.
  /// No Decompressor can read its output.
  static Result<Compressor> make_for_trial(int level, std::string_view content);
  ~Compressor();
  Compressor(Compressor&& other) noexcept;
  Compressor& operator=(Compressor&& other) noexcept;

  bool has_dictionary() const noexcept { return dictionary_ != nullptr; }
  /// Returns the compressed bytes, which are valid until the next call. Returns an empty view if they would need more
  /// than `bytes_max` bytes.
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

/// A skippable frame (RFC 8878, section 3.1.2): the magic, a u32 count, and as many bytes without meaning.
/// Decompressors skip it.
inline constexpr std::uint32_t kZstdSkippableMagic = 0x184D2A50;
inline constexpr std::size_t kZstdSkippableHeadBytes = 8;

/// Returns the size in bytes of the zstd frame at the start of `bytes`, plus the skippable frame that may follow it.
/// Returns nothing if no frame starts there, or if a frame is incomplete. The frame's content is not checked.
std::optional<std::size_t> zstd_frame_bytes(std::string_view bytes) noexcept;

/// Decompresses blocks. One thread at a time may use a Decompressor.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&& other) noexcept;
  Decompressor& operator=(Decompressor&& other) noexcept;

  /// Fills `raw` exactly. If `dictionary` is null, no dictionary is used. Errors: kCorruption; `raw` may then be partly
  /// written.
  Status decompress(std::string_view stored, const Dictionary* dictionary, std::span<char> raw) noexcept;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
};

}  // namespace varve::format
