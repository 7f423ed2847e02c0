#include "tests/lab/corrupt/sample.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/support/engine_bench.h"
#include "varve/loader.h"

namespace varve::lab {

namespace {

constexpr std::string_view kSampleAccount = "account1";
constexpr std::uint64_t kScarceBytes = 128 << 10;

/// Ends the process: a sample that cannot be created is a fault of the lab, not a finding.
void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "a sample store could not be made: %s\n", status.to_string().c_str());
  std::abort();
}
template <typename T>
T must(Result<T> result) {
  must(result.status());
  return *std::move(result);
}

/// One machine whose threads run one at a time, and the store on it. The seed determines everything.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : machine_(seed, test::OneThreadAtATime{}), env_(machine_.env()) {}

  void open(std::uint64_t write_buffer_bytes = kScarceBytes) {
    ResourceOptions scarce;
    scarce.write_buffer_bytes = write_buffer_bytes;
    scarce.block_cache_bytes = 64 << 10;
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env_;
    options.resources = must(Resources::create(scarce));
    store_ = must(Store::open(kSamplePath, options));
  }
  void close() {
    must(store_->close());
    store_.reset();
  }
  Store& store() { return *store_; }
  io::MemoryFileSystem& files() { return *machine_.files; }
  io::RandomSource& random() { return machine_.random; }
  std::uint64_t below(std::uint64_t bound) { return io::random_below(machine_.random, bound); }

  /// Stores the present content under its version.
  void remember() {
    const std::uint64_t version = must(store_->statistics()).visible_version.ticks;
    history_[version] = std::make_shared<const StoreContent>(must(read_store_content(*store_)));
  }
  History& history() { return history_; }
  std::uint64_t version() { return must(store_->statistics()).visible_version.ticks; }

  Table table(std::string_view name) { return must(store_->open_table(kSampleAccount, name)); }
  Table create(std::string_view name) { return must(store_->create_table(kSampleAccount, name)); }

  std::string random_text(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>('!' + below(90));
    return text;
  }
  Entity typed(const std::string& partition, const std::string& row) {
    Entity entity(partition, row);
    entity.set("B", Binary{random_text(20)}).set("F", true).set("T", DateTime{limits::kDateTimeTicksMin + below(1000)});
    entity.set("D", 0.5).set("G", Guid{}).set("I", static_cast<std::int32_t>(below(1000)));
    entity.set("L", static_cast<std::int64_t>(machine_.random.next())).set("S", random_text(60));
    return entity;
  }
  /// Commits some upserts and removes, with a random durability.
  void write(Table& table, std::uint64_t rows, std::size_t text_bytes) {
    EntityGroupTransaction transaction;
    const std::string partition = "p" + std::to_string(below(3));
    std::map<std::string, bool> used;
    for (std::uint64_t i = 0; i < rows; ++i) {
      const std::string row = "r" + std::to_string(below(40));
      if (!std::exchange(used[row], true)) {
        transaction.insert_or_replace(typed(partition, row).set("Text", random_text(text_bytes)));
      }
    }
    WriteOptions options;
    options.durability = below(2) == 0 ? Durability::kSync : Durability::kBuffered;
    const std::string tag = "position " + std::to_string(below(1000));
    options.tag = tag;
    must(table.execute(transaction, options).status());
  }
  void remove_some(Table& table) {
    Page page = must(table.scan(Scan{}));
    for (const Entity& entity : page.entities) {
      if (below(6) == 0) must(table.remove(entity.partition_key(), entity.row_key(), ETag::any()));
    }
  }
  /// Returns words of a vocabulary, which a dictionary can learn.
  std::string words(const std::vector<std::string>& vocabulary, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += vocabulary[below(vocabulary.size())] + " ";
    return text;
  }
  std::vector<std::string> vocabulary() {
    std::vector<std::string> words;
    for (int i = 0; i < 300; ++i) words.push_back(random_text(24));
    return words;
  }
  void load(std::string_view name, int entities, bool varied) {
    const std::vector<std::string> known = vocabulary();
    Loader loader = must(store_->load_table(kSampleAccount, name));
    for (int i = 0; i < entities; ++i) {
      char row[16];
      std::snprintf(row, sizeof row, "%07d", i);
      Entity entity("loaded", row);
      entity.set("Customer", "a customer of the shop number " + std::to_string(below(50)));
      entity.set("Text", varied ? random_text(60) : words(known, 6));
      must(loader.add(entity));
    }
    must(loader.finish().status());
  }

 private:
  test::Machine machine_;
  io::Env env_;
  std::unique_ptr<Store> store_;
  History history_;
};

