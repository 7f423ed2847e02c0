// Goal: a manifest is followed as long as its records are its own, in order and possible, and no further.
// Method: records with correct checksums and one fault.
#include "engine/repair/salvaged_manifest.h"

#include <string>

#include <gtest/gtest.h>

#include "format/bytes/tagged_fields.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "format/log/manifest_edit.h"
#include "tests/support/store_image.h"

namespace varve::engine::salvaged_manifest_test {
namespace {

class SalvagedManifestTest : public testing::Test {
 protected:
  std::string bytes() const { return image_.read(image_.manifest_name()); }
  Result<SalvagedManifest> salvage(const std::string& bytes) const {
    return salvage_manifest(bytes, image_.manifest_number, image_.manifest_seed);
  }
  /// Returns a header for the next record after `bytes`.
  format::RecordHeader header_behind(const std::string& bytes) const {
    format::RecordHeader header;
    header.type = format::RecordType::kManifestEdit;
    header.file_number = image_.manifest_number;
    header.durable_upto = bytes.size();
    return header;
  }
  std::string with_record(std::string bytes, const format::RecordHeader& header, std::string_view payload) const {
    format::append_record(bytes, header, payload, {image_.manifest_seed, bytes.size()});
    return bytes;
  }
  static std::string some_edit() {
    format::ManifestEdit edit;
    edit.file_number_ceiling = 5'000;
    return format::encode_manifest_edit(edit);
  }
  /// Expects that the records before the end are accepted, and that the rest is reported with `why`.
  void expect_end(const std::string& bytes, std::string_view why) const {
    const Result<SalvagedManifest> whole = salvage(this->bytes());
    const Result<SalvagedManifest> found = salvage(bytes);
    ASSERT_TRUE(whole.ok() && found.ok());
    EXPECT_EQ(found->edits, whole->edits);
    EXPECT_EQ(found->valid_bytes, this->bytes().size());
    EXPECT_EQ(found->ended.code(), Code::kCorruption);
    EXPECT_NE(found->ended.message().find(why), std::string_view::npos) << found->ended.to_string();
  }

  test::StoreImage image_;
};

TEST_F(SalvagedManifestTest, TakesEveryRecordThatIsItsNextOne) {
  const Result<SalvagedManifest> before = salvage(bytes());
  const Result<SalvagedManifest> found = salvage(with_record(bytes(), header_behind(bytes()), some_edit()));
  ASSERT_TRUE(before.ok() && found.ok());
  EXPECT_EQ(found->edits, before->edits + 1);
  EXPECT_TRUE(found->ended.ok());
  EXPECT_EQ(found->files.file_number_ceiling, 5'000u);
}

TEST_F(SalvagedManifestTest, EndsAtARecordOfAnotherKindFileOrPlace) {
  constexpr std::string_view kWhy = "a record does not follow the previous record";
  format::RecordHeader header = header_behind(bytes());
  header.file_number += 1;
  expect_end(with_record(bytes(), header, some_edit()), kWhy);
  header = header_behind(bytes());
  header.durable_upto = 0;
  expect_end(with_record(bytes(), header, some_edit()), kWhy);
}

TEST_F(SalvagedManifestTest, EndsAtAnEditThatIsNone) {
  expect_end(with_record(bytes(), header_behind(bytes()), "no edit"), "");
}

TEST_F(SalvagedManifestTest, EndsAtAnEditOfSomethingThatIsNotThere) {
  format::ManifestEdit edit;
  edit.removed_tables.push_back(77);
  expect_end(with_record(bytes(), header_behind(bytes()), format::encode_manifest_edit(edit)), "77");
}

TEST_F(SalvagedManifestTest, WithoutAStoreIdAtItsBeginningIsNone) {
  const std::string head = bytes().substr(0, format::kFileHeaderBytes);
  format::RecordHeader header = header_behind(head);
  header.durable_upto = 0;
  const Result<SalvagedManifest> found = salvage(with_record(head, header, some_edit()));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->edits, 0u);
  EXPECT_EQ(found->valid_bytes, 0u);
  EXPECT_NE(found->ended.message().find("no store id"), std::string_view::npos) << found->ended.to_string();
}

TEST_F(SalvagedManifestTest, OfANewerBuildIsRefused) {
  std::string edit = some_edit();
  format::append_field(edit, 1'001, "");  // odd: a reader that does not know it must stop
  const Result<SalvagedManifest> found = salvage(with_record(bytes(), header_behind(bytes()), edit));
  EXPECT_EQ(found.code(), Code::kUnsupported) << (found.ok() ? found->ended : found.status()).to_string();
}

}  // namespace
}  // namespace varve::engine::salvaged_manifest_test
