// Owns: the cost of framing and reading the log, without a disk.
// Must never: measure memory that a commit would not touch.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "format/log/log_record.h"

namespace {

using namespace varve::format;

constexpr FilePlace kPlace{0x5eed, 4096};
constexpr CommitVersion kFirstVersion = 638'000'000'000'000'000;

RecordHeader group_header(std::size_t members) {
  RecordHeader header;
  header.file_number = 42;
  header.first_version = kFirstVersion;
  header.last_version = kFirstVersion + members - 1;
  header.ceiling = header.last_version + 1'000'000;
  header.durable_upto = 1 << 20;
  header.manifest_number = 41;
  header.manifest_durable_bytes = 4711;
  header.previous_offset = 1 << 20;
  return header;
}

std::size_t group_payload_bytes(std::size_t members, std::string_view batch) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < members; ++i) {
    bytes += group_member_bytes(kFirstVersion, kFirstVersion + i, batch.size());
  }
  return bytes;
}

/// Frames one group into `memory` like a commit leader, and returns the end of the record.
char* frame_group(char* memory, std::size_t members, std::string_view batch) {
  char* at = begin_record(memory, group_header(members), group_payload_bytes(members, batch), kPlace);
  for (std::size_t i = 0; i < members; ++i) at = store_group_member(at, kFirstVersion, kFirstVersion + i, batch);
  return seal_record(memory, kPlace);
}

/// Measures the frame and checksum of a group. Arguments: members, bytes of each batch.
void BM_FrameGroup(benchmark::State& state) {
  const auto members = static_cast<std::size_t>(state.range(0));
  const std::string batch(static_cast<std::size_t>(state.range(1)), 'b');
  std::string memory(record_bytes(group_header(members), group_payload_bytes(members, batch)), '\0');
  for (auto _ : state) {
    benchmark::DoNotOptimize(frame_group(memory.data(), members, batch));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(memory.size()));
}
BENCHMARK(BM_FrameGroup)->Args({1, 300})->Args({16, 300})->Args({64, 300})->Args({1, 65536});

/// Measures reading a log of such groups, including their members, like recovery.
void BM_ReadGroups(benchmark::State& state) {
  const auto members = static_cast<std::size_t>(state.range(0));
  const std::string batch(static_cast<std::size_t>(state.range(1)), 'b');
  const std::size_t size = record_bytes(group_header(members), group_payload_bytes(members, batch));
  std::string record(size, '\0');
  frame_group(record.data(), members, batch);

  std::string file(kPlace.offset, '\0');
  while (file.size() < (4u << 20)) {
    append_moved_record(file, std::string(kPlace.offset, '\0') + record, kPlace.offset, kPlace.seed,
                        group_header(members), {kPlace.seed, file.size()});
  }
  std::int64_t commits = 0;
  for (auto _ : state) {
    for (std::uint64_t offset = kPlace.offset; offset < file.size();) {
      Record read;
      varve::Status why;
      if (read_record(file, offset, kPlace.seed, &read, &why) != RecordOutcome::kRecord) std::abort();
      GroupReader group(read.header, read.payload);
      for (GroupMember member; *group.next(&member);) ++commits;
      offset += read.size_bytes;
    }
  }
  state.SetItemsProcessed(commits);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.size() - kPlace.offset));
}
BENCHMARK(BM_ReadGroups)->Args({1, 300})->Args({16, 300})->Args({64, 300})->Args({1, 65536});

}  // namespace
