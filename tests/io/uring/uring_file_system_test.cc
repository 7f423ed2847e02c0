// Rings: they work if the kernel supports them, they handle a misbehaving kernel, and the fallback works if they are
// refused.
#include "io/uring/uring_file_system.h"

#include <array>
#include <cerrno>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/posix/posix_file.h"
#include "io/uring/ring.h"
#include "io/uring/uring_read_queue.h"
#include "tests/io/child_process.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/io/uring/interposed_ring.h"

namespace varve::io::uring_file_system_test {
namespace {

constexpr std::size_t kDepth = 16;
constexpr std::size_t kReads = 100;
constexpr std::size_t kReadBytes = 3 * kSectorBytes;

class UringTest : public PosixTest {
 protected:
  void SetUp() override {
    expected_ = bytes_by_seed(31, kReads * kReadBytes);
    ASSERT_TRUE(is_ok(write_whole(directory(), "a", expected_)));
    file_ = *directory().open("a", ReadMode::kDirect);
  }

  std::unique_ptr<ReadQueue> make_queue() {
    Result<std::unique_ptr<ReadQueue>> made = files_.make_read_queue(scheduler_, kDepth);
    return made.ok() ? *std::move(made) : nullptr;
  }

  /// Reads the whole file through the queue, with offsets `shift` bytes off the sectors. Returns "Ok", or the fault as
  /// text.
  std::string read_all(ReadQueue& queue, std::size_t shift = 0) {
    Result<AlignedBuffer> memory = AlignedBuffer::allocate(kReads * kReadBytes);
    std::array<FinishedRead, kDepth> finished;
    std::size_t submitted = 0;
    std::size_t done = 0;
    while (done < kReads) {
      while (submitted < kReads && queue.in_flight() < kDepth) {
        const std::size_t at = submitted * kReadBytes;
        const Status begun =
            queue.submit(*file_, at + shift, memory->bytes().subspan(at, kReadBytes - shift), submitted++);
        if (!begun.ok()) return begun.to_string();
      }
      const std::size_t count = queue.reap(finished, 1);
      if (count == 0) return "reap told nothing";
      for (std::size_t i = 0; i < count; ++i) {
        if (!finished[i].status.ok()) return finished[i].status.to_string();
        const std::size_t at = finished[i].tag * kReadBytes;
        const auto begin = expected_.begin() + static_cast<std::ptrdiff_t>(at + shift);
        const std::span<std::byte> read = memory->bytes().subspan(at, kReadBytes - shift);
        if (!std::equal(read.begin(), read.end(), begin)) return "other bytes at " + std::to_string(at);
      }
      done += count;
    }
    return "Ok";
  }

  Bytes expected_;
  std::unique_ptr<ReadableFile> file_;
  UringFileSystem files_;
  Scheduler scheduler_;
};

TEST_F(UringTest, AQueueIsARingWhereTheProbeSucceeds) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  EXPECT_EQ(queue->name(), probe_io_uring().ok() ? "io_uring" : "threads");
  EXPECT_EQ(read_all(*queue), "Ok");
  EXPECT_EQ(read_all(*queue, 100), "Ok");
}

TEST_F(UringTest, WhereTheKernelRefusesARingThreadsServe) {
  for (const int error : {EPERM, ENOSYS, ENOMEM, EMFILE}) {
    const std::string answer = in_child([&] {
      refuse_system_calls({{SYS_io_uring_setup, error}});
      const std::unique_ptr<ReadQueue> queue = make_queue();
      return code_of(probe_io_uring()) + " " + std::string(queue->name()) + " " + read_all(*queue);
    });
    EXPECT_TRUE(answer.ends_with(" threads Ok")) << answer;
    EXPECT_FALSE(answer.starts_with("Ok")) << answer;
  }
}

TEST_F(UringTest, TheProbeSaysWhatWasRefused) {
  EXPECT_EQ(in_child([&] {
              refuse_system_calls({{SYS_io_uring_setup, EPERM}});
              return told(probe_io_uring());
            }),
            "IoError: io_uring_setup a ring: Operation not permitted");
}

TEST_F(UringTest, TheProbeFailsWhereOnlyEnteringIsRefused) {
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_io_uring_enter, EPERM}});
    return told(probe_io_uring());
  });
  EXPECT_TRUE(answer.starts_with("IoError: io_uring_")) << answer;
}

TEST_F(UringTest, TheProbeFailsWhereReadingIsRefused) {
  if (!probe_io_uring().ok()) return;
  const struct {
    RefusedCall refused;
    const char* answer;
  } kinds[] = {{{SYS_memfd_create, EPERM}, "IoError: memfd_create for a ring: Operation not permitted"},
               {{SYS_pwrite64, ENOSPC}, "NoSpace: memfd_create for a ring: No space left on device"}};
  for (const auto& kind : kinds) {
    EXPECT_EQ(in_child([&] {
                refuse_system_calls({kind.refused});
                return told(probe_io_uring());
              }),
              kind.answer);
  }
}

