// Owns: measuring the open after a kill, and the open after a clean close.
// Must never: let the killed process close anything.
#include "bench/varve_bench/child_process.h"
#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

Status write_and_be_killed(Session& session, std::uint64_t entities) {
  return in_killed_process([&] {
    const Status opened = session.reopen({});
    return opened.ok() ? session.contender().load(0, entities, LoadWay::kBatches) : opened;
  });
}

/// Measures the open of a contender that is closed.
Result<Outcome> open_after_the_kill(Session& session, std::uint64_t entities) {
  const Stopwatch watch(session.directory());
  if (Status opened = session.reopen({}); !opened.ok()) return opened;
  const Effect effect = watch.effect(entities);
  Outcome outcome{effect.seconds * 1e3, "ms", false, {}, {}};
  outcome.figures["log MB/s"] = static_cast<double>(entities * kEntityBytes) / 1e6 / effect.seconds;
  outcome.figures["CPU ms"] = effect.cpu_seconds * 1e3;
  return outcome;
}

}  // namespace

Workload recovery_workload(std::uint64_t log_megabytes) {
  // The number of entities in the log, in proportion to the race. A race of a million entities has `log_megabytes` in
  // the log.
  const auto entities = [log_megabytes](const Session& session) {
    return log_megabytes * session.choice().entities / kEntityBytes;
  };
  const std::string name = std::to_string(log_megabytes) + " MB";
  Workload workload{"recovery-" + std::to_string(log_megabytes),
                    "the open after a kill with " + name + " of buffered commits, and the one after a clean close",
                    default_settings,
                    {{"open after a kill, " + name + " in the log",
                      [entities](Session& session) { return open_after_the_kill(session, entities(session)); }},
                     {"open after a clean close of it", [](Session& session) { return measure_open(session, {}); }}}};
  workload.in_order = true;
  workload.begin = [entities](Session& session) { return write_and_be_killed(session, entities(session)); };
  return workload;
}

}  // namespace varve::bench
