// Goal: files as people have them are imported by one command each: other separators and quotes, comments, no header,
// UTF-16, JSON of any layout, packed files, archives, and many files. A fault of a whole file is one message with the
// remedy, and leaves no table.
// Method: the program imports small files of each kind. The table's export is compared with the expected entities.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::import_formats_test {
namespace {

using nlohmann::json;
using test::count_of;
using test::ProgramResult;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

struct Member {
  std::string name;
  std::string content;
};

using Choose = int (*)(archive*);

/// Writes an archive, or a packed file of one member.
void pack(const std::string& path, Choose format, Choose filter, const std::vector<Member>& members) {
  archive* writer = ::archive_write_new();
  ASSERT_EQ(format(writer), ARCHIVE_OK);
  ASSERT_EQ(filter(writer), ARCHIVE_OK) << ::archive_error_string(writer);
  ASSERT_EQ(::archive_write_open_filename(writer, path.c_str()), ARCHIVE_OK);
  for (const Member& member : members) {
    archive_entry* entry = ::archive_entry_new();
    ::archive_entry_set_pathname(entry, member.name.c_str());
    ::archive_entry_set_size(entry, static_cast<la_int64_t>(member.content.size()));
    ::archive_entry_set_filetype(entry, AE_IFREG);
    ::archive_entry_set_perm(entry, 0600);
    ASSERT_EQ(::archive_write_header(writer, entry), ARCHIVE_OK) << ::archive_error_string(writer);
    ASSERT_EQ(::archive_write_data(writer, member.content.data(), member.content.size()),
              static_cast<la_ssize_t>(member.content.size()));
    ::archive_entry_free(entry);
  }
  ASSERT_EQ(::archive_write_close(writer), ARCHIVE_OK);
  ::archive_write_free(writer);
}

class ImportFormats : public ::testing::Test {
 protected:
  ProgramResult import_file(const std::string& path, const Words& more = {}) const {
    Words words{"import", store_, "Rows", path};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_program(words);
  }
  ProgramResult import_text(const std::string& name, const std::string& text, const Words& more = {}) const {
    return import_file(scratch_.file(name, text), more);
  }
  std::string exported() const { return test::run_program({"export", store_, "Rows"}).out; }
  std::string imported(const std::string& name, const std::string& text, const Words& more = {}) const {
    std::filesystem::remove_all(store_);
    const ProgramResult result = import_text(name, text, more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return exported();
  }
  /// Expects one message with each of the texts, and no store.
  void expect_fault(const ProgramResult& result, const Words& texts) const {
    EXPECT_NE(result.exit_code, 0);
    for (const std::string& text : texts) EXPECT_EQ(count_of(result.err, text), 1U) << text << "\n" << result.err;
    EXPECT_FALSE(std::filesystem::exists(store_)) << "no store, no table";
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

const std::string kTwoRows =
    "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"N\":1}\n{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"N\":2}\n";
const std::string kTwoCsvRows = "PartitionKey,RowKey,N\np,1,1\np,2,2\n";

TEST_F(ImportFormats, TheSeparatorIsFoundByTheHeader) {
  for (const char separator : {',', ';', '\t', '|'}) {
    SCOPED_TRACE(std::string(1, separator));
    std::string text = "PartitionKey,RowKey,Note,N\np,1,\"a,b;c|d\",1\n";
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == ',' && text.compare(at - 1, 3, "a,b") != 0) text[at] = separator;
    }
    EXPECT_EQ(imported("rows.csv", text), "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"Note\":\"a,b;c|d\",\"N\":1}\n");
  }
  EXPECT_EQ(imported("rows.csv", "sep=;\r\nPartitionKey;RowKey\r\np;1\r\n"),
            "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n");
  // A comma counts more than others that the header has too, if the keys are found by it.
  EXPECT_EQ(imported("rows.csv", "PartitionKey,RowKey,A\np;q;r,1,x;y;z\n"),
            "{\"PartitionKey\":\"p;q;r\",\"RowKey\":\"1\",\"A\":\"x;y;z\"}\n");
}

TEST_F(ImportFormats, AFileWithoutHeaderHasCommentsAndShortRows) {
  const std::string text = "# zones\n#codes\tzone\tnote\nAD\tEurope/Andorra\nAE,OM\tAsia/Dubai\tCrozet \"isles\"\n";
  EXPECT_EQ(imported("zones.tab", text,
                     {"--comment", "#", "--columns", "codes,zone,note", "--short-rows", "--quote", "none",
                      "--partition-key", "codes", "--row-key", "zone", "--key-replace", ":", "--keep-key-columns"}),
            "{\"PartitionKey\":\"AD\",\"RowKey\":\"Europe:Andorra\",\"codes\":\"AD\",\"zone\":\"Europe/Andorra\"}\n"
            "{\"PartitionKey\":\"AE,OM\",\"RowKey\":\"Asia:Dubai\",\"codes\":\"AE,OM\",\"zone\":\"Asia/Dubai\","
            "\"note\":\"Crozet \\\"isles\\\"\"}\n");
  EXPECT_EQ(imported("rows.csv", "a,'b, c'\n",
                     {"--columns", "x,y", "--quote", "'", "--partition-key", "x", "--row-key", "y"}),
            "{\"PartitionKey\":\"a\",\"RowKey\":\"b, c\"}\n");
}

TEST_F(ImportFormats, Utf16IsReadWithAndWithoutAMark) {
  const std::u16string text = u"PartitionKey,RowKey,T\np,1,\u00e4\U0001F600\n";
  for (const bool little : {true, false}) {
    for (const bool mark : {true, false}) {
      std::string bytes;
      for (const char16_t unit : (mark ? u"\uFEFF" + text : text)) {
        const char low = static_cast<char>(unit & 0xFF);
        const char high = static_cast<char>(unit >> 8);
        bytes += little ? std::string{low, high} : std::string{high, low};
      }
      EXPECT_EQ(imported("rows.csv", bytes), "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"T\":\"ä😀\"}\n");
      std::filesystem::remove_all(store_);
      const ProgramResult cut = import_text("cut.csv", bytes.substr(0, bytes.size() - 1));
      EXPECT_EQ(cut.exit_code, 1);
      EXPECT_THAT(cut.err, HasSubstr("begins no character"));
    }
  }
  std::filesystem::remove_all(store_);
  expect_fault(import_text("rows.csv", std::string("\xFF\xFE\0\0P\0\0\0", 8)), {"the text is UTF-32; convert it with"});
}

TEST_F(ImportFormats, JsonOfAnyLayoutHasItsRowsInAnArrayOrAnObject) {
  const std::string rows =
      "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"N\":1}\n{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"N\":2}\n";
  const std::string one = "{\n \"PartitionKey\": \"p\",\n \"RowKey\": \"1\", \"N\" : 1 }";
  const std::string two = "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"N\":2}";
  EXPECT_EQ(imported("a.json", "[\n" + one + "\n,\n" + two + "]\n"), rows);
  EXPECT_EQ(imported("b.json", one + "\n\n" + two), rows);
  EXPECT_EQ(imported("c.json", rows), rows) << "JSON Lines by this name were read before";
  EXPECT_EQ(imported("d.json", "[]"), "");
  EXPECT_EQ(
      imported("e.json", "{\"n\":2,\"rows\":[" + one + "," + two + "],\"end\":{\"rows\":[1]}}", {"--records", "rows"}),
      rows);
  EXPECT_EQ(imported("f.json", "{\"a/b\":[0,{\"r\":[" + one + "," + two + "]}]}", {"--records", "/a~1b/1/r"}), rows);
  EXPECT_EQ(imported("g.json", "{\"x/y\":{\"N\":1},\"z\":{\"N\":2}}",
                     {"--records", "", "--partition-key", "=p", "--row-key", "{@name}", "--key-replace", ":"}),
            "{\"PartitionKey\":\"p\",\"RowKey\":\"x:y\",\"N\":1}\n{\"PartitionKey\":\"p\",\"RowKey\":\"z\",\"N\":2}\n");
  EXPECT_EQ(imported("h.json", "[\"a\",\"b\"]", {"--partition-key", "=p", "--row-key", "value"}),
            "{\"PartitionKey\":\"p\",\"RowKey\":\"a\"}\n{\"PartitionKey\":\"p\",\"RowKey\":\"b\"}\n");
}

TEST_F(ImportFormats, NestedValuesAreRefusedTextOrFlat) {
  const std::string text = R"([{"id":"1","p":{"a b":1,"q":{"r":true}},"c":[1,[2]],"e":{}}])";
  const Words keys{"--partition-key", "=x", "--row-key", "id"};
  const auto with = [&keys](Words more) {
    more.insert(more.begin(), keys.begin(), keys.end());
    return more;
  };
  EXPECT_EQ(imported("a.json", text, with({"--nested", "text"})),
            R"({"PartitionKey":"x","RowKey":"1","p":"{\"a b\":1,\"q\":{\"r\":true}}","c":"[1,[2]]","e":"{}"})"
            "\n");
  EXPECT_EQ(imported("a.json", text, with({"--nested", "flatten", "--fix-names"})),
            R"({"PartitionKey":"x","RowKey":"1","p_a_b":1,"p_q_r":true,"c":"[1,[2]]"})"
            "\n");
  EXPECT_EQ(imported("a.json", text, with({"--omit", "p,c,e"})), "{\"PartitionKey\":\"x\",\"RowKey\":\"1\"}\n");
  std::filesystem::remove_all(store_);
  expect_fault(import_text("a.json", text, keys),
               {"an object or array cannot be a property value", "--nested flatten"});
  const std::string deep = "[{\"id\":\"1\",\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}]";
  expect_fault(import_text("a.json", deep, with({"--nested", "text"})), {"more than 64 levels deep"});
  expect_fault(import_text("a.json", R"([{"id":"1","a":{"b":1},"a_b":2}])", with({"--nested", "flatten"})),
               {"the member \"a_b\" is given twice"});
}

TEST_F(ImportFormats, KeysAreTemplates) {
  const auto key_of = [this](const std::string& key) {
    const std::string text = imported("a.csv", "a,b\nx,y\n", {"--partition-key", "=c", "--row-key", key});
    return json::parse(text, nullptr, false).value("RowKey", "");
  };
  EXPECT_EQ(key_of("{a}|{b}"), "x|y");
  EXPECT_EQ(key_of("{{{a}}}-"), "{x}-");
  EXPECT_EQ(key_of("=k"), "k");
  EXPECT_EQ(key_of("{@line}"), "0000000002");
  EXPECT_EQ(key_of("{@file}:{@line}"), "a.csv:0000000002");
  EXPECT_THAT(key_of("{@uuid}"),
              ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_THAT(key_of("{@ticks}"), ::testing::MatchesRegex("0?6[0-9]{17}"));
  // The columns of a template stay properties. A column that alone is a key does not.
  EXPECT_EQ(imported("a.csv", "a,b\nx,y\n", {"--partition-key", "a", "--row-key", "{a}{b}"}),
            "{\"PartitionKey\":\"x\",\"RowKey\":\"xy\",\"b\":\"y\"}\n");
  // With inverted ticks, the last row comes first.
  const std::string events =
      imported("a.csv", "n\n1\n2\n3\n", {"--partition-key", "=p", "--row-key", "{@inverted-ticks}"});
  EXPECT_LT(events.find("\"n\":3"), events.find("\"n\":2"));
  EXPECT_LT(events.find("\"n\":2"), events.find("\"n\":1"));
  for (const std::string wrong : {"{a", "a}", "{}", "{@lines}"}) {
    EXPECT_EQ(import_text("a.csv", "a\n", {"--row-key", wrong}).exit_code, 2) << wrong;
  }
}

TEST_F(ImportFormats, PackedFilesAndArchivesAreExpanded) {
  const struct {
    std::string ending;
    Choose filter;
  } kFilters[] = {{"gz", &::archive_write_add_filter_gzip},
                  {"bz2", &::archive_write_add_filter_bzip2},
                  {"xz", &::archive_write_add_filter_xz},
                  {"zst", &::archive_write_add_filter_zstd}};
  for (const auto& [ending, filter] : kFilters) {
    SCOPED_TRACE(ending);
    std::filesystem::remove_all(store_);
    const std::string packed = scratch_.path("rows.csv." + ending);
    pack(packed, &::archive_write_set_format_raw, filter, {{"rows", kTwoCsvRows}});
    EXPECT_EQ(import_file(packed).exit_code, 0);
    EXPECT_EQ(exported(), kTwoRows);
    std::filesystem::remove_all(store_);
    const std::string tar = scratch_.path("rows.tar." + ending);
    pack(tar, &::archive_write_set_format_ustar, filter,
         {{"d/a.csv", kTwoCsvRows}, {"d/b.jsonl", kTwoRows}, {"README", "x"}});
    const ProgramResult both = import_file(tar, {"--json"});
    EXPECT_EQ(both.exit_code, 0) << both.err;
    EXPECT_EQ(json::parse(both.out)["repeated"], 2);
    EXPECT_THAT(both.err, HasSubstr("README was left out"));
    EXPECT_EQ(exported(), kTwoRows);
    std::filesystem::remove_all(store_);
    const std::string empty = scratch_.path("empty.jsonl." + ending);
    pack(empty, &::archive_write_set_format_raw, filter, {{"rows", ""}});
    EXPECT_EQ(import_file(empty).exit_code, 0);
    // Cut after each part, the packed file ends with an error, or with fewer rows than before.
    const std::string bytes = test::content_of(packed);
    for (std::size_t size = 8; size + 1 < bytes.size(); size += 7) {
      const ProgramResult cut = import_text("cut.csv." + ending, bytes.substr(0, size));
      EXPECT_NE(cut.exit_code, 0) << size;
    }
  }
  std::filesystem::remove_all(store_);
  const std::string zip = scratch_.path("rows.zip");
  pack(zip, &::archive_write_set_format_zip, &::archive_write_add_filter_none,
       {{"__MACOSX/._a.csv", "x"}, {"a.csv", kTwoCsvRows}});
  EXPECT_EQ(import_file(zip).exit_code, 0);
  EXPECT_EQ(exported(), kTwoRows);
}

TEST_F(ImportFormats, AnXzFileThatClaimsMuchMemoryIsRefused) {
  // The block header names LZMA2 with a dictionary of 4 GiB - 1. Its CRC32 is right, so only the claim is wrong.
  const std::string xz(
      "\xFD"
      "7zXZ\0\0\1\x69\x22\xDE\x36\x02\0\x21\1\x28\0\0\0\xE6\xA0\x11\xB3",
      24);
  const ProgramResult result = import_text("rows.csv.xz", xz);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("more than 256 MiB of memory"));
}

TEST_F(ImportFormats, ManyFilesAndPatternsAreOneImport) {
  scratch_.file("a.csv", "PartitionKey,RowKey,N\np,1,1\n");
  scratch_.file("b.csv", "PartitionKey;RowKey;N\np;2;2\n");
  EXPECT_EQ(import_file(scratch_.path("a.csv"), {scratch_.path("b.csv")}).exit_code, 0);
  EXPECT_EQ(exported(), kTwoRows);
  std::filesystem::remove_all(store_);
  EXPECT_EQ(import_file(scratch_.path("?.csv")).exit_code, 0);
  EXPECT_EQ(exported(), kTwoRows);
  std::filesystem::remove_all(store_);
  expect_fault(import_file(scratch_.path("x*.csv")), {"no file matches"});
  // A later file's fault is found before an earlier file's rows are imported.
  scratch_.file("c.csv", "PartitionKey,Row,N\np,1,1\n");
  expect_fault(import_file(scratch_.path("[abc].csv")), {"c.csv", "the header has no column \"RowKey\""});
  scratch_.file("d.csv", "PartitionKey,RowKey,N\np/q,1,1\n");
  EXPECT_THAT(import_file(scratch_.path("[ad].csv")).err, HasSubstr("d.csv: line 2: "));
}

TEST_F(ImportFormats, AFaultOfTheWholeFileIsOneMessageWithTheRemedy) {
  expect_fault(
      import_text("a.csv", "partition_key,id,N\np,1,1\np,2,1\n", {"--row-key", "id"}),
      {"the header has no column \"PartitionKey\"", "did you mean \"partition_key\"?", "partition_key, id, N"});
  expect_fault(import_text("b.csv", "PartitionKey,RowKey,country code\np,1,1\np,2,1\n"), {"--fix-names"});
  expect_fault(import_text("c.json", "{\"3166-1\":[\n{\"a\":1},\n{\"a\":2}]}", {"--row-key", "a"}),
               {"add --records 3166-1"});
  expect_fault(import_text("d.json", "{\"feature\":[{\"a\":1}]}", {"--row-key", "a", "--records", "features"}),
               {"there is no array or object at /features", "did you mean \"feature\"?"});
  expect_fault(import_text("e.csv", "PartitionKey,RowKey,A\np,1\np,2\n"), {"--short-rows"});
  expect_fault(import_text("f", "some words\n"), {"give --format"});
  expect_fault(import_text("g.csv", "PartitionKey,RowKey\n", {"--omit", "N"}), {"--omit names \"N\""});
}

TEST_F(ImportFormats, ATableThatAcceptsNoRowIsNotCreated) {
  for (const Words& more : {Words{}, Words{"--load"}}) {
    const ProgramResult result = import_text("a.csv", "PartitionKey,RowKey\np/q,1\np,a#b\n", more);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("2 rows were refused"));
    EXPECT_FALSE(std::filesystem::exists(store_)) << "no store, no table";
  }
}