/// Creates files of several levels: the deepest by compact(), one of a loader, and then some of flushes.
void fill_first_session(Maker& maker) {
  must(maker.store().create_account(kSampleAccount));
  Table orders = maker.create("Orders");
  maker.create("Empty");
  Table dropped = maker.create("Dropped");
  for (int i = 0; i < 12; ++i) maker.write(orders, 4, 40);
  maker.write(dropped, 5, 40);
  must(maker.store().compact());
}

void fill_second_session(Maker& maker) {
  Table orders = maker.table("Orders");
  maker.remove_some(orders);
  maker.load("Loaded", 60, true);
  must(maker.store().drop_table(kSampleAccount, "Dropped"));
  AccessPolicy policy{.id = "readers", .start = DateTime{limits::kDateTimeTicksMin}, .permissions = Permissions::all()};
  must(maker.store().set_access_policies(kSampleAccount, "Orders", std::vector<AccessPolicy>{policy}));
  Table other = maker.create("Other");
  for (int i = 0; i < 10; ++i) maker.write(other, 4, 300);  // more than a memtable: creates a file of level 0
}

void fill_third_session(Maker& maker) {
  Table orders = maker.table("Orders");
  Table late = maker.create("Late");
  maker.remove_some(orders);
  for (int i = 0; i < 4; ++i) maker.write(late, 2, 30);
  must(maker.store().create_account("account2"));
}

/// Returns the disks of a store closed after each session, the newest last.
std::vector<io::MemoryDisk> closed_disks(Maker& maker) {
  std::vector<io::MemoryDisk> disks;
  void (*const sessions[])(Maker&) = {fill_first_session, fill_second_session, fill_third_session};
  for (const auto& session : sessions) {
    maker.open();
    session(maker);
    const bool is_last = disks.size() + 1 == std::size(sessions);
    if (is_last) {
      maker.remember();
      must(maker.store().checkpoint("/checkpoint").status());
    }
    maker.close();
    disks.push_back(maker.files().snapshot());
    disks.back().settle();
  }
  return disks;
}

io::MemoryDisk moved_to_sample_path(io::MemoryDisk disk, std::string_view from) {
  must(disk.copy_directory(from, kSamplePath));
  return disk;
}

constexpr std::uint64_t kForeignSeed = 1'000'003;

/// Created before the sample, because a thread can have only one simulation at a time.
io::MemoryDisk make_foreign_disk(std::uint64_t seed) {
  Maker foreign(seed + kForeignSeed);
  return closed_disks(foreign).back();
}

void add_others(Sample& sample, const std::vector<io::MemoryDisk>& disks, io::MemoryDisk foreign) {
  sample.others.push_back({"oldest", disks[0]});
  sample.others.push_back({"older", disks[1]});
  sample.others.push_back({"checkpoint", moved_to_sample_path(disks[2], "/checkpoint")});
  sample.others.push_back({"foreign", std::move(foreign)});
}

