// Owns: the fuzzer of the metadata of encryption, which any writer of a table may have written.
// Must never: accept metadata that cannot be written again, or return an entity that was never encrypted.
//
// Input: the text of _ClientEncryptionMetadata1. It is also used as the list of names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <varve/encryption/entity_encryption.h>

#include "fuzz/mutation.h"

namespace varve {
namespace {

void check_refusal(const Status& status) {
  if (status.code() != Code::kCorruption && status.code() != Code::kUnsupported) std::abort();
}

void check_metadata(std::string_view text) {
  const Result<EncryptionMetadata> metadata = parse_encryption_metadata(text);
  if (!metadata.ok()) return check_refusal(metadata.status());
  const Result<std::string> written = format_encryption_metadata(*metadata);
  if (!written.ok()) std::abort();
  const Result<EncryptionMetadata> again = parse_encryption_metadata(*written);
  if (!again.ok() || *again != *metadata) std::abort();
}

void check_names(std::string_view text) {
  const Result<std::vector<std::string>> names = parse_encrypted_names(text);
  if (!names.ok()) return check_refusal(names.status());
  const Result<std::vector<std::string>> again = parse_encrypted_names(format_encrypted_names(*names));
  if (!again.ok() || *again != *names) std::abort();
}

/// Provides a key for every id, so that the code reaches the unwrapping, which must fail.
void check_entity(std::string_view text) {
  static const Result<std::shared_ptr<const KeyEncryptionKey>> key = make_aes_key("any", SecretBytes(32));
  Entity entity("p", "r");
  entity.add("Secret", Binary{"0123456789abcdef0123456789abcdef"});
  entity.add(std::string(kEncryptionMetadataName), text);
  entity.add(std::string(kEncryptedNamesName), Binary{"0123456789abcdef0123456789abcdef"});
  const Result<Entity> plain = decrypt(entity, {[](std::string_view) { return key; }, nullptr});
  if (plain.ok()) std::abort();
  check_refusal(plain.status());
}

}  // namespace
}  // namespace varve

/// Words of such texts.
constexpr std::string_view kWords[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       ":",
                                       ",",
                                       "\"",
                                       "\"WrappedContentKey\"",
                                       "\"KeyId\"",
                                       "\"EncryptedKey\"",
                                       "\"Algorithm\"",
                                       "\"EncryptionAgent\"",
                                       "\"Protocol\"",
                                       "\"EncryptionAlgorithm\"",
                                       "\"ContentEncryptionIV\"",
                                       "\"KeyWrappingMetadata\"",
                                       "\"EncryptionLibrary\"",
                                       "\"1.0\"",
                                       "\"2.0\"",
                                       "\"AES_CBC_256\"",
                                       "\"AES_GCM_256\"",
                                       "\"A256KW\"",
                                       "\"RSA-OAEP\"",
                                       "null",
                                       "true",
                                       "1",
                                       "\\u0000",
                                       "\\u00e9",
                                       "AAAA",
                                       "=="};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  varve::check_metadata(text);
  varve::check_names(text);
  varve::check_entity(text);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_words(kWords, data, size, size_max, seed);
}
