// Owns: the program of the race of blobs.
// Must never: choose a goal's sizes: goals.h has them.
#include "bench/blobs/goals_main.h"

int main(int argc, char** argv) {
  return varve::bench::run_goals(
      argc, argv,
      {"varve-blobs-bench", "compares blobs with their goals, with the device and with peers.",
       varve::bench::all_goals()});
}
