#include "tests/lab/repair/repair_suite.h"

#include <string>

#include "tests/lab/repair/damage.h"
#include "tests/lab/repair/judge.h"

namespace varve::lab {
namespace {

constexpr std::uint64_t kRepairsOfARound = 40;
constexpr std::uint64_t kDamagesMax = 4;

void take(const repair::Verdict& verdict, std::uint64_t seed, const std::string& what, Report& report) {
  report.count("repairs");
  if (verdict.is_exact) report.count("exact");
  if (!verdict.figures.losses.empty()) report.count("with losses");
  if (!verdict.figures.report.files_are_certain) report.count("with files in doubt");
  report.count("rows judged", verdict.figures.report.entities);
  report.count("rows lost", verdict.rows_lost);
  report.count("rows stale", verdict.rows_stale);
  report.count("tables renamed", verdict.tables_renamed);
  report.count("rows called stale", verdict.figures.report.entities_possibly_stale);
  if (verdict.broken.empty()) return;
  std::string detail = what + "\n";
  for (const std::string& line : verdict.broken) detail += "  " + line + "\n";
  for (const std::string& line : verdict.figures.findings) detail += "  found: " + line + "\n";
  for (const engine::Loss& loss : verdict.figures.losses) {
    detail += "  loss: " + loss.file + " at " + std::to_string(loss.offset) + ", versions " +
              std::to_string(loss.smallest_version) + " to " + std::to_string(loss.largest_version) + "\n";
  }
  report.find({seed, "", verdict.broken.front(), detail});
}

void run_round(std::uint64_t seed, Report& report) {
  const repair::WorldEnd end = seed % 2 == 0 ? repair::WorldEnd::kClosed : repair::WorldEnd::kKilled;
  const repair::World world = repair::make_world(seed, end);
  const repair::World other = repair::make_world(seed + 1'000'003, end);
  report.count("stores");
  repair::Expectation sound;
  sound.nothing_is_lost = true;
  take(repair::judge_repair(world, world.disk, sound), seed, "untouched", report);
  for (std::uint64_t i = 0; i < kRepairsOfARound; ++i) {
    const std::uint64_t draw = seed * 1'000 + i;
    io::MemoryDisk disk = world.disk;
    std::string what;
    repair::Expectation expected;
    for (std::uint64_t count = 1 + draw % kDamagesMax; count > 0; --count) {
      const repair::Damage damage = repair::random_damage(world.disk, other.disk, draw * kDamagesMax + count);
      damage.apply(disk, other.disk);
      if (damage.harm == repair::Harm::kForeign) expected.may_be_foreign = true;
      const bool is_of_log = damage.file.ends_with(".wal") || damage.file.ends_with(".buf");
      if (is_of_log && end == repair::WorldEnd::kKilled) expected.may_end_torn = true;
      what += damage.to_string() + "; ";
    }
    take(repair::judge_repair(world, disk, expected), seed, what, report);
  }
}

}  // namespace

Report run_repair(const Share& share) {
  Report report;
  for (std::uint64_t i = 0; i < share.rounds; ++i) run_round(share.seed + i, report);
  return report;
}

Report sweep_repairs(std::uint64_t seed, std::uint64_t stride) {
  Report report;
  const repair::World world = repair::make_world(seed, repair::WorldEnd::kClosed);
  const repair::World other = repair::make_world(seed + 1'000'003, repair::WorldEnd::kClosed);
  for (const repair::Damage& damage : repair::every_damage(world.disk, other.disk, stride)) {
    io::MemoryDisk disk = world.disk;
    damage.apply(disk, other.disk);
    repair::Expectation expected;
    expected.may_be_foreign = damage.harm == repair::Harm::kForeign;
    const repair::Verdict verdict = repair::judge_repair(world, disk, expected);
    const std::string type = repair::type_of(damage.file);
    report.count("damaged " + type);
    if (verdict.is_exact) report.count("exact though damaged " + type);
    if (verdict.is_exact && verdict.figures.losses.empty()) report.count("certain though damaged " + type);
    take(verdict, seed, damage.to_string(), report);
  }
  return report;
}

}  // namespace varve::lab
