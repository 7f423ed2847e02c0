// Owns: the tests of a group's members.
// Must never: depend on the frame around them.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/log/log_record.h"
#include "tests/format/random_values.h"

namespace varve::format::group_test {
namespace {

std::string group_payload(const std::vector<GroupMember>& members) {
  std::string payload;
  for (const GroupMember& member : members) {
    const std::size_t start = payload.size();
    payload.resize(start + group_member_bytes(members.front().version, member.version, member.batch.size()));
    const char* end = store_group_member(payload.data() + start, members.front().version, member.version, member.batch);
    EXPECT_EQ(end, payload.data() + payload.size());
  }
  return payload;
}

RecordHeader versions(CommitVersion first, CommitVersion last) {
  RecordHeader header;
  header.first_version = first;
  header.last_version = last;
  return header;
}

/// Returns the result of reading a payload: true for a whole group.
Result<bool> walk(const RecordHeader& header, std::string_view payload, std::vector<GroupMember>* members) {
  GroupReader reader(header, payload);
  while (true) {
    GroupMember member;
    const Result<bool> more = reader.next(&member);
    if (!more.ok()) return more.status();
    if (!*more) return true;
    members->push_back(member);
  }
}

Code walk_code(const RecordHeader& header, std::string_view payload) {
  std::vector<GroupMember> members;
  return walk(header, payload, &members).code();
}

TEST(Group, MembersRoundTripInOrder) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    std::vector<std::string> batches(1 + random.below(20));
    for (std::string& batch : batches) batch = random.bytes(random.below(200));
    std::vector<GroupMember> members;
    CommitVersion version = 1 + (random.number() >> 3);
    for (const std::string& batch : batches) {
      members.push_back({version, batch});
      version += 1 + (random.number() >> 20);
    }
    std::vector<GroupMember> read;
    const RecordHeader header = versions(members.front().version, members.back().version);
    const std::string payload = group_payload(members);
    const Result<bool> whole = walk(header, payload, &read);
    ASSERT_TRUE(whole.ok()) << whole.status().to_string();
    ASSERT_EQ(read.size(), members.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].version, members[i].version);
      EXPECT_EQ(read[i].batch, members[i].batch);
    }
    GroupReader again(header, payload);
    GroupMember member;
    for (std::size_t i = 0; i < members.size(); ++i) ASSERT_TRUE(again.next(&member).ok());
    for (int i = 0; i < 2; ++i) {  // The end stays the end.
      const Result<bool> more = again.next(&member);
      ASSERT_TRUE(more.ok());
      EXPECT_FALSE(*more);
    }
  }
}

TEST(Group, VersionsMustRiseFromFirstToLast) {
  const auto payload = [](const std::vector<std::pair<std::uint64_t, std::string>>& members) {
    std::string bytes;
    for (const auto& [delta, batch] : members) {
      append_varint(bytes, delta);
      append_sized(bytes, batch);
    }
    return bytes;
  };
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {2, "b"}, {4, "c"}})), Code::kOk);
  EXPECT_EQ(walk_code(versions(5, 5), payload({{0, "a"}})), Code::kOk);
  EXPECT_EQ(walk_code(versions(5, 9), payload({{1, "a"}, {4, "c"}})), Code::kCorruption);            // first left out
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {3, "b"}})), Code::kCorruption);            // last left out
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {5, "b"}})), Code::kCorruption);            // beyond the last
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {0, "b"}, {4, "c"}})), Code::kCorruption);  // twice
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {3, "b"}, {2, "c"}, {4, "d"}})), Code::kCorruption);
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {4, "b"}, {4, "c"}})), Code::kCorruption);  // after the last
  EXPECT_EQ(walk_code(versions(5, 9), ""), Code::kCorruption);                                       // no members
  EXPECT_EQ(walk_code(versions(9, 5), payload({{0, "a"}})), Code::kCorruption);
  EXPECT_EQ(walk_code(versions(0, 0), payload({{0, "a"}})), Code::kCorruption);  // versions are never zero
  EXPECT_EQ(walk_code(versions(0, 0), ""), Code::kCorruption);
  EXPECT_EQ(walk_code(versions(5, 9), payload({{0, "a"}, {~std::uint64_t{0}, "b"}})), Code::kCorruption);  // overflow
}

TEST(Group, CutAtAnyByteIsCorruption) {
  const std::string payload = group_payload({{5, "first"}, {300, ""}, {301, "third"}});
  for (std::size_t kept = 0; kept < payload.size(); ++kept) {
    SCOPED_TRACE(kept);
    EXPECT_EQ(walk_code(versions(5, 301), std::string_view(payload).substr(0, kept)), Code::kCorruption);
  }
}

TEST(Group, BatchLengthBeyondTheGroupIsCorruption) {
  std::string payload;
  append_varint(payload, 0);
  append_varint(payload, ~std::uint64_t{0});
  payload += "batch";
  EXPECT_EQ(walk_code(versions(5, 5), payload), Code::kCorruption);
}

}  // namespace
}  // namespace varve::format::group_test
