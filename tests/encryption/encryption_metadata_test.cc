#include "varve/encryption/encryption_metadata.h"

#include <gtest/gtest.h>

#include "tests/encryption/encryption_bench.h"

namespace varve::encryption_metadata_test {
namespace {

using namespace test;

EncryptionMetadata sample() {
  EncryptionMetadata metadata;
  metadata.key_id = "key-2026";
  metadata.key_algorithm = "A256KW";
  metadata.wrapped_key = counting(200, 48);
  metadata.iv = counting(16, 16);
  return metadata;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

Code code_of(std::string_view json) {
  return parse_encryption_metadata(json).code();
}

TEST(EncryptionMetadata, C23_HasTheFormOfTheClassicLibraries) {
  EncryptionMetadata metadata = sample();
  metadata.protocol = EncryptionProtocol::kClassic;
  EXPECT_EQ(
      *format_encryption_metadata(metadata),
      "{\"WrappedContentKey\":{\"KeyId\":\"key-2026\","
      "\"EncryptedKey\":\"yMnKy8zNzs/Q0dLT1NXW19jZ2tvc3d7f4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3\",\"Algorithm\":\"A256KW\"},"
      "\"EncryptionAgent\":{\"Protocol\":\"1.0\",\"EncryptionAlgorithm\":\"AES_CBC_256\"},"
      "\"ContentEncryptionIV\":\"EBESExQVFhcYGRobHB0eHw==\",\"KeyWrappingMetadata\":{}}");
}

TEST(EncryptionMetadata, C23_IsReadAsItWasWrittenInAnyOrderAndSpacing) {
  for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
    EncryptionMetadata metadata = sample();
    metadata.protocol = protocol;
    metadata.key_id = "https://vault/keys/\"\xC3\xA4\"\n";
    const Result<EncryptionMetadata> again = parse_encryption_metadata(*format_encryption_metadata(metadata));
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(*again, metadata);
  }
  const Result<EncryptionMetadata> other = parse_encryption_metadata(
      " { \"KeyWrappingMetadata\" : {\"EncryptionLibrary\": \"Another 1.2\", \"n\": 3}, \"ContentEncryptionIV\": "
      "\"EBESExQVFhcYGRobHB0eHw==\",\n \"EncryptionAgent\": {\"EncryptionAlgorithm\": \"AES_CBC_256\", \"Protocol\": "
      "\"1.0\"}, \"WrappedContentKey\": {\"Algorithm\":\"A256KW\", \"EncryptedKey\": \"AAAA\", \"KeyId\": \"k\"} } ");
  ASSERT_TRUE(other.ok()) << other.status().to_string();
  EXPECT_EQ(other->key_id, "k");
  EXPECT_EQ(other->iv, counting(16, 16));
}

TEST(EncryptionMetadata, C24_AnotherProtocolOrAlgorithmIsUnsupported) {
  const std::string good = *format_encryption_metadata(sample());
  EXPECT_EQ(code_of(good), Code::kOk);
  EXPECT_EQ(code_of(replaced(good, "2.0", "3.0")), Code::kUnsupported);
  EXPECT_EQ(code_of(replaced(good, "2.0", "1.0")), Code::kUnsupported);
  EXPECT_EQ(code_of(replaced(good, "AES_GCM_256", "ROT13")), Code::kUnsupported);
}

TEST(EncryptionMetadata, C23_MissingTwofoldUnknownAndMistypedMembersAreRefused) {
  const std::string good = *format_encryption_metadata(sample());
  for (const auto& [what, with] : std::vector<std::pair<std::string, std::string>>{
           {"\"KeyId\":\"key-2026\",", ""},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":\"key-2026\",\"KeyId\":\"key-2026\""},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":\"key-2026\",\"Key\\u0049d\":\"other\""},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":7"},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":\"\""},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":null"},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":[\"key-2026\"]"},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":{}"},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":\"\xFF\""},
           {"\"KeyId\":\"key-2026\"", "\"keyid\":\"key-2026\""},
           {"\"KeyId\":\"key-2026\"", "\"KeyId\":\"" + std::string(1025, 'k') + "\""},
           {"\"Algorithm\":\"A256KW\"", "\"Algorithm\":\"" + std::string(65, 'a') + "\""},
           {",\"Algorithm\":\"A256KW\"", ""},
           {"\"Protocol\":\"2.0\",", ""},
           {",\"EncryptionAlgorithm\":\"AES_GCM_256\"", ""},
           {"\"ContentEncryptionIV\":\"EBESExQVFhcYGRobHB0eHw==\",", ""},
           {"EBESExQVFhcYGRobHB0eHw==", "EBESExQVFhcYGRobHB0eHx=="},
           {"EBESExQVFhcYGRobHB0eHw==", "EBESExQVFhcYGRobHB0eHw"},
           {"EBESExQVFhcYGRobHB0eHw==", "EBESExQVFhcYGRobHB0e"},
           {"EBESExQVFhcYGRobHB0eHw==", "EBESExQVFhcYGRobHB0eHx8f"},
           {"\"KeyWrappingMetadata\":{}", "\"KeyWrappingMetadata\":[]"},
           {"\"KeyWrappingMetadata\":{}", "\"KeyWrappingMetadata\":{\"a\":{}}"},
           {"\"KeyWrappingMetadata\":{}", "\"KeyWrappingMetadata\":{},\"More\":{}"},
           {"\"KeyWrappingMetadata\":{}", "\"KeyWrappingMetadata\":{},\"More\":\"x\""},
           {"\"Protocol\"", "\"More\":\"x\",\"Protocol\""},
       }) {
    EXPECT_EQ(code_of(replaced(good, what, with)), Code::kCorruption) << what << " -> " << with;
  }
}

