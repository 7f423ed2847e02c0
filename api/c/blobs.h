// Owns: what the handles of containers and blobs name, and the conversions of blobs' options and states.
// Must never: check a rule of blobs; the verbs do.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/c/call.h"
#include "api/c/handles.h"
#include "api/c/values.h"
#include "varve/blob.h"
#include "varve/c.h"

namespace varve::c {

/// varve_container.
struct ContainerObject : Object {
  static constexpr Kind kKind = Kind::kContainer;
  static constexpr bool kOneThread = false;
  ContainerObject(Container opened, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), container(std::move(opened)) {}
  Container container;
};

/// varve_blob_writer.
struct BlobWriterObject : Object {
  static constexpr Kind kKind = Kind::kBlobWriter;
  static constexpr bool kOneThread = true;
  BlobWriterObject(BlobWriter begun, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), writer(std::move(begun)) {}
  /// Errors: kInvalidArgument (a transaction has taken the writer).
  Status check() const noexcept {
    return writer ? Status()
                  : Status::invalid_argument("a transaction has the content of the writer; open another one");
  }
  std::optional<BlobWriter> writer;
};

/// varve_blob_reader.
struct BlobReaderObject : Object {
  static constexpr Kind kKind = Kind::kBlobReader;
  static constexpr bool kOneThread = false;
  BlobReaderObject(BlobReader opened, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), reader(std::move(opened)) {}
  const BlobReader reader;
};

/// varve_blobs: the states of blobs, and prefixes of a listing.
class BlobsObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kBlobs;
  static constexpr bool kOneThread = false;

  BlobsObject() : Object(kKind) {}
  explicit BlobsObject(BlobPage page) : Object(kKind) { hold(std::move(page)); }

  /// May throw std::bad_alloc. The object then has no blob.
  void hold(BlobPage page);
  void hold(BlobState blob);

  std::size_t count() const noexcept { return page_.entries.size(); }
  varve_blob_view view(std::size_t index) const noexcept;
  varve_text continuation() const noexcept { return page_.continuation ? text_of(*page_.continuation) : varve_text{}; }

 private:
  struct Pairs {
    std::vector<varve_metadata_pair> metadata;
    std::vector<varve_metadata_pair> tags;
  };
  BlobPage page_;
  std::vector<Pairs> pairs_;  // one for each entry
};

/// varve_blocks.
class BlocksObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kBlocks;
  static constexpr bool kOneThread = false;

  explicit BlocksObject(BlockLists lists);
  varve_blocks_view view() const noexcept {
    return {sizeof(varve_blocks_view), committed_.data(), committed_.size(), staged_.data(), staged_.size()};
  }

 private:
  const BlockLists lists_;
  std::vector<varve_block> committed_;
  std::vector<varve_block> staged_;
};

/// Errors of these: kInvalidArgument (a null pointer, an unknown number), kUnsupported (read_sized()).
/// @{
Result<BlobConditions> read_conditions(const varve_blob_conditions* conditions);
Result<BlobProperties> read_properties(const varve_blob_properties* properties);
Result<std::vector<BlobTag>> read_tags(const varve_metadata_pair* pairs, std::size_t count);
Result<BlobTier> read_tier(std::int32_t tier);
Result<PublicAccess> read_public_access(std::int32_t access);
Result<BlobWriteOptions> read_blob_write_options(const varve_blob_write_options* options);
Result<BlobChangeOptions> read_blob_change_options(const varve_blob_change_options* options);
Result<BlobReadOptions> read_blob_read_options(const varve_blob_read_options* options);
Result<BlobCopyOptions> read_blob_copy_options(const varve_blob_copy_options* options);
Result<BlobListing> read_blob_listing(const varve_blob_list_options* options);
Result<AppendOptions> read_append_options(const varve_append_options* options);
/// @}

inline void forget(varve_blobs** blobs) noexcept {
  if (blobs != nullptr) *blobs = nullptr;
}

/// Calls `find`, which returns the state of a blob. Gives the state a handle, which exists before the call. Returns
/// `unshown` if memory runs out afterwards.
template <typename Find>
Status give_blob(varve_blobs** written, const Find& find, Code unshown, std::string_view message) {
  auto made = std::make_unique<BlobsObject>();
  BlobsObject* const into = made.get();
  if (Status handled = give_handle(std::move(made), written); !handled.ok()) return handled;
  EarlyHandle<BlobsObject, varve_blobs> early(written);
  Result<BlobState> state = find();
  if (!state.ok()) return state.status();
  try {
    into->hold(*std::move(state));
  } catch (const std::bad_alloc&) {
    return Status(unshown, message);
  }
  early.keep();
  return Status();
}

/// Calls `write`, which returns the state of a written blob, and gives the state a handle.
template <typename Write>
Status write_blob(varve_blobs** written, const Write& write) {
  if (written == nullptr) return write().status();
  return give_blob(written, write, Code::kUnknown, "the blob was written, but there is no memory to show its state");
}
/// Calls `read`, which returns the state of a blob, and gives the state a handle.
template <typename Read>
Status show_blob(varve_blobs** state, const Read& read) {
  return give_blob(state, read, Code::kOutOfMemory, "there is no memory to show the state of the blob");
}

/// Calls `body` with the container of a handle and the name of a blob.
template <typename Body>
varve_status* call_on_blob(const varve_container* container, const varve_text& blob, const Body& body) noexcept {
  return call_on<ContainerObject>(container, [&](ContainerObject& held) -> Status {
    const Result<std::string_view> name = read_text(blob, "blob");
    if (!name.ok()) return name.status();
    return body(held, *name);
  });
}

}  // namespace varve::c
