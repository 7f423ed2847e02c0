// Owns: a program that includes every public header of the core, and does nothing.
#include <varve/varve.h>

int main() {
  return varve::kVersion.empty() ? 1 : 0;
}
