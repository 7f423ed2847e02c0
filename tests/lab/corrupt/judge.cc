#include "tests/lab/corrupt/judge.h"

#include <algorithm>

#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "tests/support/disk_machine.h"

namespace varve::lab {

namespace {

constexpr std::size_t kGetEvery = 7;

std::uint64_t version_of(const Store& store) {
  const Result<Statistics> statistics = store.statistics();
  return statistics.ok() ? statistics->visible_version.ticks : 0;
}

bool is_refusal(Code code) {
  return code == Code::kCorruption || code == Code::kUnsupported;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns whether the message names the damaged file. If the damaged file names other files, the message may name one
/// of those.
bool names_a_file_of(const Damage& damage, std::string_view message) {
  if (contains(message, damage.file)) return true;
  const bool names_others = damage.file == "CURRENT" || damage.file.starts_with("MANIFEST-");
  return names_others && (contains(message, "MANIFEST-") || contains(message, ".wal") || contains(message, ".sst") ||
                          contains(message, ".buf"));
}

Verdict broken(std::string what, std::string detail = std::string()) {
  return {Outcome::kBroken, std::move(what), std::move(detail)};
}

std::string read_disk_text(const io::MemoryDisk& disk, const std::string& name) {
  const Result<std::vector<std::byte>> bytes = disk.read_file(sample_path(name));
  return bytes.ok() ? std::string(format::as_text(*bytes)) : std::string();
}

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kUnchanged: return "unchanged";
    case Outcome::kRefused: return "refused";
    case Outcome::kQuarantined: return "quarantined";
    case Outcome::kRepaired: return "repaired";
    case Outcome::kShortened: return "shortened";
    case Outcome::kHarmless: return "harmless";
    case Outcome::kRolledBack: return "rolled back";
    case Outcome::kBroken: return "broken";
  }
  return "?";
}

Judge::Judge(const Victim& victim) : victim_(victim) {
  const Sample& sample = victim.sample();
  for (const OtherDisk& other : sample.others) {
    const test::DiskMachine machine(other.disk);
    const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(false));
    if (!store.ok()) continue;
    if (Result<StoreContent> content = read_store_content(**store); content.ok()) {
      others_[other.name][version_of(**store)] = std::make_shared<const StoreContent>(*std::move(content));
    }
  }
  if (!sample.is_clean) find_ends_of_the_log();

  const test::DiskMachine machine(sample.disk);
  const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(false));
  if (!store.ok()) {
    broken_ = "the undamaged store does not open: " + store.status().to_string();
    return;
  }
  const Comparison comparison = compare(**store, sample.content(), 1);
  if (version_of(**store) != sample.version) broken_ = "the undamaged store is at another version";
  if (!comparison.wrong.empty()) broken_ = "the undamaged store: " + comparison.wrong;
  if (!comparison.errors.empty()) broken_ = "the undamaged store: " + comparison.errors.front().to_string();
  if (!sample.is_clean && broken_.empty()) find_strays();
}

// -- What a crashed store may lose ----------------------------------------------------------------------------------

void Judge::find_ends_of_the_log() {
  io::MemoryDisk without_buffer = victim_.sample().disk;
  for (const std::string& name : victim_.names()) {
    const bool is_segment = name.ends_with(".wal");
    const bool is_buffer = name.ends_with(".buf");
    if (!is_segment && !is_buffer) continue;
    const std::vector<Region>& regions = victim_.regions(name);
    const bool sealed = !regions.empty() && regions.back().kind == "footer";
    if (is_segment && !sealed) open_segments_.push_back(name);
    if (is_segment && sealed) continue;
    for (const Region& region : regions) {
      const std::uint64_t first = region.first_version;
      if (first != 0 && (first_logged_version_ == 0 || first < first_logged_version_)) first_logged_version_ = first;
    }
    if (is_buffer) {
      std::string bytes = victim_.bytes(name);
      std::fill(bytes.begin() + 4096, bytes.end(), '\0');
      without_buffer.write_file(sample_path(name), format::as_bytes(bytes));
    }
  }
  version_without_buffer_ = victim_.sample().version;
  const test::DiskMachine machine(std::move(without_buffer));
  const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(false));
  if (store.ok()) version_without_buffer_ = version_of(**store);
}

void Judge::find_strays() {
  for (const std::string& name : victim_.names()) {
    Damage missing{.kind = DamageKind::kMissing, .file = name};
    const test::DiskMachine machine(*victim_.apply(missing));
    const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(true));
    if (!store.ok() || version_of(**store) != victim_.sample().version) continue;
    const Comparison comparison = compare(**store, victim_.sample().content(), 1);
    if (comparison.wrong.empty() && comparison.errors.empty()) strays_.push_back(name);
  }
}

