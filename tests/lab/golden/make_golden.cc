// Owns: the content of the golden stores: the limits of every type, every kind of file, and little data of each.
// Must never: depend on the machine: one build always creates the same bytes.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "tests/lab/content/object_content.h"
#include "tests/lab/content/store_content.h"
#include "tests/lab/corrupt/sample.h"
#include "tests/lab/golden/golden.h"
#include "tests/support/engine_bench.h"
#include "varve/loader.h"

namespace varve::lab {

namespace {

constexpr std::uint64_t kSeed = 20'260'101;
constexpr std::string_view kGoldenAccount = "golden1";

void must_end(const Status& status, Code code) {
  if (status.code() == code) return;
  std::fprintf(stderr, "a golden store could not be made: %s\n", status.to_string().c_str());
  std::abort();
}
void must_make(const Status& status) {
  must_end(status, Code::kOk);
}
template <typename T>
T must_make(Result<T> result) {
  must_make(result.status());
  return *std::move(result);
}

Guid guid_of(std::uint8_t first) {
  Guid guid;
  for (std::size_t i = 0; i < guid.bytes.size(); ++i) guid.bytes[i] = static_cast<std::uint8_t>(first + 17 * i);
  return guid;
}

/// Returns entities with the limits of every type.
std::vector<Entity> typed_entities() {
  std::vector<Entity> all;
  all.push_back(
      Entity("types", "binary").set("Empty", Binary{}).set("Bytes", Binary{std::string("\0\x01\r\n\xFF", 5)}));
  all.push_back(Entity("types", "boolean").set("False", false).set("True", true));
  all.push_back(Entity("types", "datetime")
                    .set("First", DateTime{limits::kDateTimeTicksMin})
                    .set("Last", DateTime{limits::kDateTimeTicksMax}));
  all.push_back(Entity("types", "double")
                    .set("MinusZero", -0.0)
                    .set("Tiny", std::numeric_limits<double>::denorm_min())
                    .set("Infinite", std::numeric_limits<double>::infinity())
                    .set("NotANumber", std::numeric_limits<double>::quiet_NaN()));
  all.push_back(Entity("types", "guid").set("Zero", Guid{}).set("Some", guid_of(9)));
  all.push_back(Entity("types", "int32")
                    .set("Least", std::numeric_limits<std::int32_t>::min())
                    .set("Most", std::numeric_limits<std::int32_t>::max()));
  all.push_back(Entity("types", "int64")
                    .set("Least", std::numeric_limits<std::int64_t>::min())
                    .set("Most", std::numeric_limits<std::int64_t>::max()));
  all.push_back(Entity("types", "string").set("Empty", "").set("Text", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 \"\\"));
  all.push_back(Entity("types", "nothing"));
  return all;
}

/// Returns entities with empty keys, and with keys whose order in UTF-16 and in bytes differs.
std::vector<Entity> keyed_entities() {
  std::vector<Entity> all;
  for (const char* const partition : {"", "a", "ab", "\xEE\x80\x80", "\xF0\x9F\x98\x80"}) {
    for (const char* const row : {"", "r", "\xC3\xA9", "z z"}) {
      all.push_back(Entity(partition, row).set("Key", std::string(partition) + "/" + row));
    }
  }
  return all;
}

/// A store on a machine of its own.
class StoreMaker {
 protected:
  StoreMaker() : machine_(kSeed, test::OneThreadAtATime{}), env_(machine_.env()) {}