TEST_F(ImportFormats, ACutJsonTextKeepsTheWholeRows) {
  const ProgramResult cut = import_text("a.json", "[" + kTwoRows.substr(0, kTwoRows.find('\n')) + ",\n{\"Partition");
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.err, HasSubstr("line 2: the JSON text ends before its end"));
  EXPECT_THAT(cut.err, HasSubstr("the imported rows stay"));
  EXPECT_EQ(exported(), kTwoRows.substr(0, kTwoRows.find('\n') + 1));
  std::filesystem::remove_all(store_);
  EXPECT_EQ(import_text("a.json", "[" + kTwoRows.substr(0, kTwoRows.find('\n')) + ",", {"--load"}).exit_code, 1);
  EXPECT_EQ(test::run_program({"get", store_, "Rows", "p", "1"}).exit_code, 1);
}

TEST_F(ImportFormats, ADryRunShowsTypesAndChangesNothing) {
  const std::string text = "PartitionKey,RowKey,N,M\np,1,1,x\np,2,2.5,\np,2,3,\np/q,4,4,\n";
  const ProgramResult shown = import_text("a.csv", text, {"--dry-run"});
  EXPECT_EQ(shown.exit_code, 1) << "a row would be refused";
  EXPECT_THAT(shown.out, HasSubstr("would import 2 of 4 rows into Rows, and changed nothing"));
  EXPECT_THAT(shown.out, HasSubstr("Edm.Double 50.0 %, Edm.Int32 50.0 %"));
  EXPECT_THAT(shown.out, HasSubstr(R"({"PartitionKey":"p","RowKey":"1","N":1,"M":"x"})"));
  const ProgramResult told = import_text("a.csv", text, {"--dry-run", "--json"});
  const json report = json::parse(told.out, nullptr, false);
  EXPECT_EQ(report.value("would_import", -1), 2);
  EXPECT_EQ(report.value("repeated", -1), 1);
  EXPECT_EQ(report.value("refused", -1), 1);
  EXPECT_EQ(report["properties"][2]["types"]["Edm.Double"], 1);
  EXPECT_FALSE(std::filesystem::exists(store_));
}

TEST_F(ImportFormats, AnExportedArrayIsImportedAgain) {
  ASSERT_EQ(import_text("a.jsonl", kTwoRows).exit_code, 0);
  const std::string array = test::run_program({"export", store_, "Rows", "--format", "json"}).out;
  EXPECT_EQ(json::parse(array, nullptr, false).size(), 2U);
  EXPECT_EQ(imported("b.json", array), kTwoRows);
  EXPECT_EQ(imported("c.json", test::run_program({"export", store_, "Rows", "--format", "json"}).out), kTwoRows);
}

}  // namespace
}  // namespace varve::import_formats_test
