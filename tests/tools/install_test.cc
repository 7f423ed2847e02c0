// Goal: an installation contains everything that an external program needs, by CMake and by pkg-config, static and
// shared; and the sources build as a part of such a program.
// Method: the build is installed into a directory of its own. The programs of tests/embedding and examples/ are built
// there.
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/export_rule.h"
#include "tests/support/source_text.h"
#include "tests/tools/run_program.h"

namespace varve::install_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class InstallLong : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(run(VARVE_CMAKE " --install " VARVE_BUILD_DIR " --prefix " + prefix_)) << log(); }

  /// Runs a shell command in the scratch directory.
  bool run(const std::string& line) {
    const std::string there = "cd '" + scratch_.path("") + "' && ( " + line + " ) >log 2>&1";
    return std::system(there.c_str()) == 0;  // NOLINT(cert-env33-c)
  }
  std::string log() const { return test::content_of(scratch_.path("log")); }

  void build_by_cmake(const std::string& options) {
    ASSERT_TRUE(run(VARVE_CMAKE " -S " VARVE_SOURCE_DIR "/tests/embedding -B out "
                                "-DCMAKE_CXX_COMPILER=" VARVE_CXX " -DCMAKE_PREFIX_PATH=" +
                    prefix_ + " " + options))
        << log();
    ASSERT_TRUE(run(VARVE_CMAKE " --build out && cp out/embedding embedding")) << log();
  }
  void build_by_pkg_config(const std::string& options) {
    ASSERT_TRUE(run("export PKG_CONFIG_PATH=$(dirname $(find " + prefix_ +
                    " -name varve.pc)) && " VARVE_CXX " -std=c++20 " VARVE_SOURCE_DIR
                    "/tests/embedding/first_program.cc -o embedding " +
                    options))
        << log();
  }
  /// Runs it twice: the second time it finds its own store.
  void expect_it_runs() {
    for (int round = 0; round < 2; ++round) {
      EXPECT_TRUE(run("LD_LIBRARY_PATH=$(dirname $(find " + prefix_ + " -name libvarve.so)) ./embedding")) << log();
      EXPECT_THAT(log(), HasSubstr("PreconditionFailed (UpdateConditionNotSatisfied)"));
    }
  }
  /// Builds the program of this folder of examples/ as its README says.
  void build_example(const std::string& name) {
    ASSERT_TRUE(run(VARVE_CMAKE " -S " VARVE_SOURCE_DIR "/examples/" + name + " -B " + name +
                    " -DCMAKE_CXX_COMPILER=" VARVE_CXX " -DCMAKE_PREFIX_PATH=" + prefix_))
        << log();
    ASSERT_TRUE(run(VARVE_CMAKE " --build " + name)) << log();
    example_ = name + "/" + name + " store-of-" + name + " ";
  }
  /// Runs the example that was built last. Returns its output and its exit code: "created s1\nexit 0\n". Each run is a
  /// process of its own, so it finds what the runs before wrote.
  std::string output_of(const std::string& arguments) {
    EXPECT_TRUE(run(example_ + arguments + "; echo exit $?")) << log();
    return log();
  }
  std::string needed_libraries() {
    EXPECT_TRUE(run("readelf -d embedding")) << log();
    return log();
  }

  test::ScratchDirectory scratch_;
  std::string prefix_ = scratch_.path("prefix");
  std::string example_;
};

TEST_F(InstallLong, AProgramLinksTheStaticLibraryByCMake) {
  build_by_cmake("");
  expect_it_runs();
  EXPECT_THAT(needed_libraries(), Not(HasSubstr("libvarve")));
}

TEST_F(InstallLong, TheStaticLibrariesCarryNoDebugInformation) {
  ASSERT_TRUE(run("for library in $(find prefix -name '*.a'); do readelf -SW $library; done")) << log();
  EXPECT_THAT(log(), HasSubstr(".text"));
  EXPECT_THAT(log(), Not(HasSubstr(".debug_")));
}

TEST_F(InstallLong, AProgramLinksTheSharedLibraryByCMake) {
  build_by_cmake("-DBUILD_SHARED_LIBS=ON");
  expect_it_runs();
  EXPECT_THAT(needed_libraries(), HasSubstr("libvarve.so.0.1]"));
}

TEST_F(InstallLong, AProgramLinksTheStaticLibraryByPkgConfig) {
  build_by_pkg_config("-static $(pkg-config --static --cflags --libs varve)");
  expect_it_runs();
  EXPECT_THAT(needed_libraries(), Not(HasSubstr("NEEDED")));
}

TEST_F(InstallLong, AProgramLinksTheSharedLibraryByPkgConfig) {
  build_by_pkg_config("$(pkg-config --cflags --libs varve)");
  expect_it_runs();
  EXPECT_THAT(needed_libraries(), HasSubstr("libvarve.so.0.1]"));
}

