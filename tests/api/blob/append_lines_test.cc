// Goal: appends to one blob that share commits are as if each had one of its own: each has its place, its ETag and its
// refusal, and a failure fails all that shared its commit.
// Method: seeded threads append to one blob, and their answers are put in order and compared with the content.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/limits.h"

namespace varve::test::append_lines_test {
namespace {

constexpr int kThreads = 12;
constexpr int kRounds = 4;

struct Answer {
  std::string bytes;
  AppendedBlock block;
};

Container logs_of(StoreBench& bench) {
  bench.open();
  EXPECT_EQ(said(bench.store->create_account(kAccount)), kFine);
  Container logs = *bench.store->create_container(kAccount, "logs");
  EXPECT_EQ(said(logs.create_append_blob("log")), kFine);
  return logs;
}

/// Each thread calls `append` with its number and the round.
void append_together(StoreBench& bench, const std::function<void(int thread, int round)>& append) {
  std::vector<std::function<void()>> bodies;
  for (int thread = 0; thread < kThreads; ++thread) {
    bodies.emplace_back([&append, thread] {
      for (int round = 0; round < kRounds; ++round) append(thread, round);
    });
  }
  run_together(bench, bodies);
}

/// Expects that the answers, in the order of their places, are the blob's content and have ascending ETags.
void expect_in_order(const Container& logs, std::vector<Answer> answers) {
  std::sort(answers.begin(), answers.end(),
            [](const Answer& one, const Answer& other) { return one.block.offset < other.block.offset; });
  std::string content;
  std::uint32_t count = 0;
  ETag before;
  for (const Answer& answer : answers) {
    EXPECT_EQ(answer.block.offset, content.size());
    EXPECT_EQ(answer.block.append_count, ++count);
    EXPECT_LT(before.timestamp().ticks, answer.block.etag.timestamp().ticks);
    before = answer.block.etag;
    content += answer.bytes;
  }
  EXPECT_TRUE(content_in(logs, "log") == content);
  const BlobState state = state_in(logs, "log");
  EXPECT_EQ(state.etag, before);
  EXPECT_EQ(state.append_count, count);
}

TEST(AppendLines, BA01_BX25_AppendsThatShareCommitsHavePlacesAndEtagsOfTheirOwn) {
  std::uint64_t shared = 0;
  for_each_seed(effort(std::uint64_t{6}), [&shared](StoreBench& bench) {
    const Container logs = logs_of(bench);
    std::vector<Answer> answers;  // One thread runs at a time.
    const std::uint64_t before = (*bench.store->statistics()).commits;
    append_together(bench, [&](int thread, int round) {
      Container own = logs;
      const std::size_t size = thread == 0 ? 100'000 : 1 + static_cast<std::size_t>(thread * round);
      const std::string bytes = uneven_bytes(size, static_cast<std::uint32_t>(thread * kRounds + round + 1));
      const AppendOptions options{.durability = thread % 3 == 0 ? Durability::kBuffered : Durability::kSync};
      const Result<AppendedBlock> block = own.append("log", bytes, options);
      ASSERT_EQ(said(block), kFine);
      answers.push_back({bytes, *block});
    });
    ASSERT_EQ(answers.size(), static_cast<std::size_t>(kThreads * kRounds));
    expect_in_order(logs, answers);
    shared += answers.size() - ((*bench.store->statistics()).commits - before);
  });
  EXPECT_GT(shared, 0U);
}

/// All threads append at the place that they read, and again if another one was there before.
TEST(AppendLines, BA03_BC04_OfAppendsAtOnePlaceOneSucceeds) {
  for_each_seed(effort(std::uint64_t{4}), [](StoreBench& bench) {
    const Container logs = logs_of(bench);
    std::vector<Answer> answers;
    append_together(bench, [&](int thread, int round) {
      Container own = logs;
      const std::string bytes = std::to_string(thread) + "." + std::to_string(round) + " ";
      for (;;) {
        const BlobState seen = state_in(own, "log");
        AppendOptions options;
        if (thread % 2 == 0) options.position = seen.length;
        if (thread % 2 != 0) options.conditions.if_match = seen.etag;
        const Result<AppendedBlock> block = own.append("log", bytes, options);
        if (block.ok()) {
          EXPECT_EQ(block->offset, seen.length);
          answers.push_back({bytes, *block});
          return;
        }
        const std::string_view expected = thread % 2 == 0 ? "AppendPositionConditionNotMet" : "ConditionNotMet";
        ASSERT_EQ(said(block), (Said{Code::kPreconditionFailed, expected}));
      }
    });
    EXPECT_EQ(answers.size(), static_cast<std::size_t>(kThreads * kRounds));
    expect_in_order(logs, answers);
  });
}

TEST(AppendLines, BA03_ARefusedAppendRefusesNoOther) {
  for_each_seed(effort(std::uint64_t{4}), [](StoreBench& bench) {
    const Container logs = logs_of(bench);
    std::vector<Answer> answers;
    append_together(bench, [&](int thread, int round) {
      Container own = logs;
      AppendOptions options;
      if (thread % 3 == 1) options.length_max = 0;
      if (thread % 3 == 2) options.conditions.lease = guid_of('a');
      const std::string bytes = std::to_string(thread) + "." + std::to_string(round) + " ";
      const Result<AppendedBlock> block = own.append("log", bytes, options);
      switch (thread % 3) {
        case 0:
          EXPECT_EQ(said(block), kFine);
          if (block.ok()) answers.push_back({bytes, *block});
          return;
        case 1: EXPECT_EQ(said(block), (Said{Code::kPreconditionFailed, "MaxBlobSizeConditionNotMet"})); return;
        default: EXPECT_EQ(said(block), (Said{Code::kPreconditionFailed, "LeaseNotPresentWithBlobOperation"}));
      }
    });
    expect_in_order(logs, answers);
  });
}

TEST(AppendLines, BN05_AppendsToABlobOrContainerThatIsGoneAreAllRefused) {
  for_each_seed(effort(std::uint64_t{2}), [](StoreBench& bench) {
    const Container logs = logs_of(bench);
    append_together(bench, [&](int /*thread*/, int round) {
      Container own = logs;
      if (round == 1) (void)own.remove("log");
      if (round == 2) (void)bench.store->drop_container(kAccount, "logs");
      const Result<AppendedBlock> block = own.append("log", "more");
      if (round == 1) {
        EXPECT_TRUE(said(block) == kBlobGone || said(block) == kContainerGone) << said(block);
      }
      if (round >= 2) {
        EXPECT_EQ(said(block), kContainerGone);
      }
    });
  });
}

/// When the log fails, no append says that it succeeded, and each caller gets an answer.
TEST(AppendLines, BX12_AFailureOfTheLogFailsAllThatShareIt) {
  for_each_seed(effort(std::uint64_t{4}), [](StoreBench& bench) {
    const Container logs = logs_of(bench);
    std::vector<Answer> answers;
    int failed = 0;
    io::FaultRule rule;
    rule.kind = io::OperationKind::kLogWrite;
    rule.skip_count = 3;
    rule.fail_count = io::FaultRule::kFromThenOn;
    bench.machine.files->faults().add(rule);
    append_together(bench, [&](int thread, int round) {
      Container own = logs;
      const std::string bytes = std::to_string(thread) + "." + std::to_string(round) + " ";
      const Result<AppendedBlock> block = own.append("log", bytes, {.durability = Durability::kSync});
      if (block.ok()) answers.push_back({bytes, *block});
      if (!block.ok()) ++failed;
    });
    EXPECT_GT(failed, 0);
    EXPECT_GT(answers.size(), 0U);
    expect_in_order(logs, answers);
  });
}

}  // namespace
}  // namespace varve::test::append_lines_test
