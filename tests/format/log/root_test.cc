// Owns: the tests of CURRENT and of feature bits.
// Must never: leave out a byte of CURRENT.
#include "format/log/root.h"

#include <string>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/tagged_fields.h"
#include "format/log/file_header.h"
#include "tests/format/random_values.h"

namespace varve::format::root_test {
namespace {

constexpr std::uint64_t kSeed = 0xc0ffee00c0ffee00;

Root open_root() {
  Root root;
  for (std::size_t i = 0; i < root.store_id.size(); ++i) root.store_id[i] = static_cast<std::uint8_t>(0xa0 + i);
  root.generation = 7;
  root.manifest_number = 12;
  root.manifest_seed = 0x0102030405060708;
  return root;
}

Root clean_root() {
  Root root = open_root();
  root.state = RootState::kClean;
  root.manifest_bytes = 4711;
  root.manifest_hash = 0x1111222233334444;
  root.segments = {{13, 8192, 0x5555666677778888}, {14, 12288, 1}};
  root.last_version = 638'000'000'000'000'000;
  return root;
}

Root creating_root() {
  Root root = open_root();
  root.state = RootState::kCreating;
  root.manifest_number = 0;
  root.manifest_seed = 0;
  return root;
}

/// Returns CURRENT with the given fields and a correct checksum.
std::string root_of_fields(std::string_view fields) {
  std::string bytes = encode_file_header({FileType::kRoot, kFormatVersion, kSeed, 0});
  bytes.append(fields);
  append_u64(bytes, checksum_at({kSeed, kFileHeaderBytes}, fields));
  return bytes;
}

std::string fields_of(const Root& root) {
  const std::string bytes = encode_root(root, kSeed);
  return bytes.substr(kFileHeaderBytes, bytes.size() - kFileHeaderBytes - 8);
}

/// Returns the fields without those of one tag.
std::string without(std::string_view fields, Tag left_out) {
  std::string kept;
  for (FieldReader reader(fields); !reader.at_end();) {
    const Result<Field> field = reader.next();
    EXPECT_TRUE(field.ok());
    if (field->tag != left_out) append_field(kept, field->tag, field->value);
  }
  return kept;
}

/// Returns the fields with one more in the order of tags, after existing fields of its tag.
std::string with(std::string_view fields, Tag tag, std::string_view value) {
  std::string all;
  bool added = false;
  for (FieldReader reader(fields); !reader.at_end();) {
    const Result<Field> field = reader.next();
    EXPECT_TRUE(field.ok());
    if (!added && field->tag > tag) {
      append_field(all, tag, value);
      added = true;
    }
    append_field(all, field->tag, field->value);
  }
  if (!added) append_field(all, tag, value);
  return all;
}

bool mentions(const Status& status, std::string_view words) {
  return status.message().find(words) != std::string_view::npos;
}

TEST(Root, EveryStateRoundTrips) {
  for (const Root& root : {open_root(), clean_root(), creating_root()}) {
    const Result<Root> read = decode_root(encode_root(root, kSeed));
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, root);
  }
}

TEST(Root, RandomRootsRoundTrip) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    Root root;
    for (std::uint8_t& byte : root.store_id) byte = static_cast<std::uint8_t>(random.number());
    root.generation = random.number();
    root.features = {random.number(), random.number(), random.number()};
    root.manifest_number = 1 + random.number() / 2;
    root.manifest_seed = random.number();
    if (random.one_in(2)) {
      root.state = RootState::kClean;
      root.manifest_bytes = random.number();
      root.manifest_hash = random.number();
      root.last_version = random.number() >> 2;
      for (std::uint64_t left = random.below(10); left > 0; --left) {
        root.segments.push_back({random.number(), random.number(), random.number()});
      }
    }
    for (Tag tag = 2; random.one_in(2); tag += 4) append_field(root.unknown_fields, tag, random.bytes(random.below(9)));
    const std::uint64_t file_seed = random.number();
    const std::string bytes = encode_root(root, file_seed);
    const Result<Root> read = decode_root(bytes);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, root);
    EXPECT_EQ(encode_root(*read, file_seed), bytes);
  }
}

