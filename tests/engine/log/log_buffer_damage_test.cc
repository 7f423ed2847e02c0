// Goal: a buffered commit survives the death of its process. If another process cuts or removes the log buffer's file,
// neither the process nor acknowledged data is lost: the store stops with an error that names the file.
// Method: stores on this machine's disk. A separate process dies without notice, or receives the error.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/io/child_process.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::log_buffer_damage_test {
namespace {

using test::Change;

std::string row_of(int number) {
  return std::to_string(100'000 + number);
}

class LogBufferDamage : public testing::Test {
 protected:
  std::string path() const { return directory_.path_of("store"); }
  std::unique_ptr<Engine> open() {
    EngineOptions options;
    options.create_if_absent = true;
    Result<std::unique_ptr<Engine>> opened = Engine::open(io::system_env(), path(), options);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static Status put(Engine& engine, int number) {
    return Change().put("p", row_of(number), "value " + row_of(number)).buffered().commit(engine).status();
  }
  std::filesystem::path buffer() const {
    for (const auto& file : std::filesystem::directory_iterator(path())) {
      if (file.path().extension() == ".buf") return file.path();
    }
    return {};
  }
  /// Returns the number of first rows that exist without a gap.
  int rows(Engine& engine) {
    int count = 0;
    while (test::value_of(engine, "p", row_of(count)) == "value " + row_of(count)) ++count;
    return count;
  }
  /// In a separate process: commits, damages the buffer's file, and commits until an error is returned. Returns the
  /// error, and the number of acknowledged commits.
  template <typename Harm>
  std::string told(const Harm& harm) {
    return io::in_child([&]() -> std::string {
      const std::unique_ptr<Engine> engine = open();
      if (engine == nullptr) return "not opened";
      int acknowledged = 0;
      for (; acknowledged < 50; ++acknowledged) {
        if (!put(*engine, acknowledged).ok()) return "refused before";
      }
      harm(buffer());
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      Status told;
      while (told.ok() && std::chrono::steady_clock::now() < end) {
        told = put(*engine, acknowledged);
        if (told.ok()) ++acknowledged;
      }
      const bool is_typed =
          told.code() == Code::kUnknown || told.code() == Code::kPoisoned || told.code() == Code::kFenced;
      const bool names = put(*engine, 0).to_string().find(".buf") != std::string::npos;
      if (!is_typed || !names) return told.to_string() + ", then " + put(*engine, 0).to_string();
      if (engine->statistics().health != Health::kPoisoned) return "still healthy";
      if (rows(*engine) < acknowledged) return "what was acknowledged is not read";
      return std::to_string(acknowledged);
    });
  }
  const io::TemporaryDirectory directory_;
};

TEST_F(LogBufferDamage, ABufferedCommitSurvivesTheDeathOfItsProcess) {
  for (const int count : {1, 2, 37, 5000}) {
    std::filesystem::remove_all(path());
    const std::string end = io::in_child([&]() -> std::string {
      const std::unique_ptr<Engine> engine = open();
      for (int number = 0; number < count; ++number) {
        if (engine == nullptr || !put(*engine, number).ok()) return "refused";
      }
      (void)::kill(::getpid(), SIGKILL);
      return "alive";
    });
    ASSERT_EQ(end, "<ended by signal " + std::to_string(SIGKILL) + ">");
    const std::unique_ptr<Engine> engine = open();
    ASSERT_NE(engine, nullptr);
    EXPECT_EQ(rows(*engine), count);
  }
}

TEST_F(LogBufferDamage, ACutIsToldAndTheNextOpenFindsAllThatWasAcknowledged) {
  for (const std::uintmax_t size : std::initializer_list<std::uintmax_t>{0, 1, 4096, 4097, 300'000, 1'000'000}) {
    SCOPED_TRACE(size);
    std::filesystem::remove_all(path());
    const std::string answer =
        told([&](const std::filesystem::path& file) { std::filesystem::resize_file(file, size); });
    ASSERT_EQ(answer.find_first_not_of("0123456789"), std::string::npos) << answer;
    const std::unique_ptr<Engine> engine = open();
    ASSERT_NE(engine, nullptr);
    EXPECT_GE(rows(*engine), std::stoi(answer));
  }
}

TEST_F(LogBufferDamage, ARemovalIsTold) {
  const std::string answer = told([&](const std::filesystem::path& file) { std::filesystem::remove(file); });
  EXPECT_EQ(answer.find_first_not_of("0123456789"), std::string::npos) << answer;
}

}  // namespace
}  // namespace varve::engine::log_buffer_damage_test
