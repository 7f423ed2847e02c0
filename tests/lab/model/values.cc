#include "tests/lab/model/values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <limits>

#include "io/simulated/manual_clock.h"
#include "tests/api/filter/slow_filter.h"
#include "varve/limits.h"

namespace varve::lab {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

const std::string kFace = "\xF0\x9F\x98\x80";       // U+1F600: two code units, which sort before U+E000
const std::string kPrivate = "\xEE\x80\x80";        // U+E000
const std::string kLastUnit = "\xEF\xBF\xBF";       // U+FFFF
const std::string kFirstPair = "\xF0\x90\x80\x80";  // U+10000

std::vector<KeyText> make_keys() {
  std::vector<KeyText> keys;
  for (const std::string& text : {std::string("a"),
                                  std::string(""),
                                  std::string("ab"),
                                  std::string("b"),
                                  std::string("\xC3\xA9"),
                                  kPrivate,
                                  kFace,
                                  std::string("z z"),
                                  std::string("'"),
                                  std::string("%"),
                                  kLastUnit,
                                  kFirstPair,
                                  "a" + kFace,
                                  "a" + kPrivate,
                                  std::string("a "),
                                  std::string("A"),
                                  repeated("x", limits::kKeyCodeUnitsMax),
                                  repeated(kFace, limits::kKeyCodeUnitsMax / 2),
                                  repeated("x", limits::kKeyCodeUnitsMax - 1) + kPrivate,
                                  repeated(kLastUnit, limits::kKeyCodeUnitsMax),
                                  kLastUnit + kLastUnit,
                                  std::string("!"),
                                  std::string("0001"),
                                  std::string("0002")}) {
    keys.push_back({text, KeyProblem::kNone});
  }
  keys.push_back({repeated("x", limits::kKeyCodeUnitsMax + 1), KeyProblem::kTooLong});
  keys.push_back({std::string("a\0b", 3), KeyProblem::kForbidden});
  keys.push_back({"a/b", KeyProblem::kForbidden});
  return keys;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// One number in kRare belongs to a large entity.
constexpr std::uint32_t kRare = 128;
enum class Large : std::uint8_t { kNone, kLongString, kManyProperties, kTooManyProperties, kLongBinary, kWide };

Large large_of(std::uint32_t number) {
  switch (number % kRare) {
    case 1: return Large::kLongString;
    case 2: return Large::kManyProperties;
    case 3: return Large::kTooManyProperties;
    case 4: return Large::kLongBinary;
    case 5: return Large::kWide;
    default: return Large::kNone;
  }
}

/// Sets the properties that were added later. No end is near another one or near a multiple of a minute after the
/// beginning of a run, where the clock's jumps lead.
void set_later(Entity& entity, std::uint32_t number) {
  constexpr std::array<std::uint64_t, 7> kMinutes = {1, 20, 45, 130, 600, 3000, 9000};
  constexpr std::uint64_t kHalfMinute = 30 * io::kTicksPerSecond;
  if (number % 4 != 0) entity.set("Tag", tag_value(number / 4));
  if (number % 3 != 0) return;
  const std::uint64_t minutes = kMinutes[number / 3 % kMinutes.size()];
  entity.set("Until", DateTime{io::ManualClock::kDefaultWall + (2 * minutes + 1) * kHalfMinute});
}

void add_numbered(Entity& entity, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) entity.add("N" + std::to_string(i), static_cast<std::int32_t>(i));
}

}  // namespace

std::string account_name(std::uint32_t number) {
  return number % kAccounts == 0 ? "first" : "second";
}

TableName table_name(std::uint32_t number) {
  const std::uint32_t table = number % kTables;
  const std::string name = "Table" + std::to_string(table);
  return {account_name(table < 4 ? 0 : 1), number / kTables % 2 == 1 ? upper_case(name) : name, lower_case(name)};
}

const KeyText& key_of(std::uint32_t number) {
  static const std::vector<KeyText> keys = make_keys();
  return keys[number % keys.size()];
}

Value tag_value(std::uint32_t number) {
  constexpr std::uint32_t kTags = 400;
  const auto tag = static_cast<std::int32_t>(number % kTags);
  if (tag < 2) return Value(0.0);
  if (tag < 3) return Value(-0.0);
  if (tag < 12) return Value(std::numeric_limits<double>::quiet_NaN());
  if (tag < 16) return Value(std::string(257 + static_cast<std::size_t>(tag) % 2, 'l'));
  if (tag < 20) return Value(Binary{std::string(256, static_cast<char>('a' + tag % 2))});
  if (tag < 60) return Value("tag " + std::to_string(tag / 2));
  if (tag < 100) return Value(std::int64_t{tag});
  return Value(tag < 140 ? tag - 40 : tag);
}

Entity entity_of(const std::string& partition, const std::string& row, std::uint32_t number) {
  test::RandomEngine random(number);
  Entity entity(partition, row);
  const Entity drawn = test::random_entity(random);
  for (const Property& property : drawn.properties()) entity.add(property.name, property.value);
  switch (large_of(number)) {
    case Large::kNone:
      if (number >= kLater) set_later(entity, number);
      break;
    case Large::kLongString: entity.set("S", std::string(limits::kStringCodeUnitsMax, 's')); break;
    case Large::kManyProperties: add_numbered(entity, limits::kCustomPropertiesMax - entity.properties().size()); break;
    case Large::kTooManyProperties:
      add_numbered(entity, limits::kCustomPropertiesMax + 1 - entity.properties().size());
      break;
    case Large::kLongBinary: entity.set("Y", Binary{std::string(limits::kBinaryBytesMax, '\x80')}); break;
    case Large::kWide: entity.set("W", std::string(3000, static_cast<char>('a' + number / kRare % 26))); break;
  }
  return entity;
}

