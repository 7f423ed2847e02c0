#include "api/encryption/cipher.h"

#include <array>

#include <gtest/gtest.h>

#include "tests/encryption/encryption_bench.h"

namespace varve::cipher_test {
namespace {

using namespace test;

TEST(Ciphers, C26_GcmIsThatOfThePublishedVectors) {
  const SecretBytes key = secret(std::string(32, '\0'));
  const std::string nonce(12, '\0');
  EXPECT_EQ(hex(*encrypt_gcm(key, nonce, "", "")), "530f8afbc74536b9a963b4f1c4cb738b");
  EXPECT_EQ(hex(*encrypt_gcm(key, nonce, "", std::string(16, '\0'))),
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919");
}

TEST(Ciphers, C26_GcmBindsKeyNonceAndAssociatedBytes) {
  const SecretBytes key = secret(counting(0, 32));
  const std::string nonce = counting(1, 12);
  const std::string stored = *encrypt_gcm(key, nonce, "here", "hello");
  EXPECT_EQ(*decrypt_gcm(key, nonce, "here", stored), "hello");
  EXPECT_EQ(decrypt_gcm(key, nonce, "there", stored).code(), Code::kCorruption);
  EXPECT_EQ(decrypt_gcm(key, counting(2, 12), "here", stored).code(), Code::kCorruption);
  EXPECT_EQ(decrypt_gcm(secret(counting(1, 32)), nonce, "here", stored).code(), Code::kCorruption);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    EXPECT_EQ(decrypt_gcm(key, nonce, "here", stored.substr(0, size)).code(), Code::kCorruption) << size;
  }
}

TEST(Ciphers, C20_CbcPadsToWholeBlocksAndRefusesWhatIsNone) {
  const SecretBytes key = secret(counting(0, 32));
  const std::string iv = counting(1, 16);
  for (std::size_t size = 0; size <= 64; ++size) {
    const std::string plain = counting(65, size);
    const std::string stored = *encrypt_cbc(key, iv, plain);
    EXPECT_EQ(stored.size(), size / 16 * 16 + 16);
    EXPECT_EQ(*decrypt_cbc(key, iv, stored), plain);
  }
  const std::string stored = *encrypt_cbc(key, iv, "hello");
  for (std::size_t size = 0; size < 16; ++size) {
    EXPECT_EQ(decrypt_cbc(key, iv, stored.substr(0, size)).code(), Code::kCorruption) << size;
  }
}

TEST(Ciphers, ValuesOverSixteenMebibytesAreRefused) {
  const SecretBytes key = secret(counting(0, 32));
  const std::string large(16 * 1'048'576 + 1, 'x');
  EXPECT_EQ(encrypt_cbc(key, counting(1, 16), large).code(), Code::kTooLarge);
  EXPECT_EQ(decrypt_cbc(key, counting(1, 16), large).code(), Code::kTooLarge);
  EXPECT_EQ(encrypt_gcm(key, counting(1, 12), "", large).code(), Code::kTooLarge);
  EXPECT_EQ(decrypt_gcm(key, counting(1, 12), "", large).code(), Code::kTooLarge);
}

TEST(Ciphers, HashesPartsAsOneText) {
  const std::array<std::string_view, 3> parts = {"a", "", "bc"};
  EXPECT_EQ(hex(*sha256(parts)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace varve::cipher_test
