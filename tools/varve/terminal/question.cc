#include "tools/varve/terminal/question.h"

#include <iostream>

#include <unistd.h>

namespace varve::tool {

bool can_ask() noexcept {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool asked_yes(const std::string& question) {
  std::cerr << question << " [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace varve::tool
