// Owns: the functions by which tests read and change a disk at rest.
// Must never: leave pending changes in a file that it changed. A power cut would bring them back.

#include "io/simulated/memory_disk.h"

#include <algorithm>
#include <cassert>

namespace varve::io {

namespace {

void settle_file(FileState& file) {
  file.durable = file.cached;
  file.pending.clear();
  file.samples.clear();
}

void settle_name(DirectoryState& directory, const std::string& name) {
  std::erase_if(directory.pending, [&](const PendingName& pending) { return pending.name == name; });
  if (const auto found = directory.cached.find(name); found != directory.cached.end()) {
    directory.durable[name] = found->second;
  } else {
    directory.durable.erase(name);
  }
}

Status no_such_file(std::string_view path) {
  return Status::not_found(std::string(path) + ": no such file");
}

}  // namespace

std::string normal_path(std::string_view path) {
  std::string normal(path.starts_with('/') ? "/" : "");
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (component.empty() || component == ".") continue;
    if (!normal.empty() && normal.back() != '/') normal.push_back('/');
    normal.append(component);
  }
  return normal.empty() ? "." : normal;
}

SplitPath split_path(std::string_view path) {
  const std::string normal = normal_path(path);
  const std::size_t slash = normal.rfind('/');
  if (slash == std::string::npos) return {".", normal};
  return {slash == 0 ? "/" : normal.substr(0, slash), normal.substr(slash + 1)};
}

void apply(const PendingWrite& write, MemoryContent& content) {
  if (write.resize_to.has_value()) content.resize(*write.resize_to);
  if (write.bytes == nullptr) return;
  if (!write.is_lost) {
    content.write(write.offset, *write.bytes);
    return;
  }
  if (write.end_offset() > content.size_bytes()) content.resize(write.end_offset());
  if (!write.misdirected_to) return;
  const std::uint64_t room = content.size_bytes() - std::min(content.size_bytes(), *write.misdirected_to);
  const auto bytes = std::span(*write.bytes).first(std::min<std::uint64_t>(room, write.bytes->size()));
  content.write(*write.misdirected_to, bytes);
}

FileId make_file(MemoryDisk::State& state) {
  const FileId id = state.next_file++;
  state.files.emplace(id, FileState());
  return id;
}

void forget_nameless_files(MemoryDisk::State& state) {
  std::vector<FileId> named;
  for (const auto& [path, directory] : state.directories) {
    for (const auto& [name, file] : directory.cached) named.push_back(file);
    for (const auto& [name, file] : directory.durable) named.push_back(file);
    for (const PendingName& pending : directory.pending) named.push_back(pending.file);
  }
  std::sort(named.begin(), named.end());
  std::erase_if(state.files, [&](const auto& entry) {
    return entry.second.handle_count == 0 && !std::binary_search(named.begin(), named.end(), entry.first);
  });
}

MemoryDisk::MemoryDisk() {
  make_directory("/");
  make_directory(".");
}

std::vector<std::string> MemoryDisk::file_names(std::string_view directory) const {
  std::vector<std::string> names;
  const auto found = state_.directories.find(normal_path(directory));
  if (found == state_.directories.end()) return names;
  for (const auto& [name, file] : found->second.cached) names.push_back(name);
  return names;
}

const FileState* MemoryDisk::find(std::string_view path) const {
  const SplitPath split = split_path(path);
  const auto directory = state_.directories.find(split.directory);
  if (directory == state_.directories.end()) return nullptr;
  const auto name = directory->second.cached.find(split.name);
  if (name == directory->second.cached.end()) return nullptr;
  const auto file = state_.files.find(name->second);
  assert(file != state_.files.end());
  return &file->second;
}

FileState* MemoryDisk::find(std::string_view path) {
  return const_cast<FileState*>(static_cast<const MemoryDisk*>(this)->find(path));
}

bool MemoryDisk::contains(std::string_view path) const {
  return find(path) != nullptr;
}

Result<std::vector<std::byte>> MemoryDisk::read_file(std::string_view path) const {
  const FileState* const file = find(path);
  if (file == nullptr) return no_such_file(path);
  return file->cached.to_bytes();
}