TEST_F(InstallLong, AProgramBuildsTheSourcesAsAPartOfItself) {
  ASSERT_TRUE(run(VARVE_CMAKE " -S " VARVE_SOURCE_DIR "/tests/embedding/fetched -B out -DCMAKE_CXX_COMPILER=" VARVE_CXX
                              " -DVARVE_SOURCES=" VARVE_SOURCE_DIR " -DCMAKE_BUILD_TYPE=Debug"
                              " -DCMAKE_CXX_COMPILER_LAUNCHER=" VARVE_SOURCE_DIR
                              "/tests/embedding/fetched/reuse_object"))
      << log();
  ASSERT_TRUE(run("VARVE_OBJECTS=" VARVE_BUILD_DIR " " VARVE_CMAKE
                  " --build out --target embedding && cp out/embedding embedding"))
      << log();
  expect_it_runs();
}

TEST_F(InstallLong, AProgramLinksSecurityBesideEitherLibrary) {
  for (const std::string kind : {"OFF", "ON"}) {
    build_by_cmake("-DSECURED=ON -DBUILD_SHARED_LIBS=" + kind);
    EXPECT_TRUE(run("cp out/secured embedding && rm -rf shop out")) << log();
    EXPECT_TRUE(run("LD_LIBRARY_PATH=$(dirname $(find " + prefix_ + " -name libvarve.so)) ./embedding")) << log();
    EXPECT_THAT(log(), HasSubstr("Forbidden (AuthorizationPermissionMismatch)"));
  }
}

TEST_F(InstallLong, AProgramLinksEncryptionBesideEitherLibrary) {
  for (const std::string kind : {"OFF", "ON"}) {
    build_by_cmake("-DENCRYPTED=ON -DBUILD_SHARED_LIBS=" + kind);
    EXPECT_TRUE(run("cp out/encrypted embedding && rm -rf shop out")) << log();
    EXPECT_TRUE(run("LD_LIBRARY_PATH=$(dirname $(find " + prefix_ + " -name libvarve.so)) ./embedding")) << log();
    EXPECT_THAT(log(), HasSubstr("read: asthma\nstored: no text"));
  }
}

TEST_F(InstallLong, ATestLinksTheSimulatorBesideTheStaticLibrary) {
  build_by_cmake("-DTESTED=ON");
  EXPECT_TRUE(run("out/tested")) << log();
  EXPECT_THAT(log(), HasSubstr("power cuts, nothing lost"));
}

TEST_F(InstallLong, AProgramOnCephLinksWithoutCephAndSaysWhatItLacks) {
  build_by_cmake("-DCEPH=ON");
  ASSERT_TRUE(run("cp out/on_ceph embedding")) << log();
  EXPECT_THAT(needed_libraries(), Not(HasSubstr("librados")));
  EXPECT_TRUE(run("CEPH_CONF=/nowhere/ceph.conf ./embedding rados:tables/shop; [ $? = 1 ]")) << log();
  EXPECT_THAT(log(), AnyOf(HasSubstr("CEPH_CONF"), HasSubstr("librados")));
}

TEST_F(InstallLong, TheExampleInCBuildsWithEitherLibrary) {
  for (const std::string kind : {"OFF", "ON"}) {
    ASSERT_TRUE(run("rm -rf orders_in_c store-of-orders_in_c")) << log();
    ASSERT_TRUE(run(VARVE_CMAKE " -S " VARVE_SOURCE_DIR
                                "/examples/orders_in_c -B orders_in_c -DCMAKE_CXX_COMPILER=" VARVE_CXX
                                " -DBUILD_SHARED_LIBS=" +
                    kind + " -DCMAKE_PREFIX_PATH=" + prefix_))
        << log();
    ASSERT_TRUE(run(VARVE_CMAKE " --build orders_in_c")) << log();
    example_ = "orders_in_c/orders_in_c store-of-orders_in_c ";
    EXPECT_EQ(output_of("add eu 0001 Ann 12.5"), "added 0001\nexit 0\n");
    EXPECT_EQ(output_of("add eu 0002 Bob 99"), "added 0002\nexit 0\n");
    EXPECT_THAT(output_of("add eu 0002 Bob 99"), AllOf(HasSubstr("EntityAlreadyExists"), HasSubstr("exit 3")));
    EXPECT_EQ(output_of("list eu 50"), "0002 Bob 99.00\nexit 0\n");
    EXPECT_THAT(output_of("list"), HasSubstr("exit 2"));
  }
}

