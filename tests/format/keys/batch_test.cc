// Owns: the proof that a batch is read as it was built, and that no other bytes are accepted.
#include "format/keys/batch.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/keys/ends.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/random_values.h"
#include "tests/support/effort.h"

namespace varve::format::batch_test {
namespace {

constexpr std::string_view kPutOfKey = "01 0a 00 00 00 00 00 00 00 01 00 00 00";

struct OwnedOperation {
  Kind kind = Kind::kPut;
  std::string key;
  std::string value;
  bool operator==(const OwnedOperation&) const = default;
};

struct Walk {
  std::vector<OwnedOperation> operations;
  Status status;
};

Walk walk(BatchReader& reader) {
  Walk walked;
  Operation operation;
  while (true) {
    const Result<bool> more = reader.next(&operation);
    if (!more.ok()) walked.status = more.status();
    if (!more.ok() || !*more) return walked;
    walked.operations.push_back({operation.kind, std::string(operation.key), std::string(operation.value)});
  }
}

std::vector<OwnedOperation> walk_accepted(std::string_view bytes) {
  std::vector<OwnedOperation> operations;
  AcceptedBatch batch(bytes);
  Operation operation;
  while (batch.next(operation)) {
    operations.push_back({operation.kind, std::string(operation.key), std::string(operation.value)});
  }
  EXPECT_FALSE(batch.next(operation)) << "the end stays";
  return operations;
}

/// Returns the first failure of opening and reading, on a copy whose memory ends with its bytes.
Status status_of(std::string_view bytes) {
  const std::unique_ptr<char[]> tight(new char[bytes.size()]);
  bytes.copy(tight.get(), bytes.size());
  Result<BatchReader> reader = BatchReader::open({tight.get(), bytes.size()});
  return reader.ok() ? walk(*reader).status : reader.status();
}

/// Builds the batch of these operations again.
std::string rebuilt(std::string_view tag, const std::vector<OwnedOperation>& operations) {
  BatchBuilder builder;
  if (!tag.empty()) builder.set_tag(tag);
  for (const OwnedOperation& operation : operations) {
    switch (operation.kind) {
      case Kind::kPut: builder.put(operation.key, operation.value); break;
      case Kind::kDelete: builder.remove(operation.key); break;
      case Kind::kPutExpiring: builder.put_expiring(operation.key, operation.value); break;
      case Kind::kAdopt: builder.adopt(load_u64_big_endian(operation.key.data())); break;
      case Kind::kRetire:
        if (operation.key.size() == 8) builder.retire_table(load_u64_big_endian(operation.key.data()));
        if (operation.key.size() == 4) builder.retire_account(load_u32_big_endian(operation.key.data()));
        break;
      default: ADD_FAILURE() << "kind " << static_cast<int>(operation.kind);
    }
  }
  return builder.finish();
}

std::string big_endian(TableId id, std::size_t bytes) {
  return encode_table(id).substr(8 - bytes);
}

std::string with_end(std::uint64_t end, std::string_view value) {
  std::string stored;
  append_u64(stored, end);
  return stored.append(value);
}

OwnedOperation random_operation(RandomValues& random) {
  const TableId id = random.number();
  const std::string key = *encode_sort_key(id, hostile_text(random), hostile_text(random));
  switch (random.below(7)) {
    case 6:
      return {Kind::kPutExpiring, key, with_end(1 + random.below(kCommitVersionMax), random.bytes(random.below(20)))};
    case 0: return {Kind::kDelete, key, ""};
    case 1: return {Kind::kRetire, big_endian(id, 4), ""};
    case 2: return {Kind::kRetire, big_endian(id, 8), ""};
    case 3: return {Kind::kAdopt, big_endian(id, 8), ""};
    default: return {Kind::kPut, key, random.bytes(random.one_in(10) ? random.below(2000) : random.below(20))};
  }
}

TEST(Batch, RandomBatchesAreReadAsTheyWereBuilt) {
  constexpr std::uint64_t kSeed = 71;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 3000; ++step) {
    const std::string tag = random.one_in(2) ? "" : random.bytes(random.below(kTagBytesMax + 1));
    std::vector<OwnedOperation> operations(random.one_in(20) ? random.below(300) : random.below(6));
    for (OwnedOperation& operation : operations) operation = random_operation(random);

    const std::string bytes = rebuilt(tag, operations);
    Result<BatchReader> reader = BatchReader::open(bytes);
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    EXPECT_EQ(reader->tag(), tag);
    EXPECT_EQ(reader->has_tag(), !tag.empty());
    EXPECT_EQ(reader->operation_count(), operations.size());
    const Walk walked = walk(*reader);
    ASSERT_TRUE(walked.status.ok()) << walked.status.to_string();
    ASSERT_EQ(walked.operations, operations);
    ASSERT_EQ(walk_accepted(bytes), operations);
  }
}

TEST(Batch, TheBuilderIsEmptyAgainWhenItHasFinished) {
  BatchBuilder builder;
  const std::string nothing = builder.finish();
  builder.set_tag("tag");
  builder.adopt(1);
  builder.retire_account(2);
  EXPECT_EQ(builder.operation_count(), 2U);
  EXPECT_NE(builder.finish(), nothing);
  EXPECT_EQ(builder.operation_count(), 0U);
  EXPECT_EQ(builder.finish(), nothing);
  builder.adopt(1);
  EXPECT_EQ(to_hex(builder.finish()), "00 01 41 00 00 00 00 00 00 00 01");
}

TEST(Batch, AnEmptyTagIsNoTag) {
  BatchBuilder builder;
  builder.set_tag("some");
  builder.set_tag("");
  EXPECT_EQ(to_hex(builder.finish()), "00 00");
}

TEST(Batch, TheLongestTagFits) {
  BatchBuilder builder;
  const std::string tag(kTagBytesMax, 't');
  builder.set_tag(tag);
  const std::string bytes = builder.finish();
  const Result<BatchReader> reader = BatchReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->tag(), tag);
}

