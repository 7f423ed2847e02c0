// Goal: names of blobs are listed in the order of their bytes, in pages that together are the whole; tags keep their text.
// Method: a set of names that other orders would sort otherwise, listed by pages of each size.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/blob/blob_tags.h"
#include "tests/api/blob/blob_bench.h"
#include "varve/limits.h"

namespace varve::test::blob_names_test {
namespace {

using testing::ElementsAre;

class BlobNames : public testing::Test {
 protected:
  std::vector<std::string> listed(BlobListing listing) const {
    std::vector<std::string> names;
    for (int pages = 0; pages < 100; ++pages) {
      const Result<BlobPage> page = photos_.list(listing);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return names;
      EXPECT_LE(page->entries.size(), listing.page_max);
      for (const BlobListed& entry : page->entries) {
        names.push_back(entry.prefix.empty() ? entry.blob.name : entry.prefix);
      }
      if (!page->continuation) return names;
      listing.continuation = *page->continuation;
    }
    ADD_FAILURE() << "the listing does not end";
    return names;
  }
  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobNames, BL01_AreInTheOrderOfTheirBytesInPagesOfEachSize) {
  std::vector<std::string> names = {"a",
                                    "a/",
                                    "a/b",
                                    "a//",
                                    "a!",
                                    "B",
                                    "\xEE\x80\x80",
                                    "\xEF\xBF\xBD",
                                    "\xEF\xBF\xBF",
                                    "\xEF\xBF\xBF!",
                                    "\xF0\x90\x80\x80",
                                    "\xF4\x8F\xBF\xBF",
                                    "\xF0\x90\x80\x80\xEF\xBF\xBF",
                                    "\xED\x9F\xBF",
                                    std::string("z\0z", 3),
                                    std::string("z\1", 2)};
  for (const std::string& name : names) (void)put_blob(photos_, name, name);
  std::sort(names.begin(), names.end());
  for (std::uint32_t page = 1; page <= names.size() + 1; ++page) {
    EXPECT_EQ(listed({.page_max = page}), names) << page;
    EXPECT_THAT(listed({.prefix = "a/", .page_max = page}), ElementsAre("a/", "a//", "a/b")) << page;
    EXPECT_THAT(listed({.prefix = "\xF0\x90\x80\x80", .page_max = page}),
                ElementsAre("\xF0\x90\x80\x80", "\xF0\x90\x80\x80\xEF\xBF\xBF"));
    EXPECT_THAT(listed({.prefix = "\xEF\xBF\xBF", .page_max = page}), ElementsAre("\xEF\xBF\xBF", "\xEF\xBF\xBF!"));
    EXPECT_THAT(listed({.prefix = "a", .delimiter = "/", .page_max = page}), ElementsAre("a", "a!", "a/")) << page;
  }
  for (const std::string& name : names) EXPECT_EQ(content_in(photos_, name), name);
}

TEST_F(BlobNames, BL01_APageOfLongEntriesEndsBeforeItsNumberDoes) {
  BlobWriteOptions options;
  options.metadata = {{"a", std::string(limits::kMetadataBytesMax - 1, 'x')}};
  std::vector<std::string> names;
  for (int i = 1000; i < 1600; ++i) names.push_back(std::to_string(i));
  for (const std::string& name : names) (void)put_blob(photos_, name, "", options);
  const Result<BlobPage> page = photos_.list();
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->entries.size(), 512U) << "4 MiB of metadata";
  EXPECT_TRUE(page->continuation.has_value());
  EXPECT_EQ(listed({}), names);
}

TEST_F(BlobNames, BL04_APrefixCostsAsMuchAsItsNameHoweverManyBlobsHaveIt) {
  constexpr int kPrefixes = 20;
  const auto lookups_of_a_page = [this](const std::string& name, int members) {
    Container container = bench_.container(name);
    for (int prefix = 0; prefix < kPrefixes; ++prefix) {
      for (int member = 0; member < members; ++member) {
        (void)put_blob(container, std::to_string(100 + prefix) + "/" + std::to_string(10'000 + member), "");
      }
    }
    EXPECT_EQ(said(bench_.store->compact()), kFine);
    const auto lookups = [this] {
      const Result<Statistics> now = bench_.store->statistics();
      return now.ok() ? now->cache.hits + now->cache.misses : 0;
    };
    const std::uint64_t before = lookups();
    const Result<BlobPage> page = container.list({.delimiter = "/"});
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    EXPECT_EQ(page.ok() ? page->entries.size() : 0, std::size_t{kPrefixes});
    return lookups() - before;
  };
  const std::uint64_t of_two = lookups_of_a_page("two", 2);
  const std::uint64_t of_many = lookups_of_a_page("many", 150);
  EXPECT_LE(of_many, of_two + 4 * kPrefixes) << "blocks that a page of prefixes looked up";
}

TEST_F(BlobNames, BL05_ANameThatStaysIsOnOnePageWhateverComesAndGoes) {
  constexpr int kStaying = 60;
  std::vector<std::string> staying;
  for (int i = 0; i < kStaying; ++i) staying.push_back(std::to_string(1000 + 10 * i));
  for (const std::string& name : staying) (void)put_blob(photos_, name, "");
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> seen;
    BlobListing listing{.page_max = 7};
    for (bool goes_on = true; goes_on;) {
      const Result<BlobPage> page = photos_.list(listing);
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      for (const BlobListed& entry : page->entries) {
        if (entry.blob.name.size() == 4) seen.push_back(entry.blob.name);
      }
      goes_on = page->continuation.has_value();
      if (goes_on) listing.continuation = *page->continuation;
      for (int change = 0; change < 5;
           ++change) {  // Names of five characters come and go, also before and after the page.
        const std::string name = std::to_string(1000 + random() % (10 * kStaying)) + "x";
        if (random() % 2 == 0) {
          (void)put_blob(photos_, name, "");
        } else {
          (void)photos_.remove(name);
        }
      }
    }
    EXPECT_EQ(seen, staying) << "seed " << seed;
  }
}

TEST_F(BlobNames, BB17_APageOfLongContainersEndsBeforeItsNumberDoes) {
  ContainerOptions options;
  options.metadata = {{"a", std::string(limits::kMetadataBytesMax - 1, 'x')}};
  for (int i = 1000; i < 1600; ++i) (void)bench_.container("c" + std::to_string(i), options);
  ListOptions asked;
  asked.prefix = "c";
  std::vector<std::string> names;
  for (int pages = 1;; ++pages) {
    const Result<ContainerPage> page = bench_.store->list_containers(kAccount, asked);
    ASSERT_TRUE(page.ok());
    for (const ContainerState& container : page->containers) names.push_back(container.name);
    if (!page->continuation) break;
    EXPECT_LE(page->containers.size(), 512U);
    asked.continuation = *page->continuation;
  }
  EXPECT_EQ(names.size(), 600U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST_F(BlobNames, BL01_BadListingsAreRefused) {
  const Said range{Code::kInvalidArgument, "OutOfRangeQueryParameterValue"};
  EXPECT_EQ(said(photos_.list({.page_max = 0})), range);
  EXPECT_EQ(said(photos_.list({.page_max = 5001})), range);
  EXPECT_EQ(said(photos_.list({.continuation = "junk"})), (Said{Code::kInvalidArgument, "InvalidMarker"}));
}

TEST_F(BlobNames, BN02_AreAsLongAsAllowed) {
  // Lengths are counted in code units of UTF-16, as those of keys: a character above U+FFFF has two.
  std::string longest;
  for (int i = 0; i < 512; ++i) longest += "\xF0\x90\x80\x80";
  (void)put_blob(photos_, longest, "x");
  EXPECT_EQ(content_in(photos_, longest), "x");
  EXPECT_THAT(listed({}), ElementsAre(longest));
  EXPECT_EQ(said(photos_.put(longest + "a", "x")), kOutOfRangeInput);
  EXPECT_EQ(said(photos_.put("", "x")), kOutOfRangeInput);
  EXPECT_EQ(said(photos_.put("\xFF", "x")), kInvalidResourceName);
}

TEST_F(BlobNames, BC01_ConditionsOfWritesAndReads) {
  const Said kFresh{Code::kPreconditionFailed, "NotModified"};
  EXPECT_EQ(said(photos_.put("a", "x", {.conditions = {.if_match = ETag::any()}})), kConditionNotMet);
  EXPECT_EQ(said(photos_.put("a", "x", {.conditions = {.if_none_match = ETag::any()}})), kFine);
  EXPECT_EQ(said(photos_.put("a", "y", {.conditions = {.if_none_match = ETag::any()}})), kBlobExists);
  const BlobState at = state_in(photos_, "a");
  const DateTime before{at.modified.ticks - 10'000'000};
  EXPECT_EQ(said(photos_.remove("a", {.conditions = {.if_unmodified_since = before}})), kConditionNotMet);
  EXPECT_EQ(said(photos_.remove("a", {.conditions = {.if_modified_since = at.modified}})), kConditionNotMet);
  EXPECT_EQ(said(photos_.read("a", {.conditions = {.if_none_match = at.etag}})), kFresh);
  EXPECT_EQ(said(photos_.read("a", {.conditions = {.if_none_match = at.etag, .if_modified_since = before}})), kFine);
  EXPECT_EQ(said(photos_.read("a", {.conditions = {.if_modified_since = at.modified}})), kFresh);
  EXPECT_EQ(said(photos_.read("a", {.conditions = {.if_none_match = ETag::any()}})),
            (Said{Code::kInvalidArgument, "UnsatisfiableCondition"}));
  EXPECT_EQ(said(photos_.put("a", "z", {.conditions = {.if_match = at.etag}})), kFine);
  EXPECT_EQ(said(photos_.put("a", "w", {.conditions = {.if_match = at.etag}})), kConditionNotMet) << "BC-04";
  EXPECT_EQ(content_in(photos_, "a"), "z");
}

TEST_F(BlobNames, BG06_RangesAtBoundariesOfAPinnedState) {
  const std::string content = uneven_bytes((std::size_t{2} << 20) + 65'537);
  (void)put_blob(photos_, "a", content);
  const Result<BlobReader> reader = photos_.read("a");
  ASSERT_TRUE(reader.ok());
  (void)put_blob(photos_, "a", "other");
  EXPECT_EQ(said(photos_.remove("a")), kFine);
  for (const std::size_t edge : {std::size_t{0}, std::size_t{65'536}, std::size_t{1} << 20, content.size()}) {
    for (const std::size_t at : {edge - 1, edge, edge + 1}) {
      for (const std::size_t size : {1U, 2U, 65'535U, 65'536U, 65'537U, 1'048'577U}) {
        if (at > content.size()) continue;
        std::string buffer(size, '?');
        const Result<std::size_t> got = reader->read(at, buffer);
        ASSERT_TRUE(got.ok()) << got.status().to_string();
        EXPECT_TRUE(buffer.substr(0, *got) == content.substr(at, size)) << at << " " << size;
      }
    }
  }
}

TEST(BlobTags, BT10_TheirTextIsReadAsItWasWritten) {
  const std::vector<BlobTag> tags = {{"a", "x=y"}, {"b c", ""}, {"=", "="}};
  EXPECT_EQ(parse_stored_tags(stored_tags(tags)), tags);
  EXPECT_EQ(parse_stored_tags(""), std::vector<BlobTag>());
  for (const char* const text : {"a", "a=1&", "&a=1", "a=b=c", "a=1&a=2", "=1", "a=\n"}) {
    EXPECT_FALSE(parse_stored_tags(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace varve::test::blob_names_test
