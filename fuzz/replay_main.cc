// Owns: running a fuzz target over inputs that are already there, in builds without libFuzzer.
// Must never: pass when nothing was run; a seed directory that is missing or empty is a failure.
//
// Usage: <target> FILE_OR_DIRECTORY...   Directories are read in order of name, so that a failure repeats.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// libFuzzer's own mutator, which a target's custom mutator may name. Nothing is mutated here: the input stays as it
/// is.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size, std::size_t /*size_max*/) {
  return size;
}

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs_of(const fs::path& argument) {
  if (!fs::is_directory(argument)) return {argument};
  std::vector<fs::path> inputs;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argument)) {
    if (entry.is_regular_file()) inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

bool replay(const fs::path& input) {
  std::ifstream file(input, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", input.c_str());
    return false;
  }
  // Exactly as large as the input, so that the address sanitizer sees a read past its end.
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  std::printf("%s\n", input.c_str());
  std::fflush(stdout);  // Should the target end the process, the last line names the input.
  return LLVMFuzzerTestOneInput(data.data(), data.size()) == 0;
}

int run(const std::vector<std::string>& arguments) {
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
      if (!replay(input)) ++failed_count;
    }
  }
  std::printf("%zu inputs replayed, %zu failed\n", run_count, failed_count);
  return run_count > 0 && failed_count == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE_OR_DIRECTORY...\n", argv[0]);
    return 2;
  }
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
