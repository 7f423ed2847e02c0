// Owns: the operations of an in-memory directory, except replace().
// Must never: leave a half-made file after a refused call.

#include "io/simulated/memory_directory.h"

#include <cassert>
#include <utility>

#include "io/aligned_buffer.h"
#include "io/os_error.h"
#include "io/posix/posix_descriptor.h"
#include "io/simulated/memory_file.h"

namespace varve::io {

MemoryDirectory::MemoryDirectory(std::shared_ptr<MemoryState> state, std::shared_ptr<MemorySession> session)
    : state_(std::move(state)), session_(std::move(session)), guard_(session_->path, session_->owner) {}

Operation MemoryDirectory::operation(OperationKind kind, std::string_view name, SyncPoint point) const noexcept {
  Operation operation;
  operation.kind = kind;
  operation.directory = session_->directory;
  operation.name = name;
  operation.sync_point = point.name;
  return operation;
}

Status MemoryDirectory::check_writable(std::string_view call, std::string_view name) const {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  return session_->check_writable(call, name);
}

DirectoryState* MemoryDirectory::find_directory(MemoryDisk::State& state) const {
  const auto found = state.directories.find(session_->directory);
  return found == state.directories.end() ? nullptr : &found->second;
}

Status MemoryDirectory::no_such_directory(std::string_view call) const {
  return os_error(ENOENT, {call, path()});
}

FileId MemoryDirectory::find_file(MemoryDisk::State& state, std::string_view name) const {
  const DirectoryState* const directory = find_directory(state);
  if (directory == nullptr) return 0;
  const auto found = directory->cached.find(name);
  return found == directory->cached.end() ? 0 : found->second;
}

std::size_t MemoryDirectory::link_count(const MemoryDisk::State& state, FileId file) {
  std::size_t count = 0;
  for (const auto& [path, directory] : state.directories) {
    for (const auto& [name, named] : directory.cached) count += named == file ? 1 : 0;
  }
  return count;
}

bool MemoryDirectory::is_directory(const MemoryDisk::State& state, std::string_view name) const {
  std::string child = session_->directory == "/" ? "/" : session_->directory + "/";
  return state.directories.contains(normal_path(child.append(name)));
}

// -- Reading ----------------------------------------------------------------------------------------------------------

Result<std::vector<DirectoryEntry>> MemoryDirectory::list() {
  const DeviceScope device;
  const Step step(*state_, operation(OperationKind::kList, {}));
  if (step.fault().has_value()) return step.fault()->status;
  return state_->with_disk([&](MemoryDisk::State& state) -> Result<std::vector<DirectoryEntry>> {
    const DirectoryState* const directory = find_directory(state);
    if (directory == nullptr) return no_such_directory("list");
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, id] : directory->cached) {
      const FileState& file = state.files.at(id);
      entries.push_back({name, file.mapped == nullptr ? file.cached.size_bytes() : file.mapped->bytes().size(), true});
    }
    for (const auto& [child, ignored] : state.directories) {
      SplitPath split = split_path(child);
      if (split.directory == session_->directory && !split.name.empty()) {
        entries.push_back({std::move(split.name), 0, false});
      }
    }
    return entries;
  });
}

Result<std::unique_ptr<ReadableFile>> MemoryDirectory::open(std::string_view name, ReadMode mode) {
  const DeviceScope device;
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  const Step step(*state_, operation(OperationKind::kOpen, name));
  if (step.fault().has_value()) return step.fault()->status;
  const FileId id = state_->with_disk([&](MemoryDisk::State& state) {
    const FileId found = find_file(state, name);
    if (found != 0) ++state.files.at(found).handle_count;
    return found;
  });
  if (id == 0) return os_error(ENOENT, {"open", session_->path_of(name)});
  return std::unique_ptr<ReadableFile>(
      std::make_unique<MemoryReadableFile>(FileHold(state_, id), session_, name, mode));
}

// -- Making -----------------------------------------------------------------------------------------------------------

