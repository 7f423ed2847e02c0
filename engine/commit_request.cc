// Owns: what a batch may contain (commit_request.h).
// Must never: change a batch.
//
// The queue later changes ages and Timestamps in a batch, when it assigns the version.
#include "engine/commit_request.h"

#include "engine/commit/commit_queue.h"
#include "engine/load/load.h"
#include "format/bytes/bytes.h"
#include "format/keys/batch.h"

namespace varve::engine {

namespace {

/// Refuses a batch that adopts a table, unless it is the table of the request's load. The batch was validated before.
Status check_operations(format::BatchReader reader, const Load* load) {
  format::Operation operation;
  while (*reader.next(&operation)) {
    if (operation.kind != format::Kind::kAdopt) continue;
    const bool is_the_loads = load != nullptr && load->is_installed() && load->has_entries() &&
                              load->table() == format::load_u64_big_endian(operation.key.data());
    if (!is_the_loads) return Status::unsupported("a commit adopts a table that it did not load");
  }
  return Status();
}

}  // namespace

Status describe(CommitRequest& request, Member& member) {
  if (request.batch.size() > kBatchBytesMax) {
    return Status::too_large("the commit has " + std::to_string(request.batch.size()) + " bytes; at most " +
                             std::to_string(kBatchBytesMax) + " are allowed");
  }
  constexpr format::EndForms kForms = format::EndForms::kEndsAndAges;
  const Result<format::BatchReader> reader = format::BatchReader::open(request.batch, kForms);
  if (!reader.ok()) return reader.status();
  const Result<MemtableDemand> demand = Memtable::demand_of(*reader);
  if (!demand.ok()) return demand.status();
  if (demand->other_count > 0) {
    if (Status allowed = check_operations(*reader, request.load); !allowed.ok()) return allowed;
  }
  member.batch = request.batch;
  member.tag = reader->tag();
  member.has_tag = reader->has_tag();
  member.tables = request.tables;
  member.shapes = request.shapes;
  member.reshapes = request.reshapes ? &*request.reshapes : nullptr;
  member.durability = request.durability;
  member.frees_space = request.frees_space;
  member.unwritten = request.load != nullptr ? request.load->watched() : nullptr;
  member.demand = *demand;
  if (demand->age_count > 0 || !request.timestamps.empty()) member.open_batch = request.batch.data();
  member.timestamps = request.timestamps;
  member.before = request.before;
  member.let_go_bytes = request.let_go_bytes;
  member.locks = &request.locks;
  member.room = request.room;
  return Status();
}

}  // namespace varve::engine