  void open() {
    ResourceOptions scarce;
    scarce.write_buffer_bytes = write_buffer_bytes_;
    scarce.block_cache_bytes = 64 << 10;
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env_;
    options.resources = must_make(Resources::create(scarce));
    store_.reset();
    store_ = must_make(Store::open(kSamplePath, options));
  }
  void create_accounts() {
    must_make(store_->create_account(kGoldenAccount));
    must_make(store_->create_account("golden2"));
  }
  Table create(std::string_view name, const TableOptions& options = {}) {
    return must_make(store_->create_table(kGoldenAccount, name, options));
  }
  Table table_named(std::string_view name) { return must_make(store_->open_table(kGoldenAccount, name)); }
  void create_index(std::string_view table, const IndexDefinition& definition) {
    must_make(store_->create_index(kGoldenAccount, table, definition));
  }
  /// Closes the store, and returns it with the content that it showed.
  GoldenStore closed(std::string name) {
    const StoreContent content = must_make(read_store_content(*store_));
    std::vector<std::string> expected = json_lines(content);
    const std::vector<std::string> objects = must_make(object_lines(*store_, content));
    expected.insert(expected.end(), objects.begin(), objects.end());
    must_make(store_->close());
    store_.reset();
    return {std::move(name), machine_.files->snapshot(), std::move(expected)};
  }
  /// Returns a text that does not compress.
  std::string letters(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>('!' + io::random_below(machine_.random, 90));
    return text;
  }

  std::uint64_t write_buffer_bytes_ = 64 << 10;
  test::Machine machine_;
  io::Env env_;
  std::unique_ptr<Store> store_;
};

class GoldenMaker : private StoreMaker {
 public:
  std::vector<GoldenStore> make() {
    std::vector<GoldenStore> stores;
    open();
    fill();
    must_make(store_->close());
    open();
    change();
    const std::vector<std::string> expected = json_lines(must_make(read_store_content(*store_)));
    must_make(store_->checkpoint("/checkpoint").status());
    must_make(store_->close());
    io::MemoryDisk clean = machine_.files->snapshot();
    io::MemoryDisk checkpoint = clean;
    must_make(checkpoint.copy_directory("/checkpoint", kSamplePath));
    stores.push_back({"clean", std::move(clean), expected});
    open();
    write_until_the_kill();
    io::MemoryDisk killed = machine_.files->process_death(machine_.random);
    killed.settle();
    stores.push_back({"killed", std::move(killed), json_lines(must_make(read_store_content(*store_)))});
    stores.push_back({"checkpoint", std::move(checkpoint), expected});
    must_make(store_->close());
    store_.reset();
    return stores;
  }

 private:
  /// Runs the first session: table files of the deepest level, one of them from a loader, and a log in use.
  void fill() {
    create_accounts();
    Table types = create("Types");
    EntityGroupTransaction typed;
    std::vector<Entity> entities = typed_entities();
    for (Entity& entity : entities) typed.insert(std::move(entity));
    must_make(types.execute(typed).status());
    Table keys = create("Keys");
    for (const Entity& entity : keyed_entities()) must_make(keys.insert(entity).status());
    Table dropped = create("Dropped");
    must_make(dropped.insert(Entity("never", "again").set("Seen", true)).status());
    must_make(store_->compact());
    Loader loader = must_make(store_->load_table(kGoldenAccount, "Loaded"));
    for (int row = 0; row < 60; ++row) {
      const std::string key = std::to_string(1000 + row);
      must_make(loader.add(Entity("loaded", key).set("Row", row).set("Text", "a row that a loader brought, " + key)));
    }
    must_make(loader.finish().status());
    must_make(keys.insert(Entity("live", "log").set("Session", 1)).status());
  }

  /// Runs the second session: tombstones, a drop, policies, a table file of level 0, tags of commits.
  void change() {
    Table keys = table_named("Keys");
    must_make(keys.remove("a", "r", ETag::any()));
    must_make(keys.merge(Entity("ab", "r").set("Merged", std::int64_t{1} << 40), ETag::any()).status());
    must_make(store_->drop_table(kGoldenAccount, "Dropped"));
    const std::vector<AccessPolicy> policies = {
        {.id = "readers", .start = DateTime{limits::kDateTimeTicksMin}, .permissions = Permissions{Permission::kQuery}},
        {.id = "all", .expiry = DateTime{limits::kDateTimeTicksMax}, .permissions = Permissions::all()}};
    must_make(store_->set_access_policies(kGoldenAccount, "Types", policies));
    Table flushed = create("Flushed");
    EntityGroupTransaction many;
    for (int row = 0; row < 90; ++row) {
      many.insert(
          Entity("f", std::to_string(100 + row)).set("Text", "more than a memtable holds " + std::to_string(row)));
    }
    must_make(flushed.execute(many).status());
    create("Empty");
    WriteOptions tagged;
    tagged.tag = "position 7 of the stream";
    must_make(keys.insert(Entity("tagged", "row"), tagged).status());
  }