std::uint32_t plain_entity(std::uint32_t number) {
  return large_of(number) == Large::kNone || large_of(number) == Large::kWide ? number : number - number % kRare;
}

WriteOperation patch_of(const std::string& partition, const std::string& row, std::uint32_t number) {
  constexpr std::array<std::int32_t, 5> kCounts = {1, 7, -3, 1'000'000'000, -2'000'000'000};
  Patch patch(partition, row);
  patch.increment("Count", kCounts[number % kCounts.size()]);
  test::RandomEngine random(number);
  for (const Property& property : test::random_entity(random).properties()) {
    const std::uint32_t use = random() % 8;
    if (use < 3) patch.set(property.name, property.value);
    if (use == 3 || use == 4) patch.remove(property.name);
    if (use == 5 && number % 3 == 0) patch.increment(property.name, std::int64_t{5});
    if (use == 6 && number % 3 == 0) patch.increment(property.name, 0.5);
  }
  if (number >= kLater && number % 3 == 0) patch.set("Tag", tag_value(number / 3));
  if (number % 4 == 1) return WriteOperation::insert_or_patch(patch);
  if (number % 4 == 2) patch.only_if("Count ge " + std::to_string(number % 9));
  return WriteOperation::patch(patch, ETag());
}

std::string tag_of(std::uint32_t entity) {
  return entity % 5 == 4 ? "tag " + std::to_string(entity) : std::string();
}

ScanRange range_of(std::uint32_t number) {
  const std::uint32_t kind = number % 8;
  const std::string first = key_of(number / 8).text;
  const std::string second = key_of(number / 8 / kKeys).text;
  const std::string third = key_of(number / 8 / kKeys / kKeys).text;
  switch (kind) {
    case 0:
    case 1: return ScanRange::whole_table();
    case 2: return ScanRange::partition(first);
    case 3: return ScanRange::rows(first, second);
    case 4: return ScanRange::rows(first, second, third);
    case 5: return ScanRange::rows_with_prefix(first, second);
    case 6: return ScanRange::partitions(first);
    default: return ScanRange::partitions(first, second);
  }
}

Condition condition_of(std::uint32_t number) {
  constexpr std::array<Condition, 6> kConditions = {Condition::kAny, Condition::kCurrent, Condition::kCurrent,
                                                    Condition::kOld, Condition::kAny,     Condition::kNone};
  return kConditions[number % kConditions.size()];
}

std::vector<AccessPolicy> policies_of(std::uint32_t number) {
  std::vector<AccessPolicy> policies;
  for (std::uint32_t i = 0; i < number % (limits::kAccessPoliciesMax + 1); ++i) {
    AccessPolicy policy;
    policy.id = "policy " + std::to_string(number) + " " + std::to_string(i);
    if (number / 8 % 2 == 1) policy.start = DateTime{638'000'000'000'000'000U + number};
    if (number / 16 % 2 == 1) policy.expiry = DateTime{639'000'000'000'000'000U + number};
    if (number / 32 % 2 == 1) policy.permissions = Permissions{Permission::kQuery, Permission::kRemove};
    policies.push_back(std::move(policy));
  }
  return policies;
}

const std::vector<std::string>& selection() {
  static const std::vector<std::string> names = {"A", "Fluss_", "NotThere", "N7"};
  return names;
}

IndexDefinition index_of(std::uint32_t number) {
  if (number >= kLater) {
    switch (number % 3) {
      case 0: return {"Only", {{"Tag"}}, {}, true};
      case 1: return {"Only", {{"Tag", true}, {"RowKey"}}, {"A"}, true};
      default: return {"OnlyInPartition", {{"PartitionKey"}, {"Tag"}}, {}, true};
    }
  }
  const bool is_first = number / 4 % 2 == 0;
  switch (number % 4) {
    case 0: return {"First", {{is_first ? "A" : "B"}, {"Timestamp", is_first}}, {"A", "C", "Fluss_", "N7", "NotThere"}};
    case 1: return {"Second", {{"C", is_first}, {"A"}}, {}};
    case 2: return {"Third", {{"PartitionKey"}, {is_first ? "D" : "Count", true}}, {"Fluss_", "E"}};
    default: return {"Fourth", {{is_first ? "RowKey" : "Timestamp", is_first}}, {}};
  }
}

std::optional<TableExpiry> expiry_of(std::uint32_t number) {
  if (number >= kLater) {
    constexpr std::array<std::chrono::seconds, 3> kAges = {std::chrono::seconds(90), std::chrono::seconds(1080),
                                                           std::chrono::seconds(19'830)};
    return number % 4 == 3 ? TableExpiry::at("Until") : TableExpiry::after(kAges[number % 4]);
  }
  switch (number % 4) {
    case 0: return TableExpiry::at("D");
    case 1: return TableExpiry::at("A");
    case 2: return TableExpiry::after(TableExpiry::kAgeMax);
    default: return std::nullopt;
  }
}

std::u16string code_units(const std::string& utf8) {
  std::u16string units;
  units.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t character = bytes == 1 ? lead : lead & (0xFFU >> (bytes + 1));
    for (std::size_t k = 1; k < bytes; ++k) {
      character = character << 6 | (static_cast<unsigned char>(utf8[i + k]) & 0x3FU);
    }
    if (character < 0x10000) {
      units.push_back(static_cast<char16_t>(character));
    } else {
      units.push_back(static_cast<char16_t>(0xD800 + ((character - 0x10000) >> 10)));
      units.push_back(static_cast<char16_t>(0xDC00 + ((character - 0x10000) & 0x3FF)));
    }
    i += bytes;
  }
  return units;
}

}  // namespace varve::lab
