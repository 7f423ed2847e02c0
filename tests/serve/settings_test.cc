// Goal: the options of a server are read from its configuration file as they are from its command line. Every fault of
// the file is refused with its line.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/tools/run_program.h"
#include "tools/serve/settings/account_keys.h"
#include "tools/serve/settings/config_text.h"
#include "tools/serve/settings/load_settings.h"
#include "tools/serve/settings/nearest_name.h"
#include "tools/serve/settings/option_values.h"

namespace varve::serve::settings_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Returns the message with which a configuration is refused. Empty if it is valid.
std::string refusal(const std::string& text) {
  const Result<Settings> read = parse_config(text, "serve.toml");
  return read.ok() ? std::string() : std::string(read.status().message());
}

/// Returns a valid value of each option, as TOML.
std::string example_of(const OptionRule& rule) {
  switch (rule.id) {
    case OptionId::kListen:
    case OptionId::kListenQueues:
    case OptionId::kListenBlobs:
    case OptionId::kMetrics: return "\"[::1]:9464\"";
    case OptionId::kDeadLetter: return "[\"shop/orders:5:orders-failed\"]";
    case OptionId::kLocalCache: return "\"/var/cache/varve:20G\"";
    case OptionId::kMemory: return "\"512MiB\"";
    case OptionId::kAccount: return "[\"shop:@/etc/varve/shop.key\", \"other:env=OTHER_KEY\"]";
    case OptionId::kDrainSeconds: return "45";
    default: return rule.choices.empty() ? "\"/srv/a \\\"b\\\"\"" : "\"" + std::string(rule.choices.back()) + "\"";
  }
}

