#include <set>

#include <gtest/gtest.h>

#include "api/encryption/cipher.h"
#include "api/model/base64.h"
#include "tests/encryption/encryption_bench.h"
#include "tests/encryption/test_keys.h"

namespace varve::entity_encryption_test {
namespace {

using namespace test;

constexpr std::string_view kMetadata = kEncryptionMetadataName;
constexpr std::string_view kNames = kEncryptedNamesName;

Entity sample() {
  Entity entity("p1", "r1");
  entity.set("Secret", "hello").set("Age", 7).set("Open", "world").set("Other", "");
  entity.set_etag(ETag::of_timestamp(DateTime{638'000'000'000'000'000}));
  return entity;
}

Entity encrypted(const Entity& entity, EncryptionProtocol protocol = EncryptionProtocol::kAuthenticated) {
  Result<Entity> out = encrypt(entity, PropertyChoice::names({"Secret", "Other"}), *aes_key("k"), {protocol});
  EXPECT_TRUE(out.ok()) << out.status().to_string();
  return out.ok() ? *std::move(out) : Entity();
}

DecryptionKeys with_key() {
  return {{}, aes_key("k")};
}

Code code_of(const Entity& entity, const DecryptOptions& options = {}) {
  return decrypt(entity, with_key(), options).code();
}

TEST(EntityEncryption, C27_TheClassicVectorIsMetToTheByte) {
  ChosenBytes random = vector_bytes();
  Entity plain("p1", "r1");
  plain.set("Secret", "hello");
  const Result<Entity> out =
      encrypt(plain, PropertyChoice::names({"Secret"}), *aes_key("kek"), {EncryptionProtocol::kClassic, &random});
  ASSERT_TRUE(out.ok()) << out.status().to_string();
  EXPECT_EQ(encode_base64(bytes_in(*out, "Secret")), "YFPa1+ANrBEmUdvb/nSkew==");
  EXPECT_EQ(encode_base64(bytes_in(*out, kNames)), "Do/FHgjDfEbSWETVpVpF9g==");
  EXPECT_EQ(text_in(*out, kMetadata),
            "{\"WrappedContentKey\":{\"KeyId\":\"kek\","
            "\"EncryptedKey\":\"m6dOwKM5SkO6qVVIotB71KxPbq1ixN0WaDfcxYaARoZT2ym4madmjQ==\",\"Algorithm\":\"A256KW\"},"
            "\"EncryptionAgent\":{\"Protocol\":\"1.0\",\"EncryptionAlgorithm\":\"AES_CBC_256\"},"
            "\"ContentEncryptionIV\":\"EBESExQVFhcYGRobHB0eHw==\",\"KeyWrappingMetadata\":{}}");
  const Result<Entity> again = decrypt(*out, {{}, aes_key("kek")});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, plain);
}

TEST(EntityEncryption, C22_TheIvOfAValueIsDerivedFromRowKeyPartitionKeyAndName) {
  const std::string iv = counting(0x10, 16);
  const SecretBytes content_key = secret(counting(0, 32));
  EXPECT_EQ(
      *decrypt_cbc(content_key, unhex("d3ca16390d548ba08d501160c11eafdc"), *decode_base64("YFPa1+ANrBEmUdvb/nSkew==")),
      "hello");
  EXPECT_EQ(
      *decrypt_cbc(content_key, unhex("a0630bd9580db20d098e5ca8094b4dea"), *decode_base64("Do/FHgjDfEbSWETVpVpF9g==")),
      "[\"Secret\"]");
  for (const auto& [partition, row, name] : std::vector<std::array<std::string, 3>>{
           {"p", "r", "N"}, {"", "", "N"}, {"\xC3\xA4", "\xE5\x90\x8D", "\xE5\x90\x8D"}}) {
    ChosenBytes random = vector_bytes();
    Entity plain(partition, row);
    plain.set(name, "x");
    const Entity out =
        *encrypt(plain, PropertyChoice::names({name}), *aes_key("k"), {EncryptionProtocol::kClassic, &random});
    const std::array<std::string_view, 4> parts = {iv, row, partition, name};
    EXPECT_EQ(*decrypt_cbc(content_key, (*sha256(parts)).substr(0, 16), bytes_in(out, name)), "x");
  }
}

TEST(EntityEncryption, C20_EveryEntityHasAContentKeyAndAnIvOfItsOwn) {
  for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
    std::set<std::string> ivs;
    std::set<std::string> wrapped;
    std::set<std::string> values;
    for (int i = 0; i < 50; ++i) {
      const Entity out = encrypted(sample(), protocol);
      const EncryptionMetadata metadata = *parse_encryption_metadata(text_in(out, kMetadata));
      ivs.insert(metadata.iv);
      wrapped.insert(metadata.wrapped_key);
      values.insert(bytes_in(out, "Secret"));
    }
    EXPECT_EQ(ivs.size(), 50u);
    EXPECT_EQ(wrapped.size(), 50u);
    EXPECT_EQ(values.size(), 50u);
  }
}

TEST(EntityEncryption, C20_BothKindsOfKeysWrap) {
  for (const Key& key : {aes_key("k"), *make_rsa_key("k", kRsaPrivateKey)}) {
    for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
      const Result<Entity> out = encrypt(sample(), PropertyChoice::names({"Secret"}), *key, {protocol});
      ASSERT_TRUE(out.ok()) << out.status().to_string();
      const Result<Entity> again = decrypt(*out, {{}, key});
      ASSERT_TRUE(again.ok()) << again.status().to_string();
      EXPECT_EQ(*again, sample());
    }
  }
}

TEST(EntityEncryption, C21_EncryptedValuesAreBinaryAndEverythingElseStaysAsItIs) {
  for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
    const Entity out = encrypted(sample(), protocol);
    ASSERT_EQ(out.properties().size(), 6u);
    EXPECT_EQ(out.find("Secret")->type(), PropertyType::kBinary);
    EXPECT_EQ(out.find("Other")->type(), PropertyType::kBinary);
    EXPECT_EQ(*out.find("Age"), Value(7));
    EXPECT_EQ(*out.find("Open"), Value("world"));
    EXPECT_EQ(out.find(kMetadata)->type(), PropertyType::kString);
    EXPECT_EQ(out.find(kNames)->type(), PropertyType::kBinary);
    EXPECT_EQ(out.etag(), sample().etag());
    EXPECT_EQ(bytes_in(out, "Secret").find("hello"), std::string::npos);
    EXPECT_EQ(*decrypt(out, with_key()), sample());
  }
}

TEST(EntityEncryption, C21_OnlyStringsCanBeEncryptedAndNoSystemProperty) {
  Entity entity("p", "r");
  entity.set("Binary", Binary{"x"}).set("Boolean", true).set("DateTime", DateTime{limits::kDateTimeTicksMin});
  entity.set("Double", 1.0).set("Guid", Guid()).set("Int32", 1).set("Int64", std::int64_t{1}).set("String", "x");
  entity.set("Timestamp", "x").set("Stray", "\xFF");
  for (const std::string name : {"Binary", "Boolean", "DateTime", "Double", "Guid", "Int32", "Int64", "Timestamp",
                                 "PartitionKey", "RowKey", "Absent", "Stray"}) {
    const Result<Entity> out = encrypt(entity, PropertyChoice::names({name}), *aes_key("k"));
    EXPECT_EQ(out.code(), Code::kInvalidArgument) << name;
    EXPECT_NE(out.status().message().find(name), std::string_view::npos) << out.status().message();
  }
  EXPECT_TRUE(encrypt(entity, PropertyChoice::names({"String"}), *aes_key("k")).ok());
  EXPECT_EQ(encrypt(entity, PropertyChoice::names({"String", "String"}), *aes_key("k")).code(), Code::kInvalidArgument);
  entity.add("String", "y");
  EXPECT_EQ(encrypt(entity, PropertyChoice::names({"String"}), *aes_key("k")).code(), Code::kInvalidArgument);
}

TEST(EntityEncryption, C21_ACallbackChoosesByKeysAndName) {
  std::vector<std::string> asked;
  const PropertyChoice choice =
      PropertyChoice::resolver([&](std::string_view partition, std::string_view row, std::string_view name) {
        asked.push_back(std::string(partition) + "/" + std::string(row) + "/" + std::string(name));
        return name == "Secret";
      });
  const Result<Entity> out = encrypt(sample(), choice, *aes_key("k"));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"p1/r1/Secret", "p1/r1/Age", "p1/r1/Open", "p1/r1/Other"}));
  EXPECT_EQ(out->find("Secret")->type(), PropertyType::kBinary);
  EXPECT_EQ(out->find("Other")->type(), PropertyType::kString);
  EXPECT_EQ(*decrypt(*out, with_key()), sample());
  const PropertyChoice all = PropertyChoice::resolver([](auto, auto, auto) { return true; });
  EXPECT_EQ(encrypt(sample(), all, *aes_key("k")).code(), Code::kInvalidArgument);
}

