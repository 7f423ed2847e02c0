#include "tests/lab/crash/crash.h"

#include <algorithm>
#include <utility>

namespace varve::lab {
namespace {

constexpr std::size_t kImages = 240;    // number of the images of a run that are judged; the seed says which
constexpr int kPowerCuts = 2;           // number of the ten policies tried at each moment; the seed rotates them
constexpr int kImagesInRecovery = 2;    // images at each step of a recovery
constexpr std::size_t kRecoveries = 6;  // number of recoveries that are crashed, for a scenario with two levels

/// Takes images of the disk at every step.
class Camera {
 public:
  Camera(Stage& stage, std::uint64_t seed, std::vector<Image>& images)
      : stage_(stage), files_(*stage.machine().files), picks_(seed), images_(images) {
    files_.set_observer([this](const io::Operation& operation, io::Moment moment) { look(operation, moment); });
  }
  ~Camera() { files_.set_observer({}); }
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  std::uint64_t steps() const noexcept { return steps_; }

 private:
  void look(const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore) {
      if (steps_++ > 0) return;  // otherwise the disk equals the one after the last step
    }
    const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name) +
                              " #" + std::to_string(operation.index) +
                              (moment == io::Moment::kBefore   ? ", before"
                               : moment == io::Moment::kDuring ? ", during"
                                                               : ", after");
    keep(files_.process_death(picks_), true, where + ", kill");
    for (int i = 0; i < kPowerCuts; ++i) {
      const io::CrashPolicy policy = io::kCrashPolicies[wheel_++ % std::size(io::kCrashPolicies)];
      keep(files_.power_cut(policy, picks_), false, where + ", " + std::string(io::crash_policy_name(policy)));
    }
  }

  void keep(io::MemoryDisk disk, bool killed, std::string where) {
    images_.push_back({std::move(disk), killed, stage_.ledger().mark(), stage_.checkpoints(), std::move(where)});
  }

  Stage& stage_;
  io::MemoryFileSystem& files_;
  io::SeededRandom picks_;
  std::vector<Image>& images_;
  std::uint64_t steps_ = 0;
  std::uint64_t wheel_ = picks_.next();
};

/// Returns the disks on which the recovery of `image` was itself interrupted.
std::vector<Image> crash_recovery(const Image& image, const Tuning& tuning, std::uint64_t seed) {
  std::vector<Image> images;
  test::Machine machine(seed, test::OneThreadAtATime{}, image.remains.disk);
  const io::Env env = machine.env();
  io::SeededRandom picks(seed + 1);
  machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore) return;
    const std::string where = image.where + "; then in recovery: " + std::string(io::operation_name(operation.kind)) +
                              " " + std::string(operation.name);
    for (int i = 0; i < kImagesInRecovery; ++i) {
      const auto policy = io::kCrashPolicies[io::random_below(picks, std::size(io::kCrashPolicies))];
      // The first crash has already removed what it could. The second crash may remove data that was not synced since.
      Image next{machine.files->power_cut(policy, picks), false, image.mark, image.checkpoints, where};
      images.push_back(std::move(next));
    }
    if (image.killed)
      images.push_back({machine.files->process_death(picks), true, image.mark, image.checkpoints, where});
  });
  Result<StoreOptions> options = make_options(tuning, env);
  {
    const Result<std::unique_ptr<Store>> store = Store::open(kStorePath, *options);
    machine.files->set_observer({});
    if (store.ok()) (void)(*store)->close();
  }
  return images;
}

/// Judges an even part of the images. The part of another seed begins elsewhere, so that a soak meets them all.
void judge(const CrashRun& run, const std::vector<Image>& images, const Scenario& scenario, std::uint64_t seed,
           Report& report) {
  std::size_t stride = images.size() / kImages + 1;
  if (stride % (kPowerCuts + 1) == 0) ++stride;  // otherwise it would meet one way of crashing alone
  for (std::size_t i = seed % stride; i < images.size(); i += stride) {
    report.count("recoveries");
    const std::string broken = check_image(images[i], run.ledger, scenario.tuning, seed + 3);
    if (broken.empty()) continue;
    report.find({seed, std::string(scenario.name), std::string(scenario.name) + ": " + broken, images[i].where});
    if (report.findings.size() > 5) return;  // further findings probably have the same cause
  }
}

void crash(const Scenario& scenario, std::uint64_t seed, Report& report) {
  const CrashRun run = run_to_crash(scenario, seed);
  report.count("scenarios");
  report.count("steps", run.steps);
  report.count("commits", run.ledger.commits());
  if (!run.problem.empty()) report.find({seed, std::string(scenario.name), run.problem});
  judge(run, run.images, scenario, seed, report);
  if (!scenario.two_levels) return;
  const std::size_t stride = run.images.size() / kRecoveries + 1;
  for (std::size_t i = seed % stride; i < run.images.size(); i += stride) {
    const std::vector<Image> second = crash_recovery(run.images[i], scenario.tuning, seed + 5);
    report.count("recoveries crashed");
    judge(run, second, scenario, seed, report);
  }
}

}  // namespace

CrashRun run_to_crash(const Scenario& scenario, std::uint64_t seed) {
  CrashRun run;
  Prepared prepared = prepare(scenario, seed);
  run.problem = prepared.problem;
  if (!run.problem.empty()) return run;
  run.ledger = std::move(prepared.ledger);
  test::Machine machine(seed + 1, test::OneThreadAtATime{}, std::move(prepared.remains.disk));
  Stage stage(machine, scenario.tuning, run.ledger);
  if (scenario.ending == Ending::kPowerCut) stage.expect_power_cut();
  if (!scenario.opens) (void)stage.open();
  {
    const Camera camera(stage, seed + 2, run.images);
    scenario.run(stage);
    run.steps = camera.steps();
  }
  (void)stage.close();
  for (const std::string& problem : stage.problems()) run.problem += problem + "; ";
  if (!scenario.has_faults && stage.error_count() > 0) run.problem += stage.errors().front().to_string();
  return run;
}

Report crash_points(const Share& share) {
  return for_each_round(share, [&share](const Scenario& scenario, std::uint64_t seed, Report& report) {
    is_scenario_on_rados(share, seed) ? crash_on_rados(scenario, seed, report) : crash(scenario, seed, report);
  });
}

}  // namespace varve::lab
