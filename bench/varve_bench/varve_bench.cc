// Owns: the race of whole stores: the same durable work by each contender, in interleaved rounds, beside the device's
// limit. Must never: compare durable with less than durable, or leave out a row that was lost.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bench/varve_bench/contender.h"

namespace varve::bench {

namespace {

struct Row {
  std::string name;
  int threads = 1;
  bool hot = false;  // all threads on one partition, each commit checked
};

struct Choice {
  std::string directory;
  double seconds = 2;
  int rounds = 3;
};

const std::vector<Row> kRows{{"durable put, 1 thread", 1, false},         {"durable put, 16 threads", 16, false},
                             {"durable put, 64 threads", 64, false},      {"one hot partition, 1 thread", 1, true},
                             {"one hot partition, 16 threads", 16, true}, {"one hot partition, 64 threads", 64, true}};

std::string payload() {
  std::string bytes(256, 'x');
  for (std::size_t i = 0; i < bytes.size(); i += 2) bytes[i] = static_cast<char>('a' + (i * 2654435761U >> 7) % 26);
  return bytes;  // half of it compressible
}

std::string row_key(int thread, std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%03d-%012llu", thread,
                static_cast<unsigned long long>(number * 2654435761ULL % 1'000'000'000'000ULL));
  return text;
}

/// Commits a second, or an error.
Result<double> measure(Contender& contender, const Row& row, double seconds) {
  static std::atomic<std::uint64_t> sequence{0};
  const std::string bytes = payload();
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> failed{false};
  const auto begun = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < row.threads; ++t) {
      threads.emplace_back([&, t] {
        const std::string partition = row.hot ? "hot" : "partition " + std::to_string(t);
        std::uint64_t count = 0;
        while (!stop.load(std::memory_order_relaxed)) {
          const std::string key = row_key(t, sequence.fetch_add(1, std::memory_order_relaxed));
          const Status put =
              row.hot ? contender.checked_put(partition, key, bytes) : contender.put(partition, key, bytes);
          if (!put.ok()) {
            std::fprintf(stderr, "%s: %s\n", contender.name().c_str(), put.to_string().c_str());
            failed = true;
            break;
          }
          ++count;
        }
        done += count;
      });
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
  }
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (failed) return Status::io_error("a put failed");
  return static_cast<double>(done.load()) / elapsed;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

using Opener = std::function<Result<std::unique_ptr<Contender>>(const std::string&)>;
using Figures = std::map<std::string, std::map<std::string, std::vector<double>>>;  // by row, by contender

Status run_round(const Choice& choice, int round, Figures& figures) {
  std::vector<Opener> openers{open_device, open_varve};
#ifdef VARVE_BENCH_ROCKSDB
  openers.emplace_back(open_rocksdb);
#endif
  if (round % 2 == 1) std::reverse(openers.begin(), openers.end());
  for (std::size_t i = 0; i < openers.size(); ++i) {
    const std::string directory = choice.directory + "/" + std::to_string(round) + "-" + std::to_string(i);
    std::filesystem::remove_all(directory);
    {
      const Result<std::unique_ptr<Contender>> contender = openers[i](directory);
      if (!contender.ok()) return contender.status();
      for (const Row& row : kRows) {
        const Result<double> rate = measure(**contender, row, choice.seconds);
        if (!rate.ok()) return rate.status();
        figures[row.name][(*contender)->name()].push_back(*rate);
        std::fprintf(stderr, "round %d, %s, %s: %.0f/s\n", round + 1, row.name.c_str(), (*contender)->name().c_str(),
                     *rate);
      }
    }
    std::filesystem::remove_all(directory);
  }
  return Status();
}

std::string cell(const std::vector<double>& values) {
  if (values.empty()) return "-";
  char text[96];
  std::snprintf(text, sizeof text, "%.0f (%.0f-%.0f)", median(values), *std::min_element(values.begin(), values.end()),
                *std::max_element(values.begin(), values.end()));
  return text;
}

std::string ratio(const std::vector<double>& ours, const std::vector<double>& theirs) {
  if (ours.empty() || theirs.empty()) return "-";
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) ratios.push_back(ours[i] / theirs[i]);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", median(ratios));
  return text;
}

void print_table(Figures& figures) {
  std::printf("| commits a second, median (range) | Varve | RocksDB | Varve / RocksDB | device | Varve / device |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const Row& row : kRows) {
    auto& of = figures[row.name];
    std::printf("| %s | %s | %s | %s | %s | %s |\n", row.name.c_str(), cell(of["Varve"]).c_str(),
                cell(of["RocksDB"]).c_str(), ratio(of["Varve"], of["RocksDB"]).c_str(), cell(of["device"]).c_str(),
                ratio(of["Varve"], of["device"]).c_str());
  }
}

}  // namespace
}  // namespace varve::bench

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: varve-bench DIRECTORY [SECONDS A MEASUREMENT = 2] [ROUNDS = 3]\n");
    return 2;
  }
  varve::bench::Choice choice{argv[1], argc > 2 ? std::atof(argv[2]) : 2, argc > 3 ? std::atoi(argv[3]) : 3};
  std::filesystem::create_directories(choice.directory);
  varve::bench::Figures figures;
  for (int round = 0; round < choice.rounds; ++round) {
    if (varve::Status ran = varve::bench::run_round(choice, round, figures); !ran.ok()) {
      std::fprintf(stderr, "varve-bench: %s\n", ran.to_string().c_str());
      return 1;
    }
  }
  varve::bench::print_table(figures);
  return 0;
}
