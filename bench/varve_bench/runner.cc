#include "bench/varve_bench/runner.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/varve_bench/child_process.h"
#include "bench/varve_bench/device_limit.h"
#include "bench/varve_bench/machine.h"
#include "bench/varve_bench/memory_limit.h"
#include "bench/varve_bench/report.h"

namespace varve::bench {

namespace {

using nlohmann::json;

/// A contender that its memory limit has ended runs again, at most so often, with this part of the cache before.
constexpr int kSmallerCaches = 3;
constexpr double kSmallerCache = 0.75;

Outcome outcome_from(const json& from) {
  Outcome outcome{from["value"], from["unit"], from["more_is_better"], from["figures"], {}};
  outcome.series = from["series"].get<std::map<std::string, std::vector<double>>>();
  return outcome;
}

/// Loads the data in a separate child, so that the rows' process does not keep the memory of the load.
Result<std::string> prepare_data(const Workload& workload, const Choice& choice, const std::string& directory,
                                 const OpenContender& open) {
  Session session(choice, directory, open);
  Status done = session.reopen({});
  if (done.ok()) done = workload.prepare(session);
  session.close();
  if (!done.ok()) return done;
  return std::string();
}

/// Runs the rows one after the other, in the child. Rows without a counterpart in the contender are left out.
Result<std::string> run_rows(const Workload& workload, const Choice& choice, const std::string& directory,
                             const OpenContender& open) {
  Session session(choice, directory, open);
  Status ready = workload.begin ? workload.begin(session) : session.reopen(workload.settings(choice));
  json answer{{"rows", json::object()}};
  if (ready.code() == Code::kUnsupported) return answer.dump();
  if (!ready.ok()) return ready;
  for (const WorkloadRow& row : workload.rows) {
    const Result<Outcome> outcome = row.run(session);
    if (outcome.code() == Code::kUnsupported) {  // perhaps because of the settings with which the row opens it
      if (!session.is_open()) ready = session.reopen(workload.settings(choice));
      if (!ready.ok()) return ready;
      continue;
    }
    if (!outcome.ok()) return Status::io_error(row.name + ": " + outcome.status().to_string());
    Figures figures = outcome->figures;
    figures["disk MB"] = static_cast<double>(occupied_bytes(directory)) / 1e6;
    figures["RSS MB"] = static_cast<double>(resident_bytes()) / 1e6;
    if (choice.cache_share < 1) figures["cache MB"] = session.cache_bytes() / 1e6;
    answer["rows"][row.name] = {{"value", outcome->value},
                                {"unit", outcome->unit},
                                {"more_is_better", outcome->more_is_better},
                                {"figures", figures},
                                {"series", outcome->series}};
    std::fprintf(stderr, "    %-38s %s\n", row.name.c_str(), with_unit(outcome->value, outcome->unit).c_str());
  }
  answer["back_end"] = session.contender().back_end();
  session.close();
  return answer.dump();
}

class Race {
 public:
  explicit Race(const Choice& choice) : choice_(choice) {}

  Status choose() {
    for (NamedContender& contender : all_contenders()) {
      if (is_named(choice_.contenders, contender.name)) contenders_.push_back(std::move(contender));
    }
    for (Workload& workload : all_workloads()) {
      const bool named = is_named(choice_.workloads, workload.name);
      if (named && (!choice_.workloads.empty() || !workload.only_when_named)) workloads_.push_back(std::move(workload));
    }
    if (contenders_.size() < choice_.contenders.size()) {
      return Status::invalid_argument("a contender that was named is not known, or was not built in");
    }
    if (workloads_.size() < choice_.workloads.size()) return Status::invalid_argument("a workload is not known");
    if (Status kept = keep_chosen_rows(); !kept.ok()) return kept;
    for (const NamedContender& contender : contenders_) record_.contenders.push_back(contender.name);
    for (const Workload& workload : workloads_) {
      for (const WorkloadRow& row : workload.rows)
        record_.rows.push_back({workload.name, row.name, {}, {}, {}, row.limit.figure});
    }
    return Status();
  }

  Status run() {
    for (int round = 0; round < choice_.rounds; ++round) {
      for (const Workload& workload : workloads_) {
        if (Status ran = run_workload(workload, round); !ran.ok()) return ran;
      }
    }
    return Status();
  }

  Record& record() noexcept { return record_; }

 private:
  static bool is_named(const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }

  Status keep_chosen_rows() {
    if (choice_.rows.empty()) return Status();
    std::regex wanted;
    try {
      wanted = std::regex(choice_.rows);
    } catch (const std::regex_error& error) {
      return Status::invalid_argument("rows: " + std::string(error.what()));
    }
    const auto is_wanted = [&](const WorkloadRow& row) { return std::regex_search(row.name, wanted); };
    for (Workload& workload : workloads_) {
      const bool keeps_all = workload.in_order && std::any_of(workload.rows.begin(), workload.rows.end(), is_wanted);
      if (!keeps_all) std::erase_if(workload.rows, [&](const WorkloadRow& row) { return !is_wanted(row); });
    }
    std::erase_if(workloads_, [](const Workload& workload) { return workload.rows.empty(); });
    return workloads_.empty() ? Status::invalid_argument("no row is called that") : Status();
  }

