// Owns: the correctness of FORMAT.md where it shows bytes: the printed bytes are read, and must have the stated
// meaning.
// Must never: contain a second copy of the printed bytes.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/keys/sort_key.h"
#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "tests/format/hex_text.h"
#include "tests/format/log/independent_log_reader.h"

namespace varve::format::format_document_test {
namespace {

std::vector<std::string> page() {
  std::ifstream file(std::string(VARVE_SOURCE_DIR) + "/FORMAT.md");
  EXPECT_TRUE(file.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct Block {
  std::string info;  // the text after the fence
  std::string text;
};

std::vector<Block> blocks() {
  std::vector<Block> found;
  bool inside = false;
  for (const std::string& line : page()) {
    if (line.substr(0, 3) == "```") {
      inside = !inside;
      if (inside) found.push_back({line.substr(3), ""});
    } else if (inside) {
      found.back().text += line + "\n";
    }
  }
  EXPECT_FALSE(inside);
  return found;
}

/// Returns the cells of every table row, without the blanks around them.
std::vector<std::vector<std::string>> rows() {
  std::vector<std::vector<std::string>> found;
  for (const std::string& line : page()) {
    if (line.empty() || line[0] != '|') continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
      const std::size_t first = cell.find_first_not_of(' ');
      const std::size_t last = cell.find_last_not_of(' ');
      cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    found.push_back(cells);
  }
  return found;
}

/// Returns the file that section 15 shows: the printed bytes at each place, and zeros to the end of the last sector.
std::string shown_file() {
  const std::string at = "hex at ";
  std::string file;
  for (const Block& block : blocks()) {
    if (block.info.substr(0, at.size()) != at) continue;
    const std::string bytes = from_hex(block.text);
    const std::size_t offset = std::stoul(block.info.substr(at.size()));
    EXPECT_GE(offset, file.size());
    file.resize(offset);
    file += bytes;
  }
  file.resize((file.size() + 4095) / 4096 * 4096);
  return file;
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::string described(const independent::Property& property) {
  std::string text = "      " + property.name;
  if (property.type == 8) return text + ", String: " + property.value + "\n";
  EXPECT_EQ(property.type, 6u) << "the page shows a type that this test does not tell";
  const auto number = static_cast<std::int32_t>(independent::little_endian(property.value, 0, 4));
  return text + ", Int32: " + std::to_string(number) + "\n";
}

std::string described(const independent::Operation& operation) {
  std::string text = operation.kind == 1 ? "    put" : "    delete";
  EXPECT_LE(operation.kind, 2u) << "the page shows a kind that this test does not tell";
  text += " in table " + std::to_string(operation.table >> 32) + "." + std::to_string(operation.table & 0xffffffff);
  text += ": " + quoted(operation.partition_key) + " " + quoted(operation.row_key) + "\n";
  if (operation.kind == 2) return text;
  for (const independent::Property& property : independent::read_entity(operation.value)) text += described(property);
  return text;
}

std::string described(const independent::Record& record) {
  const std::vector<std::string> types = {"", "group", "watermark", "footer", "manifest edit"};
  std::string text = std::to_string(record.offset) + ": " + types.at(record.type);
  text += ", " + std::to_string(record.size) + " bytes, ceiling " + std::to_string(record.field(7));
  text += ", durable_upto " + std::to_string(record.field(9)) + ", manifest " + std::to_string(record.field(11));
  text += " durable to " + std::to_string(record.field(13)) + ", previous " + std::to_string(record.field(15)) + "\n";
  for (const independent::Commit& commit : record.commits) {
    text += "  commit " + std::to_string(commit.version);
    if (!commit.tag.empty()) text += ", tag " + quoted(commit.tag);
    text += "\n";
    for (const independent::Operation& operation : commit.operations) text += described(operation);
  }
  return text;
}

std::string described(const independent::Segment& segment) {
  std::ostringstream text;
  text << "segment " << segment.number << ", seed " << std::hex;
  text.width(16);
  text.fill('0');
  text << segment.seed << std::dec << "\n";
  for (const independent::Record& record : segment.records) text << described(record);
  text << "end " << segment.end << (segment.sealed ? ", sealed\n" : "\n");
  return text.str();
}

TEST(FormatDocument, SegmentShownMeansWhatThePageSays) {
  const independent::Segment segment = independent::read_segment(shown_file());
  std::vector<std::string> meanings;
  for (const Block& block : blocks()) {
    if (block.info == "decoded") meanings.push_back(block.text);
  }
  ASSERT_EQ(meanings.size(), 1u);
  EXPECT_EQ(described(segment), meanings[0]);
}

TEST(FormatDocument, OurReaderTakesTheSegmentShown) {
  const std::string file = shown_file();
  const Result<FileHeader> header = decode_file_header(file, FileType::kLogSegment);
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  for (const independent::Record& shown : independent::read_segment(file).records) {
    Record record;
    Status why;
    ASSERT_EQ(read_record(file, shown.offset, header->seed, &record, &why), RecordOutcome::kRecord) << why.to_string();
    EXPECT_EQ(record.size_bytes, shown.size);
    EXPECT_EQ(record.header.file_number, header->number);
  }
}

/// Returns the digits of a cell's `hexadecimal`, without blanks and quotes.
std::string digits_of(const std::string& cell) {
  std::string digits;
  for (const char c : cell) {
    if (c != '`' && c != ' ') digits.push_back(c);
  }
  return digits;
}

/// Compares one row of the table about the group, which is at offset 4096.
void expect_row(const std::string& file, const std::string& place, const std::string& cell) {
  const std::size_t dash = place.find('-');
  const std::size_t first = std::stoul(place);
  const std::size_t last = dash == std::string::npos ? first : std::stoul(place.substr(dash + 1));
  ASSERT_LE(first, last);
  std::string stored = to_hex(std::string_view(file).substr(4096 + first, last - first + 1));
  for (char& c : stored) c = c == '\n' ? ' ' : c;
  stored = digits_of(stored);
  const std::string shown = digits_of(cell);
  const std::size_t gap = shown.find("..");
  if (gap == std::string::npos) {
    EXPECT_EQ(shown, stored) << place;
    return;
  }
  const std::string end = shown.substr(gap + 2);
  EXPECT_EQ(shown.substr(0, gap), stored.substr(0, gap)) << place;
  EXPECT_EQ(end, stored.substr(stored.size() - end.size())) << place;
}

TEST(FormatDocument, WalkThroughTheGroupLeavesOutNoByte) {
  const std::string file = shown_file();
  bool inside = false;
  std::size_t next = 0;
  for (const std::vector<std::string>& cells : rows()) {
    if (cells.size() >= 3 && cells[0] == "bytes" && cells[1] == "value") {
      inside = true;
      continue;
    }
    if (inside && next == independent::read_segment(file).records.at(0).size) break;  // Other tables follow.
    if (!inside || cells[0].empty() || hex_digit(cells[0][0]) < 0) continue;
    expect_row(file, cells[0], cells[1]);
    EXPECT_EQ(std::stoul(cells[0]), next);
    const std::size_t dash = cells[0].find('-');
    next = std::stoul(dash == std::string::npos ? cells[0] : cells[0].substr(dash + 1)) + 1;
  }
  EXPECT_EQ(next, independent::read_segment(file).records.at(0).size);
}

TEST(FormatDocument, ChecksumsShownAreRight) {
  std::size_t checked = 0;
  for (const std::vector<std::string>& cells : rows()) {
    if (cells.size() < 4 || cells[3].size() != 18 || cells[3][0] != '`') continue;
    const std::uint64_t seed = std::stoull(cells[0], nullptr, 16);
    const std::uint64_t offset = std::stoull(cells[1]);
    const std::string bytes = cells[2] == "(empty)" ? "" : cells[2].substr(1, cells[2].size() - 2);
    const std::uint64_t sum = std::stoull(cells[3].substr(1, 16), nullptr, 16);
    EXPECT_EQ(checksum_at({seed, offset}, bytes), sum) << cells[3];
    EXPECT_EQ(independent::checksum(seed, offset, bytes), sum) << cells[3];
    ++checked;
  }
  EXPECT_EQ(checked, 3u);
}

TEST(FormatDocument, TextShownIsEncodedAsShown) {
  std::string written;
  ASSERT_TRUE(append_text(written, "a\x01\xee\x80\x80").ok());
  std::string hex = to_hex(written);
  for (char& c : hex) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  bool shown = false;
  for (const std::string& line : page()) shown = shown || line.find("`" + hex + "`") != std::string::npos;
  EXPECT_TRUE(shown) << hex;
}

}  // namespace
}  // namespace varve::format::format_document_test