Result<FileHold> MemoryDirectory::make(OperationKind kind, std::string_view name, const NewFile& wanted) {
  const std::string_view call = operation_name(kind);
  if (Status usable = check_writable(call, name); !usable.ok()) return usable;
  Step step(*state_, operation(kind, name));
  if (const WriteOutcome outcome = write_outcome(step.fault()); !outcome.answer.ok()) return outcome.answer;

  FileId id = 0;
  std::uint64_t name_sequence = 0;
  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable(call, name); !owned.ok()) return owned;
    DirectoryState* const directory = find_directory(state);
    if (directory == nullptr) return no_such_directory(call);
    if (find_file(state, name) != 0 || is_directory(state, name)) {
      return os_error(EEXIST, {call, session_->path_of(name)});
    }
    if (!state_->has_room(state, FileState(), wanted.reserved_bytes)) {
      return call_error(Code::kNoSpace, {call, session_->path_of(name)}, {"No space left on device"});
    }
    id = make_file(state);
    FileState& file = state.files.at(id);
    file.handle_count = 1;
    file.reserved_bytes = wanted.reserved_bytes;
    file.mapped = wanted.mapped;
    file.is_shared_memory = wanted.mapped != nullptr;
    if (wanted.size_bytes != 0) {
      PendingWrite allocation;
      allocation.resize_to = wanted.size_bytes;
      const Fate fate = file.is_shared_memory ? Fate::kDurable : Fate::kPending;
      end_write(file, begin_write(state, file, std::move(allocation)), fate);
    }
    name_sequence = begin_name(state, *directory, name, id);
    return Status();
  });
  if (!begun.ok()) return begun;
  FileHold hold(state_, id);
  step.during();
  const Status ended = state_->with_disk([&](MemoryDisk::State& state) {
    const Status owned = session_->check_writable(call, name);
    end_name(*find_directory(state), name_sequence, owned.ok() ? Fate::kPending : Fate::kReverted);
    // The size of shared memory becomes durable when it is created, the size of a segment with its first write.
    if (wanted.mapped != nullptr) sync_file(hold.file(state), state.next_sequence, Fate::kDurable);
    return owned;
  });
  if (!ended.ok()) return ended;
  return hold;
}

Result<std::unique_ptr<WritableFile>> MemoryDirectory::create(std::string_view name) {
  const DeviceScope device;
  Result<FileHold> made = make(OperationKind::kCreate, name, {});
  if (!made.ok()) return made.status();
  return std::unique_ptr<WritableFile>(std::make_unique<MemoryWritableFile>(*std::move(made), session_, name));
}

Result<std::unique_ptr<LogSegment>> MemoryDirectory::create_log_segment(std::string_view name, std::uint64_t bytes) {
  const DeviceScope device;
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  Result<FileHold> made = make(OperationKind::kCreateLogSegment, name, {bytes, bytes, nullptr});
  if (!made.ok()) return made.status();
  return std::unique_ptr<LogSegment>(std::make_unique<MemoryLogSegment>(*std::move(made), session_, name, bytes));
}