TEST(Batch, CountsAboveOneByteAreRead) {
  for (const std::uint32_t count : {127U, 128U, 129U, 16383U, 16384U}) {
    SCOPED_TRACE(count);
    BatchBuilder builder;
    for (std::uint32_t i = 0; i < count; ++i) builder.retire_account(i);
    const std::string bytes = builder.finish();
    Result<BatchReader> reader = BatchReader::open(bytes);
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(reader->operation_count(), count);
    const Walk walked = walk(*reader);
    EXPECT_TRUE(walked.status.ok());
    ASSERT_EQ(walked.operations.size(), count);
    EXPECT_EQ(walked.operations.back().key, big_endian(count - 1, 4));
    EXPECT_EQ(walk_accepted(bytes), walked.operations);
  }
}

TEST(Batch, OperationsPointIntoTheBatch) {
  BatchBuilder builder;
  builder.put(*encode_sort_key(1, "p", "r"), "value");
  const std::string bytes = builder.finish();
  Result<BatchReader> reader = BatchReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  Operation operation;
  ASSERT_TRUE(*reader->next(&operation));
  EXPECT_EQ(operation.value.data() + operation.value.size(), bytes.data() + bytes.size());
  EXPECT_FALSE(*reader->next(&operation));
  EXPECT_FALSE(*reader->next(&operation)) << "the end stays the end";
}

/// A separately encoded put or remove with hostile or long keys. Its table is filled in later.
struct Laid {
  LoneOperation operation;
  std::string key;
  std::string value;
  Kind kind = Kind::kPut;
};