TEST(EntityEncryption, C23_NamesOfTheMetadataAreTaken) {
  for (const std::string_view name : {kMetadata, kNames}) {
    const Entity entity = sample().set(name, "x");
    EXPECT_EQ(encrypt(entity, PropertyChoice::names({"Secret"}), *aes_key("k")).code(), Code::kInvalidArgument);
  }
  const Entity none = *encrypt(sample(), PropertyChoice(), *aes_key("k"));
  EXPECT_NE(none.find(kMetadata), nullptr);
  EXPECT_EQ(*decrypt(none, with_key(), {.require_encryption = true}), sample());
}

TEST(EntityEncryption, C24_AKeyIsAskedOfTheResolverFirstAndThenTakenByItsId) {
  const Entity out = encrypted(sample());
  std::vector<std::string> asked;
  const auto resolver_of = [&](const Result<Key>& answer) {
    return [&asked, answer](std::string_view id) {
      asked.emplace_back(id);
      return answer;
    };
  };
  EXPECT_EQ(*decrypt(out, {resolver_of(aes_key("k")), nullptr}), sample());
  EXPECT_EQ(*decrypt(out, {resolver_of(aes_key("k")), aes_key("k", 0x41)}), sample());
  EXPECT_EQ(*decrypt(out, {resolver_of(Key()), aes_key("k")}), sample());
  EXPECT_EQ(asked, std::vector<std::string>(3, "k"));
  EXPECT_EQ(decrypt(out, {resolver_of(Key()), aes_key("other")}).code(), Code::kNotFound);
  EXPECT_EQ(decrypt(out, {}).code(), Code::kNotFound);
  EXPECT_EQ(decrypt(out, {resolver_of(Status(Code::kIoError, "no vault")), aes_key("k")}).code(), Code::kIoError);
  EXPECT_EQ(decrypt(out, {{}, aes_key("k", 0x41)}).code(), Code::kCorruption);
  EXPECT_EQ(decrypt(out, {{}, *make_rsa_key("k", kRsaPrivateKey)}).code(), Code::kUnsupported);
  const Status unknown = decrypt(out, {}).status();
  EXPECT_NE(unknown.message().find("entity 'p1', 'r1': the key 'k'"), std::string_view::npos) << unknown.message();
}