// The old bytes stay in the file, so a power cut shows them in every mixture with later writes.
Result<std::unique_ptr<LogSegment>> MemoryDirectory::recycle_log_segment(std::string_view from, std::string_view to,
                                                                         std::uint64_t bytes) {
  const DeviceScope device;
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  if (Status valid = check_file_name(from, path()); !valid.ok()) return valid;
  if (Status usable = check_writable("recycle", to); !usable.ok()) return usable;
  if (state_->has_object_rules()) return Directory::recycle_log_segment(from, to, bytes);
  Step step(*state_, operation(OperationKind::kRecycleLogSegment, to));
  if (const WriteOutcome outcome = write_outcome(step.fault()); !outcome.answer.ok()) return outcome.answer;

  FileId id = 0;
  std::uint64_t old_bytes = 0;
  std::uint64_t new_name = 0;
  std::uint64_t old_name = 0;
  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("recycle", to); !owned.ok()) return owned;
    id = find_file(state, from);
    if (id == 0) return os_error(ENOENT, {"recycle", session_->path_of(from)});
    if (find_file(state, to) != 0 || is_directory(state, to)) {
      return os_error(EEXIST, {"recycle", session_->path_of(to)});
    }
    FileState& file = state.files.at(id);
    old_bytes = file.cached.size_bytes();
    if (link_count(state, id) != 1 || old_bytes > bytes) {
      return call_error(Code::kUnsupported, {"recycle", session_->path_of(from)},
                        {"the file has another link, or is too large"});
    }
    if (!state_->has_room(state, file, bytes)) {
      return call_error(Code::kNoSpace, {"recycle", session_->path_of(to)}, {"No space left on device"});
    }
    ++file.handle_count;
    file.reserved_bytes = bytes;
    PendingWrite allocation;
    allocation.resize_to = bytes;
    end_write(file, begin_write(state, file, std::move(allocation)), Fate::kPending);
    DirectoryState* const directory = find_directory(state);
    new_name = begin_name(state, *directory, to, id);
    old_name = begin_name(state, *directory, from, 0);
    return Status();
  });
  if (!begun.ok()) return begun;
  FileHold hold(state_, id);
  step.during();
  const Status ended = state_->with_disk([&](MemoryDisk::State& state) {
    const Status owned = session_->check_writable("recycle", to);
    const Fate fate = owned.ok() ? Fate::kPending : Fate::kReverted;
    end_name(*find_directory(state), new_name, fate);
    end_name(*find_directory(state), old_name, fate);
    return owned;
  });
  if (!ended.ok()) return ended;
  const std::uint64_t prepared_bytes = std::max<std::uint64_t>(kSectorBytes, old_bytes);
  return std::unique_ptr<LogSegment>(
      std::make_unique<MemoryLogSegment>(std::move(hold), session_, to, bytes, prepared_bytes));
}

Result<std::unique_ptr<SharedMemory>> MemoryDirectory::create_shared_memory(std::string_view name,
                                                                            std::uint64_t bytes) {
  const DeviceScope device;
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  if (state_->has_object_rules()) {
    return call_error(Code::kUnsupported, {"create", session_->path_of(name)}, {"no memory outlives the process here"});
  }
  Result<AlignedBuffer> memory = AlignedBuffer::allocate(bytes);
  if (!memory.ok()) return memory.status();
  auto pages = std::make_shared<SharedPages>(*std::move(memory));
  Result<FileHold> made = make(OperationKind::kCreateSharedMemory, name, {bytes, bytes, std::move(pages)});
  if (!made.ok()) return made.status();
  return std::unique_ptr<SharedMemory>(std::make_unique<MemorySharedMemory>(*std::move(made), session_, name));
}

Status MemoryDirectory::set_ballast(std::string_view name, std::uint64_t bytes) {
  const DeviceScope device;
  if (Status usable = check_writable("set_ballast", name); !usable.ok()) return usable;
  const auto find_locked = [&](MemoryDisk::State& state) { return find_file(state, name); };
  if (state_->with_disk(find_locked) == 0) {
    if (Result<FileHold> made = make(OperationKind::kCreate, name, {}); !made.ok()) return made.status();
  }
  Operation reserving = operation(OperationKind::kBallast, name);
  reserving.size_bytes = bytes;
  Step step(*state_, reserving);
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done || outcome.is_short) return outcome.answer;
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("set_ballast", name); !owned.ok()) return owned;
    const FileId id = find_file(state, name);
    if (id == 0) return no_such_directory("set_ballast");
    FileState& file = state.files.at(id);
    if (!state_->has_room(state, file, bytes)) {
      return call_error(Code::kNoSpace, {"set_ballast", session_->path_of(name)}, {"No space left on device"});
    }
    file.cached.resize(0);
    file.durable.resize(0);
    file.pending.clear();
    file.reserved_bytes = bytes;
    return outcome.answer;
  });
}

// -- Names ------------------------------------------------------------------------------------------------------------