Laid random_laid(RandomValues& random) {
  Laid laid;
  laid.kind = random.one_in(3) ? Kind::kDelete : Kind::kPut;
  const std::string partition_key = random.one_in(4) ? std::string(random.below(500), 'p') : hostile_text(random);
  const std::string row_key = hostile_text(random);
  const TableId table = random.number();
  if (laid.kind == Kind::kPut) laid.value = random.bytes(random.one_in(10) ? random.below(40'000) : random.below(200));
  laid.key = *encode_sort_key(table, partition_key, row_key);
  laid.operation = *LoneOperation::make(laid.kind, TableId{0}, partition_key, row_key, random.below(200));
  laid.operation.set_table(encode_table(table));
  if (laid.kind == Kind::kPut && random.one_in(2)) laid.operation.set_value("what is merged first");
  if (laid.kind == Kind::kPut) laid.operation.set_value(laid.value);
  return laid;
}

TEST(Batch, OfALoneOperationIsAsTheBuilderMakesIt) {
  constexpr std::uint64_t kSeed = 73;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 2000; ++step) {
    Laid laid = random_laid(random);
    ASSERT_EQ(laid.operation.sort_key(), laid.key);
    ASSERT_EQ(laid.operation.value(), laid.value);
    BatchBuilder builder;
    builder.add(laid.operation);
    const std::string expected = rebuilt("", {{laid.kind, laid.key, laid.value}});
    ASSERT_EQ(builder.finish(), expected);
    ASSERT_EQ(laid.operation.into_batch(), expected);
  }
}

TEST(Batch, OfManyLoneOperationsIsAsTheBuilderMakesIt) {
  constexpr std::uint64_t kSeed = 74;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (const std::size_t count : {2U, 100U, 200U}) {
    BatchBuilder builder;
    builder.set_tag("tag");
    std::vector<OwnedOperation> operations;
    for (std::size_t i = 0; i < count; ++i) {
      const Laid laid = random_laid(random);
      builder.add(laid.operation);
      operations.push_back({laid.kind, laid.key, laid.value});
    }
    EXPECT_EQ(builder.operation_count(), count);
    EXPECT_EQ(builder.finish(), rebuilt("tag", operations));
  }
}

TEST(Batch, ALonePutIsWholeOnceItHasItsValue) {
  LoneOperation put = *LoneOperation::make(Kind::kPut, TableId{1}, "partition", "row", 0);
  EXPECT_FALSE(put.is_whole());
  put.set_value("");
  EXPECT_TRUE(put.is_whole());
  EXPECT_TRUE((*LoneOperation::make(Kind::kDelete, TableId{1}, "partition", "row", 0)).is_whole());
}

TEST(Batch, ALonePutIsGivenAnEndAndLosesIt) {
  const std::string key = *encode_sort_key(1, "p", "r");
  LoneOperation put = *LoneOperation::make(Kind::kPut, TableId{1}, "p", "r", 0);
  put.set_value("value");
  const auto batch_of = [](const LoneOperation& operation) {
    BatchBuilder builder;
    builder.add(operation);
    return builder.finish();
  };
  EXPECT_FALSE(put.has_end());
  for (const std::uint64_t end : {std::uint64_t{7}, kCommitVersionMax}) {
    put.set_end(end);
    EXPECT_TRUE(put.has_end());
    EXPECT_EQ(put.value(), "value");
    EXPECT_EQ(put.sort_key(), key);
    EXPECT_EQ(batch_of(put), rebuilt("", {{Kind::kPutExpiring, key, with_end(end, "value")}}));
  }
  LoneOperation copy = put;
  EXPECT_EQ(copy.into_batch(), batch_of(put));
  put.set_end(0);
  EXPECT_FALSE(put.has_end());
  EXPECT_EQ(batch_of(put), rebuilt("", {{Kind::kPut, key, "value"}}));
  put.set_end(9);
  put.set_value("another");
  EXPECT_FALSE(put.has_end());
  EXPECT_EQ(batch_of(put), rebuilt("", {{Kind::kPut, key, "another"}}));
}

TEST(Batch, AnEndIsCheckedAndAnAgeIsReadOnlyIfItMayBe) {
  const std::string key = *encode_sort_key(1, "p", "r");
  const auto read = [&](std::uint64_t end, EndForms forms) {
    std::string bytes = {'\0', '\1', '\5'};
    append_sized(bytes, key);
    append_sized(bytes, with_end(end, "v"));
    Result<BatchReader> reader = BatchReader::open(bytes, forms);
    EXPECT_TRUE(reader.ok());
    return walk(*reader).status.code();
  };
  for (const EndForms forms : {EndForms::kEnds, EndForms::kEndsAndAges}) {
    EXPECT_EQ(read(1, forms), Code::kOk);
    EXPECT_EQ(read(kCommitVersionMax, forms), Code::kOk);
    EXPECT_EQ(read(0, forms), Code::kCorruption);
    EXPECT_EQ(read(kCommitVersionMax + 1, forms), Code::kCorruption);
    EXPECT_EQ(read(kAgeMark, forms), Code::kCorruption);
    EXPECT_EQ(read(~std::uint64_t{0}, forms), Code::kCorruption);
  }
  EXPECT_EQ(read(kAgeMark + 1, EndForms::kEndsAndAges), Code::kOk);
  EXPECT_EQ(read(kAgeMark + 1, EndForms::kEnds), Code::kCorruption);
}

TEST(Batch, AnExpiringPutIsThreeSizesAndAnEnd) {
  BatchBuilder builder;
  builder.put_expiring(*encode_sort_key(1, "p", "r"), with_end(0x0102, "v"));
  EXPECT_EQ(to_hex(builder.finish()),
            "00 01 05 0c 00 00 00 00 00 00 00 01 70 00 72 00\n"
            "09 02 01 00 00 00 00 00 00 76");
}

TEST(Batch, ALoneOperationOfWhatIsNoTextIsRefused) {
  EXPECT_FALSE(LoneOperation::make(Kind::kPut, TableId{1}, "\xFF", "row", 0).ok());
  EXPECT_FALSE(LoneOperation::make(Kind::kPut, TableId{1}, "partition", "\xFF", 0).ok());
}

TEST(Batch, AnUnknownFlagIsUnsupported) {
  for (int flags = 2; flags < 256; ++flags) {
    EXPECT_EQ(status_of(std::string{static_cast<char>(flags), '\0'}).code(), Code::kUnsupported) << flags;
  }
}

TEST(Batch, AKindThatNoBatchMayHoldTodayIsUnsupported) {
  for (int kind = 0; kind < 256; ++kind) {
    SCOPED_TRACE(kind);
    // Long enough for any kind: the kind is followed by a framed key and an empty value.
    std::string bytes = from_hex(std::string("00 01 ").append(kPutOfKey));
    bytes[2] = static_cast<char>(kind);
    const Status status = status_of(bytes);
    switch (kind) {
      case 1: EXPECT_TRUE(status.ok()) << status.to_string(); break;
      case 2:   // a delete ends before the value
      case 5:   // an empty value has no end
      case 64:  // ten bytes are no id prefix
      case 65:  // an adopt ends after eight bytes
        EXPECT_EQ(status.code(), Code::kCorruption);
        break;
      default:
        EXPECT_EQ(status.code(), Code::kUnsupported);
        EXPECT_NE(status.message().find("kind " + std::to_string(kind) + ' '), std::string_view::npos);
    }
  }
}

TEST(Batch, DamageIsCorruption) {
  for (const std::string_view hex : {
           "",                                              // nothing
           "00",                                            // no count
           "01 00 00",                                      // an empty tag
           "01 05 61 62",                                   // a tag cut short
           "01 81 08 61",                                   // a tag longer than the bytes
           "00 80",                                         // half a count
           "00 81 00",                                      // a count longer than needed
           "00 01",                                         // an operation that is missing
           "00 02 40 04 00 00 00 01",                       // the second one
           "00 00 00",                                      // bytes after the end
           "00 01 40 04 00 00 00 01 00",                    // the same
           "00 ff ff ff ff ff ff ff ff ff 01 40 04",        // a count beyond reason
           "00 01 40 05 00 00 00 01 02",                    // an id prefix of five bytes
           "00 01 40 00 00 00 00 00",                       // of none
           "00 01 41 00 00 00 00 00 00 01",                 // seven bytes of an id
           "00 01 02 08 00 00 00 00 00 00 00 01",           // a key without texts
           "00 01 02 09 00 00 00 00 00 00 00 01 00",        // with one text
           "00 01 02 0b 00 00 00 00 00 00 00 01 00 00 00",  // with three
           "00 01 02 0b 00 00 00 00 00 00 00 01 00 00",     // cut short
           "00 01 01 0a 00 00 00 00 00 00 00 01 00 00",     // without a value
           "00 01 01 0a 00 00 00 00 00 00 00 01 00 00 02 61",
       }) {
    SCOPED_TRACE(hex);
    EXPECT_EQ(status_of(from_hex(hex)).code(), Code::kCorruption);
  }
}

TEST(Batch, ATagAboveTheLimitIsCorruption) {
  std::string bytes = {'\x01'};
  append_sized(bytes, std::string(kTagBytesMax + 1, 't'));
  bytes.push_back('\0');
  EXPECT_EQ(status_of(bytes).code(), Code::kCorruption);
}

TEST(Batch, AFailureIsRepeatedAndLeavesTheOperationAlone) {
  const std::string bytes = from_hex("00 02 40 04 00 00 00 01 63 04 00 00 00 02");
  Result<BatchReader> reader = BatchReader::open(bytes);
  ASSERT_TRUE(reader.ok());
  Operation operation;
  ASSERT_TRUE(*reader->next(&operation));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(reader->next(&operation).code(), Code::kUnsupported);
    EXPECT_EQ(operation.kind, Kind::kRetire);
    EXPECT_EQ(to_hex(operation.key), "00 00 00 01");
  }
}

