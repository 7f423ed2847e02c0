#include "tools/varve/input/input_texts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <glob.h>

#include "tools/varve/input/archive.h"
#include "tools/varve/input/converted_input.h"
#include "tools/varve/input/file_input.h"
#include "tools/varve/input/peeked_input.h"
#include "tools/varve/input/utf16_input.h"
#include "tools/varve/input/xz_input.h"

namespace varve::tool {

namespace {

constexpr std::array<std::string_view, 7> kPackings = {"gz", "bz2", "xz", "zst", "zstd", "tar", "zip"};

std::string lower_ending(const std::filesystem::path& name) {
  std::string ending = name.extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

std::string ending_of(std::string_view file_name) {
  std::filesystem::path name(file_name);
  std::string ending = lower_ending(name);
  while (std::find(kPackings.begin(), kPackings.end(), ending) != kPackings.end()) {
    name.replace_extension();
    ending = lower_ending(name);
  }
  return ending;
}

/// Returns whether a member is a note that a system left in an archive: `._name` and `__MACOSX` of macOS.
bool is_left_by_a_system(const std::string& member) {
  const std::filesystem::path path(member);
  return member.starts_with("__MACOSX/") || path.filename().string().starts_with("._") ||
         path.filename() == ".DS_Store";
}

bool never(std::string_view) {
  return false;
}

}  // namespace

InputTexts::InputTexts(InputTexts&&) noexcept = default;
InputTexts::~InputTexts() = default;

Result<InputTexts> InputTexts::open(const std::string& path, const std::string& encoding) {
  Result<std::unique_ptr<FileInput>> opened = FileInput::open(path);
  if (!opened.ok()) return opened.status();
  std::unique_ptr<FileInput>& file = *opened;
  const std::string name = file->name();
  const std::uint64_t total_bytes = file->total_bytes();
  InputTexts texts = of(std::move(file), name);
  texts.total_bytes_ = total_bytes;
  texts.encoding_ = encoding;
  return texts;
}

InputTexts InputTexts::of(std::unique_ptr<ByteInput> input, std::string name) {
  InputTexts texts;
  texts.path_ = std::move(name);
  auto peeked = std::make_unique<PeekedInput>(std::move(input));
  std::string_view first = peeked->peek(&is_packing_unclear);
  if (is_xz(first)) {
    // What xz holds may be an archive in its turn. libarchive expands xz too, but with any memory that a file claims.
    peeked = std::make_unique<PeekedInput>(std::make_unique<XzInput>(std::move(peeked), texts.path_));
    first = peeked->peek([](std::string_view bytes) { return bytes.size() < 512; });
    if (is_tar(first)) texts.archive_ = Archive::open(std::move(peeked), texts.path_);
  } else if (is_packed(first)) {
    texts.archive_ = Archive::open(std::move(peeked), texts.path_);
  }
  if (!texts.archive_) texts.plain_ = std::move(peeked);
  return texts;
}

Result<std::optional<InputText>> InputTexts::text_of(std::string name, std::string_view file_name,
                                                     std::unique_ptr<ByteInput> bytes) const {
  auto peeked = std::make_unique<PeekedInput>(std::move(bytes));
  const TextEncoding encoding = encoding_of(peeked->peek(&never));
  const bool is_member = name.size() != file_name.size();
  InputText text{std::move(name),
                 std::filesystem::path(file_name).filename().string(),
                 is_member,
                 std::string(is_member ? file_name : std::string_view()),
                 ending_of(file_name),
                 std::move(peeked)};
  if (!encoding_.empty()) {
    text.bytes = std::make_unique<ConvertedInput>(std::move(text.bytes), encoding_, text.name);
    return std::optional(std::move(text));
  }
  switch (encoding) {
    case TextEncoding::kUtf8: break;
    case TextEncoding::kUtf16Little:
    case TextEncoding::kUtf16Big:
      text.bytes =
          std::make_unique<Utf16Input>(std::move(text.bytes), encoding == TextEncoding::kUtf16Little, text.name);
      break;
    case TextEncoding::kUtf32:
      return Status::invalid_argument(text.name + ": the text is UTF-32; convert it with `iconv -f UTF-32 -t UTF-8`");
  }
  return std::optional(std::move(text));
}

Result<std::optional<InputText>> InputTexts::next() {
  if (plain_) return text_of(path_, path_, std::exchange(plain_, nullptr));
  if (!archive_) return std::optional<InputText>();
  for (;;) {
    const Result<std::optional<std::string>> member = archive_->next_member();
    if (!member.ok()) return member.status();
    const std::optional<std::string>& name = *member;
    if (!name) return std::optional<InputText>();
    if (is_left_by_a_system(*name)) continue;
    if (name->empty()) return text_of(path_, path_, std::make_unique<MemberInput>(archive_));
    return text_of(path_ + ": " + *name, *name, std::make_unique<MemberInput>(archive_));
  }
}

Result<std::vector<std::string>> files_of(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code none;
    if (word.find_first_of("*?[") == std::string::npos || std::filesystem::exists(word, none)) {
      files.push_back(word);
      continue;
    }
    ::glob_t found{};
    const int result = ::glob(word.c_str(), 0, nullptr, &found);
    for (std::size_t i = 0; result == 0 && i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (result != 0) return Status::invalid_argument("no file matches " + word);
  }
  return files;
}

}  // namespace varve::tool
