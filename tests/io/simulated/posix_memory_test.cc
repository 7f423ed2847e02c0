// Goal: an operation of the plain-call back end, or a thread, that gets no memory reports it, leaves no file, and
// damages no handle. If memory for a message is lacking, the failure keeps its code.
// Method: each allocation of a call is refused in turn, until the call needs no more.
#include <cerrno>
#include <new>

#include <unistd.h>

#include "io/posix/posix_file.h"
#include "io/scheduler.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/io/child_process.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/support/allocation_counter.h"

namespace varve::io::posix_memory_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

using PosixMemory = PosixTest;

/// Refuses the n-th allocation of `call`, for each n up to the last, and checks that each result is `refused`.
/// Operations may throw, like the containers that they fill.
template <typename Call>
int requests_refused(const Call& call, Code refused = Code::kOutOfMemory) {
  for (std::uint64_t nth = 1;; ++nth) {
    Code code = Code::kOutOfMemory;
    bool happened = false;
    {
      const test::AllocationFailure failure(nth);
      try {
        code = status_of(call()).code();
      } catch (const std::bad_alloc&) {
        code = Code::kOutOfMemory;
      }
      happened = failure.happened();
    }
    if (!happened) return code == Code::kOk || code == refused ? static_cast<int>(nth - 1) : -1;
    EXPECT_EQ(code, refused) << "request " << nth;
    if (code != refused) return -1;
  }
}

TEST(OsErrorMemory, AFailureKeepsItsCodeWithoutItsWords) {
  const std::string path(200, 'p');
  const test::AllocationFailure failure(1);
  const Status status = os_error(ENOSPC, {"pwrite", path});
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_TRUE(failure.happened());
}

TEST_F(PosixMemory, AFileThatEndsEarlyIsCorruptionWithoutItsWordsToo) {
  constexpr std::uint64_t kLongNumber = 1'000'000'000'000'000'000;  // a string needs an allocation for it
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("x"))));
  const PosixReadableFile file(Descriptor(::dup(0)), "a", kLongNumber, false);
  Bytes bytes(1);
  EXPECT_GE(requests_refused([&] { return file.read_exactly(kLongNumber, bytes); }, Code::kCorruption), 1);
}

TEST_F(PosixMemory, ASegmentThatCannotBeMadeLeavesNoFile) {
  int left_behind = 0;
  const auto make = [&] {
    Status made = directory().create_log_segment("1.wal", 4 * kSectorBytes).status();
    if (!made.ok() && ::access(path_of("1.wal").c_str(), F_OK) == 0) ++left_behind;
    return made;
  };
  EXPECT_GE(requests_refused(make), 2) << "the handle, the first sector";
  EXPECT_EQ(left_behind, 0);
  EXPECT_EQ(names_in(directory()), std::vector<std::string>{"1.wal"});
}

TEST_F(PosixMemory, AFillWithoutMemoryLeavesTheSegmentAsGoodAsBefore) {
  Result<std::unique_ptr<LogSegment>> made = directory().create_log_segment("1.wal", 4 * kSectorBytes);
  ASSERT_TRUE(is_ok(made));
  EXPECT_GE(requests_refused([&] { return (*made)->fill(); }), 0);
  const AlignedBuffer bytes = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(is_ok((*made)->fill()));
  EXPECT_TRUE(is_ok((*made)->write(0, bytes.bytes(), kTestPoint)));
}

TEST_F(PosixMemory, SharedMemoryThatMustBeWrittenNeedsMemoryForItsZeros) {
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_fallocate, EOPNOTSUPP}});
    std::unique_ptr<Directory> own = open_at_path(path());
    const auto make = [&] { return own->create_shared_memory("1.buf", kMiB).status(); };
    const int refused = requests_refused(make);
    const bool there = ::access(path_of("1.buf").c_str(), F_OK) == 0;
    return std::string(refused >= 2 ? "each told" : "not told") + (there ? ", then made" : ", never made");
  });
  EXPECT_EQ(answer, "each told, then made");
}

TEST_F(PosixMemory, AnUnalignedDirectReadWithoutMemoryIsRefusedAndTheNextOneServed) {
  ASSERT_TRUE(is_ok(write_whole(directory(), "a", bytes_of("12345"))));
  Result<std::unique_ptr<ReadableFile>> file = directory().open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  Bytes bytes(3);
  const auto read = [&] { return (*file)->read_exactly(1, bytes); };
  EXPECT_EQ(requests_refused(read), static_cast<PosixReadableFile&>(**file).direct() ? 1 : 0);
  EXPECT_EQ(bytes, bytes_of("234"));
}

// -- Threads ----------------------------------------------------------------------------------------------------------

TEST(ThreadMemory, AThreadWithoutMemoryIsNotStarted) {
  Scheduler scheduler;
  int ran = 0;
  const auto start = [&] {
    Result<Thread> started = scheduler.start("a-name-longer-than-short", [&ran] { ++ran; });
    if (started.ok()) started->join();
    return started.status();
  };
  EXPECT_GE(requests_refused(start), 1);
  EXPECT_EQ(ran, 1);
}

TEST(ThreadMemory, NorIsOneInASimulation) {
  ManualClock clock;
  SeededScheduler simulation(3, clock);
  int ran = 0;
  const auto start = [&] {
    Result<Thread> started = simulation.scheduler().start("worker", [&ran] { ++ran; });
    if (started.ok()) started->join();
    return started.status();
  };
  EXPECT_GE(requests_refused(start), 3) << "its slot, its state, its ticket";
  EXPECT_EQ(ran, 1);
}

TEST(ThreadMemory, AThreadThatTheSystemRefusesKeepsTheCodeWithoutTheWords) {
  const std::string answer = in_child([] {
    refuse_system_calls({{SYS_clone3, EAGAIN}, {SYS_clone, EAGAIN}});
    Scheduler scheduler;
    const std::string name(200, 'n');
    for (std::uint64_t nth = 1; nth < 100; ++nth) {
      Status status;
      bool happened = false;
      {
        const test::AllocationFailure failure(nth);
        status = scheduler.start(name, [] {}).status();
        happened = failure.happened();
      }
      if (status.code() != Code::kIoError && status.code() != Code::kOutOfMemory) return "was " + told(status);
      if (!happened) return std::string(status.message().empty() ? "no words" : "told");
    }
    return std::string("never enough");
  });
  EXPECT_EQ(answer, "told");
}

}  // namespace
}  // namespace varve::io::posix_memory_test
