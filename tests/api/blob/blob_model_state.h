// Owns: the state of a model of blobs, what the rules refuse in it, and comparisons of it with a store.
// Must never: change the state by itself. The verbs of the model do.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_lease_model.h"
#include "tests/api/blob/blob_recount.h"
#include "varve/blob.h"

namespace varve::test {

using Refusals = std::set<std::string_view>;
using BlockMap = std::map<std::string, std::string>;

struct ModelBlob {
  BlobKind kind = BlobKind::kBlock;
  std::string content;
  std::vector<std::pair<std::string, std::string>> blocks;
  ETag etag;
  BlobProperties properties;
  std::vector<MetadataPair> metadata;
  std::vector<BlobTag> tags;
  BlobTier tier = BlobTier::kDefault;
  ModelLease lease;
  std::uint32_t appends = 0;
};

struct OpenWriter {
  std::string name;
  std::string content;
  BlobWriteOptions options;
  std::optional<std::string> block;
  BlobWriter writer;
};
struct OpenReader {
  std::string content;
  BlobReader reader;
};

inline Guid lease_id_of(std::uint64_t number) {
  Guid id;
  id.bytes[15] = static_cast<std::uint8_t>(number + 1);
  return id;
}

class BlobModelState {
 public:
  explicit BlobModelState(std::uint64_t seed) : seed_(seed), random_(seed), bench_(seed), photos_(made()) {}

