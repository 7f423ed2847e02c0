#include "tools/varve/content/content_output.h"

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <optional>
#include <system_error>

#include "tools/varve/base/output_file.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"

namespace varve::tool {

namespace {

constexpr std::size_t kContentPieceBytes = std::size_t{1} << 20;
constexpr std::uint64_t kMegabyteOfOutput = 1'000'000;

}  // namespace

Status copy_content(const ReadContent& read, ContentPart part, bool shows_progress,
                    const std::function<Status(std::string_view piece)>& take) {
  std::optional<Progress> progress;
  if (shows_progress) progress.emplace("MB", part.bytes);
  std::string room(static_cast<std::size_t>(std::min<std::uint64_t>(part.bytes, kContentPieceBytes)), '\0');
  for (std::uint64_t done = 0; done < part.bytes;) {
    if (stop_signal_seen() != 0) return Status(Code::kCancelled, "a signal ended the reading");
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), part.bytes - done));
    const Result<std::size_t> got = read(part.offset + done, std::span<char>(room).first(wanted));
    if (!got.ok()) return got.status();
    if (*got == 0) return Status::corruption("the content is shorter than its length");
    if (Status taken = take(std::string_view(room).substr(0, *got)); !taken.ok()) return taken;
    done += *got;
    if (progress) progress->update(done / kMegabyteOfOutput, done);
  }
  return Status();
}

int content_to_output(const ReadContent& read, ContentPart part) {
  const Status copied = copy_content(read, part, false, [](std::string_view piece) {
    std::cout.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    return std::cout ? Status() : Status(Code::kClosed, "standard output could not be written");
  });
  std::cout.flush();
  if (!std::cout) return fail_output("standard output could not be written");
  return copied.code() == Code::kCancelled ? 128 + stop_signal_seen() : copied.ok() ? kSuccess : fail(copied);
}

Status content_to_file(const ReadContent& read, ContentPart part, const std::string& path, bool shows_progress) {
  OutputFile file(path);
  if (Status opened = file.open(); !opened.ok()) return opened;
  const Status copied = copy_content(read, part, shows_progress, [&](std::string_view piece) {
    errno = 0;
    file.stream().write(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (file.stream()) return Status();
    return Status::io_error(path + ": cannot be written completely: " + std::generic_category().message(errno));
  });
  return copied.ok() ? file.finish() : copied;
}

}  // namespace varve::tool