TEST_F(InstallLong, APatternBuildsAndRuns) {
  ASSERT_TRUE(run(VARVE_CMAKE " -S " VARVE_SOURCE_DIR "/examples/patterns -B out -DCMAKE_CXX_COMPILER=" VARVE_CXX
                              " -DCMAKE_PREFIX_PATH=" +
                  prefix_))
      << log();
  ASSERT_TRUE(run(VARVE_CMAKE " --build out --target pattern_compound_key && out/pattern_compound_key")) << log();
  EXPECT_THAT(log(), Not(HasSubstr("WRONG")));
}

TEST_F(InstallLong, TheExamplesBuildAndFindTheirDataAgain) {
  build_example("event_store");
  EXPECT_EQ(output_of("append ann any deposit=100 withdraw=-30"), "appended 2 events; ann ends at 2\nexit 0\n");
  EXPECT_EQ(output_of("balance ann"), "balance 70 at position 2, 2 new events\nexit 0\n");
  EXPECT_EQ(output_of("append ann 2 deposit=5"), "appended 1 events; ann ends at 3\nexit 0\n");
  EXPECT_THAT(output_of("append ann 2 deposit=5"),
              AllOf(HasSubstr("ends at position 3, not at 2"), HasSubstr("exit 3")));
  EXPECT_EQ(output_of("balance ann"), "balance 75 at position 3, 1 new events\nexit 0\n");
  EXPECT_EQ(output_of("read ann 2"), "2 withdraw -30\n3 deposit 5\nexit 0\n");
  EXPECT_THAT(output_of("read ann 0"), HasSubstr("exit 2"));

  build_example("session_cache");
  EXPECT_EQ(output_of("create s1 Ann 3600"), "created s1\nexit 0\n");
  EXPECT_EQ(output_of("create s2 Bob 0"), "created s2\nexit 0\n");
  EXPECT_THAT(output_of("create s1 Ann 3600"), HasSubstr("exit 3"));
  EXPECT_EQ(output_of("touch s1 360000"), "touched s1\nexit 0\n");
  EXPECT_THAT(output_of("get s1"), AllOf(HasSubstr("Ann, expires in 35"), HasSubstr("exit 0")));
  EXPECT_THAT(output_of("touch s2 60"), AllOf(HasSubstr("has expired"), HasSubstr("exit 3")));
  EXPECT_EQ(output_of("sweep"), "swept 1 expired sessions\nexit 0\n");
  EXPECT_EQ(output_of("touch s1 0"), "touched s1\nexit 0\n");
  EXPECT_EQ(output_of("sweep"), "swept 1 expired sessions\nexit 0\n");
  EXPECT_THAT(output_of("get s1"), AllOf(HasSubstr("no such session"), HasSubstr("exit 3")));

  build_example("metadata_service");
  EXPECT_EQ(output_of("mkdir /photos"), "mkdir /photos: done\nexit 0\n");
  EXPECT_EQ(output_of("create '/photos/a b.jpg' 1200"), "create /photos/a b.jpg: done\nexit 0\n");
  EXPECT_EQ(output_of("mkdir /photos/album"), "mkdir /photos/album: done\nexit 0\n");
  EXPECT_EQ(output_of("list /photos a"), "a b.jpg 1200\nalbum/\nexit 0\n");
  const std::string page = output_of("list /photos '' 1");
  const std::string before_token = "a b.jpg 1200\nnext page: ";
  ASSERT_THAT(page, StartsWith(before_token));
  const std::string token = page.substr(before_token.size(), page.rfind("\nexit 0") - before_token.size());
  EXPECT_EQ(output_of("list /photos '' 1 '" + token + "'"), "album/\nexit 0\n");
  EXPECT_THAT(output_of("move /photos /photos/album/photos"), AllOf(HasSubstr("below itself"), HasSubstr("exit 2")));
  EXPECT_EQ(output_of("move /photos/album /album"), "move /photos/album: done\nexit 0\n");
  EXPECT_EQ(output_of("move /photos /album/photos"), "move /photos: done\nexit 0\n");
  EXPECT_EQ(output_of("list /album/photos"), "a b.jpg 1200\nexit 0\n");
  EXPECT_THAT(output_of("list /photos"), AllOf(HasSubstr("does not exist"), HasSubstr("exit 3")));
}

TEST_F(InstallLong, ThePackageRefusesAnotherMinorVersionAndUnknownComponents) {
  const std::string find = VARVE_CMAKE " -S . -B found -DCMAKE_PREFIX_PATH=" + prefix_;
  const auto finds = [&](const std::string& what) {
    scratch_.file("CMakeLists.txt",
                  "cmake_minimum_required(VERSION 3.25)\nproject(finds CXX)\nfind_package(varve " + what + ")\n");
    return run(find);
  };
  EXPECT_TRUE(finds("0.1 REQUIRED COMPONENTS static shared")) << log();
  EXPECT_FALSE(finds("0.2 REQUIRED"));
  EXPECT_FALSE(finds("REQUIRED COMPONENTS wooden"));
  EXPECT_THAT(log(), HasSubstr("components static, shared, security, encryption"));
  EXPECT_FALSE(finds("REQUIRED COMPONENTS shared testing"));
  EXPECT_THAT(log(), HasSubstr("the component testing needs the static library"));
  EXPECT_TRUE(finds("REQUIRED COMPONENTS static ceph"));
}

