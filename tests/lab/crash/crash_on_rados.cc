#include <utility>

#include "tests/lab/crash/crash.h"

namespace varve::lab {
namespace {

constexpr std::size_t kDeaths = 80;            // number of the images of a run that are judged; the seed says which
constexpr std::size_t kRecoveriesCrashed = 2;  // number of recoveries that are crashed
constexpr std::size_t kDeathsInRecovery = 8;   // number of the images of each that are judged

/// While it lives, takes an image at each change of an object.
class DeathCamera {
 public:
  DeathCamera(MachineFiles& files, std::uint64_t seed, std::function<Image(Remains, std::string)> image_of,
              std::vector<Image>& images)
      : files_(files), picks_(seed) {
    files_.observe([this, image_of = std::move(image_of), &images] {
      images.push_back(image_of(files_.process_death(picks_), "change #" + std::to_string(images.size())));
    });
  }
  ~DeathCamera() { files_.observe({}); }
  DeathCamera(const DeathCamera&) = delete;
  DeathCamera& operator=(const DeathCamera&) = delete;

 private:
  MachineFiles& files_;
  io::SeededRandom picks_;
};

CrashRun run_on_rados(const Scenario& scenario, std::uint64_t seed) {
  CrashRun run;
  Prepared prepared = prepare(scenario, seed, true);
  run.problem = prepared.problem;
  if (!run.problem.empty()) return run;
  run.ledger = std::move(prepared.ledger);
  test::Machine machine(seed + 1, test::OneThreadAtATime{});
  const auto files = make_files(std::move(prepared.remains), machine.scheduler(), machine.clock, seed + 1, true);
  Stage stage(machine, scenario.tuning, run.ledger, files.get());
  if (!scenario.opens) (void)stage.open();
  {
    const auto image_of = [&](Remains remains, std::string where) {
      return Image{std::move(remains), false, run.ledger.mark(), stage.checkpoints(), std::move(where)};
    };
    const DeathCamera camera(*files, seed + 2, image_of, run.images);
    scenario.run(stage);
  }
  run.steps = run.images.size();
  (void)stage.close();
  for (const std::string& problem : stage.problems()) run.problem += problem + "; ";
  for (const Status& error : stage.errors()) {
    // A script may let seconds pass at once, in which no lease is renewed.
    if (error.code() != Code::kBusy) run.problem += error.to_string() + "; ";
  }
  return run;
}

/// Returns the remains of recoveries of `image` that ended at each of their changes.
std::vector<Image> die_in_recovery(const Image& image, const Tuning& tuning, std::uint64_t seed) {
  std::vector<Image> images;
  test::Machine machine(seed, test::OneThreadAtATime{});
  const auto files = make_files(image.remains, machine.scheduler(), machine.clock, seed, true);
  const io::Env env{files->system(), machine.clock, machine.random, machine.scheduler()};
  const auto image_of = [&image](Remains remains, const std::string& where) {
    return Image{std::move(remains), false, image.mark, image.checkpoints,
                 image.where + "; then in recovery: " + where};
  };
  const Result<StoreOptions> options = make_options(tuning, env);
  const DeathCamera camera(*files, seed + 1, image_of, images);
  const Result<std::unique_ptr<Store>> store = open_as_standby(files->path("store"), *options);
  if (store.ok()) (void)(*store)->close();
  return images;
}

void judge_deaths(const CrashRun& run, const std::vector<Image>& images, std::size_t judged_max,
                  const Scenario& scenario, std::uint64_t seed, Report& report) {
  const std::size_t stride = images.size() / judged_max + 1;
  for (std::size_t i = seed % stride; i < images.size() && report.findings.size() <= 5; i += stride) {
    report.count("recoveries on RADOS");
    const std::string broken = check_image(images[i], run.ledger, scenario.tuning, seed + i);
    if (broken.empty()) continue;
    report.find({seed, std::string(scenario.name), std::string(scenario.name) + ": " + broken, images[i].where});
  }
}

}  // namespace

void crash_on_rados(const Scenario& scenario, std::uint64_t seed, Report& report) {
  if (scenario.has_faults) return;  // They are faults of a disk.
  const CrashRun run = run_on_rados(scenario, seed);
  report.count("scenarios on RADOS");
  report.count("changes of objects", run.steps);
  report.count("commits on RADOS", run.ledger.commits());
  if (!run.problem.empty())
    report.find({seed, std::string(scenario.name), std::string(scenario.name) + ": " + run.problem});
  judge_deaths(run, run.images, kDeaths, scenario, seed, report);
  const std::size_t stride = run.images.size() / kRecoveriesCrashed + 1;
  for (std::size_t i = seed % stride; i < run.images.size(); i += stride) {
    const std::vector<Image> second = die_in_recovery(run.images[i], scenario.tuning, seed + 5);
    report.count("recoveries on RADOS crashed");
    judge_deaths(run, second, kDeathsInRecovery, scenario, seed, report);
  }
}

}  // namespace varve::lab
