// Owns: the program that tools/dev/instructions runs under callgrind, with one process per path.
// Must never: count instructions itself. Callgrind counts them between the two requests below.
#include <cstdio>
#include <string_view>

#include <valgrind/callgrind.h>

#include "bench/instructions/hot_paths.h"

namespace {

using namespace varve::bench;

void counted(const std::function<void()>& work) {
  CALLGRIND_START_INSTRUMENTATION;
  work();
  CALLGRIND_STOP_INSTRUMENTATION;
}

int list() {
  for (const HotPath& path : hot_paths()) {
    std::printf("%s\t%s\t%llu\n", path.name.data(), path.unit.data(), static_cast<unsigned long long>(path.operations));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return list();
  for (const HotPath& path : hot_paths()) {
    if (argc != 3 || path.name != argv[1]) continue;
    if (path.run({argv[2], path.operations}, counted)) return 0;
    std::fprintf(stderr, "%s: an operation failed\n", argv[1]);
    return 1;
  }
  std::fprintf(
      stderr,
      "usage: %s [PATH NEW-DIRECTORY]\n  runs the hot path PATH in NEW-DIRECTORY; without arguments, lists the paths\n",
      argv[0]);
  return 2;
}
