// Owns: replacing a small file in an in-memory directory in four steps: temporary file, sync, rename, sync.
// Must never: change the file if its content is not the expected one.

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/os_error.h"
#include "io/posix/posix_directory.h"
#include "io/simulated/memory_directory.h"
#include "io/simulated/memory_file.h"

namespace varve::io {

Status MemoryDirectory::replace(std::string_view name, std::span<const std::byte> expected,
                                std::span<const std::byte> content, SyncPoint point) {
  const DeviceScope device;
  if (Status usable = check_writable("replace", name); !usable.ok()) return usable;
  if (Status usable = guard_.check("replace"); !usable.ok()) return usable;
  if (content.empty() || content.size() > kReplaceBytesMax) {
    return call_error(Code::kInvalidArgument, {"replace", session_->path_of(name)},
                      {"the content has ", std::to_string(content.size()), " bytes; 1 to ",
                       std::to_string(kReplaceBytesMax), " can be replaced atomically"});
  }
  if (Status same = check_content(name, expected); !same.ok()) return same;

  const std::string temporary = std::string(name) + ".tmp";
  Result<FileHold> written = write_temporary(temporary, content, point);
  if (!written.ok()) return written.status();
  if (Status synced = sync_temporary(*written, temporary, point); !synced.ok()) {
    drop_temporary(temporary);
    return synced;
  }
  if (Status renamed = take_name(*written, temporary, name, point); !renamed.ok()) return renamed;
  const Status synced = sync_name(temporary, name, point);
  return synced.ok() ? synced : guard_.fail(synced);
}

// An empty file is not a missing file: empty `expected` means that the file must be absent.
Status MemoryDirectory::check_content(std::string_view name, std::span<const std::byte> expected) const {
  return state_->with_disk([&](MemoryDisk::State& state) {
    const std::string whole_path = session_->path_of(name);
    const FailedCall where{"replace", whole_path};
    if (is_directory(state, name)) return call_error(Code::kIoError, where, {"Is a directory"});
    const FileId id = find_file(state, name);
    if (id == 0) {
      if (expected.empty()) return Status();
      return call_error(Code::kPreconditionFailed, where, {"the file is absent, but content was expected"});
    }
    if (expected.empty()) return call_error(Code::kPreconditionFailed, where, {"the file already exists"});
    const std::vector<std::byte> current = state.files.at(id).cached.to_bytes();
    if (std::equal(current.begin(), current.end(), expected.begin(), expected.end())) return Status();
    return call_error(Code::kPreconditionFailed, where, {"the content differs from the expected content"});
  });
}

Result<FileHold> MemoryDirectory::write_temporary(const std::string& temporary, std::span<const std::byte> content,
                                                  SyncPoint point) {
  Operation writing = operation(OperationKind::kReplaceWrite, temporary, point);
  writing.size_bytes = content.size();
  Step step(*state_, writing);
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done) return outcome.answer;
  if (outcome.is_short) content = content.first(content.size() / 2);

  FileId id = 0;
  std::uint64_t name_sequence = 0;
  std::uint64_t write_sequence = 0;
  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("replace", temporary); !owned.ok()) return owned;
    DirectoryState* const directory = find_directory(state);
    if (directory == nullptr) return no_such_directory("replace");
    if (!state_->has_room(state, FileState(), content.size())) {
      return call_error(Code::kNoSpace, {"replace", session_->path_of(temporary)}, {"No space left on device"});
    }
    id = make_file(state);
    FileState& file = state.files.at(id);
    file.handle_count = 1;
    PendingWrite write;
    write.bytes = std::make_shared<const std::vector<std::byte>>(content.begin(), content.end());
    write.is_lost = outcome.is_lost;
    write_sequence = begin_write(state, file, std::move(write));
    // A temporary file of an earlier crash is replaced.
    name_sequence = begin_name(state, *directory, temporary, id);
    return Status();
  });
  if (!begun.ok()) return begun;
  FileHold hold(state_, id);
  step.during();
  state_->with_disk([&](MemoryDisk::State& state) {
    end_name(*find_directory(state), name_sequence);
    end_write(hold.file(state), write_sequence, Fate::kPending);
  });
  if (outcome.answer.ok()) return hold;
  drop_temporary(temporary);
  return outcome.answer;
}

Status MemoryDirectory::sync_temporary(const FileHold& file, std::string_view temporary, SyncPoint point) {
  Step step(*state_, operation(OperationKind::kReplaceSync, temporary, point));
  const SyncOutcome outcome = sync_outcome(step.fault());
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    sync_file(file.file(state), state.next_sequence, outcome.fate);
    // No later sync of this file exists that could return a late error.
    return outcome.answer;
  });
}

Status MemoryDirectory::take_name(const FileHold& file, const std::string& temporary, std::string_view name,
                                  SyncPoint point) {
  Step step(*state_, operation(OperationKind::kReplaceRename, name, point));
  const WriteOutcome outcome = write_outcome(step.fault());
  if (!outcome.is_done) {
    drop_temporary(temporary);
    return outcome.answer;
  }
  std::uint64_t new_sequence = 0;
  std::uint64_t old_sequence = 0;
  const Status begun = state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("replace", name); !owned.ok()) return owned;
    new_sequence = begin_name(state, *find_directory(state), name, file.id());
    old_sequence = begin_name(state, *find_directory(state), temporary, 0);
    return Status();
  });
  if (!begun.ok()) return begun;
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    const Status owned = session_->check_writable("replace", name);
    const Fate fate = owned.ok() ? Fate::kPending : Fate::kReverted;
    end_name(*find_directory(state), new_sequence, fate);
    end_name(*find_directory(state), old_sequence, fate);
    return owned.ok() ? outcome.answer : owned;
  });
}

Status MemoryDirectory::sync_name(std::string_view temporary, std::string_view name, SyncPoint point) {
  Step step(*state_, operation(OperationKind::kReplaceDirectorySync, name, point));
  const SyncOutcome outcome = sync_outcome(step.fault());
  Status late = state_->with_disk([&](MemoryDisk::State&) { return state_->take_late_error(session_->directory); });
  if (!late.ok()) return late;
  step.during();
  return state_->with_disk([&](MemoryDisk::State& state) {
    if (Status owned = session_->check_writable("replace", name); !owned.ok()) return owned;
    sync_names(*find_directory(state), state.next_sequence, outcome.fate,
               [&](std::string_view changed) { return changed == name || changed == temporary; });
    forget_nameless_files(state);
    state_->keep_late_error(session_->directory, outcome.late_error);
    return outcome.answer;
  });
}

// Cleans up after a failure. It is not a step: observers see the failure, and a crash may leave the file anyway.
void MemoryDirectory::drop_temporary(const std::string& temporary) {
  state_->with_disk([&](MemoryDisk::State& state) {
    DirectoryState* const directory = find_directory(state);
    if (directory != nullptr && find_file(state, temporary) != 0) {
      end_name(*directory, begin_name(state, *directory, temporary, 0));
    }
  });
}

}  // namespace varve::io