Result<std::uint64_t> MemoryDisk::file_size_bytes(std::string_view path) const {
  const FileState* const file = find(path);
  if (file == nullptr) return no_such_file(path);
  return file->cached.size_bytes();
}

void MemoryDisk::make_directory(std::string_view path) {
  DirectoryState& directory = state_.directories[normal_path(path)];
  directory.is_durable = true;
  directory.in_flight = false;
}

void MemoryDisk::write_file(std::string_view path, std::span<const std::byte> bytes) {
  const SplitPath split = split_path(path);
  make_directory(split.directory);
  DirectoryState& directory = state_.directories[split.directory];
  const FileId id = make_file(state_);
  directory.cached[split.name] = id;
  settle_name(directory, split.name);
  FileState& file = state_.files[id];
  file.cached.write(0, bytes);
  settle_file(file);
  forget_nameless_files(state_);
}

Status MemoryDisk::remove_file(std::string_view path) {
  if (find(path) == nullptr) return no_such_file(path);
  const SplitPath split = split_path(path);
  DirectoryState& directory = state_.directories[split.directory];
  directory.cached.erase(split.name);
  settle_name(directory, split.name);
  forget_nameless_files(state_);
  return Status();
}

Status MemoryDisk::truncate(std::string_view path, std::uint64_t size_bytes) {
  FileState* const file = find(path);
  if (file == nullptr) return no_such_file(path);
  file->cached.resize(size_bytes);
  settle_file(*file);
  return Status();
}

Status MemoryDisk::flip_bit(std::string_view path, std::uint64_t offset, std::byte mask) {
  FileState* const file = find(path);
  if (file == nullptr) return no_such_file(path);
  if (offset >= file->cached.size_bytes()) {
    return Status::invalid_argument("the file ends before the byte to change").in_file(path, offset);
  }
  std::byte changed{};
  file->cached.read(offset, std::span(&changed, 1));
  changed ^= mask;
  file->cached.write(offset, std::span(&changed, 1));
  settle_file(*file);
  return Status();
}

Status MemoryDisk::copy_directory(std::string_view from, std::string_view to) {
  const auto source = state_.directories.find(normal_path(from));
  if (source == state_.directories.end()) return Status::not_found(std::string(from) + ": no such directory");
  DirectoryState copy;
  copy.is_durable = true;
  for (const auto& [name, id] : source->second.cached) {
    FileState file = state_.files[id];
    settle_file(file);
    const FileId new_id = make_file(state_);
    state_.files[new_id] = std::move(file);
    copy.cached[name] = new_id;
  }
  copy.durable = copy.cached;
  state_.directories[normal_path(to)] = std::move(copy);
  forget_nameless_files(state_);
  return Status();
}

void MemoryDisk::settle() {
  std::erase_if(state_.directories, [](const auto& entry) { return entry.second.in_flight; });
  for (auto& [path, directory] : state_.directories) {
    directory.durable = directory.cached;
    directory.pending.clear();
    directory.is_durable = true;
  }
  for (auto& [id, file] : state_.files) settle_file(file);
  forget_nameless_files(state_);
}

std::size_t MemoryDisk::pending_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [path, directory] : state_.directories) {
    count += directory.pending.size() + (directory.is_durable ? 0 : 1);
  }
  for (const auto& [id, file] : state_.files) {
    count += file.pending.size() + (file.is_shared_memory && file.cached != file.durable ? 1 : 0);
  }
  return count;
}

bool MemoryDisk::same_content(const MemoryDisk& other) const {
  const auto same_file = [&](const auto& left, const auto& right) {
    return left.first == right.first &&
           state_.files.at(left.second).cached == other.state_.files.at(right.second).cached;
  };
  auto ours = state_.directories.begin();
  auto theirs = other.state_.directories.begin();
  for (;; ++ours, ++theirs) {
    while (ours != state_.directories.end() && ours->second.in_flight) ++ours;
    while (theirs != other.state_.directories.end() && theirs->second.in_flight) ++theirs;
    if (ours == state_.directories.end() || theirs == other.state_.directories.end()) break;
    const auto& left = ours->second.cached;
    const auto& right = theirs->second.cached;
    if (ours->first != theirs->first) return false;
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(), same_file)) return false;
  }
  return ours == state_.directories.end() && theirs == other.state_.directories.end();
}

}  // namespace varve::io