TEST_F(InstallLong, TheLicenceAndTheNoticeGoWithTheLibrary) {
  for (const std::string name : {"/LICENSE", "/NOTICE"}) {
    const std::string source = test::content_of(VARVE_SOURCE_DIR + name);
    EXPECT_FALSE(source.empty()) << name;
    EXPECT_EQ(test::content_of(prefix_ + "/share/doc/varve" + name), source) << name;
  }
}

/// libcsv and the C library are under the LGPL; NOTICE says that both are linked dynamically.
TEST_F(InstallLong, TheProgramLinksLibrariesUnderTheLgplDynamically) {
  ASSERT_TRUE(run("readelf -d prefix/bin/varve && nm --defined-only prefix/bin/varve")) << log();
  EXPECT_THAT(log(), HasSubstr("Shared library: [libcsv.so."));
  EXPECT_THAT(log(), HasSubstr("Shared library: [libc.so."));
  EXPECT_THAT(log(), Not(HasSubstr(" csv_parse\n")));
}

TEST_F(InstallLong, PublicHeadersIncludeOnlyEachOtherAndTheStandardLibrary) {
  std::string all;
  const std::filesystem::path root = prefix_ + "/include";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_directory()) continue;
    const std::string name = std::filesystem::relative(entry.path(), root).string();
    all += "#include <" + name + ">\n";
  }
  EXPECT_THAT(all, HasSubstr("<varve/store.h>"));
  EXPECT_THAT(all, HasSubstr("<varve/security/session.h>"));
  EXPECT_THAT(all, HasSubstr("<varve/encryption/encrypted_table.h>"));
  scratch_.file("all.cc", all);
  EXPECT_TRUE(run(VARVE_CXX " -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iprefix/include all.cc"))
      << log();
}

TEST_F(InstallLong, TheExamplesOfTheLibraryPageCompile) {
  EXPECT_TRUE(run(VARVE_CXX
                  " -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iprefix/include " VARVE_SOURCE_DIR
                  "/tests/embedding/library_examples.cc"))
      << log();
}

TEST_F(InstallLong, ReadmeFindsThePagesThatItLinksTo) {
  for (const std::string name : {"/README.md", "/docs/library.md", "/docs/program.md", "/docs/server.md",
                                 "/docs/pictures/overview.svg", "/docs/status-page.png"}) {
    EXPECT_EQ(test::content_of(prefix_ + "/share/doc/varve" + name), test::content_of(VARVE_SOURCE_DIR + name)) << name;
  }
}

/// Returns the names that the headers of the core mark for export.
std::set<std::string> marked_names() {
  std::set<std::string> names;
  for (const test::SourceFile& header : test::read_sources(VARVE_SOURCE_DIR, "api/include/varve", {".h"})) {
    names.merge(test::exported_names(header));
  }
  return names;
}

TEST_F(InstallLong, TheSharedLibraryShowsWhatTheHeadersMarkAndNothingElse) {
  // Another test compares the functions of varve/c.h.
  ASSERT_TRUE(run("nm -DC --defined-only $(find prefix -name libvarve.so) | cut -d' ' -f3- | grep -v '^varve_'"))
      << log();
  const std::set<std::string> marked = marked_names();
  std::set<std::string> shown;
  std::istringstream symbols(log());
  const std::regex known(
      "(?:vtable for |typeinfo for |typeinfo name for )?"
      "varve::(?:mapped::|task_detail::)?([A-Za-z]\\w*)(?:::(\\w+)::)?.*");
  for (std::string symbol; std::getline(symbols, symbol);) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(symbol, parts, known)) << symbol << " is not of the public headers";
    EXPECT_TRUE(marked.contains(parts[1]) || parts[1] == "operator") << symbol << " is not marked in a public header";
    EXPECT_FALSE(parts[2].matched) << symbol << " is of a type that no header defines";
    shown.insert(parts[1]);
  }
  // A class without a member of its own in the library: programs derive from it.
  const std::set<std::string> interfaces = {"AccessRule", "EventListener", "HomeThread", "Logger"};
  for (const std::string& name : marked) EXPECT_TRUE(shown.contains(name) || interfaces.contains(name)) << name;
}

}  // namespace
}  // namespace varve::install_test
