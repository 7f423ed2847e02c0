#include "tests/lab/kill/kill.h"

#include <filesystem>
#include <system_error>

namespace varve::lab {

namespace {

/// An empty directory for a part. It is removed with its content at the end.
class Workplace {
 public:
  Workplace(const std::string& directory, const std::string& name) : path_(directory + "/" + name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace

Report run_kill(const Share& share, const KillEffort& effort) {
  Report report;
  const auto wanted = [&](std::string_view part) { return share.only.empty() || share.only == part; };
  for (std::uint64_t round = 0; round < share.rounds; ++round) {
    const std::uint64_t seed = share.seed + round;
    const Workplace place(std::filesystem::absolute(share.directory).string(), "kill-" + std::to_string(seed));
    if (wanted("writers")) report.add(run_killed_writers(seed, place.path(), effort.lives));
    if (wanted("outbox")) {
      const Workplace outbox(place.path(), "outbox");
      report.add(run_killed_outbox(seed, outbox.path(), effort.lives));
    }
    if (wanted("locks")) report.add(run_lock_races(seed, place.path()));
    if (wanted("limits")) report.add(run_limits(seed, place.path()));
    if (wanted("small-disk")) report.add(run_small_disk(seed, place.path()));
  }
  return report;
}

Report run_kill(const Share& share) {
  return run_kill(share, KillEffort{});
}

}  // namespace varve::lab
