#include "tests/lab/probes/probes.h"

#include <new>

#include <sys/mman.h>

#include "io/probe.h"

namespace varve::lab {
namespace {

constexpr std::string_view kPrefix = "probe: ";

}  // namespace

const std::vector<std::string_view>& all_probes() {
  static const std::vector<std::string_view> all = {
      "a block was found without an index",
      "a call was interrupted",
      "a checkpoint copied a file",
      "a merge was cut into ranges",
      "a range of a merge was published",
      "an idle log gave space back",
      "a checkpoint was given up",
      "a commit waited for room in the write buffer",
      "a commit was held back",
      "a compaction is tried again",
      "a damaged file was left alone",
      "a direct read was refused",
      "a dropped id was forgotten later",
      "the log was not emptied at a close",
      "a file of dropped tables went unread",
      "a delete took the place of an entity that had ended",
      "a feature was added to a store",
      "a file of ended entities went unread",
      "a file or directory was taken away from its owner",
      "a file system locked no directory",
      "a flush is tried again",
      "a footer was found before the cut behind it",
      "a group was in the log buffer alone",
      "a load that was not adopted is dead",
      "a lock file was taken away from its owner",
      "a lock was waited for",
      "a log buffer has no file",
      "a log segment stayed as a value file",
      "a log segment was recycled",
      "a log write failed",
      "a manifest was begun afresh behind a failure",
      "a manifest was begun afresh for its length",
      "a partition was waited for",
      "a read was interrupted",
      "a repair read on around an error of the device",
      "a rewrite was abandoned",
      "a ring did not take what it was given",
      "a ring was given up",
      "a ring was refused",
      "a run of a dropped table went unread",
      "a run was made by a helper",
      "a run was made by the thread that collected it",
      "a segment could not be filled",
      "a segment in doubt was copied",
      "a segment is smaller than was meant",
      "a segment was sealed, and the manifest did not know",
      "a short transfer goes on",
      "a snapshot held versions over a compaction",
      "a store was asked for room in the write buffer",
      "a stray file was removed",
      "a stretch of deletes was cut by a put",
      "a stretch of deletes was forgotten for another",
      "a table file had been replaced",
      "a table file was closed for another one",
      "a table file was opened again",
      "a torn tail was cut off",
      "a value was brought home from a value file",
      "an open gave the ballast up",
      "dead files stayed over a close",
      "flushes became one file of level 0",
      "the log buffer was damaged",
      "the log took the ballast",
      "the write buffer was full",
      "there was no room for a segment",
      "there was room for a segment again",
  };
  return all;
}

void share_probes() {
  void* const memory =
      ::mmap(nullptr, sizeof(io::ProbeTable), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  io::count_probes_in(*new (memory) io::ProbeTable);  // never unmapped, because threads may outlive all other objects
}

std::map<std::string, std::uint64_t> probe_report() {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [name, count] : io::probe_counts()) counts[std::string(kPrefix).append(name)] = count;
  return counts;
}

std::map<std::string, std::uint64_t> take_probes(std::map<std::string, std::map<std::string, std::uint64_t>>& counts) {
  std::map<std::string, std::uint64_t> probes;
  for (auto& [suite, numbers] : counts) {
    for (auto number = numbers.begin(); number != numbers.end();) {
      if (number->first.starts_with(kPrefix)) {
        probes[number->first.substr(kPrefix.size())] += number->second;
        number = numbers.erase(number);
      } else {
        ++number;
      }
    }
  }
  return probes;
}

std::vector<std::string_view> never_hit(const std::map<std::string, std::uint64_t>& probes) {
  std::vector<std::string_view> missed;
  for (const std::string_view name : all_probes()) {
    if (!probes.contains(std::string(name))) missed.push_back(name);
  }
  return missed;
}

}  // namespace varve::lab