TEST(EncryptionMetadata, C23_HostileTextsAreRefused) {
  const std::string good = *format_encryption_metadata(sample());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(code_of(good.substr(0, size)), Code::kCorruption) << size;
  }
  for (const std::string& text :
       {good + "x", good + good, good + std::string(1, '\0'), "\xEF\xBB\xBF" + good, std::string("null"),
        std::string("\"x\""), std::string("7"), std::string("[]"), "[" + good + "]", std::string("{}"),
        "{\"a\":" + good + "}", std::string(16'000, '['), std::string(16'000, '{'), std::string("{\"a\":1e999999}"),
        good + std::string(16'384, ' ')}) {
    EXPECT_EQ(code_of(text), Code::kCorruption) << text.substr(0, 100);
  }
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += "{\"a\":";
  EXPECT_EQ(code_of(deep), Code::kCorruption);
  std::string many = "{\"KeyWrappingMetadata\":{\"0\":0";
  for (int i = 1; i < 1000; ++i) many += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(code_of(many + "}" + good.substr(good.find(',', good.find("\"KeyWrap") - 1))), Code::kCorruption);
}

TEST(EncryptionMetadata, C23_WhatCannotBeReadIsNotWritten) {
  EncryptionMetadata metadata = sample();
  metadata.key_id = std::string(1024, '\n');
  metadata.wrapped_key = std::string(4096, 'w');
  const Result<std::string> largest = format_encryption_metadata(metadata);
  ASSERT_TRUE(largest.ok());
  EXPECT_EQ(*parse_encryption_metadata(*largest), metadata);
  const auto refuses = [](const EncryptionMetadata& bad) {
    return format_encryption_metadata(bad).code() == Code::kInvalidArgument;
  };
  for (const std::string& id : {std::string(), std::string(1025, 'k'), std::string("\xFF")}) {
    metadata = sample();
    metadata.key_id = id;
    EXPECT_TRUE(refuses(metadata)) << id;
  }
  metadata = sample();
  metadata.key_algorithm = std::string(65, 'a');
  EXPECT_TRUE(refuses(metadata));
  for (const std::size_t size : {0u, 4097u}) {
    metadata = sample();
    metadata.wrapped_key = std::string(size, 'w');
    EXPECT_TRUE(refuses(metadata));
  }
}

TEST(EncryptedNames, C23_AreAListOfDifferentPropertyNames) {
  const std::vector<std::string> names = {"Secret", "\xE5\x90\x8D", "A\"B"};
  EXPECT_EQ(format_encrypted_names(std::vector<std::string>{"Secret"}), "[\"Secret\"]");
  EXPECT_EQ(*parse_encrypted_names(format_encrypted_names(names)), names);
  EXPECT_EQ(*parse_encrypted_names("[]"), std::vector<std::string>());
  std::vector<std::string> many;
  for (int i = 0; i < 252; ++i) many.push_back("N" + std::to_string(i));
  EXPECT_EQ(*parse_encrypted_names(format_encrypted_names(many)), many);
  many.emplace_back("more");
  EXPECT_EQ(parse_encrypted_names(format_encrypted_names(many)).code(), Code::kCorruption);
  for (const std::string_view text :
       {"", "null", "\"a\"", "{}", "{\"a\":1}", "[\"a\",\"a\"]", "[\"a\",\"\\u0061\"]", "[1]", "[null]", "[[\"a\"]]",
        "[\"a\"", "[\"a\"]]", "[\"\"]", "[\"RowKey\"]", "[\"PartitionKey\"]", "[\"Timestamp\"]",
        "[\"_ClientEncryptionMetadata1\"]", "[\"_ClientEncryptionMetadata2\"]", "[\"\xFF\"]"}) {
    EXPECT_EQ(parse_encrypted_names(text).code(), Code::kCorruption) << text;
  }
  EXPECT_EQ(parse_encrypted_names(std::string(100'000, '[')).code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::encryption_metadata_test
