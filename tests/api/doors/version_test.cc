// Goal: the library, its headers and the build agree on one version.
#include "varve/version.h"

#include <string>

#include <gtest/gtest.h>

namespace varve::version_test {
namespace {

TEST(Version, OfTheHeadersIsThatOfTheLibrary) {
  EXPECT_EQ(library_version(), kVersion);
}

TEST(Version, HasThreeParts) {
  EXPECT_EQ(std::to_string(VARVE_VERSION_MAJOR) + "." + std::to_string(VARVE_VERSION_MINOR) + "." +
                std::to_string(VARVE_VERSION_PATCH),
            kVersion);
}

}  // namespace
}  // namespace varve::version_test