TEST(EntityEncryption, C24_WithoutMetadataAnEntityPassesUnlessEncryptionIsRequired) {
  EXPECT_EQ(*decrypt(sample(), {}), sample());
  EXPECT_EQ(code_of(sample(), {.require_encryption = true}), Code::kCorruption);
  for (const std::string_view name : {kMetadata, kNames}) {
    Entity half = encrypted(sample());
    half.remove(name);
    EXPECT_EQ(code_of(half), Code::kCorruption);
    Entity wrong = encrypted(sample());
    wrong.set(name, 7);
    EXPECT_EQ(code_of(wrong), Code::kCorruption);
  }
}

TEST(EntityEncryption, C24_WhatIsListedMustBeBinaryAndDecryptToText) {
  for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
    Entity out = encrypted(sample(), protocol);
    out.set("Secret", "hello");
    EXPECT_EQ(code_of(out), Code::kCorruption);
    out.set("Secret", Binary{"short"});
    EXPECT_EQ(code_of(out), Code::kCorruption);
    out.set("Secret", Binary{});
    EXPECT_EQ(code_of(out), Code::kCorruption);
  }
}

TEST(EntityEncryption, C25_OfAProjectionWhatIsThereIsDecrypted) {
  for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
    Entity out = encrypted(sample(), protocol);
    out.remove("Secret");
    out.remove("Age");
    const Result<Entity> part = decrypt(out, with_key(), {.is_projection = true});
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    EXPECT_EQ(part->properties().size(), 2u);
    EXPECT_EQ(text_in(*part, "Other"), "");
  }
  Entity out = encrypted(sample());
  out.remove("Secret");
  EXPECT_EQ(code_of(out), Code::kCorruption);
}

TEST(EntityEncryption, C26_TheAuthenticatedProtocolIsTheDefault) {
  EXPECT_EQ(EncryptOptions().protocol, EncryptionProtocol::kAuthenticated);
  const Entity out = encrypted(sample());
  EXPECT_NE(text_in(out, kMetadata).find("{\"Protocol\":\"2.0\",\"EncryptionAlgorithm\":\"AES_GCM_256\"}"),
            std::string::npos);
  EXPECT_EQ(bytes_in(out, "Secret").size(), 5u + kGcmTagBytes);
}