// The probe then reads the file that has descriptor 0.
TEST_F(UringTest, TheProbeFailsWhereARingReadsNothing) {
  if (!probe_io_uring().ok()) return;
  const auto probe = [](int flags) {
    return in_child([&] {
      ::close(0);
      if (::open("/dev/null", flags) != 0) return std::string("cannot prepare");
      refuse_system_calls({{SYS_memfd_create, 0}});
      return told(probe_io_uring());
    });
  };
  EXPECT_EQ(probe(O_WRONLY), "IoError: read by a ring: Bad file descriptor");
  EXPECT_EQ(probe(O_RDWR), "IoError: read by a ring: Input/output error") << "not a byte";
}

TEST_F(UringTest, ARingThatCannotLeaveTheStandardDescriptorsIsNotTaken) {
  EXPECT_EQ(in_child([&] {
              refuse_system_calls({{SYS_fcntl, EMFILE, {{1, F_DUPFD_CLOEXEC}}}});
              ::close(0);
              const std::unique_ptr<ReadQueue> queue = make_queue();
              return std::string(queue->name()) + " " + read_all(*queue);
            }),
            "threads Ok");
}

TEST_F(UringTest, WhereEnteringIsRefusedLaterPlainCallsServe) {
  EXPECT_EQ(in_child([&] {
              const std::unique_ptr<ReadQueue> queue = make_queue();
              std::string words = read_all(*queue);
              refuse_system_calls({{SYS_io_uring_enter, EPERM}});
              words += " " + read_all(*queue) + " " + read_all(*queue, 100);
              return words + (queue->name() == "io_uring" ? " through the ring" : "");
            }),
            "Ok Ok Ok");
}

TEST_F(UringTest, WhatIsInTheKernelIsFinishedWhenEnteringIsRefused) {
  // In a separate child, because a fork must not use reads in flight of its parent.
  EXPECT_EQ(in_child([&] {
              const std::unique_ptr<ReadQueue> queue = make_queue();
              Result<AlignedBuffer> memory = AlignedBuffer::allocate(kDepth * kReadBytes);
              for (std::size_t i = 0; i < kDepth; ++i) {
                (void)queue->submit(*file_, i * kReadBytes, memory->bytes().subspan(i * kReadBytes, kReadBytes), i);
              }
              std::array<FinishedRead, kDepth> finished;
              std::size_t count = queue->reap(finished, 0);
              refuse_system_calls({{SYS_io_uring_enter, EPERM}});
              while (queue->in_flight() > 0) count += queue->reap(finished, 1);
              const bool same = std::equal(memory->bytes().begin(), memory->bytes().end(), expected_.begin());
              return std::to_string(count) + (same ? " same" : " other");
            }),
            std::to_string(kDepth) + " same");
}

TEST_F(UringTest, AKernelThatDoesNotKnowTheFlagsIsAskedWithoutThem) {
  std::vector<unsigned> asked;
  RingMisfortune misfortune;
  misfortune.on_make = [&](unsigned flags) {
    asked.push_back(flags);
    return flags != 0 ? EINVAL : 0;
  };
  const std::unique_ptr<ReadQueue> queue = make_queue();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_NE(asked[0], 0U);
  EXPECT_EQ(asked[1], 0U);
  misfortune.on_make = nullptr;
  EXPECT_EQ(queue->name(), probe_io_uring().ok() ? "io_uring" : "threads");
  EXPECT_EQ(read_all(*queue), "Ok");
}

TEST_F(UringTest, OtherRefusalsAreNotTriedAgain) {
  int asked = 0;
  RingMisfortune misfortune;
  misfortune.on_make = [&](unsigned) {
    ++asked;
    return ENOMEM;
  };
  EXPECT_EQ(make_queue()->name(), "threads");
  EXPECT_EQ(asked, 1);
}

TEST_F(UringTest, InterruptedAndBusyEntersAreRepeated) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  RingMisfortune misfortune;
  int call = 0;
  misfortune.on_enter = [&](unsigned) {
    constexpr std::array<int, 5> kErrors = {EINTR, EAGAIN, EBUSY, ENOMEM, 0};
    return kErrors[static_cast<std::size_t>(call++) % kErrors.size()];
  };
  const std::string_view before = queue->name();
  EXPECT_EQ(read_all(*queue), "Ok");
  EXPECT_EQ(queue->name(), before);
}

TEST_F(UringTest, EntersThatAreBusyForEverEndInPlainCalls) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  RingMisfortune misfortune;
  misfortune.on_enter = [](unsigned) { return EAGAIN; };
  EXPECT_EQ(read_all(*queue), "Ok");
  EXPECT_NE(queue->name(), "io_uring");
}