  Status run_workload(const Workload& workload, int round) {
    if (Status measured = measure_limits(workload); !measured.ok()) return measured;
    std::vector<NamedContender> order = contenders_;
    if ((choice_.first_round + round) % 2 == 0) std::reverse(order.begin(), order.end());
    for (const NamedContender& contender : order) {
      std::fprintf(stderr, "round %d of %d, %s, %s\n", choice_.first_round + round,
                   choice_.first_round + choice_.rounds - 1, workload.name.c_str(), contender.name.c_str());
      if (Status ran = run_contender(workload, contender); !ran.ok()) {
        return Status::io_error(contender.name + ", " + workload.name + ": " + std::string(ran.message()));
      }
      record_.load_average_max = std::max(record_.load_average_max, load_average());
    }
    return Status();
  }

  Status run_contender(const Workload& workload, const NamedContender& contender) {
    Choice choice = choice_;
    if (workload.adapt) workload.adapt(choice);
    const std::string& data = workload.data.empty() ? workload.name : workload.data;
    const std::string directory = choice_.directory + "/" + data + "-" + contender.name;
    if (workload.data.empty()) std::filesystem::remove_all(directory);
    Result<std::string> answered = answer_of(workload, choice, directory, contender.open);
    for (int left = kSmallerCaches; answered.code() == Code::kOutOfMemory && left > 0; --left) {
      std::fprintf(stderr, "    its memory limit ended %s, which runs again with a smaller cache\n",
                   contender.name.c_str());
      choice.cache_share *= kSmallerCache;
      std::filesystem::remove_all(directory);
      answered = answer_of(workload, choice, directory, contender.open);
    }
    if (!answered.ok()) return answered.status();
    if (workload.data.empty()) std::filesystem::remove_all(directory);
    const json answer = json::parse(*answered);
    if (answer.contains("back_end")) record_.back_ends[contender.name] = answer["back_end"];
    for (const auto& [name, outcome] : answer["rows"].items()) {
      row_of(workload.name, name).outcomes[contender.name].push_back(outcome_from(outcome));
    }
    return Status();
  }

  /// Prepares the data if it is not there, and runs the rows. Errors: kOutOfMemory if the memory limit ended the process;
  /// otherwise kIoError.
  static Result<std::string> answer_of(const Workload& workload, const Choice& choice, const std::string& directory,
                                       const OpenContender& open) {
    if (workload.prepare && !std::filesystem::exists(directory)) {
      Result<std::string> prepared = in_child_process([&] { return prepare_data(workload, choice, directory, open); });
      if (!prepared.ok()) return prepared;
    }
    Result<std::string> answered = in_child_process([&] { return run_rows(workload, choice, directory, open); });
    const bool is_over_limit = !answered.ok() && has_limit_ended_child();
    remove_memory_limit();
    if (is_over_limit) return Status(Code::kOutOfMemory, "its memory limit ended its process");
    return answered;
  }

  using MeasuredLimits = std::map<std::tuple<Limit::Kind, int, int, std::uint64_t>, double>;

  /// Adds the limit to `limits`. Measures it unless `measured` has it.
  Status measure(const Limit& limit, MeasuredLimits& measured, std::vector<double>& limits) {
    if (limit.kind == Limit::Kind::kNone) return Status();
    const auto key = std::make_tuple(limit.kind, limit.threads, limit.in_flight, limit.bytes);
    if (measured.count(key) == 0) {
      const Result<std::string> answer = in_child_process([&]() -> Result<std::string> {
        const Result<double> rate = measure_limit(choice_, limit);
        if (!rate.ok()) return rate.status();
        return std::to_string(*rate);
      });
      std::filesystem::remove_all(choice_.directory + "/device");
      if (!answer.ok()) return answer.status();
      measured[key] = std::stod(*answer);
    }
    limits.push_back(measured[key]);
    return Status();
  }

  Status measure_limits(const Workload& workload) {
    MeasuredLimits measured;
    for (const WorkloadRow& row : workload.rows) {
      RowRecord& record = row_of(workload.name, row.name);
      if (Status done = measure(row.limit, measured, record.limits); !done.ok()) return done;
      if (Status done = measure(row.unwritten_limit, measured, record.unwritten_limits); !done.ok()) return done;
    }
    return Status();
  }

  RowRecord& row_of(const std::string& workload, const std::string& name) {
    return *std::find_if(record_.rows.begin(), record_.rows.end(),
                         [&](const RowRecord& row) { return row.workload == workload && row.name == name; });
  }

  const Choice& choice_;
  std::vector<NamedContender> contenders_;
  std::vector<Workload> workloads_;
  Record record_;
};

}  // namespace

std::vector<NamedContender> all_contenders() {
  std::vector<NamedContender> all{{"varve", open_varve}};
#ifdef VARVE_BENCH_ROCKSDB
  all.push_back({"rocksdb", open_rocksdb});
#endif
#ifdef VARVE_BENCH_LEVELDB
  all.push_back({"leveldb", open_leveldb});
#endif
#ifdef VARVE_BENCH_LMDB
  all.push_back({"lmdb", open_lmdb});
#endif
  return all;
}

Result<Record> run_race(const Choice& choice) {
  Race race(choice);
  if (Status chosen = race.choose(); !chosen.ok()) return chosen;
  if (Status ran = race.run(); !ran.ok()) return ran;
  return std::move(race.record());
}

}  // namespace varve::bench
