// Owns: the tests of file headers and file names.
// Must never: leave out a byte of the header.
#include "format/log/file_header.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "tests/format/random_values.h"

namespace varve::format::file_header_test {
namespace {

constexpr std::uint64_t kSeed = 0x8877665544332211;

const FileHeader kHeader{FileType::kLogSegment, kFormatVersion, kSeed, 42};

/// Returns the header after `change`, with a correct checksum.
template <typename Change>
std::string resealed(std::string bytes, Change change) {
  change(bytes.data());
  const FilePlace place{load_u64(bytes.data() + 16), 0};
  store_u64(bytes.data() + 56, checksum_at(place, std::string_view(bytes).substr(0, 56)));
  return bytes;
}

bool mentions(const Status& status, std::string_view words) {
  return status.message().find(words) != std::string_view::npos;
}

TEST(FileHeader, RoundTripsForEveryType) {
  RandomValues random(1);
  for (const FileType type : {FileType::kRoot, FileType::kManifest, FileType::kLogSegment, FileType::kLogBuffer,
                              FileType::kTable, FileType::kValueFile, FileType::kWarmList}) {
    const std::uint64_t number = type == FileType::kRoot ? 0 : random.number();
    const std::uint64_t seed = random.number();
    const std::string bytes = encode_file_header({type, kFormatVersion, seed, number});
    ASSERT_EQ(bytes.size(), kFileHeaderBytes);
    const Result<FileHeader> header = decode_file_header(bytes, type);
    ASSERT_TRUE(header.ok()) << header.status().to_string();
    EXPECT_EQ(header->type, type);
    EXPECT_EQ(header->format_version, kFormatVersion);
    EXPECT_EQ(header->seed, seed);
    EXPECT_EQ(header->number, number);
  }
}

TEST(FileHeader, BytesBehindTheHeaderAreNotItsAffair) {
  EXPECT_TRUE(decode_file_header(encode_file_header(kHeader) + "records", FileType::kLogSegment).ok());
}

TEST(FileHeader, AnyFlippedBitIsCorruption) {
  const std::string whole = encode_file_header(kHeader);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    SCOPED_TRACE(bit);
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(decode_file_header(flipped, FileType::kLogSegment).code(), Code::kCorruption);
  }
}

TEST(FileHeader, CutAtAnyByteIsCorruption) {
  const std::string whole = encode_file_header(kHeader);
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    SCOPED_TRACE(kept);
    EXPECT_EQ(decode_file_header(whole.substr(0, kept), FileType::kLogSegment).code(), Code::kCorruption);
  }
}

TEST(FileHeader, AnotherProgramsFileIsNamedAsSuch) {
  const Status status = decode_file_header("SQLite format 3" + std::string(64, '\0'), FileType::kRoot).status();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_TRUE(mentions(status, "not a Varve file")) << status.to_string();
}

TEST(FileHeader, TextModeDamageIsNamedAsSuch) {
  std::string bytes = encode_file_header(kHeader);
  bytes.erase(5, 1);  // The effect of a conversion of CR LF to LF.
  const Status status = decode_file_header(bytes + "x", FileType::kLogSegment).status();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_TRUE(mentions(status, "as text")) << status.to_string();
}

TEST(FileHeader, FileOfAnotherTypeIsCorruptionNamingBoth) {
  const Status status = decode_file_header(encode_file_header(kHeader), FileType::kManifest).status();
  EXPECT_EQ(status.code(), Code::kCorruption);
  EXPECT_TRUE(mentions(status, "log segment")) << status.to_string();
  EXPECT_TRUE(mentions(status, "manifest")) << status.to_string();
}

TEST(FileHeader, FileOfAnotherTypeIsNamedWhateverItIs) {
  const std::vector<std::string> names = {"unknown file", "CURRENT",    "manifest", "log segment", "log buffer",
                                          "table",        "value file", "WARM",     "unknown file"};
  for (std::size_t type = 0; type < names.size(); ++type) {
    const FileType found = static_cast<FileType>(type);
    const FileType expected = found == FileType::kRoot ? FileType::kTable : FileType::kRoot;
    const Status status = decode_file_header(encode_file_header({found, 1, kSeed, 0}), expected).status();
    EXPECT_EQ(status.code(), Code::kCorruption);
    EXPECT_TRUE(mentions(status, names[type] + " (type " + std::to_string(type) + ")")) << status.to_string();
  }
}

TEST(FileHeader, NewerFormatVersionIsUnsupportedNamingIt) {
  FileHeader newer = kHeader;
  newer.format_version = 7;
  const Status status = decode_file_header(encode_file_header(newer), FileType::kLogSegment).status();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_TRUE(mentions(status, "format version 7")) << status.to_string();
}

