// Owns: every call of zstd (compression.h).
// Must never: trust a size that zstd read from the bytes. The caller's buffer is the limit.
#include "format/bytes/compression.h"

#include <cassert>
#include <new>
#include <utility>

#include <zdict.h>
#include <zstd.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"

namespace varve::format {
namespace {

/// Returns whether the bytes begin with the head of a zstd dictionary. zstd would accept any other bytes as plain
/// content.
bool is_dictionary(std::string_view bytes) noexcept {
  return bytes.size() >= 8 && bytes.size() <= kDictionaryBytesMax && load_u32(bytes.data()) == ZSTD_MAGIC_DICTIONARY;
}

void set_parameter(ZSTD_CCtx_s* context, ZSTD_cParameter parameter, int value) {
  const std::size_t done = ZSTD_CCtx_setParameter(context, parameter, value);
  assert(ZSTD_isError(done) == 0);
  static_cast<void>(done);
}

}  // namespace

Dictionary::Dictionary(std::string_view bytes)
    : bytes_(bytes),
      digested_(ZSTD_createDDict(bytes_.data(), bytes_.size())),
      content_hash_(format::content_hash(bytes_)) {}

std::uint64_t Dictionary::memory_bytes() const noexcept {
  return sizeof(Dictionary) + bytes_.capacity() + ZSTD_sizeof_DDict(digested_);
}

Dictionary::~Dictionary() {
  ZSTD_freeDDict(digested_);
}

Result<std::shared_ptr<const Dictionary>> Dictionary::load(std::string_view bytes) {
  if (!is_dictionary(bytes)) return Status::corruption("the dictionary is not a zstd dictionary, or is too large");
  std::shared_ptr<const Dictionary> dictionary(new Dictionary(bytes));
  if (dictionary->digested_ == nullptr) return Status::corruption("zstd cannot load the dictionary");
  return dictionary;
}

Result<std::string> train_dictionary(const std::vector<std::string>& samples, std::size_t bytes_max) {
  std::string all;
  std::vector<std::size_t> sizes;
  for (const std::string& sample : samples) {
    all.append(sample);
    sizes.push_back(sample.size());
  }
  std::string dictionary(std::min(bytes_max, kDictionaryBytesMax), '\0');
  const std::size_t size = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(), sizes.data(),
                                                 static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size) != 0) {
    return Status::invalid_argument(std::string("zstd cannot make a dictionary from these samples: ") +
                                    ZDICT_getErrorName(size));
  }
  dictionary.resize(size);
  return dictionary;
}

void Compressor::FreeContext::operator()(ZSTD_CCtx_s* context) const noexcept {
  ZSTD_freeCCtx(context);
}
void Compressor::FreeDictionary::operator()(ZSTD_CDict_s* dictionary) const noexcept {
  ZSTD_freeCDict(dictionary);
}

Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&& other) noexcept = default;
Compressor& Compressor::operator=(Compressor&& other) noexcept = default;

Result<Compressor> Compressor::make(int level, std::string_view dictionary) {
  if (dictionary.empty()) return make_plain(level);
  if (!is_dictionary(dictionary))
    return Status::invalid_argument("the dictionary is not a zstd dictionary, or is too large");
  return make_for_trial(level, dictionary);
}

Compressor Compressor::make_plain(int level) {
  assert(level != 0);
  assert(level >= kCompressionLevelMin);
  assert(level <= kCompressionLevelMax);
  Compressor made;
  made.context_.reset(ZSTD_createCCtx());
  if (made.context_ == nullptr) throw std::bad_alloc();
  set_parameter(made.context_.get(), ZSTD_c_compressionLevel, level);
  // Checksum and dictionary ID are left out: the block's frame has a checksum, and the block's run names the
  // dictionary.
  set_parameter(made.context_.get(), ZSTD_c_checksumFlag, 0);
  set_parameter(made.context_.get(), ZSTD_c_dictIDFlag, 0);
  return made;
}

/// zstd distinguishes a dictionary from plain content by its head.
Result<Compressor> Compressor::make_for_trial(int level, std::string_view content) {
  Compressor made = make_plain(level);
  made.dictionary_.reset(ZSTD_createCDict(content.data(), content.size(), level));
  if (made.dictionary_ == nullptr) return Status::invalid_argument("zstd cannot load the dictionary");
  return made;
}

std::string_view Compressor::compress(std::string_view raw, bool with_dictionary, std::size_t bytes_max) {
  assert(!with_dictionary || has_dictionary());
  if (buffer_bytes_ < bytes_max) {
    buffer_ = std::make_unique<char[]>(bytes_max);
    buffer_bytes_ = bytes_max;
  }
  const std::size_t referred = ZSTD_CCtx_refCDict(context_.get(), with_dictionary ? dictionary_.get() : nullptr);
  assert(ZSTD_isError(referred) == 0);
  static_cast<void>(referred);
  const std::size_t size = ZSTD_compress2(context_.get(), buffer_.get(), bytes_max, raw.data(), raw.size());
  if (ZSTD_isError(size) == 0) return {buffer_.get(), size};
  // The output did not fit, which is the only possible error. The context must be reset because it is in the middle of
  // the frame.
  ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
  return {};
}

/// Returns zero if no skippable frame starts there, and nothing if the frame is incomplete.
static std::optional<std::size_t> skippable_frame_bytes(std::string_view bytes) noexcept {
  if (bytes.size() < kZstdSkippableHeadBytes || load_u32(bytes.data()) != kZstdSkippableMagic) return 0;
  const std::size_t size = kZstdSkippableHeadBytes + std::size_t{load_u32(bytes.data() + sizeof(std::uint32_t))};
  return size <= bytes.size() ? std::optional(size) : std::nullopt;
}

std::optional<std::size_t> zstd_frame_bytes(std::string_view bytes) noexcept {
  if (bytes.size() < sizeof(std::uint32_t) || load_u32(bytes.data()) != ZSTD_MAGICNUMBER) return std::nullopt;
  const std::size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0 || size > bytes.size()) return std::nullopt;
  const std::optional<std::size_t> filling = skippable_frame_bytes(bytes.substr(size));
  return filling ? std::optional(size + *filling) : std::nullopt;
}

void Decompressor::FreeContext::operator()(ZSTD_DCtx_s* context) const noexcept {
  ZSTD_freeDCtx(context);
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&& other) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&& other) noexcept = default;

Status Decompressor::decompress(std::string_view stored, const Dictionary* dictionary, std::span<char> raw) noexcept {
  const std::size_t size = ZSTD_decompress_usingDDict(context_.get(), raw.data(), raw.size(), stored.data(),
                                                      stored.size(), dictionary ? dictionary->digested_ : nullptr);
  if (ZSTD_isError(size) != 0) return Status::corruption(ZSTD_getErrorName(size));
  if (size != raw.size()) return Status::corruption("its decompressed size differs from the stored size");
  return Status();
}

}  // namespace varve::format