  Container made() {
    Result<Container> container = bench_.store->create_container(kAccount, "photos");
    EXPECT_TRUE(container.ok()) << container.status().to_string();
    if (!container.ok()) std::abort();
    return *std::move(container);
  }
  /// Lets the keeper work on a copy of the disk, and returns the number of expiries that are left.
  std::size_t expect_settled_after(std::chrono::nanoseconds time, std::size_t staged_lists) {
    SettledStore settled(seed_, bench_.machine.files->snapshot(), time_passed_ + time);
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    EXPECT_EQ(recount.blobs(), blobs_.size());
    EXPECT_EQ(recount.staged_lists(), staged_lists);
    return recount.expiries();
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint64_t now() { return bench_.machine.clock.wall(); }

  /// Passes time, so that no lease ends about now: the store's clock may be a little ahead.
  void pass() {
    bool is_near = true;
    for (std::uint64_t time = 1 + below(3000); is_near; time = 1) {
      time_passed_ += std::chrono::milliseconds(time);
      bench_.machine.clock.advance(std::chrono::milliseconds(time));
      is_near = std::any_of(blobs_.begin(), blobs_.end(), [&](const auto& blob) {
        const std::uint64_t ends = blob.second.lease.ends;
        return ends < now() + 5'000 && now() < ends + 5'000;
      });
    }
  }

  static const std::vector<std::string>& names() {
    static const std::vector<std::string> all{"a", "b/1", "b/2", "b/c/3", "b0", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80",
                                              "z"};
    return all;
  }
  const std::string& any_name() { return names()[below(names().size())]; }
  std::string block_id() { return "id" + std::to_string(below(5)); }
  ModelBlob* find(const std::string& name) {
    const auto found = blobs_.find(name);
    return found == blobs_.end() ? nullptr : &found->second;
  }
  std::optional<ETag> etag_of(const std::string& name) {
    const ModelBlob* const blob = find(name);
    return blob == nullptr ? std::nullopt : std::optional(blob->etag);
  }

  std::string bytes(std::size_t most) {
    std::string made(below(most + 1), '\0');
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (i % 8 == 0) word = random_();
      made[i] = static_cast<char>(word >> (i % 8 * 8));
    }
    return made;
  }
  std::string content() {
    switch (below(12)) {
      case 0: return "";
      case 1: return bytes(2'500'000);
      case 2: return bytes(20).append(16'383 - 10, 'x');  // about the limit of what lies in a row
      case 3:
      case 4: return bytes(200'000);
      default: return bytes(300);
    }
  }

  BlobConditions conditions(const std::string& name) {
    BlobConditions chosen;
    const ModelBlob* const blob = find(name);
    const ETag etag = blob != nullptr && below(3) != 0 ? blob->etag : ETag::of_timestamp(DateTime{now() - 77});
    const DateTime time{etag.timestamp().ticks - kSecond + below(3) * kSecond};
    switch (below(12)) {
      case 0: chosen.if_match = etag; break;
      case 1: chosen.if_none_match = etag; break;
      case 2: chosen.if_none_match = ETag::any(); break;
      case 3: chosen.if_match = ETag::any(); break;
      case 4: chosen.if_modified_since = time; break;
      case 5: chosen.if_unmodified_since = time; break;
      default: break;
    }
    const bool is_leased = blob != nullptr && blob->lease.seconds != 0;
    if (below(is_leased ? 2 : 12) == 0)
      chosen.lease = is_leased && below(4) != 0 ? blob->lease.id : lease_id_of(below(3));
    return chosen;
  }
  BlobWriteOptions write_options(const std::string& name) {
    BlobWriteOptions options;
    options.conditions = conditions(name);
    if (below(3) == 0) options.properties.content_type = "text/" + std::to_string(below(9));
    if (below(3) == 0) options.metadata = {{"Key", std::to_string(below(99))}};
    if (below(3) == 0) options.tags = {{"a=b", std::to_string(below(99))}};
    return options;
  }

  /// Compares an answer with the errors of which one must be there. Returns whether the verb succeeded, as it should.
  static bool agrees(const Status& status, const Refusals& refusals) {
    Refusals expected = refusals;
    expected.erase("");
    if (expected.empty()) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      return status.ok();
    }
    EXPECT_TRUE(expected.contains(status.service_error()))
        << status.to_string() << " (" << status.service_error() << "), expected " << *expected.begin();
    return false;
  }
  Refusals refusals_of_replacement(const std::string& name, const BlobConditions& chosen) {
    ModelBlob* const blob = find(name);
    return {blob != nullptr ? blob->lease.refuses_write(chosen.lease, now())
                            : ModelLease().refuses_write(chosen.lease, now()),
            refuses_write(chosen, etag_of(name), true)};
  }
  Refusals refusals_of_change(const std::string& name, const BlobConditions& chosen, bool uses_lease = true) {
    ModelBlob* const blob = find(name);
    if (blob == nullptr) return {"BlobNotFound"};
    return {uses_lease ? blob->lease.refuses_write(chosen.lease, now()) : "", refuses_write(chosen, blob->etag, false)};
  }

  /// Reads random ranges, and all.
  void expect_content(const BlobReader& reader, const std::string& expected) {
    for (int i = 0; i < 3; ++i) {
      const std::size_t offset = below(expected.size() + 10);
      std::string buffer(i == 0 ? 70'000 : 1 + below(3'000'000), '?');
      const Result<std::size_t> got = reader.read(offset, buffer);
      ASSERT_TRUE(got.ok()) << got.status().to_string();
      const std::string_view wanted =
          std::string_view(expected).substr(std::min(offset, expected.size()), buffer.size());
      EXPECT_TRUE(std::string_view(buffer).substr(0, *got) == wanted) << "other bytes, from " << offset;
    }
  }
  void compare(const std::string& name) {
    const Result<BlobState> state = photos_.state(name);
    const ModelBlob* const blob = find(name);
    if (blob == nullptr) return void(agrees(state.status(), {"BlobNotFound"}));
    if (agrees(state.status(), {})) expect_state(*state, *blob);
  }
  void expect_state(const BlobState& state, const ModelBlob& blob) {
    EXPECT_EQ(state.length, blob.content.size());
    EXPECT_EQ(state.etag, blob.etag);
    EXPECT_EQ(state.properties, blob.properties);
    EXPECT_EQ(state.metadata, blob.metadata);
    EXPECT_EQ(state.tags, blob.tags);
    EXPECT_EQ(state.tier, blob.tier);
    EXPECT_EQ(state.lease.state, blob.lease.state(now()));
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  QueueBench bench_;
  Container photos_;
  std::map<std::string, ModelBlob> blobs_;
  std::map<std::string, BlockMap> staged_;
  std::vector<OpenWriter> writers_;
  std::vector<OpenReader> readers_;
  std::chrono::nanoseconds time_passed_{0};
};

}  // namespace varve::test