TEST(FileHeader, NewerFormatMaySetBytesThatAreZeroToday) {
  FileHeader newer = kHeader;
  newer.format_version = 2;
  for (const std::size_t at : {std::size_t{12}, std::size_t{32}, std::size_t{55}}) {
    const std::string bytes = resealed(encode_file_header(newer), [at](char* header) { header[at] = 1; });
    EXPECT_EQ(decode_file_header(bytes, FileType::kLogSegment).code(), Code::kUnsupported);
  }
}

TEST(FileHeader, FormatVersionZeroIsCorruption) {
  FileHeader header = kHeader;
  header.format_version = 0;
  EXPECT_EQ(decode_file_header(encode_file_header(header), FileType::kLogSegment).code(), Code::kCorruption);
}

TEST(FileHeader, EveryByteThatMustBeZeroIsChecked) {
  for (std::size_t at = 12; at < 56; ++at) {
    if (at >= 16 && at < 32) continue;
    SCOPED_TRACE(at);
    const std::string bytes = resealed(encode_file_header(kHeader), [at](char* header) { header[at] = 1; });
    EXPECT_EQ(decode_file_header(bytes, FileType::kLogSegment).code(), Code::kCorruption);
  }
}

TEST(FileHeader, CurrentHasNoNumber) {
  const std::string bytes = encode_file_header({FileType::kRoot, kFormatVersion, kSeed, 1});
  EXPECT_EQ(decode_file_header(bytes, FileType::kRoot).code(), Code::kCorruption);
}

TEST(FileName, HasAtLeastSixDigits) {
  EXPECT_EQ(file_name(FileType::kRoot, 0), "CURRENT");
  EXPECT_EQ(file_name(FileType::kManifest, 42), "MANIFEST-000042");
  EXPECT_EQ(file_name(FileType::kLogSegment, 42), "000042.wal");
  EXPECT_EQ(file_name(FileType::kLogBuffer, 42), "000042.buf");
  EXPECT_EQ(file_name(FileType::kTable, 999999), "999999.sst");
  EXPECT_EQ(file_name(FileType::kValueFile, 1000000), "1000000.val");
  EXPECT_EQ(file_name(FileType::kLogSegment, std::numeric_limits<std::uint64_t>::max()), "18446744073709551615.wal");
}

TEST(FileName, ParsesWhatItMakes) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const std::uint64_t number = random.number();
    for (const FileType type :
         {FileType::kManifest, FileType::kLogSegment, FileType::kLogBuffer, FileType::kTable, FileType::kValueFile}) {
      const Result<FileId> id = parse_file_name(file_name(type, number));
      ASSERT_TRUE(id.ok());
      EXPECT_EQ(id->type, type);
      EXPECT_EQ(id->number, number);
    }
  }
  const Result<FileId> root = parse_file_name("CURRENT");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->type, FileType::kRoot);
}

TEST(FileName, RefusesEveryOtherSpelling) {
  const std::vector<std::string> strangers = {"",
                                              ".",
                                              "..",
                                              ".wal",
                                              "42.wal",
                                              "00042.wal",
                                              "0000042.wal",
                                              "0000000.wal",
                                              "000042.WAL",
                                              "000042.wal ",
                                              " 000042.wal",
                                              "+00042.wal",
                                              "-00042.wal",
                                              "0x0042.wal",
                                              "00004a.wal",
                                              "000042",
                                              "000042.",
                                              "000042.log",
                                              "000042.wal.wal",
                                              "000042.wal.tmp",
                                              "MANIFEST-",
                                              "MANIFEST-42",
                                              "MANIFEST-0000042",
                                              "MANIFEST000042",
                                              "manifest-000042",
                                              "MANIFEST-000042.wal",
                                              "MANIFEST-00004x",
                                              "current",
                                              "CURRENT.tmp",
                                              "LOCK",
                                              "BALLAST",
                                              "18446744073709551616.wal",
                                              "99999999999999999999.sst",
                                              "MANIFEST-18446744073709551616",
                                              std::string("000042.wal\0", 11),
                                              std::string("\0", 1),
                                              std::string("0000\0002.wal", 10)};
  for (const std::string& name : strangers) {
    SCOPED_TRACE(name);
    EXPECT_EQ(parse_file_name(name).code(), Code::kInvalidArgument);
  }
}

TEST(FileName, NoNameParsesThatIsNotMadeAgain) {
  constexpr std::string_view kAlphabet = "0019.walMANIFEST-";
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    RandomValues random(seed);
    std::string name;
    for (std::uint64_t left = random.below(12); left > 0; --left)
      name.push_back(kAlphabet[random.below(kAlphabet.size())]);
    if (random.one_in(2)) name += ".wal";
    const Result<FileId> id = parse_file_name(name);
    if (!id.ok()) continue;
    EXPECT_EQ(file_name(id->type, id->number), name) << "seed " << seed;
  }
}

}  // namespace
}  // namespace varve::format::file_header_test
