// Goal: structs are converted to entities and back as their mapping declares. A mismatch is reported, and a wrong
// declaration does not compile.
// Method: round trips, each kind of mismatch, and the compiler's own decision as a value.
#include "varve/mapping.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tests/api/store_bench.h"
#include "varve/mapped_entity.h"
#include "varve/typed_table.h"

namespace varve::mapping_test {
namespace {

enum class Stage : std::uint8_t { kOpen, kShipped, kLost };
enum class Priority : std::int16_t { kLow = -1, kHigh = 7 };

struct Address {
  std::string city;
  std::optional<std::string> street;
  bool operator==(const Address&) const = default;
};

struct Order {
  std::string region;
  std::string number;
  std::string customer = "nobody";
  std::int32_t lines = 1;
  std::int64_t weight = 0;
  std::uint64_t serial = 0;
  std::uint16_t boxes = 0;
  std::int8_t shelf = 0;
  double total = 0;
  float discount = 0;
  bool paid = false;
  DateTime due{638'000'000'000'000'000};
  Guid id;
  Binary picture;
  Stage stage = Stage::kOpen;
  Priority priority = Priority::kLow;
  std::optional<std::string> note;
  std::optional<std::int32_t> rating;
  Address home;
  Address work;
  ETag etag;
  DateTime written;
  int not_stored = 5;
  bool operator==(const Order&) const = default;
};

struct Person {
  std::string team;
  std::string name;
  std::string title;
  std::vector<Property> rest;
  ETag etag;
};
struct Manager : Person {
  std::int32_t reports = 0;
};
struct Robot {
  std::string team;
  std::string name;
  double volts = 0;
};

struct Bare {
  std::string a, b, c;
};
struct NoKeys {
  std::string a, b;
};
struct TwiceNamed {
  std::string a, b, c, d;
};
struct TwiceNested {
  std::string a, b, c;
  Address home;
};
struct Pointers {
  std::string a, b;
  const char* text = nullptr;
};
struct NumberKey {
  int a = 0;
  std::string b;
};
struct SystemName {
  std::string a, b, c;
};
struct NestedKeys {
  std::string a, b;
  Bare inner;
};
struct SecretNumber {
  std::string a, b;
  int c = 0;
};
struct TwoETags {
  std::string a, b;
  ETag c, d;
};

}  // namespace
}  // namespace varve::mapping_test

namespace varve {

template <>
inline constexpr auto enum_names<mapping_test::Stage> = std::array<std::pair<mapping_test::Stage, std::string_view>, 2>{
    {{mapping_test::Stage::kOpen, "open"}, {mapping_test::Stage::kShipped, "shipped"}}};

template <>
inline constexpr auto mapping<mapping_test::Address> =
    mapped::members(mapped::property("City", &mapping_test::Address::city),
                    mapped::encrypted("Street", &mapping_test::Address::street));

template <>
inline constexpr auto mapping<mapping_test::Order> = mapped::members(
    mapped::partition_key(&mapping_test::Order::region), mapped::row_key(&mapping_test::Order::number),
    mapped::property("Customer", &mapping_test::Order::customer),
    mapped::property("Lines", &mapping_test::Order::lines), mapped::property("Weight", &mapping_test::Order::weight),
    mapped::property("Serial", &mapping_test::Order::serial), mapped::property("Boxes", &mapping_test::Order::boxes),
    mapped::property("Shelf", &mapping_test::Order::shelf), mapped::property("Total", &mapping_test::Order::total),
    mapped::property("Discount", &mapping_test::Order::discount), mapped::property("Paid", &mapping_test::Order::paid),
    mapped::property("Due", &mapping_test::Order::due), mapped::property("Id", &mapping_test::Order::id),
    mapped::property("Picture", &mapping_test::Order::picture), mapped::property("Stage", &mapping_test::Order::stage),
    mapped::property("Priority", &mapping_test::Order::priority), mapped::property("Note", &mapping_test::Order::note),
    mapped::property("Rating", &mapping_test::Order::rating), mapped::flattened("Home_", &mapping_test::Order::home),
    mapped::flattened("Work_", &mapping_test::Order::work), mapped::etag(&mapping_test::Order::etag),
    mapped::timestamp(&mapping_test::Order::written));

template <>
inline constexpr auto mapping<mapping_test::Person> = mapped::members(
    mapped::partition_key(&mapping_test::Person::team), mapped::row_key(&mapping_test::Person::name),
    mapped::property("Title", &mapping_test::Person::title), mapped::discriminator("Kind", "person"),
    mapped::ignored("Obsolete"), mapped::extra(&mapping_test::Person::rest), mapped::etag(&mapping_test::Person::etag));
template <>
inline constexpr auto mapping<mapping_test::Manager> =
    mapped::members(mapped::inherits<mapping_test::Person>(), mapped::discriminator("Kind", "manager"),
                    mapped::property("Reports", &mapping_test::Manager::reports));
template <>
inline constexpr auto mapping<mapping_test::Robot> =
    mapped::members(mapped::partition_key(&mapping_test::Robot::team), mapped::row_key(&mapping_test::Robot::name),
                    mapped::property("Volts", &mapping_test::Robot::volts), mapped::discriminator("Kind", "robot"));

template <>
inline constexpr auto mapping<mapping_test::Bare> = mapped::members(mapped::partition_key(&mapping_test::Bare::a),
                                                                    mapped::row_key(&mapping_test::Bare::b),
                                                                    mapped::property("C", &mapping_test::Bare::c));
template <>
inline constexpr auto mapping<mapping_test::NoKeys> = mapped::members(mapped::partition_key(&mapping_test::NoKeys::a));
template <>
inline constexpr auto mapping<mapping_test::TwiceNamed> = mapped::members(
    mapped::partition_key(&mapping_test::TwiceNamed::a), mapped::row_key(&mapping_test::TwiceNamed::b),
    mapped::property("C", &mapping_test::TwiceNamed::c), mapped::property("C", &mapping_test::TwiceNamed::d));
template <>
inline constexpr auto mapping<mapping_test::TwiceNested> = mapped::members(
    mapped::partition_key(&mapping_test::TwiceNested::a), mapped::row_key(&mapping_test::TwiceNested::b),
    mapped::property("HomeCity", &mapping_test::TwiceNested::c),
    mapped::flattened("Home", &mapping_test::TwiceNested::home));
template <>
inline constexpr auto mapping<mapping_test::Pointers> =
    mapped::members(mapped::partition_key(&mapping_test::Pointers::a), mapped::row_key(&mapping_test::Pointers::b),
                    mapped::property("T", &mapping_test::Pointers::text));
template <>
inline constexpr auto mapping<mapping_test::NumberKey> =
    mapped::members(mapped::partition_key(&mapping_test::NumberKey::a), mapped::row_key(&mapping_test::NumberKey::b));
template <>
inline constexpr auto mapping<mapping_test::SystemName> =
    mapped::members(mapped::partition_key(&mapping_test::SystemName::a), mapped::row_key(&mapping_test::SystemName::b),
                    mapped::property("Timestamp", &mapping_test::SystemName::c));
template <>
inline constexpr auto mapping<mapping_test::NestedKeys> =
    mapped::members(mapped::partition_key(&mapping_test::NestedKeys::a), mapped::row_key(&mapping_test::NestedKeys::b),
                    mapped::flattened("In", &mapping_test::NestedKeys::inner));
template <>
inline constexpr auto mapping<mapping_test::SecretNumber> = mapped::members(
    mapped::partition_key(&mapping_test::SecretNumber::a), mapped::row_key(&mapping_test::SecretNumber::b),
    mapped::encrypted("C", &mapping_test::SecretNumber::c));
template <>
inline constexpr auto mapping<mapping_test::TwoETags> =
    mapped::members(mapped::partition_key(&mapping_test::TwoETags::a), mapped::row_key(&mapping_test::TwoETags::b),
                    mapped::etag(&mapping_test::TwoETags::c), mapped::etag(&mapping_test::TwoETags::d));

}  // namespace varve

namespace varve::mapping_test {
namespace {

using namespace test;

Order full_order() {
  Order order;
  order.region = "eu";
  order.number = "0001";
  order.customer = "Ann";
  order.lines = -3;
  order.weight = INT64_C(1) << 40;
  order.serial = INT64_MAX;
  order.boxes = 65'535;
  order.shelf = -128;
  order.total = 12.5;
  order.discount = 0.1F;
  order.paid = true;
  order.id.bytes[3] = 9;
  order.picture.bytes = std::string("\0x", 2);
  order.stage = Stage::kShipped;
  order.priority = Priority::kHigh;
  order.note = "";
  order.rating = 4;
  order.home = {"Rome", "Via 1"};
  order.work = {"Oslo", std::nullopt};
  return order;
}

TEST(Mapping, C03_EveryMemberComesBack) {
  const Order order = full_order();
  const Result<Entity> entity = to_entity(order);
  ASSERT_TRUE(entity.ok()) << entity.status().to_string();
  EXPECT_EQ(entity->partition_key(), "eu");
  EXPECT_EQ(entity->row_key(), "0001");
  const Result<Order> back = from_entity<Order>(*entity);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(*back, order);
}

TEST(Mapping, C03_MembersHaveTheTypesThatAreDocumented) {
  const Entity entity = *to_entity(full_order());
  const auto type = [&](std::string_view name) { return property_type_name(entity.find(name)->type()); };
  EXPECT_EQ(type("Lines"), "Edm.Int32");
  EXPECT_EQ(type("Shelf"), "Edm.Int32");
  EXPECT_EQ(type("Weight"), "Edm.Int64");
  EXPECT_EQ(type("Serial"), "Edm.Int64");
  EXPECT_EQ(type("Boxes"), "Edm.Int64");
  EXPECT_EQ(type("Discount"), "Edm.Double");
  EXPECT_EQ(*entity.get<std::string>("Stage"), "shipped");
  EXPECT_EQ(*entity.get<std::int32_t>("Priority"), 7);
  EXPECT_EQ(*entity.get<std::string>("Home_City"), "Rome");
  EXPECT_EQ(*entity.get<std::string>("Work_City"), "Oslo");
  EXPECT_EQ(entity.find("Work_Street"), nullptr) << "none is absent";
  EXPECT_EQ(entity.find("not_stored"), nullptr);
}

TEST(Mapping, C03_WhatIsAbsentKeepsItsDefault) {
  const Result<Order> order = from_entity<Order>(Entity("p", "r").set("Lines", 7));
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->lines, 7);
  EXPECT_EQ(order->customer, "nobody");
  EXPECT_FALSE(order->note.has_value());
  EXPECT_EQ(order->not_stored, 5);
}

TEST(Mapping, C03_NumbersWidenWhenTheyAreRead) {
  const Entity narrow =
      Entity("p", "r").set("Weight", 5).set("Serial", 6).set("Total", 7).set("Discount", std::int64_t{8});
  const Result<Order> order = from_entity<Order>(narrow);
  ASSERT_TRUE(order.ok()) << order.status().to_string();
  EXPECT_EQ(order->weight, 5);
  EXPECT_EQ(order->serial, 6U);
  EXPECT_EQ(order->total, 7.0);
  EXPECT_EQ(order->discount, 8.0F);
  const Result<Order> far = from_entity<Order>(Entity("p", "r").set("Total", std::int64_t{9'007'199'254'740'992}));
  ASSERT_TRUE(far.ok());
  EXPECT_EQ(far->total, 9'007'199'254'740'992.0);
}

std::string refusal(Entity entity) {
  const Result<Order> order = from_entity<Order>(entity);
  return order.ok() ? "accepted" : std::string(order.status().message());
}

TEST(Mapping, C03_WhatDoesNotFitNamesPropertyWantedAndFound) {
  const Entity entity("p", "r");
  EXPECT_EQ(refusal(Entity(entity).set("Lines", "three")), "property 'Lines' is Edm.String, expected Edm.Int32");
  EXPECT_EQ(refusal(Entity(entity).set("Lines", std::int64_t{3})), "property 'Lines' is Edm.Int64, expected Edm.Int32");
  EXPECT_EQ(refusal(Entity(entity).set("Weight", 3.0)), "property 'Weight' is Edm.Double, expected Edm.Int64");
  EXPECT_EQ(refusal(Entity(entity).set("Paid", 1)), "property 'Paid' is Edm.Int32, expected Edm.Boolean");
  EXPECT_EQ(refusal(Entity(entity).set("Total", "1.5")), "property 'Total' is Edm.String, expected Edm.Double");
  EXPECT_EQ(refusal(Entity(entity).set("Stage", 1)), "property 'Stage' is Edm.Int32, expected Edm.String");
  EXPECT_EQ(refusal(Entity(entity).set("Home_City", true)), "property 'Home_City' is Edm.Boolean, expected Edm.String");
  EXPECT_EQ(refusal(Entity(entity).set("Rating", "4")), "property 'Rating' is Edm.String, expected Edm.Int32");
  const std::string tail = ", which does not fit the struct's member";
  EXPECT_EQ(refusal(Entity(entity).set("Stage", "sunk")), "property 'Stage' is 'sunk'" + tail);
  EXPECT_EQ(refusal(Entity(entity).set("Shelf", 128)), "property 'Shelf' is '128'" + tail);
  EXPECT_EQ(refusal(Entity(entity).set("Serial", std::int64_t{-1})), "property 'Serial' is '-1'" + tail);
  EXPECT_EQ(refusal(Entity(entity).set("Boxes", 65'536)), "property 'Boxes' is '65536'" + tail);
  EXPECT_EQ(refusal(Entity(entity).set("Total", std::int64_t{9'007'199'254'740'993})),
            "property 'Total' is '9007199254740993'" + tail);
  EXPECT_EQ(refusal(Entity(entity).set("Total", std::int64_t{INT64_MAX})),
            "property 'Total' is '9223372036854775807'" + tail);
  EXPECT_NE(refusal(Entity(entity).set("Discount", 0.1)), "accepted") << "a float cannot hold it";
  EXPECT_EQ(refusal(Entity(entity).set("Discount", std::numeric_limits<double>::quiet_NaN())), "accepted");
}

TEST(Mapping, C03_WhatCannotBeStoredIsNotWritten) {
  Order order = full_order();
  order.serial = UINT64_MAX;
  EXPECT_EQ(to_entity(order).code(), Code::kInvalidArgument);
  order = full_order();
  order.stage = Stage::kLost;
  EXPECT_NE(to_entity(order).status().message().find("'Stage'"), std::string_view::npos);
}

TEST(Mapping, C03_UnknownPropertiesAreKeptOrIgnored) {
  Entity entity("t", "n");
  entity.set("Kind", "person").set("Title", "Dr").set("Shoe", 43).set("Obsolete", 1).set("Hat", "none");
  const Result<Person> person = from_entity<Person>(entity);
  ASSERT_TRUE(person.ok()) << person.status().to_string();
  ASSERT_EQ(person->rest.size(), 2U);
  EXPECT_EQ(person->rest[0].name, "Shoe");
  const Entity back = *to_entity(*person);
  EXPECT_EQ(*back.get<std::int32_t>("Shoe"), 43);
  EXPECT_EQ(back.find("Obsolete"), nullptr);
  EXPECT_TRUE(from_entity<Order>(entity).ok()) << "ignored";
}

TEST(Mapping, C03_ADerivedStructHasWhatItsBaseDeclaresAndItsOwnDiscriminator) {
  Manager manager;
  manager.team = "t";
  manager.name = "n";
  manager.title = "Boss";
  manager.reports = 8;
  const Entity entity = *to_entity(manager);
  EXPECT_EQ(*entity.get<std::string>("Kind"), "manager");
  EXPECT_EQ(*entity.get<std::string>("Title"), "Boss");
  EXPECT_EQ((*from_entity<Manager>(entity)).reports, 8);
  EXPECT_TRUE((*from_entity<Manager>(entity)).rest.empty()) << "what the derived struct declares is not extra";
  EXPECT_EQ(from_entity<Person>(entity).status().message(), "property 'Kind' is 'manager', expected 'person'");
  EXPECT_EQ(from_entity<Person>(Entity("t", "n")).status().message(), "property 'Kind' is absent, expected 'person'");
}

using Staff = std::variant<Person, Manager, Robot>;

TEST(Mapping, C04_AVariantIsTheStructWhoseDiscriminatorTheEntityHas) {
  const Result<Staff> robot = from_entity<Staff>(Entity("t", "n").set("Kind", "robot").set("Volts", 230));
  ASSERT_TRUE(robot.ok()) << robot.status().to_string();
  ASSERT_TRUE(std::holds_alternative<Robot>(*robot));
  EXPECT_EQ(std::get<Robot>(*robot).volts, 230.0);
  EXPECT_TRUE(std::holds_alternative<Manager>(*from_entity<Staff>(Entity("t", "n").set("Kind", "manager"))));
  EXPECT_EQ(from_entity<Staff>(Entity("t", "n").set("Kind", "ghost")).status().message(),
            "the entity is of no struct of the variant: property 'Kind' is 'ghost'");
  EXPECT_EQ(from_entity<Staff>(Entity("t", "n")).code(), Code::kInvalidArgument);
  EXPECT_EQ(from_entity<Staff>(Entity("t", "n").set("Kind", "robot").set("Volts", true)).status().message(),
            "property 'Volts' is Edm.Boolean, expected Edm.Double");
}

TEST(Mapping, C03_MarksWhatIsToBeEncrypted) {
  EXPECT_TRUE(is_encrypted_property<Order>("Home_Street"));
  EXPECT_TRUE(is_encrypted_property<Order>("Work_Street"));
  EXPECT_FALSE(is_encrypted_property<Order>("Home_City"));
  EXPECT_FALSE(is_encrypted_property<Order>("Street"));
}

TEST(Mapping, C03_MistakesOfADeclarationAreFoundByTheCompiler) {
  static_assert(mapping_fault<Order>() == MappingFault::kNone);
  static_assert(mapping_fault<Manager>() == MappingFault::kNone);
  static_assert(mapping_fault<Bare>() == MappingFault::kNone);
  static_assert(mapping_fault<int>() == MappingFault::kNotMapped);
  static_assert(mapping_fault<Address>() == MappingFault::kPartitionKey);
  static_assert(mapping_fault<NoKeys>() == MappingFault::kRowKey);
  static_assert(mapping_fault<TwiceNamed>() == MappingFault::kNameTwice);
  static_assert(mapping_fault<TwiceNested>() == MappingFault::kNameTwice, "HomeCity, and City behind Home");
  static_assert(mapping_fault<Pointers>() == MappingFault::kUnsupportedMember);
  static_assert(mapping_fault<NumberKey>() == MappingFault::kUnsupportedMember);
  static_assert(mapping_fault<SystemName>() == MappingFault::kSystemName);
  static_assert(mapping_fault<NestedKeys>() == MappingFault::kNestedElement);
  static_assert(mapping_fault<SecretNumber>() == MappingFault::kEncryptedNotText);
  static_assert(mapping_fault<TwoETags>() == MappingFault::kStampTwice);
}

TEST(Mapping, C03_MistakesOfADeclarationAreFoundAtRunTimeToo) {
  const std::vector<std::pair<MappingFault (*)(), MappingFault>> judged = {
      {&mapping_fault<Order>, MappingFault::kNone},
      {&mapping_fault<Manager>, MappingFault::kNone},
      {&mapping_fault<int>, MappingFault::kNotMapped},
      {&mapping_fault<Address>, MappingFault::kPartitionKey},
      {&mapping_fault<NoKeys>, MappingFault::kRowKey},
      {&mapping_fault<TwiceNamed>, MappingFault::kNameTwice},
      {&mapping_fault<TwiceNested>, MappingFault::kNameTwice},
      {&mapping_fault<Pointers>, MappingFault::kUnsupportedMember},
      {&mapping_fault<NumberKey>, MappingFault::kUnsupportedMember},
      {&mapping_fault<SystemName>, MappingFault::kSystemName},
      {&mapping_fault<NestedKeys>, MappingFault::kNestedElement},
      {&mapping_fault<SecretNumber>, MappingFault::kEncryptedNotText},
      {&mapping_fault<TwoETags>, MappingFault::kStampTwice},
  };
  for (std::size_t i = 0; i < judged.size(); ++i) EXPECT_EQ(judged[i].first(), judged[i].second) << "place " << i;
  EXPECT_TRUE((mapped::are_told_apart<Person, Manager, Robot>()));
  EXPECT_FALSE((mapped::are_told_apart<Person, Robot, Person>())) << "two alike";
  EXPECT_FALSE((mapped::are_told_apart<Person, Bare>())) << "one has no discriminator";
}

TEST(Mapping, C03_ADeclarationIsAnOrdinaryValue) {
  const auto made = mapped::members(
      mapped::partition_key(&Order::region), mapped::row_key(&Order::number), mapped::property("Lines", &Order::lines),
      mapped::encrypted("Note", &Order::note), mapped::flattened("Home_", &Order::home), mapped::etag(&Order::etag),
      mapped::timestamp(&Order::written), mapped::inherits<Person>(), mapped::discriminator("Kind", "order"),
      mapped::ignored("Obsolete"), mapped::extra(&Person::rest));
  const auto& [partition, row, lines, note, home, etag, written, base, kind, obsolete, rest] = made.elements;
  EXPECT_TRUE(partition.member == &Order::region && partition.name == "PartitionKey");
  EXPECT_TRUE(row.member == &Order::number && row.name == "RowKey");
  EXPECT_TRUE(lines.member == &Order::lines && lines.name == "Lines" && !lines.is_encrypted);
  EXPECT_TRUE(note.member == &Order::note && note.name == "Note" && note.is_encrypted);
  EXPECT_TRUE(home.member == &Order::home && home.name == "Home_");
  EXPECT_TRUE(etag.member == &Order::etag);
  EXPECT_TRUE(written.member == &Order::written && written.name == "Timestamp");
  EXPECT_EQ(base.kKind, mapped::Element::kInherited);
  EXPECT_TRUE(kind.name == "Kind" && kind.value == "order");
  EXPECT_EQ(obsolete.name, "Obsolete");
  EXPECT_TRUE(rest.member == &Person::rest);
}

TEST(DynamicEntity, C02_AbsentIsNotTheSameAsOfAnotherType) {
  const Entity entity = Entity("p", "r").set("A", 3);
  EXPECT_EQ(*entity.get<std::int32_t>("A"), 3);
  EXPECT_EQ(entity.get<std::int32_t>("B").code(), Code::kNotFound);
  const Result<std::string> wrong = entity.get<std::string>("A");
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_EQ(wrong.status().message(), "property 'A' is Edm.Int32, not Edm.String");
}

TEST(DynamicEntity, C02_KeepsTheOrderOfItsPropertiesAndCarriesTimestampAndETag) {
  StoreBench bench;
  Table table = bench.table();
  const Result<ETag> written = table.insert(Entity("p", "r").set("Z", 1).set("A", 2));
  ASSERT_TRUE(written.ok());
  const std::optional<Entity> found = read(table, "p", "r");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->properties()[0].name, "Z");
  EXPECT_EQ(found->etag(), *written);
  EXPECT_EQ(found->timestamp(), written->timestamp());
}

class TypedTables : public ::testing::Test {
 protected:
  StoreBench bench_;
  TypedTable<Order> orders_{bench_.table()};
};

TEST_F(TypedTables, C01_WritesStampTheObjectAndReadsGiveItBack) {
  Order order = full_order();
  const Result<ETag> inserted = orders_.insert(order);
  ASSERT_TRUE(inserted.ok()) << inserted.status().to_string();
  EXPECT_EQ(order.etag, *inserted);
  EXPECT_EQ(order.written, inserted->timestamp());
  const Result<std::optional<Order>> found = orders_.get("eu", "0001");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ(**found, order);
  EXPECT_FALSE((*orders_.get("eu", "0002")).has_value());
  EXPECT_EQ(said(orders_.insert(order)), kEntityAlreadyExists);
}

TEST_F(TypedTables, C01_ReplaceMergeAndRemoveInsistOnTheETagThatTheObjectCarries) {
  Order mine = full_order();
  ASSERT_TRUE(orders_.insert(mine).ok());
  Order yours = **orders_.get("eu", "0001");
  mine.lines = 4;
  ASSERT_TRUE(orders_.replace(mine).ok());
  yours.lines = 5;
  EXPECT_EQ(said(orders_.replace(yours)), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(orders_.merge(yours)), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(orders_.remove(yours)), kUpdateConditionNotSatisfied);
  EXPECT_TRUE(orders_.merge(mine).ok()) << "the replace has renewed its ETag";
  EXPECT_TRUE(orders_.replace(yours, ETag::any()).ok());
  EXPECT_EQ((**orders_.get("eu", "0001")).lines, 5);
  EXPECT_EQ(said(orders_.replace(mine)), kUpdateConditionNotSatisfied);
  EXPECT_TRUE(orders_.remove(yours).ok());
  Order unread = full_order();
  EXPECT_EQ(said(orders_.replace(unread)), kInvalidInput) << "it was never read";
  EXPECT_EQ(said(orders_.replace(unread, ETag::any())), kResourceNotFound);
}

TEST_F(TypedTables, C03_MergeLeavesWhatAnOptionalMemberDoesNotHold) {
  Order order = full_order();
  ASSERT_TRUE(orders_.insert(order).ok());
  order.note.reset();
  order.rating = 5;
  ASSERT_TRUE(orders_.merge(order).ok());
  EXPECT_EQ((**orders_.get("eu", "0001")).note, "");
  EXPECT_EQ((**orders_.get("eu", "0001")).rating, 5);
  ASSERT_TRUE(orders_.replace(order).ok());
  EXPECT_FALSE((**orders_.get("eu", "0001")).note.has_value());
}

TEST_F(TypedTables, C03_AnEntityThatIsNoSuchStructIsAnError) {
  ASSERT_TRUE(orders_.table().insert(Entity("eu", "x").set("Lines", "many")).ok());
  EXPECT_EQ(orders_.get("eu", "x").status().message(), "property 'Lines' is Edm.String, expected Edm.Int32");
  const Order order = full_order();
  ASSERT_TRUE(orders_.insert(order).ok());
  std::vector<std::string> seen;
  for (const Result<Order>& found : orders_.query()) seen.emplace_back(found.ok() ? found->number : "error");
  EXPECT_EQ(seen, (std::vector<std::string>{"0001", "error"}));
}

}  // namespace
}  // namespace varve::mapping_test
