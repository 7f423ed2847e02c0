// Owns: the content of the golden stores: the limits of every type, every kind of file, and little data of each.
// Must never: depend on the machine: one build always creates the same bytes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "tests/lab/content/store_content.h"
#include "tests/lab/corrupt/sample.h"
#include "tests/lab/golden/golden.h"
#include "tests/support/engine_bench.h"
#include "varve/loader.h"

namespace varve::lab {

namespace {

constexpr std::uint64_t kSeed = 20'260'101;
constexpr std::string_view kGoldenAccount = "golden1";

void must_make(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "a golden store could not be made: %s\n", status.to_string().c_str());
  std::abort();
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

class GoldenMaker {
 public:
  GoldenMaker() : machine_(kSeed, test::OneThreadAtATime{}), env_(machine_.env()) {}

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
  void open() {
    ResourceOptions scarce;
    scarce.write_buffer_bytes = 64 << 10;
    scarce.block_cache_bytes = 64 << 10;
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env_;
    options.resources = must_make(Resources::create(scarce));
    store_.reset();
    store_ = must_make(Store::open(kSamplePath, options));
  }
  Table create(std::string_view name) { return must_make(store_->create_table(kGoldenAccount, name)); }

  /// Runs the first session: table files of the deepest level, one of them from a loader, and a log in use.
  void fill() {
    must_make(store_->create_account(kGoldenAccount));
    must_make(store_->create_account("golden2"));
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
    Table keys = must_make(store_->open_table(kGoldenAccount, "Keys"));
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

  test::Machine machine_;
  io::Env env_;
  std::unique_ptr<Store> store_;
};

}  // namespace

std::vector<GoldenStore> make_golden_stores() {
  return GoldenMaker().make();
}

}  // namespace varve::lab