Status MemoryDirectory::link(std::string_view name, Directory& into) {
  const DeviceScope device;
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  if (state_->has_object_rules()) {
    return call_error(Code::kUnsupported, {"link", session_->path_of(name)}, {"a file has one name here"});
  }
  auto* const other = dynamic_cast<MemoryDirectory*>(&into);
  if (other == nullptr || other->state_ != state_) {
    return call_error(Code::kUnsupported, {"link", session_->path_of(name)},
                      {"the directories are of different file systems"});
  }
  if (Status usable = other->check_writable("link", name); !usable.ok()) return usable;
  Step step(*state_, other->operation(OperationKind::kLink, name));
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;
  std::uint64_t sequence = 0;
  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = other->session_->check_writable("link", name); !owned.ok()) return owned;
    const FileId file = find_file(state, name);
    if (file == 0) {
      const std::string path = session_->path_of(name);
      const FailedCall failed{"link", path};
      if (!is_directory(state, name)) return os_error(ENOENT, failed);
      return call_error(Code::kCorruption, failed, {"not a regular file"});
    }
    DirectoryState* const directory = other->find_directory(state);
    if (directory == nullptr) return other->no_such_directory("link");
    if (other->find_file(state, name) != 0 || other->is_directory(state, name)) {
      return os_error(EEXIST, {"link", other->session_->path_of(name)});
    }
    sequence = begin_name(state, *directory, name, file);
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    const Status owned = other->session_->check_writable("link", name);
    end_name(*other->find_directory(state), sequence, owned.ok() ? Fate::kPending : Fate::kReverted);
    return owned.ok() ? outcome.answer : owned;
  });
}

Status MemoryDirectory::remove(std::string_view name) {
  const DeviceScope device;
  if (Status usable = check_writable("remove", name); !usable.ok()) return usable;
  Step step(*state_, operation(OperationKind::kRemove, name));
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;
  std::uint64_t sequence = 0;
  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("remove", name); !owned.ok()) return owned;
    if (find_file(state, name) == 0) {
      return os_error(is_directory(state, name) ? EISDIR : ENOENT, {"remove", session_->path_of(name)});
    }
    sequence = begin_name(state, *find_directory(state), name, 0);
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    const Status owned = session_->check_writable("remove", name);
    end_name(*find_directory(state), sequence, owned.ok() ? Fate::kPending : Fate::kReverted);
    return owned.ok() ? outcome.answer : owned;
  });
}

Status MemoryDirectory::sync(SyncPoint point) {
  const DeviceScope device;
  if (Status usable = guard_.check("sync"); !usable.ok()) return usable;
  if (Status owned = session_->check_writable("sync", {}); !owned.ok()) return owned;
  Step step(*state_, operation(OperationKind::kDirectorySync, {}, point));
  const SyncOutcome outcome = sync_outcome(step.fault());
  std::uint64_t sequence_end = 0;
  Status answer = state_->with_disk([&](MemoryDisk::State& state) {
    sequence_end = state.next_sequence;
    return state_->take_late_error(session_->directory);
  });
  if (!answer.ok()) return guard_.fail(answer);
  step.during();
  answer = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("sync", {}); !owned.ok()) return owned;
    DirectoryState* const directory = find_directory(state);
    if (directory == nullptr) return no_such_directory("sync");
    sync_names(*directory, sequence_end, outcome.fate, [](std::string_view) { return true; });
    if (outcome.fate != Fate::kPending) forget_nameless_files(state);
    state_->keep_late_error(session_->directory, outcome.late_error);
    return outcome.answer;
  });
  return answer.ok() ? answer : guard_.fail(answer);
}

Result<std::unique_ptr<DirectoryLock>> MemoryDirectory::lock(std::string_view name, LockMode mode,
                                                             std::chrono::milliseconds wait_max) {
  const DeviceScope device;
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  {
    const Step step(*state_, operation(OperationKind::kLock, name));
    if (step.fault().has_value()) return step.fault()->status;
  }
  const auto find_locked = [&](MemoryDisk::State& state) { return find_file(state, name); };
  if (mode == LockMode::kExclusive && state_->with_disk(find_locked) == 0) {
    const Result<FileHold> made = make(OperationKind::kCreateLockFile, name, {});
    if (!made.ok() && !is_taken(made.status())) return made.status();  // Another thread may have created it first.
  }
  return state_->locks().acquire(state_, session_, name, mode, wait_max);
}

Status MemoryDirectory::confirm_owner() {
  const DeviceScope device;
  if (Status usable = session_->check_writable("confirm", {}); !usable.ok()) return usable;
  const bool is_there = state_->with_disk([&](MemoryDisk::State& state) { return find_directory(state) != nullptr; });
  if (is_there) return Status();
  return call_error(Code::kFenced, {"confirm", path()}, {"the directory was removed"});
}

}  // namespace varve::io