TEST(Root, AnyFlippedBitIsCorruption) {
  for (const Root& root : {open_root(), clean_root()}) {
    const std::string whole = encode_root(root, kSeed);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      SCOPED_TRACE(bit);
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_EQ(decode_root(flipped).code(), Code::kCorruption);
    }
  }
}

TEST(Root, CutAtAnyByteIsCorruption) {
  const std::string whole = encode_root(clean_root(), kSeed);
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    SCOPED_TRACE(kept);
    EXPECT_EQ(decode_root(whole.substr(0, kept)).code(), Code::kCorruption);
    EXPECT_EQ(decode_root(whole.substr(0, kept) + std::string(whole.size() - kept, '\0')).code(), Code::kCorruption);
  }
}

TEST(Root, TrailingBytesAreCorruption) {
  const std::string whole = encode_root(clean_root(), kSeed);
  for (const std::string& tail : {std::string(1, '\0'), std::string(8, '\0'), std::string("x"), whole}) {
    EXPECT_EQ(decode_root(whole + tail).code(), Code::kCorruption);
  }
}

TEST(Root, ContentOfAnotherCurrentIsCorruption) {
  const std::string one = encode_root(open_root(), kSeed);
  const std::string other = encode_root(open_root(), kSeed + 1);
  EXPECT_EQ(decode_root(one.substr(0, kFileHeaderBytes) + other.substr(kFileHeaderBytes)).code(), Code::kCorruption);
}

TEST(Root, OverItsLimitIsCorruptionBeforeItIsRead) {
  const std::string fields = with(fields_of(open_root()), 100, std::string(kRootBytesMax, 'x'));
  const Status status = decode_root(root_of_fields(fields)).status();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_TRUE(mentions(status, "65536")) << status.to_string();

  const std::size_t rest = kRootBytesMax - encode_root(open_root(), kSeed).size();
  const std::string largest = root_of_fields(with(fields_of(open_root()), 100, std::string(rest - 4, 'x')));
  ASSERT_EQ(largest.size(), kRootBytesMax);
  EXPECT_TRUE(decode_root(largest).ok());
}

TEST(Root, NewerFormatVersionIsUnsupportedNamingIt) {
  std::string bytes = encode_root(open_root(), kSeed);
  bytes.replace(0, kFileHeaderBytes, encode_file_header({FileType::kRoot, 3, kSeed, 0}));
  const Status status = decode_root(bytes).status();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_TRUE(mentions(status, "format version 3")) << status.to_string();
}

TEST(Root, AnotherProgramsCurrentIsCorruptionInWordsThatHelp) {
  for (const std::string& content : {std::string("MANIFEST-000005\n"), std::string(200, 'x')}) {
    const Status status = decode_root(content).status();
    EXPECT_EQ(status.code(), Code::kCorruption);
    if (content.size() >= kFileHeaderBytes) {
      EXPECT_TRUE(mentions(status, "not a Varve file")) << status.to_string();
    }
  }
}

TEST(Root, EveryFieldIsRequired) {
  const std::string clean = fields_of(clean_root());
  for (const Tag tag : {1u, 3u, 5u, 7u, 9u, 11u, 13u, 15u, 17u, 21u}) {
    SCOPED_TRACE(tag);
    EXPECT_EQ(decode_root(root_of_fields(without(clean, tag))).code(), Code::kCorruption);
  }
  EXPECT_TRUE(decode_root(root_of_fields(without(clean, 19))).ok());  // A list may be empty.
}

TEST(Root, NoSingleFieldStandsTwice) {
  const std::string clean = fields_of(clean_root());
  for (FieldReader reader(clean); !reader.at_end();) {
    const Result<Field> field = reader.next();
    ASSERT_TRUE(field.ok());
    if (field->tag == 19) continue;
    SCOPED_TRACE(field->tag);
    const Status status = decode_root(root_of_fields(with(clean, field->tag, field->value))).status();
    EXPECT_EQ(status.code(), Code::kCorruption);
    EXPECT_TRUE(mentions(status, "twice")) << status.to_string();
  }
}