std::uint64_t Judge::last_shown_below(std::uint64_t version) const {
  const History& history = victim_.sample().history;
  const auto at = history.lower_bound(version);
  return at == history.begin() ? 0 : std::prev(at)->first;
}

bool Judge::is_end_of_log(const Damage& damage) const {
  return is_in(open_segments_, damage.file) || damage.file.ends_with(".buf");
}

std::uint64_t Judge::lowest_version_after(const Damage& damage, const io::MemoryDisk& disk) const {
  if (damage.file.ends_with(".buf")) return version_without_buffer_;
  std::uint64_t lowest = last_shown_below(first_logged_version_);
  const std::uint64_t changed = victim_.first_changed_byte(damage, disk);
  for (const Region& region : victim_.regions(damage.file)) {
    if (region.end() <= changed) lowest = std::max(lowest, region.last_version);
  }
  return lowest;
}

/// Returns whether an intact record after the first missing one proves that it was durable. It is then no torn tail.
bool Judge::proves_the_hole(const Damage& damage, const io::MemoryDisk& disk, std::uint64_t version) const {
  if (damage.file.ends_with(".buf")) return false;
  const std::vector<Region>& regions = victim_.regions(damage.file);
  const auto missing = std::find_if(regions.begin(), regions.end(),
                                    [&](const Region& region) { return region.first_version > version; });
  if (missing == regions.end()) return false;
  const std::vector<Region> survivors = regions_of(damage.file, read_disk_text(disk, damage.file));
  return std::any_of(survivors.begin(), survivors.end(), [&](const Region& region) {
    return region.offset > missing->offset && region.durable_upto > missing->offset;
  });
}

bool Judge::may_be_harmless(const Damage& damage, const io::MemoryDisk& disk) const {
  if (damage.file == "LOCK") return true;  // has no content; the lock belongs to the process that has it open
  if (victim_.sample().is_clean) return false;
  if (is_in(strays_, damage.file) || is_end_of_log(damage)) return true;
  if (!damage.file.starts_with("MANIFEST-")) return false;
  // Appends may be lost if no record of the log states that they were durable, and nothing depends on them.
  const std::vector<Region>& edits = victim_.regions(damage.file);
  const std::uint64_t changed = victim_.first_changed_byte(damage, disk);
  const auto hole = std::find_if(edits.begin(), edits.end(), [&](const Region& edit) { return edit.end() > changed; });
  const std::uint64_t end = hole == edits.end() ? changed : hole->offset;
  return end >= durable_bytes_of_manifest(damage.file);
}

/// Returns the durable bytes of the manifest according to the log.
std::uint64_t Judge::durable_bytes_of_manifest(const std::string& manifest) const {
  // CURRENT names the manifest after its first edit is durable
  std::uint64_t bytes = victim_.regions(manifest).at(1).end();
  for (const std::string& name : victim_.names()) {
    if (!name.ends_with(".wal") && !name.ends_with(".buf")) continue;
    for (const Region& region : victim_.regions(name)) {
      const bool is_meant = format::file_name(format::FileType::kManifest, region.manifest_number) == manifest;
      if (is_meant) bytes = std::max(bytes, region.manifest_durable_bytes);
    }
  }
  return bytes;
}

const StoreContent* Judge::content_at(std::uint64_t version, const Damage& damage) const {
  const bool is_other = damage.kind == DamageKind::kRootAndState;
  const History& history = is_other ? others_.at(damage.source_disk) : victim_.sample().history;
  const auto at = history.find(version);
  return at == history.end() ? nullptr : at->second.get();
}

// -- Verdicts -------------------------------------------------------------------------------------------------------

Verdict Judge::judge(const Damage& damage, const io::MemoryDisk& disk, bool thorough) const {
  if (!broken_.empty()) return broken(broken_);
  Verdict verdict = judge_once(damage, disk, false);
  if (!thorough || verdict.outcome == Outcome::kBroken) return verdict;
  const Verdict writing = judge_once(damage, disk, true);
  return writing.outcome == Outcome::kBroken ? writing : verdict;
}

Verdict Judge::judge_once(const Damage& damage, const io::MemoryDisk& disk, bool for_writing) const {
  test::DiskMachine machine(disk);
  Verdict verdict;
  {
    const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(for_writing));
    if (!store.ok()) {
      if (!machine.files.snapshot().same_content(disk)) return broken("a refused store was changed");
      return judge_refusal(damage, store.status());
    }
    verdict = judge_opened(damage, disk, **store);
  }
  if (for_writing && verdict.outcome != Outcome::kBroken) {
    return judge_after_close(damage, machine.files.snapshot(), verdict);
  }
  return verdict;
}

