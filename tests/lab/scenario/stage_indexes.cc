// Owns: the steps of a stage (stage.h) that declare, build and drop indexes, and that load a table with an index.
// Must never: take a state of an index for certain that the store does not show.
#include <algorithm>
#include <memory>
#include <utility>

#include "tests/lab/scenario/stage.h"
#include "varve/loader.h"

namespace varve::lab {

void Stage::note_index(const std::string& what, std::uint64_t before, const Status& ended, std::string_view table,
                       std::string_view index) {
  const std::string name = index_name(kAccount, table, index);
  const Result<std::vector<IndexInfo>> shown = store_->indexes(kAccount, table);
  if (shown.ok()) {
    for (const IndexInfo& info : *shown) {
      if (info.definition.name != index) continue;
      const std::uint64_t now = visible_version();
      const bool durable = ended.ok() || ended.code() == Code::kCancelled;
      ledger_.acknowledged(
          what, {std::min(now, before + 1), now}, durable,
          [name, state = info.state](Content& content, std::uint64_t) { content[name] = index_row(state); });
    }
  }
  const bool is_in_doubt = ended.code() == Code::kUnknown || !shown.ok();
  if (!is_in_doubt || !is_misfortune(ended.code()) || ended.ok() || ended.code() == Code::kCancelled) return;
  const IndexState next = what.starts_with("declare") ? IndexState::kBuilding : IndexState::kReady;
  ledger_.unknown(what, [name, next](Content& content, std::uint64_t) { content[name] = index_row(next); });
}

void Stage::declare_index(std::string_view table, const IndexDefinition& definition) {
  if (!store_) return;
  const std::uint64_t before = visible_version();
  const std::function<bool(const IndexBuildProgress&)> stop = [](const IndexBuildProgress&) { return false; };
  const Status ended = call_or_tell([&] { return store_->create_index(kAccount, table, definition, stop); });
  if (ended.code() != Code::kCancelled) (void)note(ended);
  if (ended.ok() && errors_.empty()) problem("a build was not stopped");
  note_index("declare index " + definition.name, before, ended, table, definition.name);
}

void Stage::build_index(std::string_view table, const IndexDefinition& definition,
                        const std::function<void()>& meanwhile, Code ending) {
  if (!store_) return;
  const std::uint64_t before = visible_version();
  bool is_called = false;
  const std::function<bool(const IndexBuildProgress&)> progress = [&](const IndexBuildProgress&) {
    if (!meanwhile || std::exchange(is_called, true)) return true;
    if (hook_) hook_(false);
    meanwhile();
    if (hook_) hook_(true);
    return true;
  };
  const Status ended = call_or_tell([&] { return store_->create_index(kAccount, table, definition, progress); });
  if (ended.code() != ending) {
    if (!is_misfortune(ended.code()) && errors_.empty()) problem("a build of an index: " + ended.to_string());
    (void)note(ended);
  }
  note_index("build index " + definition.name, before, ended, table, definition.name);
}

void Stage::drop_index(std::string_view table, std::string_view index) {
  commit(
      "drop index " + std::string(index), Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status dropped = store_->drop_index(kAccount, table, index); !dropped.ok()) return dropped;
        return version_seen();
      },
      [name = index_name(kAccount, table, index)](Content& content, std::uint64_t) { content.erase(name); });
}

void Stage::load_indexed(std::string_view table, std::string_view index, int count, std::size_t bytes) {
  if (!store_) return;
  const std::vector<Write> writes = loaded_rows(count, bytes, 9);
  const auto row_version = std::make_shared<std::uint64_t>(0);
  std::uint64_t adopted = 0;  // seen between the commit of the load and that of its build
  Status built(Code::kUnknown);
  const std::function<bool(const IndexBuildProgress&)> progress = [&](const IndexBuildProgress&) {
    if (adopted == 0) adopted = visible_version();
    return true;
  };
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<Loader> loader = store_->load_table(kAccount, table);
    if (!loader.ok()) return loader.status();
    for (const Write& write : writes) {
      if (Status added = loader->add(entity_of(write)); !added.ok()) return added;
    }
    const Result<ETag> etag = loader->finish(progress);
    if (!etag.ok()) return etag.status();
    *row_version = etag->timestamp().ticks;
    built = loader->unbuilt_indexes().empty() ? Status() : loader->unbuilt_indexes().front().reason;
    return adopted != 0 ? Result<std::uint64_t>(adopted) : Result<std::uint64_t>(version_seen());
  };
  const std::size_t errors_before = errors_.size();
  commit("load " + std::string(table), Durability::kSync, act,
         [name = std::string(table), of_index = index_name(kAccount, table, index), writes, row_version](
             Content& content, std::uint64_t) {
           content[table_name(kAccount, name)] = {};
           content[of_index] = index_row(IndexState::kBuilding);
           for (const Write& write : writes) apply(content, name, write, *row_version);
         });
  if (errors_.size() != errors_before || adopted == 0) return;
  if (!built.ok() && !is_misfortune(built.code()) && errors_.empty()) problem("a load: " + built.to_string());
  (void)note(built);
  note_index("build index " + std::string(index), adopted, built, table, index);
}

}  // namespace varve::lab
