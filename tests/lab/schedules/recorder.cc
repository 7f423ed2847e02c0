#include "tests/lab/schedules/recorder.h"

#include <algorithm>
#include <functional>

namespace varve::lab {
namespace {

std::string content_text(const FixedContent& content) {
  std::string text;
  for (const auto& object : content) {
    for (std::size_t cell = 1; cell < kCells; ++cell) text += " " + std::to_string(object[cell]);
    text += " |";
  }
  return text;
}

}  // namespace

Report Recorder::judge(std::uint64_t seed) {
  Report report;
  report.count("commits", commits_.size());
  for (const auto& [name, number] : counts_) report.count(name, number);
  report.count("views at one version", views_.size());
  judge_versions();
  if (what_.empty()) judge_seen();
  if (what_.empty()) judge_histories(report, seed);
  if (!what_.empty()) report.find({seed, "", what_, ""});
  return report;
}

void Recorder::judge_histories(Report& report, std::uint64_t seed) const {
  for (std::size_t object = 0; object < kHistories; ++object) {
    const std::vector<HistoryOperation>& history = histories_[object];
    report.count("histories checked");
    report.count("operations checked", history.size());
    report.count("writes that ended Unknown",
                 static_cast<std::uint64_t>(std::count_if(history.begin(), history.end(),
                                                          [](const HistoryOperation& one) { return !one.certain; })));
    const Linearity verdict = judge_history(history, kCells);
    if (verdict == Linearity::kGivenUp) report.count("histories given up");
    if (verdict != Linearity::kNotLinearizable) continue;
    report.find(
        {seed, "", "a history that no order explains, of object " + std::to_string(object), history_text(history)});
  }
}

std::size_t Recorder::commits_up_to(std::uint64_t version) const {
  const auto above =
      std::upper_bound(commits_.begin(), commits_.end(), version,
                       [](std::uint64_t wanted, const CommitRecord& one) { return wanted < one.version; });
  return static_cast<std::size_t>(above - commits_.begin());
}

std::uint64_t Recorder::acknowledged_before(std::uint64_t moment) const {
  std::uint64_t version = 0;
  for (const CommitRecord& commit : commits_) {
    if (commit.returned < moment) version = std::max(version, commit.version);
  }
  return version;
}

void Recorder::judge_versions() {
  std::sort(commits_.begin(), commits_.end(),
            [](const CommitRecord& a, const CommitRecord& b) { return a.version < b.version; });
  contents_.assign(1, FixedContent{});
  std::uint64_t latest_invoked = 0;  // of the commits so far, which have lower versions
  for (std::size_t i = 0; i < commits_.size(); ++i) {
    const CommitRecord& commit = commits_[i];
    if (i > 0 && commits_[i - 1].version == commit.version) broken("two commits have one version");
    if (commit.returned < latest_invoked) broken("a commit has a lower version than one that began after its end");
    latest_invoked = std::max(latest_invoked, commit.invoked);
    contents_.push_back(contents_.back());
    for (const auto& [place, value] : commit.sets) {
      if (place.object < kFixedObjects) contents_.back()[place.object][place.cell] = value;
    }
  }
  for (const CommitRecord& commit : commits_) judge_reads(commit);
  for (const ViewRecord& view : views_) judge_view(view);
}

void Recorder::judge_view(const ViewRecord& view) {
  const std::uint64_t floor = acknowledged_before(view.invoked);
  if (view.version) {
    if (*view.version < floor) broken(view.text + ": it is older than what was acknowledged before");
    const FixedContent& expected = contents_[commits_up_to(*view.version)];
    if (expected != view.content) {
      broken(view.text + ": expected" + content_text(expected) + ", found" + content_text(view.content));
    }
    return;
  }
  const auto first = contents_.begin() + static_cast<std::ptrdiff_t>(commits_up_to(floor));
  if (std::find(first, contents_.end(), view.content) == contents_.end()) {
    broken(view.text + ": it is of no single version:" + content_text(view.content));
  }
}

/// Checks that a transaction is serialised at its version: it read the newest values there.
void Recorder::judge_reads(const CommitRecord& commit) {
  if (commit.reads.empty()) return;
  const std::size_t begin = commits_up_to(commit.read_version);
  const std::size_t end = commits_up_to(commit.version) - 1;
  for (const auto& [place, value] : commit.reads) {
    if (contents_[begin][place.object][place.cell] != value)
      broken("a transaction read what its version does not have");
    for (std::size_t i = begin; i < end; ++i) {
      if (commits_[i].sets.contains(place)) broken("a transaction committed over a write that it had not read");
    }
  }
}

void Recorder::judge_seen() {
  std::map<std::int64_t, std::uint64_t> written;
  for (const CommitRecord& commit : commits_) {
    for (const auto& [place, value] : commit.sets) written[value] = commit.version;
  }
  for (const auto& [value, version] : seen_) {
    const auto found = written.find(value);
    if (found != written.end() && found->second != version) broken("an entity's ETag is not of its last write");
  }
}

std::uint64_t Recorder::hash() const {
  std::string text = what_;
  for (const auto& history : histories_) text += history_text(history) + "/";
  for (const CommitRecord& commit : commits_) text += std::to_string(commit.version) + " ";
  for (const ViewRecord& view : views_) text += view.text + content_text(view.content);
  return std::hash<std::string>()(text);
}

}  // namespace varve::lab