TEST(Batch, CutAtAnyByteItIsRefused) {
  BatchBuilder builder;
  builder.set_tag("tag");
  builder.put(*encode_sort_key(1, "p", "r"), "value");
  builder.remove(*encode_sort_key(1, "p", ""));
  builder.retire_table(7);
  builder.adopt(8);
  const std::string bytes = builder.finish();
  EXPECT_TRUE(status_of(bytes).ok());
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    EXPECT_EQ(status_of(std::string_view(bytes).substr(0, kept)).code(), Code::kCorruption) << kept;
  }
}

TEST(Batch, WhatIsReadIsWhatWouldBeBuilt) {
  constexpr std::uint64_t kSeed = 72;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  int accepted = 0;
  int refused = 0;
  for (int step = 0; step < test::effort(100'000); ++step) {
    std::vector<OwnedOperation> operations(1 + random.below(3));
    for (OwnedOperation& operation : operations) operation = random_operation(random);
    const std::string bytes = mutated(rebuilt(random.one_in(2) ? "" : "tag", operations), random);
    Result<BatchReader> reader = BatchReader::open(bytes);
    const Walk walked = reader.ok() ? walk(*reader) : Walk{{}, reader.status()};
    if (!walked.status.ok()) {
      ++refused;
      ASSERT_TRUE(walked.status.code() == Code::kCorruption || walked.status.code() == Code::kUnsupported);
      continue;
    }
    ++accepted;
    ASSERT_EQ(to_hex(rebuilt(reader->tag(), walked.operations)), to_hex(bytes));
  }
  EXPECT_GT(accepted, test::effort(5000));
  EXPECT_GT(refused, test::effort(5000));
}

}  // namespace
}  // namespace varve::format::batch_test