  /// Runs the third session, which ends by a kill: commits of both durabilities, a created table and a dropped one.
  void write_until_the_kill() {
    Table killed = create("Killed");
    WriteOptions buffered;
    buffered.durability = Durability::kBuffered;
    for (int row = 0; row < 12; ++row) {
      const Entity entity = Entity("k", std::to_string(row)).set("Row", row).set("Text", std::string(40, 'k'));
      must_make(killed.insert(entity, row % 3 == 0 ? WriteOptions{} : buffered).status());
    }
    must_make(store_->drop_table(kGoldenAccount, "Empty"));
    for (int row = 0; row < 3; ++row)
      must_make(killed.insert(Entity("buffered", std::to_string(row)), buffered).status());
  }
};

/// A store of indexes: every part of a definition, a component of every type, every state, and entries in a table file
/// and in the log.
class IndexedMaker : private StoreMaker {
 public:
  GoldenStore make() {
    open();
    create_accounts();
    Table orders = create("Orders");
    for (int row = 0; row < 30; ++row) must_make(orders.insert(order(row)).status());
    create_index("Orders", {"ByCustomer", {{"Customer"}, {"Total", true}}, {"Note"}});
    create_index("Orders", {"ByTime", {{"Timestamp", true}}});
    create_index("Orders", {"BySerial", {{"Serial"}}, {}, true});
    create_index("Orders", {"ByRow", {{"RowKey"}, {"PartitionKey", true}}});
    create_index("Orders", {"Gone", {{"Note"}}});
    Table values = create("Values");
    for (const Entity& entity : typed_entities()) {
      for (const Property& property : entity.properties()) {
        must_make(values.insert(Entity("v", entity.row_key() + property.name).set("V", property.value)).status());
      }
    }
    must_make(values.insert(Entity("v", "long").set("V", std::string(300, 'l'))).status());
    create_index("Values", {"Up", {{"V"}}});
    create_index("Values", {"Down", {{"V", true}}, {"V"}});
    must_make(store_->compact());
    must_make(store_->close());
    open();
    change();
    return closed("indexed");
  }

 private:
  static Entity order(int row) {
    Entity entity("p" + std::to_string(row % 3), std::to_string(100 + row));
    entity.set("Customer", "customer " + std::to_string(row % 7)).set("Total", row * 0.5);
    if (row % 4 != 0) entity.set("Note", "note " + std::to_string(row));
    if (row % 5 != 0) entity.set("Serial", std::int64_t{1000} + row);
    return entity;
  }

