// Owns: running a fuzz target over existing inputs, and over mutations by its own mutator, in builds without libFuzzer.
// Must never: pass if nothing was run. A seed directory that is missing or empty is a failure.
//
// Usage: varve-replay TARGET FILE_OR_DIRECTORY...   Directories are read in order of name: a failure is repeatable.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// The functions of each target. The build calls them by the target's name. A target may have no mutator.
#define VARVE_REPLAY(name, mutations)                                          \
  extern "C" int varve_run_##name(const std::uint8_t* data, std::size_t size); \
  extern "C" __attribute__((weak))                                             \
  std::size_t varve_mutate_##name(std::uint8_t* data, std::size_t size, std::size_t size_max, unsigned seed);
#include "replayed_targets.inc"
#undef VARVE_REPLAY

/// Replaces libFuzzer's mutator, which a target's mutator calls: changes, adds or removes a byte.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max) {
  static std::minstd_rand random(1);
  const auto at = static_cast<std::size_t>(random()) % (size + 1);
  if (at == size) {
    if (size < size_max) data[size++] = static_cast<std::uint8_t>(random());
  } else if (random() % 4 == 0) {
    std::memmove(data + at, data + at + 1, size - at - 1);
    --size;
  } else {
    data[at] = static_cast<std::uint8_t>(random());
  }
  return size;
}

namespace {

namespace fs = std::filesystem;

struct Target {
  std::string_view name;
  unsigned mutations;  // of each input
  int (*run)(const std::uint8_t* data, std::size_t size);
  std::size_t (*mutate)(std::uint8_t* data, std::size_t size, std::size_t size_max, unsigned seed);  // null: none
};

#define VARVE_REPLAY(name, mutations) {#name, mutations, varve_run_##name, varve_mutate_##name},
const Target kTargets[] = {
#include "replayed_targets.inc"
};
#undef VARVE_REPLAY

constexpr std::size_t kGrowthMax = 256;

std::vector<fs::path> inputs_of(const fs::path& argument) {
  if (!fs::is_directory(argument)) return {argument};
  std::vector<fs::path> inputs;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argument)) {
    if (entry.is_regular_file()) inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

/// Runs some mutations of this input, each made from the one before. Every run makes the same mutations.
bool replay_mutations(const Target& target, const std::vector<std::uint8_t>& data) {
  std::vector<std::uint8_t> mutated = data;
  for (unsigned seed = 0; seed < target.mutations; ++seed) {
    const std::size_t size = mutated.size();
    mutated.resize(size + kGrowthMax);
    mutated.resize(target.mutate(mutated.data(), size, mutated.size(), seed));
    const std::vector<std::uint8_t> exact(mutated);
    if (target.run(exact.data(), exact.size()) != 0) return false;
  }
  return true;
}

bool replay(const Target& target, const fs::path& input) {
  std::ifstream file(input, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", input.c_str());
    return false;
  }
  // The copy is exactly as large as the input, so that the address sanitizer detects a read past its end.
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  std::printf("%s\n", input.c_str());
  std::fflush(stdout);  // If the target ends the process, the last line names the input.
  if (target.run(data.data(), data.size()) != 0) return false;
  return target.mutate == nullptr || replay_mutations(target, data);
}

int run(const Target& target, const std::vector<std::string>& arguments) {
  std::size_t run_count = 0;
  std::size_t failed_count = 0;
  for (const std::string& argument : arguments) {
    const std::vector<fs::path> inputs = inputs_of(argument);
    if (inputs.empty()) {
      std::fprintf(stderr, "%s: holds no input\n", argument.c_str());
      ++failed_count;
    }
    for (const fs::path& input : inputs) {
      ++run_count;
      if (!replay(target, input)) ++failed_count;
    }
  }
  std::printf("%zu inputs replayed, %zu failed\n", run_count, failed_count);
  return run_count > 0 && failed_count == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc < 3 ? std::string_view() : argv[1];
  const auto target =
      std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Target& t) { return t.name == name; });
  if (target == std::end(kTargets)) {
    std::fprintf(stderr, "usage: %s TARGET FILE_OR_DIRECTORY...\nTargets:", argv[0]);
    for (const Target& each : kTargets) std::fprintf(stderr, " %s", each.name.data());
    std::fprintf(stderr, "\n");
    return 2;
  }
  try {
    return run(*target, std::vector<std::string>(argv + 2, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
