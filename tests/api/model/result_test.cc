// Goal: a program that reads the value of a failed Result learns why before it ends.
#include "varve/result.h"

#include <string>

#include <gtest/gtest.h>

namespace varve {
namespace {

TEST(ResultDeathTest, NamesTheStatusWhoseValueIsMissing) {
  const Result<std::string> failed = Status(Code::kNotFound, "no such thing");
  EXPECT_DEATH((void)*failed, "the value of a failed Result was read: NotFound: no such thing");
  EXPECT_DEATH((void)failed->size(), "no such thing");
}

}  // namespace
}  // namespace varve