Verdict Judge::judge_refusal(const Damage& damage, const Status& refusal) const {
  if (!is_refusal(refusal.code())) return broken("the refusal has another code", refusal.to_string());
  if (!names_a_file_of(damage, refusal.message())) return broken("the refusal names another file", refusal.to_string());
  return {Outcome::kRefused, {}, {}};
}

Verdict Judge::judge_opened(const Damage& damage, const io::MemoryDisk& disk, const Store& store) const {
  const std::uint64_t version = version_of(store);
  const StoreContent* const expected = content_at(version, damage);
  if (expected == nullptr) return broken("it opened at a version that was never shown", std::to_string(version));
  const Comparison comparison = compare(store, *expected, kGetEvery);
  if (!comparison.wrong.empty()) return broken("a wrong answer", comparison.wrong);
  for (const Status& error : comparison.errors) {
    if (!judge_refusal(damage, error).what.empty()) return broken("a read failed otherwise", error.to_string());
  }
  if (damage.file == "LOCK") return {Outcome::kHarmless, {}, {}};  // has no content, and is not needed
  // Verification reads the files that the open has read, and all of the table files.
  const bool is_read_whole = !damage.file.ends_with(".sst") && comparison.errors.empty() &&
                             damage.kind != DamageKind::kRootAndState && !victim_.sample().is_clean;
  if (is_read_whole) return judge_unnoticed(damage, disk, version);
  const test::DiskMachine machine(disk);
  const Result<VerifyReport> report = Store::verify(kSamplePath, machine.options(false));
  const bool is_sound = report.ok() && report->sound();
  if (is_sound && !comparison.errors.empty()) return broken("verification does not see what reads see");
  if (is_sound) return judge_unnoticed(damage, disk, version);
  const std::string said = report.ok() ? report->findings.front() : report.status().to_string();
  if (!names_a_file_of(damage, said)) return broken("verification names another file", said);
  return {Outcome::kQuarantined, {}, {}};
}

Verdict Judge::judge_unnoticed(const Damage& damage, const io::MemoryDisk& disk, std::uint64_t version) const {
  if (damage.kind == DamageKind::kRootAndState) return {Outcome::kRolledBack, {}, {}};
  if (version < victim_.sample().version) return judge_shorter(damage, disk, version);
  if (version > victim_.sample().version) return broken("it opened at a later version");
  if (!may_be_harmless(damage, disk)) return broken("nothing noticed the damage");
  return {is_end_of_log(damage) ? Outcome::kRepaired : Outcome::kHarmless, {}, {}};
}

Verdict Judge::judge_shorter(const Damage& damage, const io::MemoryDisk& disk, std::uint64_t version) const {
  const std::string at = "at " + std::to_string(version) + " of " + std::to_string(victim_.sample().version);
  if (victim_.sample().is_clean || !is_end_of_log(damage))
    return broken("commits are missing, and nothing says so", at);
  const std::uint64_t lowest = lowest_version_after(damage, disk);
  if (version < lowest)
    return broken("commits before the damage are missing", at + ", lowest " + std::to_string(lowest));
  if (proves_the_hole(damage, disk, version)) return broken("commits below a surviving mark are missing", at);
  return {Outcome::kShortened, {}, {}};
}

/// Checks the store after a writer closed it: the answers must be the same. The damage may be gone if it was in data
/// that is no longer needed: in a dropped table, or in the index of a file that was rewritten. All answers must then be
/// present and correct.
Verdict Judge::judge_after_close(const Damage& damage, const io::MemoryDisk& disk, const Verdict& before) const {
  const test::DiskMachine machine(disk);
  const Result<VerifyReport> report = Store::verify(kSamplePath, machine.options(false));
  const bool is_sound = report.ok() && report->sound();
  if (before.outcome == Outcome::kQuarantined && !is_sound) return before;
  if (!is_sound) {
    return broken("a writer left a store that is not sound",
                  report.ok() ? report->findings.front() : report.status().to_string());
  }
  const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(false));
  if (!store.ok()) return broken("a writer left a store that does not open", store.status().to_string());
  const StoreContent* const expected = content_at(version_of(**store), damage);
  if (expected == nullptr) return broken("a writer changed the version");
  const Comparison comparison = compare(**store, *expected, kGetEvery);
  if (!comparison.wrong.empty()) return broken("a wrong answer after a writer", comparison.wrong);
  if (!comparison.errors.empty())
    return broken("a writer has hidden the damage", comparison.errors.front().to_string());
  return before;
}

}  // namespace varve::lab