TEST(Root, FieldsOfACleanEndDoNotStandInAnOpenOne) {
  const std::string open = fields_of(open_root());
  const std::string clean = fields_of(clean_root());
  for (FieldReader reader(clean); !reader.at_end();) {
    const Result<Field> field = reader.next();
    ASSERT_TRUE(field.ok());
    if (field->tag < 15) continue;
    SCOPED_TRACE(field->tag);
    EXPECT_EQ(decode_root(root_of_fields(with(open, field->tag, field->value))).code(), Code::kCorruption);
  }
}

TEST(Root, ValuesOfTheWrongSizeAreCorruption) {
  const std::string clean = fields_of(clean_root());
  for (const Tag tag : {1u, 3u, 5u, 7u, 9u, 11u, 13u, 15u, 17u, 19u, 21u}) {
    for (const std::string& value : {std::string(), std::string(15, 'x'), std::string(17, 'x'), std::string(7, '\1')}) {
      SCOPED_TRACE(tag);
      EXPECT_EQ(decode_root(root_of_fields(with(without(clean, tag), tag, value))).code(), Code::kCorruption);
    }
  }
}

TEST(Root, LastVersionAboveTheGreatestIsCorruption) {
  std::string value;
  append_varint(value, kCommitVersionMax + 1);
  EXPECT_EQ(decode_root(root_of_fields(with(without(fields_of(clean_root()), 21), 21, value))).code(),
            Code::kCorruption);
}

TEST(Root, ManifestIsNamedExactlyWhenTheStoreHasBeenMade) {
  for (Root root : {open_root(), clean_root()}) {
    root.manifest_number = 0;
    EXPECT_EQ(decode_root(encode_root(root, kSeed)).code(), Code::kCorruption);
  }
  Root root = creating_root();
  root.manifest_number = 1;
  EXPECT_EQ(decode_root(encode_root(root, kSeed)).code(), Code::kCorruption);
}

TEST(Root, UnknownStateIsUnsupported) {
  for (const char state : {'\0', '\4', '\x7f'}) {
    const std::string fields = with(without(fields_of(open_root()), 13), 13, std::string(1, state));
    EXPECT_EQ(decode_root(root_of_fields(fields)).code(), Code::kUnsupported);
  }
}

TEST(Root, UnknownOddFieldIsUnsupportedNamingIt) {
  const Status status = decode_root(root_of_fields(with(fields_of(open_root()), 23, "new"))).status();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_TRUE(mentions(status, "23")) << status.to_string();
}

TEST(Root, UnknownEvenFieldsAreKeptWhereTheyStood) {
  for (const Root& root : {open_root(), clean_root()}) {
    const std::string bytes =
        root_of_fields(with(with(with(with(fields_of(root), 4, "four"), 4, ""), 18, "eighteen"), 40, "forty"));
    const Result<Root> read = decode_root(bytes);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(encode_root(*read, kSeed), bytes);
  }
}

TEST(Features, KnownBitsPass) {
  EXPECT_TRUE(check_features(kKnownFeatures, true).ok());
  EXPECT_TRUE(check_features(Features{}, true).ok());
}

TEST(Features, UnknownCompatibleBitsAreIgnored) {
  EXPECT_TRUE(check_features({~std::uint64_t{0}, 0, 0}, true).ok());
  EXPECT_TRUE(check_features({~std::uint64_t{0}, 0, 0}, false).ok());
}

TEST(Features, UnknownReadCompatibleBitAllowsReadingAlone) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const Features features{0, std::uint64_t{1} << bit, 0};
    EXPECT_TRUE(check_features(features, false).ok());
    const Status status = check_features(features, true);
    EXPECT_EQ(status.code(), Code::kUnsupported);
    EXPECT_TRUE(mentions(status, "bit " + std::to_string(bit) + " of the read-compatible set")) << status.to_string();
  }
}

TEST(Features, UnknownIncompatibleBitRefusesTheStoreNamingTheLowest) {
  for (unsigned bit = 2; bit < 64; ++bit) {  // Bits 0 and 1 are known.
    const Features features{0, 0, ~std::uint64_t{0} << bit};
    for (const bool for_writing : {false, true}) {
      const Status status = check_features(features, for_writing);
      EXPECT_EQ(status.code(), Code::kUnsupported);
      EXPECT_TRUE(mentions(status, "bit " + std::to_string(bit) + " of the incompatible set")) << status.to_string();
    }
  }
}

}  // namespace
}  // namespace varve::format::root_test
