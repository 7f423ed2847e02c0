#include "bench/instructions/set_edits.h"

#include <algorithm>
#include <memory>

#include "engine/compaction/tree.h"
#include "engine/recovery/establish.h"
#include "engine/recovery/recovery.h"
#include "format/keys/sort_key.h"
#include "io/env.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kFirstNumber = 100'000;

format::ManifestEdit many_tables(std::uint64_t count) {
  format::ManifestEdit edit;
  edit.file_number_ceiling = kFirstNumber + count;
  for (std::uint64_t file = 0; file < count; ++file) {
    format::TableFileEntry entry;
    entry.level = engine::kLastLevel;
    entry.number = kFirstNumber + file;
    entry.size_bytes = std::uint64_t{64} << 20;
    entry.smallest_key = *format::encode_sort_key(1, std::to_string(10'000'000 + file), "first");
    entry.largest_key = *format::encode_sort_key(1, std::to_string(10'000'000 + file), "last");
    entry.entry_count = 2;
    entry.smallest_version = entry.largest_version = 1;
    entry.first_table = entry.last_table = 1;
    edit.added_tables.push_back(std::move(entry));
  }
  return edit;
}

}  // namespace

bool edits_of_set(std::uint64_t files, const HotPath::Setting& setting,
                  const std::function<void(const std::function<void()>&)>& counted) {
  const io::Env& env = io::system_env();
  if (!env.files.create_directory(setting.directory, io::SyncPoint{"bench"}).ok()) return false;
  const auto directory = env.files.open_directory(setting.directory);
  if (!directory.ok()) return false;
  auto made = engine::make_store(env, **directory, {});
  if (!made.ok() || !made->manifest->append(many_tables(files)).ok()) return false;
  const auto cache = std::make_shared<engine::BlockCache>(env.scheduler, std::uint64_t{1} << 20);
  engine::TableFiles tables(env, **directory, cache, engine::OpenFiles::make_for_process(env.scheduler), [] {});
  auto levels = engine::Tree::arrange(made->manifest->files(), tables);
  if (!levels.ok()) return false;
  engine::ReadStates states(env.scheduler,
                            engine::ReadState{std::make_shared<engine::Memtable>(), {}, *std::move(levels)});
  bool is_well = true;
  engine::Tree tree(
      env, **directory, *made->manifest, states, tables, [&](const Status&) { is_well = false; }, [] {});
  counted([&] {
    for (std::uint64_t edit = 0; edit < setting.operations; ++edit) {
      format::ManifestEdit move;
      const std::uint64_t file = edit / 2 * (files / setting.operations);
      move.moved_tables = {{kFirstNumber + file, edit % 2 == 0 ? engine::kLastLevel - 1 : engine::kLastLevel, {}}};
      is_well = tree.apply(std::move(move), [](engine::ReadState&) {}).ok() && is_well;
    }
  });
  return is_well;
}

}  // namespace varve::bench
