// Owns: the lives of one outbox: its producers and workers, the moments of their kills, its checkers.
// Must never: start a life on a store that was found broken.
#include <string>

#include "io/simulated/manual_clock.h"
#include "tests/lab/kill/kill.h"
#include "tests/lab/kill/outbox.h"

namespace varve::lab {

namespace {

class OutboxLives {
 public:
  OutboxLives(std::uint64_t seed, const std::string& directory)
      : random_(seed), seed_(seed), has_ring_(ring_is_there()) {
    life_.seed = seed;
    life_.directory = directory;
  }

  Report run(std::uint64_t lives) {
    for (std::uint64_t life = 0; life < lives && report_.findings.empty(); ++life) {
      work_and_die();
      if (life + 1 == lives || below(16) == 0) check();
    }
    report_.count("messages put", count([](const auto& item) { return item.put_acknowledged.load(); }));
    report_.count("messages deleted", count([](const auto& item) { return item.deleted_at != 0; }));
    report_.count("messages put without an acknowledgement",
                  count([](const auto& item) { return item.delivered && !item.put_acknowledged; }));
    report_.count("deliveries", ledger_->deliveries);
    return std::move(report_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }

  template <typename Judge>
  std::uint64_t count(const Judge& judge) {
    std::uint64_t found = 0;
    for (std::uint64_t n = 0; n < OutboxLedger::kItemsMax && n < ledger_->next_item; ++n) {
      if (judge(ledger_->items[n])) ++found;
    }
    return found;
  }

  /// The process has producers, workers or both.
  void work_and_die() {
    life_.back_end = has_ring_ && below(2) == 0 ? BackEnd::kUring : BackEnd::kPosix;
    const std::uint64_t kind = below(4);
    life_.producers = kind == 0 ? 0 : 2;
    life_.workers = kind == 1 ? 0 : 2;
    const bool by_step = below(2) == 0;
    life_.kill_at = by_step ? 1 + below(std::uint64_t{1} << (1 + below(10))) : KillCount::kNever;
    const pid_t child = start_child([&] { return run_outbox(life_, *ledger_); });
    const ChildEnd end =
        by_step ? wait_for(child) : kill_after(child, 2'000 + below(std::uint64_t{1} << (8 + below(10))));
    const char* const who = kind == 0 ? "workers" : kind == 1 ? "producers" : "producers and workers";
    report_.count(end.killed ? std::string("kills of ") + who : std::string("clean ends"));
    if (end.killed) report_.count("kills of outboxes");
    judge(end);
  }

  void check() {
    life_.back_end = has_ring_ && below(2) == 0 ? BackEnd::kUring : BackEnd::kPosix;
    judge(wait_for(start_child([&] { return run_outbox_checker(life_, *ledger_); })));
    report_.count("checks of outboxes");
  }

  void judge(const ChildEnd& end) {
    std::string complaint = ledger_->common.complaint();
    if (complaint.empty()) complaint = end.text;
    if (!complaint.empty()) report_.find({seed_, "outbox", complaint, "moments of kills differ from run to run"});
  }

  io::SeededRandom random_;
  const std::uint64_t seed_;
  const bool has_ring_;
  OutboxLife life_;
  SharedOutboxLedger ledger_;
  Report report_;
};

}  // namespace

Report run_killed_outbox(std::uint64_t seed, const std::string& directory, std::uint64_t lives) {
  return OutboxLives(seed, directory).run(lives);
}

}  // namespace varve::lab
