// Owns: the reads of the clients of a schedule (clients.h).
// Must never: change the store.
#include <algorithm>

#include "tests/lab/schedules/clients.h"

namespace varve::lab {

std::int64_t Client::value_of(const Entity& entity) {
  const Value* const value = entity.find("V");
  const auto* const number = value == nullptr ? nullptr : value->get_if<std::int64_t>();
  if (number == nullptr) {
    recorder_.broken("an entity without its value");
    return -1;
  }
  recorder_.saw(*number, entity.etag().timestamp().ticks);
  return *number;
}

FixedContent Client::content_of(const Page& page) {
  FixedContent content{};
  for (const Entity& entity : page.entities) {
    const std::size_t object = static_cast<std::size_t>(entity.partition_key().at(1) - '0');
    const std::size_t cell = static_cast<std::size_t>(entity.row_key().at(1) - '0');
    if (object >= kFixedObjects || cell > kRows) {
      recorder_.broken("an entity that nobody wrote");
    } else {
      content[object][cell] = value_of(entity);
    }
  }
  return content;
}

void Client::read_one() {
  const Place at = any_place();
  HistoryOperation operation;
  operation.text = "read";
  operation.invoked = recorder_.tick();
  const Result<std::optional<Entity>> found = verbs(at.object).get({partition_name(at.object), row_name(at.cell)});
  operation.returned = recorder_.tick();
  operation.needs = {{0, true, 1}};
  if (found.ok()) {
    const std::int64_t value = found->has_value() ? value_of(**found) : 0;
    operation.needs.push_back({at.cell, true, value});
    seen_[at] = {value, found->has_value() ? (*found)->etag() : ETag()};
  } else if (found.status().service_error() == "TableNotFound") {
    operation.needs = {{0, true, 0}};
  } else {
    return recorder_.broken("a read: " + found.status().to_string());
  }
  recorder_.add(at.object, std::move(operation));
}

/// Reads all rows of a partition in one page, which is one state.
void Client::read_partition() {
  const std::size_t object = below(kObjects);
  HistoryOperation operation;
  operation.text = "read a partition";
  Scan scan;
  scan.range = ScanRange::partition(partition_name(object));
  scan.backward = io::one_in(random_, 2);
  operation.invoked = recorder_.tick();
  const Result<Page> page = verbs(object).scan(scan);
  operation.returned = recorder_.tick();
  operation.needs = {{0, true, 1}};
  if (page.ok()) {
    for (std::size_t cell = 1; cell <= kRows; ++cell) operation.needs.push_back({cell, true, 0});
    for (const Entity& entity : page->entities) {
      operation.needs.at(static_cast<std::size_t>(entity.row_key().at(1) - '0')).value = value_of(entity);
    }
  } else if (page.status().service_error() == "TableNotFound") {
    operation.needs = {{0, true, 0}};
  } else {
    return recorder_.broken("a scan: " + page.status().to_string());
  }
  recorder_.add(object, std::move(operation));
}

void Client::add_reads(const FixedContent& content, std::uint64_t invoked, std::uint64_t returned, const char* text) {
  for (std::size_t object = 0; object < kFixedObjects; ++object) {
    HistoryOperation operation;
    operation.text = text;
    operation.invoked = invoked;
    operation.returned = returned;
    operation.needs = {{0, true, 1}};
    for (std::size_t cell = 1; cell <= kRows; ++cell) operation.needs.push_back({cell, true, content[object][cell]});
    recorder_.add(object, std::move(operation));
  }
}

void Client::read_table() {
  ViewRecord view;
  view.text = "a page of the whole table";
  view.invoked = recorder_.tick();
  const Result<Page> page = verbs(0).scan(Scan());
  view.returned = recorder_.tick();
  if (!page.ok()) return recorder_.broken("a scan: " + page.status().to_string());
  view.content = content_of(*page);
  add_reads(view.content, view.invoked, view.returned, "read the table");
  recorder_.add(std::move(view));
}

/// Reads a snapshot some time after it was taken, in several pages.
void Client::read_snapshot() {
  ViewRecord view;
  view.text = "a snapshot";
  view.invoked = recorder_.tick();
  Result<Snapshot> snapshot = world_.store->snapshot();
  view.returned = recorder_.tick();
  if (!snapshot.ok()) return recorder_.broken("a snapshot: " + snapshot.status().to_string());
  view.version = snapshot->version().ticks;
  for (std::size_t i = below(20); i > 0; --i) world_.scheduler().yield();
  Scan scan;
  scan.read.snapshot = *snapshot;
  scan.page_entities_max = static_cast<std::uint32_t>(1 + below(7));
  Page all;
  for (;;) {
    Result<Page> page = verbs(0).scan(scan);
    if (!page.ok()) return recorder_.broken("a snapshot: " + page.status().to_string());
    std::move(page->entities.begin(), page->entities.end(), std::back_inserter(all.entities));
    if (!page->continuation) break;
    scan.continuation = *page->continuation;
  }
  view.content = content_of(all);
  add_reads(view.content, view.invoked, view.returned, "read a snapshot");
  recorder_.add(std::move(view));
}

void Client::checkpoint() {
  if (world_.checkpoints.size() >= 2) return;
  const std::string path = world_.machine.files->path("checkpoint" + std::to_string(recorder_.new_value()));
  const Result<CheckpointStatistics> made = world_.store->checkpoint(path);
  if (!world_.excuses(made.status(), "a checkpoint") || !made.ok()) return;
  world_.checkpoints.emplace_back(path, made->version.ticks);
}

void Client::read_everything() {
  for (std::size_t object = 0; object < kObjects; ++object) {
    for (std::size_t cell = 1; cell <= kRows; ++cell) {
      HistoryOperation operation;
      operation.text = "read at the end";
      operation.invoked = recorder_.tick();
      const auto found = verbs(object).get({partition_name(object), row_name(cell)});
      operation.returned = recorder_.tick();
      operation.needs = {{0, true, found.ok() ? 1 : 0}};
      if (found.ok()) operation.needs.push_back({cell, true, found->has_value() ? value_of(**found) : 0});
      if (!found.ok() && found.status().service_error() != "TableNotFound") {
        return recorder_.broken("a read at the end: " + found.status().to_string());
      }
      recorder_.add(object, std::move(operation));
    }
  }
  for (std::size_t cell = 1; cell <= kRows; ++cell) read_name(cell);
  read_counter();
}

}  // namespace varve::lab