  void change() {
    Table orders = table_named("Orders");
    must_make(orders.remove("p1", "101", ETag::any()));
    must_make(orders.replace(order(2).set("Customer", "customer 0"), ETag::any()).status());
    must_make(orders.merge(Entity("p0", "103").set("Serial", std::int64_t{7}), ETag::any()).status());
    EntityGroupTransaction group;
    group.insert(Entity("p3", "1").set("Customer", "customer 0").set("Total", -1.0));
    group.insert(Entity("p3", "2").set("Serial", std::int64_t{1001}));  // of the entity that was removed
    must_make(orders.execute(group).status());
    must_make(store_->drop_index(kGoldenAccount, "Orders", "Gone"));
    const Status stopped = store_->create_index(kGoldenAccount, "Orders", {"Unfinished", {{"Total"}}},
                                                [](const IndexBuildProgress&) { return false; });
    must_end(stopped, Code::kCancelled);
    const Status failed = store_->create_index(kGoldenAccount, "Orders", {"Failed", {{"Customer"}}, {}, true});
    must_end(failed, Code::kConflict);
  }
};

/// A store whose entities end: at a property, at a long age and at a short one, with an index of them, a large value, and
/// ends in a table file and in the log.
class ExpiringMaker : private StoreMaker {
 public:
  GoldenStore make() {
    open();
    create_accounts();
    Table sessions = create("Sessions", {.expiry = TableExpiry::at("Until")});
    create_index("Sessions", {"ByUser", {{"User"}}, {"Until"}});
    for (int row = 0; row < 30; ++row) must_make(sessions.insert(session(row)).status());
    Table aged = create("Aged", {.expiry = TableExpiry::after(TableExpiry::kAgeMax)});
    must_make(aged.insert(Entity("a", "file").set("V", 1)).status());
    must_make(aged.insert(Entity("a", "large").set("Text", letters(17'000))).status());
    Table brief = create("Brief", {.expiry = TableExpiry::after(std::chrono::minutes(30))});
    must_make(brief.insert(Entity("b", "file").set("V", 1)).status());
    must_make(store_->compact());
    pass_hours();
    sessions = table_named("Sessions");
    must_make(sessions.insert(session(1).set("User", "again")).status());  // over one that has ended
    must_make(sessions.remove("s", "100", ETag::any()));
    must_make(table_named("Aged").insert(Entity("a", "log").set("V", 2)).status());
    must_make(table_named("Brief").insert(Entity("b", "log").set("V", 2)).status());
    pass_hours();
    must_make(
        table_named("Sessions").insert(Entity("s", "last")).status());  // No later open has a time before this commit.
    return closed("expiring");
  }

 private:
  /// Returns an entity that ends in the year 2200, in an hour, or never.
  Entity session(int row) {
    Entity entity("s", std::to_string(100 + row));
    entity.set("User", "user " + std::to_string(row % 4));
    if (row % 3 == 0) entity.set("Until", must_make(DateTime::parse("2200-01-01T00:00:00Z")));
    if (row % 3 == 1) entity.set("Until", DateTime{machine_.clock.wall() + 3600 * io::kTicksPerSecond});
    if (row % 6 == 5) entity.set("Until", "is no time");
    return entity;
  }
  void pass_hours() {
    must_make(store_->close());
    machine_.clock.advance(std::chrono::hours(2));
    open();
  }
};

/// A store of queues, containers and large values: messages of each state, a blob of each form, contents that are shared,
/// packed and compressed, and rows of them in table files and in the log.
class ObjectsMaker : private StoreMaker {
 public:
  GoldenStore make() {
    write_buffer_bytes_ = 256 << 10;
    open();
    create_accounts();
    fill_queues();
    fill_containers();
    fill_table();
    must_make(store_->compact());
    must_make(store_->close());
    open();
    change();
    return closed("objects");
  }

 private:
  static PutOptions without_end() {
    PutOptions options;
    options.ttl = kNever;
    return options;
  }
  static std::vector<AccessPolicy> policies() {
    return {
        {.id = "all", .expiry = DateTime{limits::kDateTimeTicksMax}, .permissions = Permissions{Permission::kQuery}}};
  }

  void fill_queues() {
    Queue work = must_make(store_->create_queue(kGoldenAccount, "work", {.metadata = {{"Owner", "golden"}}}));
    must_make(work.put("", without_end()).status());
    PutOptions once = without_end();
    once.deduplication_key = "once";
    must_make(work.put("first <&> \xC3\xA9", once).status());
    if (!must_make(work.put("second", once)).is_duplicate) std::abort();
    for (int i = 0; i < 5; ++i) must_make(work.put("message " + std::to_string(i), without_end()).status());
    must_make(work.set_access_policies(policies()));
    QueueOptions small;
    small.message_bytes_max = 1'000;
    small.release_on_open = true;
    Queue poison = must_make(store_->create_queue(kGoldenAccount, "poison", small));
    must_make(poison.put("poison", without_end()).status());
    must_make(store_->create_queue(kGoldenAccount, "dead").status());
    Queue cleared = must_make(store_->create_queue(kGoldenAccount, "cleared"));
    must_make(cleared.put("before", without_end()).status());
    must_make(cleared.clear());
    must_make(store_->create_queue(kGoldenAccount, "gone").status());
  }

  void fill_containers() {
    Container files = must_make(store_->create_container(
        kGoldenAccount, "files", {.metadata = {{"Owner", "golden"}}, .public_access = PublicAccess::kBlobs}));
    must_make(files.set_access(policies(), PublicAccess::kContainer).status());
    BlobWriteOptions all;
    all.properties = {"text/plain", "identity", "en", "inline", "no-cache", std::array<std::uint8_t, 16>{1, 2, 3}};
    all.metadata = {{"Colour", "red"}};
    all.tags = {{"kind", "sample"}};
    all.tier = BlobTier::kCool;
    must_make(files.put("a/small.txt", "a few bytes", all).status());
    must_make(files.put("a/empty", "").status());
    must_make(files.put("large", letters(70'000)).status());
    BlobWriteOptions compressed;
    compressed.compresses = true;
    must_make(files.put("compressed", std::string(200'000, 'c'), compressed).status());
    stage(files, "blocks", "1", letters(3'000));
    stage(files, "blocks", "2", letters(2'000));
    const std::vector<BlockChoice> choices = {{"2"}, {"1"}, {"2"}};
    must_make(files.commit_blocks("blocks", choices).status());
    must_make(files.create_append_blob("log").status());
    must_make(files.append("log", "line 1\n").status());
    must_make(files.put("removed", letters(1'000)).status());
    must_make(store_->create_container(kGoldenAccount, "gone").status());
  }
  static void stage(Container& container, std::string_view blob, std::string_view id, std::string_view bytes) {
    BlobWriter writer = must_make(container.stage_block(blob, id));
    must_make(writer.append(bytes));
    must_make(writer.publish().status());
  }

  void fill_table() {
    Table people = create("People", {.has_large_values = true});
    LargeValueWriter writer = must_make(people.write_large_value());
    must_make(writer.append(letters(70'000)));
    const LargeValue photo = must_make(writer.finish());
    for (int row = 0; row < 24; ++row) {
      Entity person("p", std::to_string(100 + row));
      if (row < 2) person.set("Photo", photo);
      must_make(people.insert(person).status());
    }
  }

  /// Runs the second session, whose rows stay in the log.
  void change() {
    Queue work = must_make(store_->open_queue(kGoldenAccount, "work"));
    const std::vector<ReceivedMessage> got = must_make(work.get({.count = 3}));
    must_make(work.remove(got[0]));
    must_make(work.update(got[1].id, got[1].receipt, std::chrono::milliseconds(0), "changed").status());
    must_make(work.update(got[2].id, got[2].receipt, std::chrono::milliseconds(0)).status());
    Queue poison = must_make(store_->open_queue(kGoldenAccount, "poison"));
    const Queue dead = must_make(store_->open_queue(kGoldenAccount, "dead"));
    GetOptions brief;
    brief.hold = std::chrono::milliseconds(1);
    brief.deliveries_max = 1;
    brief.dead_letter = &dead;
    if (must_make(poison.get(brief)).size() != 1) std::abort();
    machine_.clock.advance(std::chrono::seconds(1));
    if (!must_make(poison.get(brief)).empty()) std::abort();
    must_make(store_->drop_queue(kGoldenAccount, "gone"));
    Container files = must_make(store_->open_container(kGoldenAccount, "files"));
    must_make(files.append("log", "line 2\n").status());
    must_make(files.copy("a/copy", files, "large", {.source_address = "golden1/files/large"}).status());
    must_make(files.remove("removed"));
    must_make(files.lease("large", {.id = {}, .proposed = guid_of(3)}).status());
    must_make(files.lease_container({.id = {}, .proposed = guid_of(5)}).status());
    stage(files, "staged", "1", "a block that no list names");
    must_make(store_->drop_container(kGoldenAccount, "gone"));
    Table people = table_named("People");
    must_make(people.remove("p", "100", ETag::any()));
  }
};

}  // namespace

std::vector<GoldenStore> make_golden_stores() {
  std::vector<GoldenStore> stores = GoldenMaker().make();
  stores.push_back(IndexedMaker().make());
  stores.push_back(ExpiringMaker().make());
  stores.push_back(ObjectsMaker().make());
  return stores;
}

}  // namespace varve::lab
