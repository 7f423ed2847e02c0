#include <gtest/gtest.h>

#include "tests/encryption/encryption_bench.h"
#include "tests/encryption/test_keys.h"

namespace varve::key_encryption_key_test {
namespace {

using namespace test;

Key rsa_key(std::string_view pem) {
  Result<Key> key = make_rsa_key("rsa", pem);
  EXPECT_TRUE(key.ok()) << key.status().to_string();
  return key.ok() ? *std::move(key) : nullptr;
}

struct WrapVector {
  std::string_view content_key;
  std::string_view wrapped;
};

TEST(AesKeyWrap, C20_WrapsAsTheVectorsOfRfc3394) {
  const Result<Key> key = make_aes_key("k", secret(counting(0, 32)));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ((*key)->algorithm(), "A256KW");
  for (const WrapVector& vector :
       {WrapVector{"00112233445566778899aabbccddeeff", "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"},
        WrapVector{"00112233445566778899aabbccddeeff0001020304050607",
                   "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"},
        WrapVector{"00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
                   "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"}}) {
    const Result<std::string> wrapped = (*key)->wrap(secret(unhex(vector.content_key)));
    ASSERT_TRUE(wrapped.ok()) << wrapped.status().to_string();
    EXPECT_EQ(hex(*wrapped), vector.wrapped);
    const Result<SecretBytes> unwrapped = (*key)->unwrap(*wrapped);
    ASSERT_TRUE(unwrapped.ok()) << unwrapped.status().to_string();
    EXPECT_EQ(hex(text_of(*unwrapped)), vector.content_key);
  }
}

TEST(AesKeyWrap, C20_EveryFlippedBitAndEveryLengthIsRefused) {
  const Key key = aes_key("k");
  const std::string wrapped = *key->wrap(secret(counting(7, 40)));
  for (std::size_t bit = 0; bit < wrapped.size() * 8; ++bit) {
    std::string changed = wrapped;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(key->unwrap(changed).code(), Code::kCorruption) << bit;
  }
  for (std::size_t size = 0; size < 64; ++size) {
    if (size == wrapped.size()) continue;
    std::string other = wrapped;
    other.resize(size);
    EXPECT_EQ(key->unwrap(other).code(), Code::kCorruption) << size;
  }
  EXPECT_EQ(key->unwrap(std::string(1 << 20, 'x')).code(), Code::kCorruption);
  EXPECT_EQ(aes_key("k", 0x41)->unwrap(wrapped).code(), Code::kCorruption);
}

TEST(AesKeyWrap, C20_TakesKeysOf32BytesAndWrapsWholeEights) {
  for (const std::size_t size : {0u, 16u, 31u, 33u}) {
    EXPECT_EQ(make_aes_key("k", secret(counting(0, size))).code(), Code::kInvalidArgument) << size;
  }
  for (const std::size_t size : {0u, 8u, 17u, 4096u}) {
    EXPECT_EQ(aes_key("k")->wrap(secret(counting(0, size))).code(), Code::kInvalidArgument) << size;
  }
}

TEST(RsaOaep, C20_WrapsForThePublicAndUnwrapsWithThePrivateKey) {
  const Key whole = rsa_key(kRsaPrivateKey);
  const Key half = rsa_key(kRsaPublicKey);
  EXPECT_EQ(whole->algorithm(), "RSA-OAEP");
  for (const Key& wrapping : {whole, half}) {
    const Result<std::string> wrapped = wrapping->wrap(secret(counting(9, 40)));
    ASSERT_TRUE(wrapped.ok()) << wrapped.status().to_string();
    EXPECT_EQ(wrapped->size(), 256u);
    const Result<SecretBytes> unwrapped = whole->unwrap(*wrapped);
    ASSERT_TRUE(unwrapped.ok()) << unwrapped.status().to_string();
    EXPECT_EQ(text_of(*unwrapped), counting(9, 40));
    EXPECT_EQ(half->unwrap(*wrapped).code(), Code::kUnsupported);
  }
}

TEST(RsaOaep, C20_WhatIsChangedOrForAnotherKeyIsRefused) {
  const Key key = rsa_key(kRsaPrivateKey);
  const std::string wrapped = *key->wrap(secret(counting(0, 32)));
  for (std::size_t at = 0; at < wrapped.size(); at += 5) {
    std::string changed = wrapped;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_EQ(key->unwrap(changed).code(), Code::kCorruption) << at;
  }
  for (const std::size_t size : {0u, 1u, 255u, 257u, 100'000u}) {
    EXPECT_EQ(key->unwrap(std::string(size, 'x')).code(), Code::kCorruption) << size;
  }
  EXPECT_EQ(key->unwrap(*rsa_key(kOtherRsaPublicKey)->wrap(secret(counting(0, 32)))).code(), Code::kCorruption);
  EXPECT_EQ(key->wrap(secret(counting(0, 255))).code(), Code::kUnsupported);
}

TEST(RsaOaep, C20_TakesRsaKeysOfEnoughBitsInClearAndAsksNobodyForAPassword) {
  for (const std::string_view pem : {std::string_view(""), std::string_view("x"), kSmallRsaPublicKey,
                                     kEllipticPublicKey, kLockedRsaPrivateKey, kRsaPrivateKey.substr(0, 800)}) {
    EXPECT_EQ(make_rsa_key("rsa", pem).code(), Code::kInvalidArgument) << pem;
  }
  EXPECT_EQ(make_rsa_key("rsa", std::string(70'000, '-')).code(), Code::kInvalidArgument);
}

TEST(SecretBytes, MoveAndLeaveNothingBehind) {
  SecretBytes first = secret("abc");
  SecretBytes second = std::move(first);
  EXPECT_EQ(first.size(), 0u);  // NOLINT(bugprone-use-after-move): that it is empty is what is looked at
  EXPECT_EQ(text_of(second), "abc");
  SecretBytes third = secret("defg");
  third = std::move(second);
  EXPECT_EQ(text_of(third), "abc");
}

TEST(SystemRandomBytes, C20_GivesOtherBytesEveryTime) {
  SecretBytes first(32);
  SecretBytes second(32);
  ASSERT_TRUE(system_random_bytes().fill(first.bytes()).ok());
  ASSERT_TRUE(system_random_bytes().fill(second.bytes()).ok());
  EXPECT_NE(text_of(first), text_of(second));
}

}  // namespace
}  // namespace varve::key_encryption_key_test
