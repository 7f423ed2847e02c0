// Goal: for any descriptor, the writer of a line does not wait, the end is reached, and lost lines are counted.
#include "tools/serve/transport/line_writer.h"

#include <array>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace varve::serve::line_writer_test {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close_reader();
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int writer() const { return ends_[1]; }
  void close_reader() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  void fill() const {
    const int flags = ::fcntl(writer(), F_GETFL);
    ::fcntl(writer(), F_SETFL, flags | O_NONBLOCK);
    while (::write(writer(), "x", 1) == 1) continue;
    ::fcntl(writer(), F_SETFL, flags);
  }
  std::string read() const {
    std::string text(1024, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends_[0], text.data(), text.size()), 0)));
    return text;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Returns the number of these lines that were lost.
std::uint64_t lost_of(int descriptor, int lines) {
  LineWriter writer(descriptor);
  for (int i = 0; i < lines; ++i) writer.write("line\n");
  writer.finish();
  writer.write("late\n");
  return writer.lost();
}

TEST(LineWriter, WritesWhereThereIsSomebody) {
  const Pipe pipe;
  EXPECT_EQ(lost_of(pipe.writer(), 3), 1U) << "the late one";
  EXPECT_EQ(pipe.read(), "line\nline\nline\n");
}

TEST(LineWriter, LosesAndCountsWhereNobodyTakesThem) {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe full;
  full.fill();
  EXPECT_EQ(lost_of(full.writer(), 5), 6U);
  Pipe closed;
  closed.close_reader();
  EXPECT_EQ(lost_of(closed.writer(), 5), 6U);
  const int device = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(device, 0);
  EXPECT_EQ(lost_of(device, 5), 6U);
  ::close(device);
  EXPECT_EQ(lost_of(-1, 5), 6U) << "no descriptor at all";
}

TEST(LineWriter, HoldsNoMoreThanItsRoom) {
  const Pipe full;
  full.fill();
  constexpr int kLines = 2000;
  const std::string line = std::string(32'000, 'x') + "\n";
  LineWriter writer(full.writer());
  for (int i = 0; i < kLines; ++i) writer.write(line);
  EXPECT_GT(writer.lost(), static_cast<std::uint64_t>(kLines) - 100);
}

}  // namespace
}  // namespace varve::serve::line_writer_test
