// Owns: the lives of one store: its writers, the moments of their kills, its checkers.
// Must never: start a life on a store that was found broken.
#include <filesystem>
#include <string>
#include <system_error>

#include "io/simulated/manual_clock.h"
#include "tests/lab/kill/kill.h"
#include "tests/lab/kill/writer.h"

namespace varve::lab {

namespace {

class Lives {
 public:
  Lives(std::uint64_t seed, const std::string& directory) : random_(seed), seed_(seed), has_ring_(ring_is_there()) {
    life_.seed = seed;
    life_.directory = directory;
    report_.count(has_ring_ ? "stores with rings" : "stores without rings");
  }

  Report run(std::uint64_t lives) {
    for (std::uint64_t life = 0; life < lives && report_.findings.empty(); ++life) one_life(life + 1 == lives);
    for (std::uint32_t thread = 0; thread < kKillThreads; ++thread) {
      report_.count("operations", life_.begins_at[thread]);
    }
    report_.count("verifications", ledger_->verified);
    report_.count("checkpoints", ledger_->checkpoints);
    return std::move(report_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }

  void choose_back_end() {
    life_.back_end = has_ring_ && below(2) == 0 ? BackEnd::kUring : BackEnd::kPosix;
    report_.count(life_.back_end == BackEnd::kUring ? "processes with io_uring" : "processes with plain calls");
  }

  void one_life(bool is_last) {
    for (std::uint32_t thread = 0; thread < kKillThreads; ++thread) {
      ledger_->threads[thread].begun = life_.begins_at[thread];
      ledger_->threads[thread].acknowledged = life_.begins_at[thread];
    }
    write_and_die();
    if (below(4) == 0) recover_and_die();
    check(is_last || below(4) == 0);
  }

  void write_and_die() {
    choose_back_end();
    life_.operations_max = 20 + below(200);
    life_.kill_at = KillCount::kNever;
    const std::uint64_t way = below(20);
    if (way < 9) life_.kill_at = 1 + below(std::uint64_t{1} << (1 + below(12)));
    const pid_t writer = start_child([&] { return run_writer(life_, *ledger_); });
    const bool by_time = way >= 9 && way < 18;
    const ChildEnd end = by_time ? kill_after(writer, below(std::uint64_t{1} << (6 + below(11)))) : wait_for(writer);
    if (end.killed) report_.count(by_time ? "kills by time" : "kills by step");
    if (!end.killed) report_.count("clean ends");
    judge("writer", end);
  }

  /// Runs recoveries that are killed at successive steps, until one of them finishes.
  void recover_and_die() {
    const std::uint64_t stride = 1 + below(7);
    for (std::uint64_t step = 1; report_.findings.empty(); step += stride) {
      choose_back_end();
      life_.kill_at = step;
      const ChildEnd end = wait_for(start_child([&] { return run_opener(life_, *ledger_); }));
      judge("opener", end);
      if (!end.killed) return;
      report_.count("kills of recovery");
    }
  }

  void check(bool deep) {
    choose_back_end();
    life_.deep = deep;
    const ChildEnd end = wait_for(start_child([&] { return run_checker(life_, *ledger_); }));
    judge("checker", end);
    report_.count("checks");
    for (std::uint32_t thread = 0; thread < kKillThreads; ++thread) {
      const std::uint64_t recovered = ledger_->recovered[thread];
      report_.count("operations begun, not acknowledged, there",
                    recovered - std::min(recovered, ledger_->threads[thread].acknowledged.load()));
      life_.base[thread] = state_at(life_, thread, recovered);
      life_.begins_at[thread] = recovered;
    }
  }

  void judge(const std::string& who, const ChildEnd& end) {
    const std::string complaint = ledger_->complaint();
    if (!complaint.empty()) find(complaint);
    if (!end.text.empty() && complaint.empty()) find("the " + who + ": " + end.text);
  }
  void find(const std::string& what) {
    if (report_.findings.empty()) report_.find({seed_, "writers", what, "moments of kills differ from run to run"});
  }

  io::SeededRandom random_;
  const std::uint64_t seed_;
  const bool has_ring_;
  Life life_;
  SharedLedger ledger_;
  Report report_;
};

}  // namespace

Report run_killed_writers(std::uint64_t seed, const std::string& directory, std::uint64_t lives) {
  return Lives(seed, directory).run(lives);
}

}  // namespace varve::lab
