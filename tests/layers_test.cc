// Owns: the proof that the tree follows the rules of the project, and that each rule can fail.
// Method: every rule is run over the whole tree, and over small files with a planted offence.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/export_rule.h"
#include "tests/support/lint.h"
#include "tests/support/source_text.h"

#ifdef NDEBUG
#error "asserts guard our own mistakes and are alive in every build; varve_flags undefines NDEBUG"
#endif

namespace varve::test::layers_test {
namespace {

const std::vector<std::string> kCpp = {".h", ".cc"};
const std::vector<std::string> kAllText = {".h", ".cc", ".txt", ".cmake", ".md", ".json"};

std::vector<SourceFile> sources_of(const std::vector<std::string>& directories,
                                   const std::vector<std::string>& endings) {
  std::vector<SourceFile> all;
  for (const std::string& directory : directories) {
    for (SourceFile& file : read_sources(VARVE_SOURCE_DIR, directory, endings)) all.push_back(std::move(file));
  }
  return all;
}

/// The layers' files but those of api/rest, which belong to the server: it has threads, clocks and libraries of its own.
std::vector<SourceFile> core_sources(const std::vector<std::string>& layers) {
  std::vector<SourceFile> core;
  for (SourceFile& file : sources_of(layers, kCpp)) {
    if (!file.path.starts_with("api/rest/")) core.push_back(std::move(file));
  }
  return core;
}

void expect_none(const std::vector<SourceFile>& files, Offences (*rule)(const SourceFile&)) {
  for (const SourceFile& file : files) {
    for (const Offence& offence : rule(file)) ADD_FAILURE() << offence.to_string();
  }
}

/// Returns the lines of `text` in which the rule finds an offence. `text` is treated as the file at `path`.
std::vector<std::size_t> lines_found(Offences (*rule)(const SourceFile&), std::string path, std::string text) {
  std::vector<std::size_t> lines;
  for (const Offence& offence : rule({std::move(path), std::move(text)})) lines.push_back(offence.line);
  return lines;
}

using Lines = std::vector<std::size_t>;

TEST(Layers, EveryLayerIsRead) {
  for (const std::string layer : {"io", "format", "engine", "api"}) {
    SCOPED_TRACE(layer);
    EXPECT_GE(sources_of({layer}, kCpp).size(), 2U) << "looked below " << VARVE_SOURCE_DIR;
  }
}

TEST(Layers, IncludesGoDownwardsOnly) {
  expect_none(sources_of({"io", "format", "engine", "api"}, kCpp), check_layers);
}

/// The public headers of the core. Those of the libraries beside it are static.
std::vector<SourceFile> core_headers() {
  std::vector<SourceFile> headers;
  for (SourceFile& file : sources_of({"api/include/varve"}, {".h"})) {
    if (file.path.find('/', std::string_view("api/include/varve/").size()) == std::string::npos) {
      headers.push_back(std::move(file));
    }
  }
  return headers;
}

TEST(Layers, PublicHeadersMarkWhatTheLibraryExports) {
  const std::vector<SourceFile> headers = core_headers();
  EXPECT_GE(headers.size(), 10U);
  expect_none(headers, check_exports);
  std::set<std::string> names;
  for (const SourceFile& header : headers) {
    EXPECT_EQ(header.text.find("pragma GCC visibility"), std::string::npos) << header.path << ": mark each declaration";
    names.merge(exported_names(header));
  }
  EXPECT_TRUE(names.contains("Store") && names.contains("escape_key") && names.contains("EventListener"));
}

TEST(Layers, AMissingMarkOfAnExportIsFound) {
  const auto lines = [](std::string text) {
    return lines_found(check_exports, "api/include/varve/x.h", std::move(text));
  };
  EXPECT_EQ(lines("#pragma once\nnamespace varve {\nint f(int a);\n}\n"), (Lines{3}));
  EXPECT_EQ(lines("namespace varve {\nVARVE_EXPORT int f(int a);\ninline int g() { return 1; }\n}\n"), Lines());
  EXPECT_EQ(lines("namespace varve {\nclass X {\n public:\n  int f() const;\n};\n}\n"), (Lines{2}));
  EXPECT_EQ(lines("namespace varve {\nclass VARVE_EXPORT X {\n public:\n  int f() const;\n};\n}\n"), Lines());
  EXPECT_EQ(lines("namespace varve {\nclass X {\n  int f() const { return 1; }\n  X() = default;\n};\n}\n"), Lines());
  EXPECT_EQ(lines("namespace varve {\nclass X {\n  virtual ~X() = default;\n};\n}\n"), (Lines{2}));
  EXPECT_EQ(lines("namespace varve {\nclass X {\n  friend X operator!(X x);\n};\n}\n"), (Lines{3}));
  EXPECT_EQ(lines("namespace varve {\ntemplate <typename T>\nT f(T a);\nstruct X {\n  int a = 1;\n};\n}\n"), Lines());
}

TEST(Lint, OnlyIoMakesSystemCalls) {
  expect_none(core_sources({"format", "engine", "api"}), check_system_calls);
}

TEST(Lint, OnlyIoHasThreadsClocksAndRandomness) {
  expect_none(core_sources({"format", "engine", "api"}), check_threads_and_clocks);
}

TEST(Lint, FilesOfTheLayersSayWhatTheyOwnAndStaySmall) {
  expect_none(core_sources({"io", "format", "engine", "api"}), check_head_and_length);
  expect_none(sources_of({"api/rest"}, {".h"}), check_head_and_length);
}

TEST(Lint, EverySourceIncludesItsOwnHeaderFirst) {
  for (const Offence& offence : check_own_header_first(sources_of({"io", "format", "engine", "api"}, kCpp))) {
    ADD_FAILURE() << offence.to_string();
  }
}

TEST(Lint, EveryTypeHasOneDefinition) {
  const std::vector<SourceFile> files = sources_of({"io", "format", "engine", "api"}, kCpp);
  for (const Offence& offence : check_one_definition(files)) ADD_FAILURE() << offence.to_string();
}

/// Checks that a room of api reads and commits through api/commit alone. Only that room takes the locks of a commit, and
/// only core and doors, which open one engine and look after its files, name the engine's own class.
Offences check_one_way_to_commit(const SourceFile& file) {
  Offences offences;
  if (file.path.starts_with("api/commit/") || file.path.starts_with("api/rest/")) return offences;
  const bool may_name_engine = file.path.starts_with("api/core/") || file.path.starts_with("api/doors/");
  for (const Token& token : tokenize(file.text).tokens) {
    if (token.text == "lock_partitions" || (token.text == "Engine" && !may_name_engine)) {
      offences.push_back({file.path, token.line, "'" + token.text + "'; go through api/commit/commit.h"});
    }
  }
  return offences;
}

TEST(Layers, ApiHasOneWayToCommit) {
  expect_none(sources_of({"api"}, kCpp), check_one_way_to_commit);
  EXPECT_EQ(lines_found(check_one_way_to_commit, "api/write/x.cc", "\nauto guard = engine.lock_partitions(hashes);\n"),
            (Lines{2}));
  EXPECT_EQ(lines_found(check_one_way_to_commit, "api/read/x.h", "engine::Engine& engine_;\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_one_way_to_commit, "api/doors/x.cc", "engine::Engine& engine; // lock_partitions\n"),
            (Lines{}));
}

/// A file by its path from the root of the repository. One that is not there is empty.
SourceFile file_at(const std::string& path) {
  std::ifstream in(std::string(VARVE_SOURCE_DIR) + "/" + path, std::ios::binary);
  return {path, {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}};
}

TEST(Lint, InstalledHeadersNameTheirLicence) {
  const std::vector<SourceFile> headers =
      sources_of({"api/include", "api/testing/include", "api/rados/include"}, {".h"});
  EXPECT_GE(headers.size(), 40U);
  for (const SourceFile& header : headers) {
    for (const Offence& offence : check_licence_line(header)) ADD_FAILURE() << offence.to_string();
  }
}

TEST(Lint, TheLicenceIsTheApacheLicence) {
  for (const Offence& offence : check_licence_text(file_at("LICENSE"))) ADD_FAILURE() << offence.to_string();
}

TEST(Lint, TheNoticeNamesEveryLibraryThatIsInstalledForABuild) {
  const SourceFile installer = file_at("tools/install-packages");
  EXPECT_NE(installer.text.find("liburing-dev"), std::string::npos);
  for (const Offence& offence : check_notice(installer, file_at("NOTICE"))) ADD_FAILURE() << offence.to_string();
}

TEST(Lint, LinksInDocumentsLeadToFiles) {
  const std::filesystem::path root = VARVE_SOURCE_DIR;
  std::vector<SourceFile> documents =
      sources_of({"api", "bench", "docs", "engine", "examples", "fuzz", "tests", "tools"}, {".md"});
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == ".md") documents.push_back(file_at(entry.path().filename().string()));
  }
  EXPECT_GE(documents.size(), 10U);
  for (const SourceFile& document : documents) {
    for (const Offence& offence :
         check_links(document, [&root](const std::string& path) { return std::filesystem::exists(root / path); })) {
      ADD_FAILURE() << offence.to_string();
    }
  }
}

/// Checks that a test has a namespace that ends in its own name. Several tests are compiled as one file, so a name of
/// one would otherwise be in the way of the next.
Offences check_test_namespace(const SourceFile& file) {
  if (!file.path.ends_with("_test.cc")) return {};
  const std::string stem = std::filesystem::path(file.path).stem().string();
  const std::size_t place = file.text.find("\nnamespace varve");
  const std::size_t end = file.text.find(" {", place);
  if (end != std::string::npos && file.text.substr(0, end).ends_with("::" + stem)) return {};
  return {{file.path, 1, "has no namespace of its own; put all of it into varve::<room>::" + stem}};
}

TEST(Lint, EveryTestHasANamespaceOfItsOwn) {
  const std::vector<SourceFile> tests = sources_of({"tests"}, {".cc"});
  EXPECT_GE(tests.size(), 400U);
  expect_none(tests, check_test_namespace);
  EXPECT_EQ(lines_found(check_test_namespace, "tests/a/b_test.cc", "\nnamespace varve::a {\nint b_test {}\n"),
            Lines{1});
  EXPECT_EQ(lines_found(check_test_namespace, "tests/a/b_test.cc", "\nnamespace varve::a::b_test {\n"), Lines());
  EXPECT_EQ(lines_found(check_test_namespace, "tests/a/b.cc", "\nint a;\n"), Lines());
}

TEST(Lint, NothingIsLeftUnfinished) {
  expect_none(sources_of({"io", "format", "engine", "api", "examples", "tests", "fuzz", "bench", "tools"}, kAllText),
              check_finished);
}

TEST(LayersRule, FindsIncludesAgainstTheDirection) {
  const std::string text =
      "#include \"io/file.h\"\n"
      "#include \"format/bytes/bytes.h\"\n"
      "#include \"engine/engine.h\"\n"
      "#include \"varve/store.h\"\n"
      "#include \"varve/status.h\"\n"
      "#include \"io/env.h\"\n";
  EXPECT_EQ(lines_found(check_layers, "io/x.cc", text), (Lines{2, 3, 4}));
  EXPECT_EQ(lines_found(check_layers, "format/x.cc", text), (Lines{1, 3, 4, 6}));
  EXPECT_EQ(lines_found(check_layers, "engine/commit/x.cc", text), (Lines{4}));
  EXPECT_EQ(lines_found(check_layers, "api/x.cc", text), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "tests/x.cc", text), (Lines{}));
}