TEST_F(UringTest, ShortAndInterruptedReadsAreContinued) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  RingMisfortune misfortune;
  int number = 0;
  misfortune.on_completion = [&](int result) {
    switch (number++ % 6) {
      case 0: return -EINTR;
      case 1: return -EAGAIN;
      case 2: return -ECANCELED;
      case 3: return std::min<int>(result, kSectorBytes);
      case 4: return std::min<int>(result, kSectorBytes + 512);
      default: return result;
    }
  };
  EXPECT_EQ(read_all(*queue), "Ok");
  EXPECT_EQ(read_all(*queue, 100), "Ok");
  file_ = *directory().open("a", ReadMode::kCached);
  EXPECT_EQ(read_all(*queue), "Ok");
}

TEST_F(UringTest, AFailedReadNamesFileAndOffset) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  if (queue->name() != "io_uring") return;  // Threads read by plain calls, whose failures posix_file_test.cc tests.
  RingMisfortune misfortune;
  int number = 0;
  misfortune.on_completion = [&](int result) { return number++ == 5 ? -EIO : result; };
  const std::string answer = read_all(*queue);
  EXPECT_TRUE(answer.starts_with("IoError: pread " + path_of("a") + " at offset ")) << answer;
}

TEST_F(UringTest, AFileSystemThatRefusesDirectReadsIsReadThroughItsCache) {
  const std::unique_ptr<ReadQueue> queue = make_queue();
  if (queue->name() != "io_uring") return;
  RingMisfortune misfortune;
  int left = 3;
  misfortune.on_completion = [&](int result) { return left-- > 0 ? -EINVAL : result; };
  EXPECT_EQ(read_all(*queue, 100), "Ok");
  EXPECT_FALSE(static_cast<PosixReadableFile&>(*file_).direct());
}

TEST_F(UringTest, AClosedDescriptorIsAnErrorOfItsReadAlone) {
  for (const bool ring : {true, false}) {
    SCOPED_TRACE(ring ? "ring" : "threads");
    const std::unique_ptr<ReadQueue> queue =
        ring ? make_queue() : *PosixFileSystem().make_read_queue(scheduler_, kDepth);
    // A number above all others that this process uses meanwhile.
    Descriptor descriptor(::fcntl(static_cast<const PosixReadableFile&>(*file_).descriptor(), F_DUPFD_CLOEXEC, 500));
    PosixReadableFile closed(std::move(descriptor), "closed", 100, false);
    ASSERT_EQ(::close(closed.descriptor()), 0);
    Bytes lost(10);
    Bytes read(10);
    ASSERT_TRUE(is_ok(queue->submit(closed, 0, lost, 1)));
    ASSERT_TRUE(is_ok(queue->submit(*file_, 0, read, 2)));
    std::array<FinishedRead, 2> finished;
    ASSERT_EQ(queue->reap(finished, 2), 2U);
    for (const FinishedRead& each : finished) {
      if (each.tag == 1) {
        EXPECT_TRUE(fails_with(each.status, Code::kIoError, "closed"));
      } else {
        EXPECT_TRUE(is_ok(each.status));
      }
    }
    EXPECT_TRUE(std::equal(read.begin(), read.end(), expected_.begin()));
  }
}

TEST_F(UringTest, AForkIsRefused) {
  for (const bool ring : {true, false}) {
    const std::unique_ptr<ReadQueue> queue =
        ring ? make_queue() : *PosixFileSystem().make_read_queue(scheduler_, kDepth);
    EXPECT_EQ(in_child([&] { return read_all(*queue).substr(0, 6); }), "Locked");
    EXPECT_EQ(read_all(*queue), "Ok") << "the parent goes on";
  }
}

TEST_F(UringTest, StandardDescriptorsAreNotTaken) {
  EXPECT_EQ(in_child([&] {
              for (const int number : {0, 1, 2}) ::close(number);
              const std::unique_ptr<ReadQueue> queue = make_queue();
              std::string words = read_all(*queue);
              for (const int number : {0, 1, 2}) words += ::fcntl(number, F_GETFD) < 0 ? " free" : " taken";
              return words;
            }),
            "Ok free free free");
}

TEST_F(UringTest, ManyRingsLeaveNoDescriptorBehind) {
  EXPECT_EQ(in_child([&] {
              const rlimit few{40, 40};
              if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return std::string("no limit");
              for (int round = 0; round < 200; ++round) {
                const std::unique_ptr<ReadQueue> queue = make_queue();
                const bool was_ring = queue->name() == "io_uring" || !probe_io_uring().ok();
                if (!was_ring) return "no ring in round " + std::to_string(round);
              }
              return std::string("Ok");
            }),
            "Ok");
}

TEST_F(UringTest, WithoutDescriptorsThreadsServe) {
  EXPECT_EQ(in_child([&] {
              {
                // The sanitizer opens a pipe when it checks a type for the first time. This run makes it check all
                // types before.
                RingMisfortune misfortune;
                misfortune.on_make = [](unsigned) { return EMFILE; };
                (void)read_all(*make_queue());
              }
              const rlimit none{3, 3};
              if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return std::string("no limit");
              const std::unique_ptr<ReadQueue> queue = make_queue();
              return std::string(queue->name()) + " " + read_all(*queue);
            }),
            "threads Ok");
}

}  // namespace
}  // namespace varve::io::uring_file_system_test