/// Runs the last session before the crash, and stores the content of each commit.
void fill_until_the_crash(Maker& maker) {
  maker.open();
  maker.remember();
  Table orders = maker.table("Orders");
  for (int i = 0; i < 6; ++i) {
    maker.write(orders, 3, 200);
    maker.remember();
  }
  must(maker.store().compact());  // frees the old log and some files
  maker.remember();
  const std::uint64_t commits = 8 + maker.below(16);
  for (std::uint64_t i = 0; i < commits; ++i) {
    if (maker.below(8) == 0) {
      maker.create("Made" + std::to_string(i));
    } else {
      maker.write(orders, 1 + maker.below(4), maker.below(4) == 0 ? 1500 : 30);
    }
    maker.remember();
  }
  must(maker.store().drop_table(kSampleAccount, "Other"));
  maker.remember();
  const std::uint64_t behind = maker.below(6);
  for (std::uint64_t i = 0; i < behind; ++i) {
    maker.write(orders, 2, 100);
    maker.remember();
  }
}

/// Returns the version to which the undamaged disk opens.
std::uint64_t version_of(const io::MemoryDisk& disk) {
  test::Machine machine(1, disk);
  const io::Env env = machine.env();
  StoreOptions options;
  options.read_only = true;
  options.env = &env;
  return must(must(Store::open(kSamplePath, options))->statistics()).visible_version.ticks;
}

template <typename Crash>
Sample make_crashed_sample(std::uint64_t seed, std::string part, const Crash& crash) {
  io::MemoryDisk foreign = make_foreign_disk(seed);
  Maker maker(seed);
  const std::vector<io::MemoryDisk> disks = closed_disks(maker);
  maker.history().clear();
  fill_until_the_crash(maker);
  Sample sample;
  sample.part = std::move(part);
  sample.is_clean = false;
  sample.disk = crash(maker);
  sample.disk.settle();
  sample.version = version_of(sample.disk);
  sample.history = std::move(maker.history());
  add_others(sample, disks, std::move(foreign));
  maker.close();
  return sample;
}

}  // namespace

std::string sample_path(std::string_view name) {
  return std::string(kSamplePath) + "/" + std::string(name);
}

Sample make_clean_sample(std::uint64_t seed) {
  io::MemoryDisk foreign = make_foreign_disk(seed);
  Maker maker(seed);
  const std::vector<io::MemoryDisk> disks = closed_disks(maker);
  Sample sample;
  sample.part = "clean";
  sample.disk = disks.back();
  sample.history = std::move(maker.history());
  sample.version = sample.history.rbegin()->first;
  add_others(sample, disks, std::move(foreign));
  return sample;
}

Sample make_checkpoint_sample(std::uint64_t seed) {
  Sample sample = make_clean_sample(seed);
  sample.part = "checkpoint";
  std::swap(sample.disk, sample.others[2].disk);
  sample.others[2].name = "origin";
  return sample;
}

Sample make_dictionary_sample(std::uint64_t seed) {
  constexpr std::uint64_t kPlentyBytes = std::uint64_t{8} << 20;
  constexpr int kEntities = 22'000;
  Maker maker(seed);
  maker.open(kPlentyBytes);
  must(maker.store().create_account(kSampleAccount));
  Table first = maker.create("First");
  maker.write(first, 2, 10);
  maker.load("Loaded", kEntities, false);
  must(maker.store().compact());
  maker.remember();
  maker.close();
  Sample sample;
  sample.part = "dictionary";
  sample.disk = maker.files().snapshot();
  sample.disk.settle();
  sample.history = std::move(maker.history());
  sample.version = sample.history.rbegin()->first;
  return sample;
}

Sample make_killed_sample(std::uint64_t seed) {
  return make_crashed_sample(seed, "killed", [](Maker& maker) { return maker.files().process_death(maker.random()); });
}

Sample make_power_cut_sample(std::uint64_t seed) {
  return make_crashed_sample(seed, "power-cut", [](Maker& maker) {
    const io::CrashPolicy policy = io::kCrashPolicies[maker.below(std::size(io::kCrashPolicies))];
    return maker.files().power_cut(policy, maker.random());
  });
}

}  // namespace varve::lab
