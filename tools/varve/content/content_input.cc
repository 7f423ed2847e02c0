#include "tools/varve/content/content_input.h"

#include <optional>
#include <string>

#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

constexpr std::size_t kContentReadBytes = std::size_t{256} << 10;
constexpr std::uint64_t kMegabyteOfInput = 1'000'000;

}  // namespace

Status read_content(FileInput& input, bool shows_progress, const std::function<Status(std::string_view piece)>& take) {
  std::optional<Progress> progress;
  if (shows_progress) progress.emplace("MB", input.total_bytes());
  std::string room(kContentReadBytes, '\0');
  while (const std::size_t size = input.read(room.data(), room.size())) {
    if (Status taken = take(std::string_view(room).substr(0, size)); !taken.ok()) return taken;
    if (progress) progress->update(input.file_bytes_read() / kMegabyteOfInput, input.file_bytes_read());
  }
  if (input.end() == InputEnd::kSignal) return Status(Code::kCancelled, "a signal ended the reading");
  return input.end() == InputEnd::kError ? input.status() : Status();
}

}  // namespace varve::tool