TEST(LayersRule, PublicHeadersNameTheirNeighboursAlone) {
  const std::string text = "#include \"store.h\"\n#include \"../io/env.h\"\n#include \"varve/store.h\"\n";
  EXPECT_EQ(lines_found(check_layers, "api/include/varve/x.h", text), (Lines{2, 3}));
  EXPECT_EQ(lines_found(check_layers, "api/model/x.h", "#include \"store.h\"\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "api/model/x.cc", "#include \"store.h\"\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "engine/x.h", "#include \"engine.h\"\n"), (Lines{1}));
}

TEST(LayersRule, SecurityStandsOnApiAndNobodyStandsOnIt) {
  const std::string text =
      "#include \"varve/security/session.h\"\n"
      "#include \"varve/store.h\"\n"
      "#include \"engine/engine.h\"\n";
  EXPECT_EQ(lines_found(check_layers, "api/security/x.cc", text), (Lines{3}));
  EXPECT_EQ(lines_found(check_layers, "api/encryption/x.cc", text), (Lines{3}));
  EXPECT_EQ(lines_found(check_layers, "api/x.cc", text), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "api/include/varve/x.h", "#include \"security/session.h\"\n"), (Lines{1}));
  const std::string up = "#include \"../types.h\"\n#include \"session.h\"\n#include <varve/types.h>\n";
  EXPECT_EQ(lines_found(check_layers, "api/include/varve/security/x.h", up), (Lines{}));
  EXPECT_EQ(lines_found(check_layers, "api/include/varve/security/x.h",
                        "#include \"../../io/env.h\"\n#include \"../io/env.h\"\n"),
            (Lines{1, 2}));
}

TEST(LayersRule, FindsWaysAroundIt) {
  EXPECT_EQ(lines_found(check_layers, "io/x.cc", "#include \"../format/bytes.h\"\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "io/x.cc", "#include \"io/../format/bytes.h\"\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "io/x.cc", "#  include <format/bytes/bytes.h>\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "io/x.cc", "#include \"file.h\"\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_layers, "api/x.cc", "#include \"tests/support/lint.h\"\n"), (Lines{1}));
}

TEST(LayersRule, NamesFileAndLine) {
  const Offences found = check_layers({"io/x.cc", "\n#include \"format/bytes/bytes.h\"\n"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].to_string(), "io/x.cc:2: may not include \"format/bytes/bytes.h\" from io");
}

TEST(SystemCallRule, FindsCallsHeadersAndFlags) {
  for (const std::string line :
       {"#include <unistd.h>", "#include <fcntl.h>", "#include <sys/stat.h>", "#include <linux/fs.h>",
        "#include <fstream>", "int a = ::open(name, 0);", "return ::whatever(1);", "f(::fsync(3));", "fsync(file);",
        "if (fdatasync(x) != 0) {}", "const auto n = pread(a, b, c, d);", "write(fd, data, size);",
        "return read(fd_, p, 1);", "close(fd);", "g(O_RDONLY);", "std::printf(\"x\");", "io_uring_submit(&ring);",
        "else unlink(name);"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(lines_found(check_system_calls, "engine/x.cc", "\n" + line + "\n"), (Lines{2}));
  }
}

TEST(SystemCallRule, LeavesOurOwnVerbsAlone) {
  for (const std::string line :
       {"Status open(std::string_view name);", "segment->write(offset, bytes, point);", "file.fsync(1);",
        "Result<Store> Store::open(const Options& options) {", "// ::open(name)", "text = \"::open(\";",
        "::new (at) Node();", "close();", "/* fsync(x) */ int y;", "std::span<char>::size_type n;",
        "const char* s = R\"(::open(x))\";", "static Result<int> read(int offset);", "auto x = Foo::unlink(1);",
        "int n = 10'000; char c = '\"'; int m = 2'0;"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(lines_found(check_system_calls, "engine/x.cc", line + "\n"), (Lines{}));
  }
}

TEST(ThreadRule, FindsThreadsLocksClocksAndRandomness) {
  for (const std::string line : {"#include <thread>",
                                 "#include <mutex>",
                                 "#include <condition_variable>",
                                 "#include <random>",
                                 "std::thread t;",
                                 "std::jthread t;",
                                 "std::mutex m;",
                                 "std::lock_guard guard(m);",
                                 "std::condition_variable c;",
                                 "using std::mutex;",
                                 "std::this_thread::yield();",
                                 "auto t = std::chrono::system_clock::now();",
                                 "steady_clock::time_point t;",
                                 "int x = rand();",
                                 "std::random_device d;",
                                 "x = time(nullptr);",
                                 "return std::time(nullptr);",
                                 "using namespace std;",
                                 "pthread_mutex_t m;",
                                 "usleep(5);",
                                 "clock_gettime(0, &t);"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(lines_found(check_threads_and_clocks, "engine/x.cc", "\n" + line + "\n"), (Lines{2}));
  }
}

TEST(ThreadRule, LeavesTheDoorsOfIoAlone) {
  for (const std::string line :
       {"io::Mutex mutex_;", "io::Thread thread;", "env.random.next();", "clock.wall();", "#include <atomic>",
        "std::chrono::nanoseconds wait_max;", "Ticks time(0);", "// std::mutex", "env_.scheduler.yield();"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(lines_found(check_threads_and_clocks, "engine/x.cc", line + "\n"), (Lines{}));
  }
}

TEST(HeadRule, WantsWhatAFileOwnsAndMustNeverDo) {
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.h", "// Owns: a.\n// Must never: b.\n#pragma once\n"), (Lines{}));
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.h", "// Owns: a.\n#pragma once\n// Must never: b.\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.h", "// Owns: a. Must never: b.\n#pragma once\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.h", "// Owns: a.\n// Must never: b.\nint x;\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.cc", "// Owns: a.\nint x;\n"), (Lines{}));
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.cc", "int x;\n// Owns: a.\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_head_and_length, "io/x.cc", ""), (Lines{1}));
}

TEST(HeadRule, LetsALicenceLineStandAboveTheHeadAndNothingElse) {
  const std::string licence = "// SPDX-License-Identifier: Apache-2.0\n";
  const std::string head = "// Owns: a.\n// Must never: b.\n#pragma once\n";
  EXPECT_EQ(lines_found(check_head_and_length, "api/x.h", licence + head), (Lines{}));
  EXPECT_EQ(lines_found(check_head_and_length, "api/x.h", licence + licence + head), (Lines{2}));
  EXPECT_EQ(lines_found(check_head_and_length, "api/x.h", licence + "\n" + head), (Lines{2, 2}));
  EXPECT_EQ(lines_found(check_head_and_length, "api/x.h", "// Copyright: c.\n" + head), (Lines{1}));
  EXPECT_EQ(lines_found(check_head_and_length, "api/x.h", licence + "#pragma once\n"), (Lines{2, 2}));
}

TEST(LicenceRule, WantsTheLicenceOnTheFirstLineOfAnInstalledHeader) {
  const std::string licence = "// SPDX-License-Identifier: Apache-2.0\n";
  const std::string head = "// Owns: a.\n// Must never: b.\n#pragma once\n";
  EXPECT_EQ(lines_found(check_licence_line, "api/x.h", licence + head), (Lines{}));
  EXPECT_EQ(lines_found(check_licence_line, "api/x.h", head), (Lines{1}));
  EXPECT_EQ(lines_found(check_licence_line, "api/x.h", head + licence), (Lines{1}));
  EXPECT_EQ(lines_found(check_licence_line, "api/x.h", "// SPDX-License-Identifier: MIT\n" + head), (Lines{1}));
  EXPECT_EQ(lines_found(check_licence_line, "api/x.h", "// SPDX-License-Identifier: Apache-2.0 OR MIT\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_licence_line, "api/x.h", ""), (Lines{1}));
  EXPECT_EQ(check_licence_line({"api/x.h", head}).at(0).to_string(),
            "api/x.h:1: an installed header must name its licence; put the line "
            "\"// SPDX-License-Identifier: Apache-2.0\" above all others");
}

TEST(LicenceRule, KnowsTheApacheLicenceByEachOfItsBytes) {
  const std::string licence = file_at("LICENSE").text;
  EXPECT_EQ(lines_found(check_licence_text, "LICENSE", licence), (Lines{}));
  EXPECT_EQ(lines_found(check_licence_text, "LICENSE", licence + "\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_licence_text, "LICENSE", ""), (Lines{1}));
  for (std::size_t at = 0; at < licence.size(); ++at) {
    std::string changed = licence;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_EQ(lines_found(check_licence_text, "LICENSE", changed), (Lines{1})) << "byte " << at;
  }
}

TEST(NoticeRule, FindsALibraryThatTheNoticeDoesNotName) {
  const SourceFile installer{"tools/install-packages", "packages=(\n  g++ liba-dev\n  libb-dev  # of the server\n)\n"};
  const auto found = [&installer](std::string notice) {
    Lines lines;
    for (const Offence& offence : check_notice(installer, {"NOTICE", std::move(notice)})) {
      lines.push_back(offence.line);
    }
    return lines;
  };
  EXPECT_EQ(found("A (liba-dev), MIT\nB (libb-dev), MIT\n"), (Lines{}));
  EXPECT_EQ(found("A (liba-dev), MIT\n"), (Lines{3}));
  EXPECT_EQ(found("xliba-dev libb-devel\n"), (Lines{2, 3}));
  EXPECT_EQ(check_notice(installer, {"NOTICE", "liba-dev"}).at(0).to_string(),
            "tools/install-packages:3: installs libb-dev, which NOTICE does not name; add the library there, "
            "with its licence");
}

TEST(HeadRule, WantsAtMostFiveHundredLines) {
  std::string text = "// Owns: lines.\n";
  while (lines_found(check_head_and_length, "io/x.cc", text).empty()) text += "\n";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 501);
}

TEST(OwnHeaderRule, FindsSourcesThatDoNotBeginWithTheirHeader) {
  const SourceFile header{"io/x.h", ""};
  const auto found = [&](std::string text) {
    std::vector<std::size_t> lines;
    for (const Offence& offence : check_own_header_first({header, {"io/x.cc", std::move(text)}})) {
      lines.push_back(offence.line);
    }
    return lines;
  };
  EXPECT_EQ(found("// Owns: a.\n#include \"io/x.h\"\n#include <map>\n"), (Lines{}));
  EXPECT_EQ(found("\n#include <map>\n#include \"io/x.h\"\n"), (Lines{2}));
  EXPECT_EQ(found("#include \"io/y.h\"\n"), (Lines{1}));
  EXPECT_EQ(found("int x;\n"), (Lines{1}));
  EXPECT_TRUE(check_own_header_first({{"io/z.cc", "#include <map>\n"}}).empty());
  const SourceFile public_header{"api/include/varve/x.h", ""};
  EXPECT_EQ(check_own_header_first({public_header, {"api/doors/x.cc", "#include \"api/doors/y.h\"\n"}}).size(), 1U);
  EXPECT_TRUE(check_own_header_first({public_header, {"api/doors/x.cc", "#include \"varve/x.h\"\n"}}).empty());
}

TEST(OneDefinitionRule, FindsASecondTypeOfOneNameInOneNamespace) {
  const auto found = [](std::string first, std::string second) {
    return check_one_definition({{"api/a.h", std::move(first)}, {"api/b.h", std::move(second)}}).size();
  };
  const std::string job = "namespace varve::engine {\nclass Job final : public Base {\n  int x;\n};\n}\n";
  EXPECT_EQ(found(job, job), 1u);
  EXPECT_EQ(found(job, "namespace varve {\nnamespace engine {\nstruct Job { };\n}\n}\n"), 1u);
  EXPECT_EQ(found(job, "namespace varve::engine {\nclass Job;\nvoid f(class Job& job);\n}\n"), 0u);
  EXPECT_EQ(found(job, "namespace varve {\nclass Job {};\n}\n"), 0u);
  EXPECT_EQ(found(job, "namespace varve::engine {\nnamespace {\nclass Job {};\n}\n}\n"), 0u);
  EXPECT_EQ(found(job, "namespace varve::engine {\nclass Tree {\n  struct Job {};\n};\n}\n"), 0u);
  EXPECT_EQ(found(job, "namespace varve::engine {\nstruct Tree::Job {};\n}\n"), 0u);
  EXPECT_EQ(found(job, "namespace varve::engine {\ntemplate <class Job>\nint f() { return 1; }\n}\n"), 0u);
  EXPECT_EQ(found("template <typename T>\nclass Box {};\n", "template <>\nclass Box<int> {};\n"), 0u);
}

TEST(LinkRule, FindsLinksToWhatDoesNotExist) {
  const auto found = [](std::string path, std::string text) {
    Lines lines;
    const auto exists = [](const std::string& asked) { return asked == "A.md" || asked == "docs/B.md"; };
    for (const Offence& offence : check_links({std::move(path), std::move(text)}, exists)) {
      lines.push_back(offence.line);
    }
    return lines;
  };
  EXPECT_EQ(found("A.md", "[b](docs/B.md)\n![b](docs/B.md#part) [a](A.md)\n"), (Lines{}));
  EXPECT_EQ(found("docs/B.md", "[a](../A.md)\n[b](B.md)\n[part](#part)\n[web](https://example.com/x)\n"), (Lines{}));
  EXPECT_EQ(found("A.md", "```cpp\nstart([](auto entity) {});\n```\n[b](B.md)\n"), (Lines{4}));
  EXPECT_EQ(found("A.md", "\n[b](B.md)\n"), (Lines{2}));
  EXPECT_EQ(found("docs/B.md", "[a](A.md)\n"), (Lines{1}));
  EXPECT_EQ(found("A.md", "[a](A.md) [c](C.md#part)"), (Lines{1}));
  EXPECT_EQ(check_links({"A.md", "[b](B.md)\n"}, [](const std::string&) { return false; }).at(0).to_string(),
            "A.md:1: links to B.md, which does not exist; correct the path or remove the link");
}

TEST(FinishedRule, FindsMarksOfUnfinishedWorkAndMissingNewlines) {
  const std::string mark = std::string("// TO") + "DO later\n";
  EXPECT_EQ(lines_found(check_finished, "io/x.cc", "int x;\n" + mark), (Lines{2}));
  EXPECT_EQ(lines_found(check_finished, "io/x.cc", std::string("f(); // FIX") + "ME\n"), (Lines{1}));
  EXPECT_EQ(lines_found(check_finished, "io/x.cc", "int x;\nint y;"), (Lines{2}));
  EXPECT_EQ(lines_found(check_finished, "io/x.cc", "int x;\n"), (Lines{}));
}

}  // namespace
}  // namespace varve::test::layers_test