TEST(EntityEncryption, C26_TheAuthenticatedFormIsFixed) {
  ChosenBytes random = vector_bytes();
  Entity plain("p1", "r1");
  plain.set("Secret", "hello");
  const Entity out = *encrypt(plain, PropertyChoice::names({"Secret"}), *aes_key("kek"),
                              {EncryptionProtocol::kAuthenticated, &random});
  EXPECT_EQ(
      text_in(out, kMetadata),
      R"({"WrappedContentKey":{"KeyId":"kek","EncryptedKey":"HiZfFXwUz5Dsfbvh0bKBep6rKBInSJPh/A2jX8tGzV9RQNfznj++W6V9Leo5V8x/","Algorithm":"A256KW"},"EncryptionAgent":{"Protocol":"2.0","EncryptionAlgorithm":"AES_GCM_256"},"ContentEncryptionIV":"EBESExQVFhcYGRobHB0eHw==","KeyWrappingMetadata":{}})");
  EXPECT_EQ(encode_base64(bytes_in(out, "Secret")), "Suo/BfH5IiJGFoMTQKdGb4Sfwb6G");
  EXPECT_EQ(encode_base64(bytes_in(out, kNames)), "MiPVomurJVMsH7N8y/YWVSvF4YXOhV/FAPs=");
}

TEST(EntityEncryption, C26_EveryChangedByteIsRefused) {
  const Entity good = encrypted(sample());
  ASSERT_EQ(code_of(good), Code::kOk);
  for (const Property& property : good.properties()) {
    const bool is_text = property.name == kMetadata;
    if (!is_text && property.value.type() != PropertyType::kBinary) continue;
    const std::string bytes = is_text ? text_in(good, property.name) : bytes_in(good, property.name);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {1, 2, 3, 4, 8, 16, 32, 64, 128, 255}) {  // 3 makes a 1 of a 2
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        Entity entity = good;
        if (is_text) entity.set(property.name, changed);
        if (!is_text) entity.set(property.name, Binary{changed});
        ASSERT_FALSE(decrypt(entity, with_key()).ok()) << property.name << " at " << at << " by " << flip;
      }
    }
  }
}

TEST(EntityEncryption, C26_WhateverKeyAResolverGivesTheMetadataIsBound) {
  const DecryptionKeys any = {[](std::string_view) -> Result<Key> { return aes_key("k"); }, nullptr};
  const Entity good = encrypted(sample());
  ASSERT_TRUE(decrypt(good, any).ok());
  std::string text = text_in(good, kMetadata);
  Entity renamed = good;
  renamed.set(kMetadata, std::string(text).replace(text.find("\"k\""), 3, "\"j\""));
  EXPECT_EQ(decrypt(renamed, any).code(), Code::kCorruption);
  Entity spaced = good;
  spaced.set(kMetadata, " " + text);
  EXPECT_EQ(decrypt(spaced, any).code(), Code::kCorruption);
}

TEST(EntityEncryption, C26_ValuesCannotBeMovedToAnotherEntityOrName) {
  const Entity good = encrypted(sample());
  for (const auto& [partition, row] :
       std::vector<std::pair<std::string, std::string>>{{"p1", "r2"}, {"p2", "r1"}, {"p", "1r1"}}) {
    Entity moved(partition, row);
    for (const Property& property : good.properties()) moved.add(property.name, property.value);
    EXPECT_EQ(code_of(moved), Code::kCorruption);
  }
  Entity swapped = good;
  swapped.set("Secret", Binary{bytes_in(good, "Other")}).set("Other", Binary{bytes_in(good, "Secret")});
  EXPECT_EQ(code_of(swapped), Code::kCorruption);
  const Entity second = encrypted(sample());
  Entity mixed = good;
  mixed.set("Secret", Binary{bytes_in(second, "Secret")});
  EXPECT_EQ(code_of(mixed), Code::kCorruption);
}

TEST(EntityEncryption, C26_AKeyWrappedForOneProtocolServesNoOther) {
  for (const EncryptionProtocol protocol : {EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic}) {
    Entity out = encrypted(sample(), protocol);
    EncryptionMetadata metadata = *parse_encryption_metadata(text_in(out, kMetadata));
    metadata.protocol =
        protocol == EncryptionProtocol::kClassic ? EncryptionProtocol::kAuthenticated : EncryptionProtocol::kClassic;
    out.set(kMetadata, *format_encryption_metadata(metadata));
    EXPECT_EQ(code_of(out), Code::kCorruption);
  }
}

TEST(EntityEncryption, C27_ChosenBytesAreTakenInTurnAndAFailingSourceEndsIt) {
  class Empty final : public RandomBytes {
    Status fill(std::span<std::uint8_t>) override { return Status::io_error("no randomness"); }
  } empty;
  EXPECT_EQ(encrypt(sample(), PropertyChoice(), *aes_key("k"), {.random = &empty}).code(), Code::kIoError);
  ChosenBytes random;
  ASSERT_TRUE(encrypt(sample(), PropertyChoice(), *aes_key("k"), {.random = &random}).ok());
  EXPECT_EQ(random.calls(), 2);
}

}  // namespace
}  // namespace varve::entity_encryption_test
