// Owns: a variable of the environment, which the programs of a test inherit.
// Must never: outlive its scope.
#pragma once

#include <cstdlib>
#include <string>

namespace varve::serve::test {

/// A variable of the environment, until the end of a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

}  // namespace varve::serve::test
