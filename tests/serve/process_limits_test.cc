// Goal: a server's allotments fit the limits of its process, or it reports the required limit.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/io/temporary_directory.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/transport/descriptor_plan.h"
#include "tools/serve/transport/memory_plan.h"
#include "tools/serve/transport/secret_file.h"

namespace varve::serve::process_limits_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class Directory {
 public:
  std::string path(const std::string& name = "") const { return directory_.path() + name; }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
  }

 private:
  const io::TemporaryDirectory directory_;
};

TEST(DescriptorPlan, NeverGivesMoreThanThereIsAndTheStoreHasItsPartFirst) {
  for (const unsigned threads : {1U, 2U, 8U, 16U}) {
    for (std::uint64_t limit = 0; limit < 20'000; limit += 1 + limit / 64) {
      const Result<DescriptorPlan> plan = plan_descriptors(limit, threads);
      if (!plan.ok()) {
        EXPECT_EQ(plan.code(), Code::kTooManyFiles);
        EXPECT_LT(limit, 128U);
        continue;
      }
      EXPECT_LE(plan->process + plan->store + plan->watch + plan->operators + plan->connections, limit);
      EXPECT_GE(plan->operators, 1U);
      EXPECT_GE(plan->store, kStoreDescriptorsMin);
      EXPECT_GE(plan->watch, 4U);
      EXPECT_GE(plan->connections, 2U);
    }
  }
}

TEST(DescriptorPlan, ARefusalNamesTheLimitThatIsEnough) {
  const std::string text = plan_descriptors(32, 2).status().to_string();
  const std::size_t place = text.find("needs at least ");
  ASSERT_NE(place, std::string::npos) << text;
  const std::uint64_t needed = std::stoull(text.substr(place + 15));
  EXPECT_TRUE(plan_descriptors(needed, 2).ok());
  EXPECT_FALSE(plan_descriptors(needed - 1, 2).ok());
}

TEST(MemoryPlan, SizesAreRead) {
  EXPECT_EQ(*parse_size("1"), 1U);
  EXPECT_EQ(*parse_size("64K"), 64U << 10);
  EXPECT_EQ(*parse_size("512MiB"), 512 * kMiB);
  EXPECT_EQ(*parse_size("512mb"), 512 * kMiB);
  EXPECT_EQ(*parse_size("2G"), 2048 * kMiB);
  for (const char* const bad : {"", "0", "-1", "M", "1X", "1MM", "1Mi", "1MiBs", "1.5G", " 1", "99999999999T"}) {
    EXPECT_EQ(parse_size(bad).code(), Code::kInvalidArgument) << bad;
  }
}

TEST(MemoryPlan, PartsAreWithinWhatThereIs) {
  for (std::uint64_t bytes = kMemoryMin; bytes < (std::uint64_t{1} << 40); bytes += bytes / 3) {
    for (const bool is_asked : {false, true}) {
      const auto given = std::optional<std::uint64_t>(bytes);
      const Result<MemoryPlan> plan = is_asked ? plan_memory(given, std::nullopt) : plan_memory(std::nullopt, given);
      ASSERT_TRUE(plan.ok());
      EXPECT_LE(plan->block_cache + plan->write_buffer + plan->bodies + (plan->connections << 16), bytes);
      EXPECT_GE(plan->bodies, 8 * kMiB) << "two bodies of the largest size";
      EXPECT_TRUE(is_asked || plan->bodies <= 256 * kMiB);
    }
  }
  EXPECT_THAT(plan_memory(kMiB, std::nullopt).status().to_string(), HasSubstr("48 MiB"));
  EXPECT_EQ((*plan_memory(std::nullopt, std::nullopt)).bodies, 256 * kMiB);
}

TEST(MemoryPlan, TheLeastLimitOfAllGroupsCounts) {
  const auto with = [](const std::string& groups, const std::vector<std::pair<std::string, std::string>>& files) {
    const Directory root;
    root.write("/proc/self/cgroup", groups);
    for (const auto& [name, content] : files) root.write("/sys/fs/cgroup" + name, content);
    return memory_limit(root.path()).value_or(0);
  };
  EXPECT_EQ(with("", {}), 0U);
  EXPECT_EQ(with("0::/\n", {{"/memory.max", "max\n"}}), 0U);
  EXPECT_EQ(with("0::/a/b\n", {{"/a/b/memory.max", "max\n"}, {"/a/memory.max", "1000\n"}}), 1000U);
  EXPECT_EQ(with("0::/a/b\n", {{"/a/b/memory.max", "500\n"}, {"/a/memory.max", "1000\n"}}), 500U);
  EXPECT_EQ(with("0::/a/b\n", {{"/a/b/memory.high", "400\n"}, {"/a/memory.max", "1000\n"}}), 400U);
  EXPECT_EQ(with("0::/of/the/host\n", {{"/memory.max", "300\n"}}), 300U) << "as within a container";
  EXPECT_EQ(with("5:cpu,memory:/a\n0::/\n", {{"/memory/a/memory.limit_in_bytes", "700\n"}}), 700U);
  EXPECT_EQ(with("5:memory:/a\n", {{"/memory/a/memory.limit_in_bytes", "9223372036854771712\n"},
                                   {"/memory/memory.limit_in_bytes", "900\n"}}),
            900U);
  EXPECT_EQ(with("5:memoryless:/a\n", {{"/memory/a/memory.limit_in_bytes", "700\n"}}), 0U);
}

TEST(SecretFiles, AreTakenUnlessTheyAreOpenToEverybody) {
  const Directory directory;
  directory.write("/key", "secret");
  const std::string path = directory.path("/key");
  for (unsigned mode = 0400; mode <= 0777; ++mode) {
    if ((mode & 0400) == 0) continue;
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const Result<std::string> read = read_secret_file("the key", path);
    EXPECT_EQ(read.ok(), (mode & 06) == 0) << std::oct << mode;
    EXPECT_TRUE(read_public_file("the certificate", path).ok());
    if (read.ok()) continue;
    EXPECT_THAT(read.status().to_string(), HasSubstr("chmod o= '" + path + "'"));
  }
  EXPECT_THAT(read_public_file("the certificate", directory.path("/gone")).status().to_string(),
              HasSubstr("the certificate \"" + directory.path("/gone") + "\" does not exist"));
  EXPECT_FALSE(read_secret_file("the key", directory.path()).ok());
  EXPECT_FALSE(read_public_file("the certificate", "/dev/zero").ok());
}

TEST(AddressKeys, AreOfWhatOneClientHas) {
  EXPECT_EQ(address_key("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(address_key("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(address_key("2001:db8:1:2:3:4:5:6"), address_key("2001:db8:1:2::9"));
  EXPECT_NE(address_key("2001:db8:1:2::1"), address_key("2001:db8:1:3::1"));
  EXPECT_EQ(address_key("fe80::1%eth0"), address_key("fe80::2"));
}

}  // namespace
}  // namespace varve::serve::process_limits_test