TEST(Config, HasEveryOptionOfTheCommandLine) {
  std::string text = "# a comment\n";
  for (const OptionRule& rule : option_rules()) text += std::string(rule.name) + " = " + example_of(rule) + "\n";
  const Result<Settings> read = parse_config(text, "serve.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  std::size_t line = 2;
  for (const OptionRule& rule : option_rules()) {
    ASSERT_TRUE((*read).has(rule.id)) << rule.name;
    EXPECT_EQ((*read).place(rule.id), "serve.toml:" + std::to_string(line)) << rule.name;
    ++line;
  }
  EXPECT_EQ((*read).text(OptionId::kData), "/srv/a \"b\"");
  EXPECT_EQ((*read).text(OptionId::kDrainSeconds), "45");
  EXPECT_EQ((*read).all(OptionId::kAccount).size(), 2U);
}

TEST(Config, ThatIsPrintedIsReadBackWithEqualValues) {
  std::string text;
  for (const OptionRule& rule : option_rules()) text += std::string(rule.name) + " = " + example_of(rule) + "\n";
  const Result<Settings> first = parse_config(text, "first.toml");
  ASSERT_TRUE(first.ok());
  const Result<std::string> printed = config_text(*first);
  ASSERT_TRUE(printed.ok());
  const Result<Settings> second = parse_config(*printed, "second.toml");
  ASSERT_TRUE(second.ok()) << second.status().to_string() << *printed;
  for (const OptionRule& rule : option_rules()) EXPECT_TRUE((*first).equals(*second, rule.id)) << rule.name;
  // Without values, the defaults are printed, and the other options are comments.
  const Result<std::string> defaults = config_text(Settings());
  ASSERT_TRUE(defaults.ok());
  const Result<Settings> third = parse_config(*defaults, "third.toml");
  ASSERT_TRUE(third.ok()) << third.status().to_string();
  for (const OptionRule& rule : option_rules()) {
    EXPECT_EQ((*third).has(rule.id), !rule.standard.empty()) << rule.name;
    EXPECT_THAT(*defaults, HasSubstr(std::string(rule.name) + " = ")) << rule.name;
  }
}

TEST(Config, IsPrintedWithoutKeys) {
  Settings settings;
  const std::string key(kKey);
  for (const std::string& definition : {"one:" + key, "two:" + key + ":" + key, key, ":" + key}) {
    settings.add(OptionId::kAccount, {definition});
  }
  settings.add(OptionId::kAccount, {"three:@/etc/key"});
  const Result<std::string> printed = config_text(settings);
  ASSERT_TRUE(printed.ok());
  EXPECT_THAT(*printed, AllOf(HasSubstr("\"one:***\", \"two:***\""), HasSubstr("\"three:@/etc/key\"")));
  EXPECT_THAT(*printed, Not(HasSubstr(key.substr(8))));
  EXPECT_THAT(refusal("account = [\"one:***\"]"), HasSubstr("was masked"));
}

TEST(Config, ThatIsNotUtf8IsNotPrinted) {
  Settings settings;
  settings.add(OptionId::kData, {"/srv/\xFF"});
  EXPECT_EQ(config_text(settings).status().code(), Code::kInvalidArgument);
}

TEST(Config, UnknownOptionsAreRefusedWithTheNameThatWasMeant) {
  EXPECT_EQ(refusal("data = \"x\"\nlisten-on = \"127.0.0.1:1\"\n"),
            "serve.toml:2: there is no option \"listen-on\"; did you mean \"listen\"?");
  EXPECT_EQ(refusal("\n\n[server]\ndata = \"x\"\n"), "serve.toml:3: there is no option \"server\"");
  EXPECT_THAT(refusal("config = \"x\""), HasSubstr("command line only"));
  for (const OptionRule& rule : option_rules()) {
    const std::string name(rule.name);
    std::string swapped = name;
    std::swap(swapped[1], swapped[2]);
    std::string shouted = name;
    for (char& c : shouted) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    for (const std::string& wrong : {name.substr(1), name + "s", swapped, shouted}) {
      if (wrong == name) continue;
      EXPECT_EQ(nearest_option(wrong), name) << wrong;
    }
  }
  EXPECT_EQ(nearest_option("tls_cert"), "tls-cert");
  EXPECT_EQ(nearest_option("lisem"), "listen");
  EXPECT_EQ(nearest_option("colour"), "");
  EXPECT_EQ(nearest_option(std::string(100'000, 'x')), "");
}

TEST(Config, WrongTypesAreRefusedWithTheirLine) {
  for (const OptionRule& rule : option_rules()) {
    for (const std::string value : {"1.5", "true", "1979-05-27", "{}", "[1]", "[[]]", "[\"x\", 2]"}) {
      const std::string text = "\n" + std::string(rule.name) + " = " + value + "\n";
      EXPECT_THAT(refusal(text), AllOf(StartsWith("serve.toml:2: "), HasSubstr(" must be "))) << text;
    }
  }
  EXPECT_THAT(refusal("memory = 512"), HasSubstr("memory must be a text: memory = \"SIZE\""));
  EXPECT_THAT(refusal("drain-seconds = \"5\""), HasSubstr("drain-seconds must be a whole number"));
  EXPECT_THAT(refusal("account = \"a:@b\""), HasSubstr("account must be a list of texts"));
}

TEST(Config, InvalidValuesAreRefusedWithTheirLine) {
  const std::vector<std::string> wrong = {"data = \"\"",
                                          "data = \"a\\u0000b\"",
                                          "listen = \"10002\"",
                                          "listen = \"localhost:10002\"",
                                          "listen = \"127.0.0.1:70000\"",
                                          "listen = \"127.0.0.1:\"",
                                          "metrics = \":1\"",
                                          "memory = \"much\"",
                                          "memory = \"1M\"",
                                          "status-page = \"on\"",
                                          "request-log = \"ALL\"",
                                          "log-format = \"xml\"",
                                          "drain-seconds = 2",
                                          "drain-seconds = 3601",
                                          "drain-seconds = -9223372036854775808",
                                          "listen-queues = \"10001\"",
                                          "dead-letter = [\"orders:5:failed\"]",
                                          "dead-letter = [\"shop/orders:5\"]",
                                          "dead-letter = [\"shop/orders:0:failed\"]",
                                          "dead-letter = [\"shop/orders:1000001:failed\"]",
                                          "dead-letter = [\"shop/orders:five:failed\"]",
                                          "dead-letter = [\"shop/orders:5:orders\"]",
                                          "dead-letter = [\"shop/Orders:5:failed\"]",
                                          "dead-letter = [\"S/orders:5:failed\"]",
                                          "account = [\"shop\"]",
                                          "account = [\":@file\"]",
                                          "tls-key = \"\""};
  for (const std::string& line : wrong) {
    const std::string name = line.substr(0, line.find(' '));
    EXPECT_THAT(refusal("# first\n" + line + "\n"), StartsWith("serve.toml:2: " + name + ": ")) << line;
  }
}

TEST(Config, ThatIsNotTomlIsRefusedWithItsLine) {
  for (const std::string line : {"data", "data = ", "data = x", "data = \"x", "data = 'a' 'b'", "[data", "= 1",
                                 "\xFF = 1", "data = \"\xC3\"", "listen = \"\"\"\n"}) {
    EXPECT_THAT(refusal("metrics = \"127.0.0.1:1\"\n" + line), StartsWith("serve.toml:")) << line;
  }
  EXPECT_THAT(refusal("data = \"a\"\ndata = \"b\"\n"), StartsWith("serve.toml:2: "));
  EXPECT_THAT(refusal("data = " + std::string(100'000, '[')), StartsWith("serve.toml:1: "));
}

/// One character of each range that the parser asks whether it is white space.
TEST(Config, LettersOutsideOfTextsAreRefusedWithTheirLine) {
  for (const std::string letter : {"\u00E9", "\u0500", "\u0900", "\u1700", "\u2100", "\u2F00", "\u4E00", "\uFF21"}) {
    EXPECT_THAT(refusal("\n" + letter + " = 1\n"), StartsWith("serve.toml:2:")) << letter;
    EXPECT_THAT(refusal("\nlisten " + letter + "= \"[::1]:1\"\n"), StartsWith("serve.toml:2:")) << letter;
    EXPECT_EQ(refusal("data = \"" + letter + "\"\n"), "") << letter;
  }
}

TEST(Config, TheFirstFaultIsReported) {
  EXPECT_THAT(refusal("zebra = 1\nlisten = 2\nbear = 3\n"), StartsWith("serve.toml:1: "));
}

class SettingFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content, mode_t mode) {
    const std::string path = scratch_.file(name, content);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  /// Returns the message of the refusal, or an empty text.
  static std::string refusal_of(const SettingSources& sources) {
    const Result<Settings> loaded = load_settings(sources);
    return loaded.ok() ? std::string() : std::string(loaded.status().message());
  }
  varve::test::ScratchDirectory scratch_;
};

TEST_F(SettingFiles, TheCommandLineWinsOverTheFile) {
  SettingSources sources;
  sources.config = file("serve.toml", "data = \"a\"\nmemory = \"1G\"\naccount = [\"one:@x\", \"two:@y\"]\n", 0644);
  sources.command_line.add(OptionId::kMemory, {"2G"});
  sources.command_line.add(OptionId::kAccount, {"three:@z"});
  const Result<Settings> loaded = load_settings(sources);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ((*loaded).text(OptionId::kData), "a");
  EXPECT_EQ((*loaded).text(OptionId::kMemory), "2G");
  ASSERT_EQ((*loaded).all(OptionId::kAccount).size(), 1U);
  EXPECT_EQ((*loaded).text(OptionId::kAccount), "three:@z");
}

TEST_F(SettingFiles, AFileWithAKeyMustBeHidden) {
  const std::string with_key = "data = \"a\"\naccount = [\"one:@x\", \"two:" + std::string(kKey) + "\"]\n";
  for (const mode_t mode : {0600U, 0640U, 0644U, 0602U}) {
    SettingSources sources;
    sources.config = file("serve.toml", with_key, mode);
    const bool is_open = (mode & 06) != 0;
    EXPECT_EQ(load_settings(sources).ok(), !is_open) << std::oct << mode;
    if (!is_open) continue;
    EXPECT_THAT(refusal_of(sources), AllOf(StartsWith(sources.config + ":2: "), HasSubstr("chmod o=")));
    EXPECT_THAT(refusal_of(sources), Not(HasSubstr(std::string(kKey).substr(8))));
  }
}

TEST_F(SettingFiles, FilesThatCannotBeReadAndPipesWithoutAWriterAreRefused) {
  EXPECT_THAT(refusal_of({{}, scratch_.path("gone")}), HasSubstr("does not exist"));
  EXPECT_THAT(refusal_of({{}, scratch_.path("")}), HasSubstr("is not a file"));
  EXPECT_THAT(refusal_of({{}, file("large", std::string((1U << 20) + 1, '#'), 0600)}), HasSubstr("too large"));
  ASSERT_EQ(::mkfifo(scratch_.path("pipe").c_str(), 0600), 0);
  SettingSources sources;
  sources.command_line.add(OptionId::kAccount, {"one:@" + scratch_.path("pipe")});
  const Result<Settings> loaded = load_settings(sources);
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(read_accounts(*loaded).ok()) << "no key, and no wait for one";
}

TEST_F(SettingFiles, KeysComeFromFilesAndFromTheEnvironment) {
  ASSERT_EQ(::setenv("VARVE_TEST_KEY", (std::string(kKey) + "\n").c_str(), 1), 0);
  const auto read = [](const std::string& definition, const std::string& place) {
    Settings settings;
    settings.add(OptionId::kAccount, {definition, place});
    return read_accounts(settings);
  };
  EXPECT_TRUE(read("one:env=VARVE_TEST_KEY", "").ok());
  EXPECT_TRUE(read("one:@" + file("key", kKey, 0600), "").ok());
  EXPECT_TRUE((*read("one:@" + file("key", kKey, 0600), "")).warnings.empty());
  EXPECT_EQ((*read("one:" + std::string(kKey), "")).warnings.size(), 1U) << "seen on the command line";
  EXPECT_TRUE((*read("one:" + std::string(kKey), "serve.toml:1")).warnings.empty());
  for (const char* const definition :
       {"one:env=VARVE_TEST_NONE", "one:@/nowhere", "one:no key", "o:env=VARVE_TEST_KEY"}) {
    const Result<ReadAccounts> refused = read(definition, "serve.toml:7");
    ASSERT_FALSE(refused.ok()) << definition;
    EXPECT_THAT(std::string(refused.status().message()), StartsWith("serve.toml:7: ")) << definition;
  }
  EXPECT_THAT(std::string(read("one:file=key", "").status().message()), HasSubstr("account one: "));
  EXPECT_THAT(std::string(read("one:file=key", "").status().message()), HasSubstr("NAME:@FILE"));
  const std::string no_key = file("no_key", "no key", 0600);
  EXPECT_THAT(std::string(read("one:@" + no_key, "").status().message()), HasSubstr(no_key));
}

TEST_F(SettingFiles, OptionsThatNeedEachOtherAreAskedForTogether) {
  const auto complete = [](std::initializer_list<OptionId> given) {
    Settings settings;
    for (const OptionId id : given) settings.add(id, {"x"});
    return check_complete(settings).ok();
  };
  EXPECT_FALSE(complete({}));
  EXPECT_TRUE(complete({OptionId::kData}));
  EXPECT_FALSE(complete({OptionId::kData, OptionId::kTlsCert}));
  EXPECT_FALSE(complete({OptionId::kData, OptionId::kTlsKey}));
  EXPECT_TRUE(complete({OptionId::kData, OptionId::kTlsKey, OptionId::kTlsCert}));
}

// Returns the table of docs/server.md, in Markdown.
std::string options_markdown() {
  std::string text = "| option | meaning | default | reload |\n|---|---|---|---|\n";
  for (const OptionRule& rule : option_rules()) {
    text.append("| `--").append(rule.name).append(" ").append(rule.form).append("` | ").append(rule.help).append(" | ");
    if (!rule.standard.empty()) text.append("`").append(rule.standard).append("`");
    text.append(" | ").append(rule.is_live ? "yes" : "restart").append(" |\n");
  }
  return text;
}

TEST(OptionTable, IsTheOneInTheDocument) {
  const std::string document = varve::test::content_of(std::filesystem::path(VARVE_SOURCE_DIR) / "docs" / "server.md");
  EXPECT_THAT(document, HasSubstr(options_markdown())) << "replace the table of options in docs/server.md by this text";
}

TEST(OptionTable, TheDefaultsAndChoicesAreValid) {
  for (const OptionRule& rule : option_rules()) {
    if (!rule.standard.empty()) {
      EXPECT_TRUE(check_value(rule, std::string(rule.standard)).ok()) << rule.name;
    }
    for (const std::string_view choice : rule.choices) EXPECT_TRUE(check_value(rule, std::string(choice)).ok());
    EXPECT_EQ(find_option(rule.name), &rule);
    EXPECT_EQ(&rule_of(rule.id), &rule);
  }
}

}  // namespace
}  // namespace varve::serve::settings_test
