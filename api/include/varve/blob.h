// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of one container: blobs, which are named contents of any length, written and read as streams.
// Must never: show a mixture of two states of a blob, or hold a whole blob in memory.
//
//   Result<Container> photos = store->create_container("myaccount", "photos");
//   Result<BlobWriter> writer = photos->write("eu/ann.jpg", {.properties = {.content_type = "image/jpeg"}});
//   while (more) Status added = writer->append(piece);   // memory of about 3 MiB
//   Result<BlobState> written = writer->publish();        // now others see it, whole
//
//   Result<BlobReader> reader = photos->read("eu/ann.jpg");  // this state to its end, whatever happens to the name
//   Result<std::size_t> got = reader->read(offset, buffer);
//
// A block blob is replaced as a whole: by put(), by a BlobWriter, or by a list of blocks that were staged before. An
// append blob grows at its end. Each byte is stored once, also if blobs are copied. Each read compares what it read with
// hashes, one for 64 KiB of content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access_policy.h"
#include "blob_tail.h"
#include "lease.h"
#include "options.h"
#include "queue.h"
#include "result.h"
#include "snapshot.h"
#include "status.h"
#include "types.h"
#include "version.h"

namespace varve {

/// How the content of a blob changes.
enum class BlobKind : std::uint8_t {
  /// It is replaced as a whole.
  kBlock,
  /// It grows at its end.
  kAppend,
};

/// Texts that a user keeps with a blob, as the headers of HTTP. Empty means not set. Source: BB-03.
struct BlobProperties {
  /// If empty, readers see `application/octet-stream`.
  std::string content_type{};
  std::string content_encoding{};
  std::string content_language{};
  std::string content_disposition{};
  std::string cache_control{};
  /// The MD5 of the content as the writer gave it. The store keeps it, and does not compare it.
  std::optional<std::array<std::uint8_t, 16>> content_md5{};
  bool operator==(const BlobProperties&) const = default;
};

/// A name and a value by which a user sorts blobs. Names and values are compared with their case.
struct BlobTag {
  std::string name;
  std::string value;
  bool operator==(const BlobTag&) const = default;
};

/// Where a blob would be kept in a service with several stores. Only kArchive has an effect: the content cannot be read.
/// Source: BT-01.
enum class BlobTier : std::uint8_t {
  /// The writer chose none: readers see kHot.
  kDefault,
  kHot,
  kCool,
  kCold,
  kArchive,
};

/// Conditions on the state of a blob or a container. All that are given must be met. Source: BC-01 to BC-05, BE-03.
struct BlobConditions {
  /// The blob has this ETag; ETag::any() asks that it exists.
  std::optional<ETag> if_match{};
  /// The blob has not this ETag; ETag::any() asks that it does not exist.
  std::optional<ETag> if_none_match{};
  /// The blob was changed after this time, in whole seconds.
  std::optional<DateTime> if_modified_since{};
  /// The blob was not changed after this time, in whole seconds.
  std::optional<DateTime> if_unmodified_since{};
  /// The id of the caller's lease.
  std::optional<Guid> lease{};
};

/// The state of a blob, without its content.
struct BlobState {
  std::string name;
  BlobKind kind = BlobKind::kBlock;
  /// Changes with the content, the properties and the metadata. Tags, tier and lease leave it.
  ETag etag;
  /// The time of that change; see ETag::timestamp(). The service shows whole seconds.
  DateTime modified;
  DateTime created;
  /// Bytes of the content.
  std::uint64_t length = 0;
  /// CRC-64 of the content (BB-04). Each write keeps it. Absent for a content, or a block of it, that an earlier build wrote.
  std::optional<std::uint64_t> crc64{};
  BlobProperties properties;
  std::vector<MetadataPair> metadata;
  std::vector<BlobTag> tags;
  BlobTier tier = BlobTier::kDefault;
  /// When the tier was changed after the blob was written.
  std::optional<DateTime> tier_changed{};
  LeaseInfo lease;
  /// Blocks that an append blob was made of.
  std::uint32_t append_count = 0;
  /// The source and the time of the copy that made the blob.
  /// @{
  std::string copy_source{};
  std::optional<Guid> copy_id{};
  std::optional<DateTime> copied{};
  /// @}
  /// Nothing was published yet under the name: there are staged blocks alone (BL-01).
  bool is_uncommitted = false;
};

/// What a writer gives a blob besides its content.
struct BlobWriteOptions {
  BlobProperties properties{};
  std::vector<MetadataPair> metadata{};
  std::vector<BlobTag> tags{};
  BlobTier tier = BlobTier::kDefault;
  /// Judged with the change, under one lock.
  BlobConditions conditions{};
  /// As BlobCopyOptions::source_address, for a content that the writer read elsewhere.
  std::string source_address{};
  /// As WriteOptions::durability.
  std::optional<Durability> durability{};
  /// Compresses each part of 1 MiB that shrinks by an eighth or more, unless the first part does not, or the properties have
  /// a content_encoding. A read of a range then reads whole parts. A writer needs about 3 MiB more. Source: BX-06.
  bool compresses = false;
};

/// Options of a change that writes no content.
struct BlobChangeOptions {
  BlobConditions conditions{};
  std::optional<Durability> durability{};
};

/// Options of a read.
struct BlobReadOptions {
  BlobConditions conditions{};
  /// Reads the state at this snapshot. If not set, reads the newest one.
  std::optional<Snapshot> snapshot{};
};

/// Options of Container::append().
struct AppendOptions {
  BlobConditions conditions{};
  /// If set, the blob must have this length (BA-03).
  std::optional<std::uint64_t> position{};
  /// If set, the blob may not be longer than this afterwards (BA-03).
  std::optional<std::uint64_t> length_max{};
  std::optional<Durability> durability{};
};

/// What an append returns.
struct AppendedBlock {
  /// Where the appended bytes begin.
  std::uint64_t offset = 0;
  ETag etag;
  std::uint32_t append_count = 0;
};

/// Options of Container::copy().
struct BlobCopyOptions {
  /// On the destination.
  BlobConditions conditions{};
  /// On the source. A condition that is not met is kPreconditionFailed (SourceConditionNotMet).
  BlobConditions source_conditions{};
  /// If not set, the destination has the source's.
  std::optional<BlobProperties> properties{};
  std::optional<std::vector<MetadataPair>> metadata{};
  /// The destination has the source's tags only if the caller gives them here.
  std::vector<BlobTag> tags{};
  BlobTier tier = BlobTier::kDefault;
  /// Kept as BlobState::copy_source. If it is empty, the destination looks as if it was written.
  std::string source_address{};
  std::optional<Durability> durability{};
};

/// One block of a list that Container::commit_blocks() makes into a content.
struct BlockChoice {
  enum class From : std::uint8_t {
    /// The staged block, else that of the present content.
    kLatest,
    kStaged,
    kCommitted,
  };
  /// 1 to 64 bytes.
  std::string id;
  From from = From::kLatest;
};

/// One block of a blob.
struct BlockInfo {
  std::string id;
  std::uint64_t length = 0;
};

/// The blocks of a blob.
struct BlockLists {
  /// In the order of the content. Empty for a content that was not made of blocks.
  std::vector<BlockInfo> committed;
  /// In the order of their ids.
  std::vector<BlockInfo> staged;
  /// The state of the blob, if it was published.
  std::optional<BlobState> blob;
};

/// Which blocks of a blob a verb reads.
enum class BlockKinds : std::uint8_t { kCommitted, kStaged, kBoth };

/// Numbers of blocks. They cost little, and the blocks themselves may take 20 MB.
struct BlockCounts {
  std::uint32_t committed = 0;
  std::uint32_t staged = 0;
};

/// A listing of blobs. Source: BL-01.
struct BlobListing {
  /// Only names that begin with this.
  std::string prefix{};
  /// If not empty, names that have this text after the prefix are folded: the page has the part up to and with the first
  /// such text, once.
  std::string delimiter{};
  /// The token of the page before. Empty begins with the first name.
  std::string continuation{};
  /// Blobs and prefixes in a page: 1 to limits::kBlobPageMax.
  std::uint32_t page_max = 5000;
  /// Also names that have staged blocks alone.
  bool with_uncommitted = false;
  std::optional<Snapshot> snapshot{};
};

/// One entry of a page: a blob, or a common prefix of several.
struct BlobListed {
  /// The prefix, or nothing for a blob.
  std::string prefix{};
  BlobState blob{};
};

/// One page of a listing.
struct BlobPage {
  /// In the order of the UTF-8 bytes of their names and prefixes.
  std::vector<BlobListed> entries;
  /// As Page::continuation.
  std::optional<std::string> continuation;
};

/// The reads that need no key. Source: BB-15.
enum class PublicAccess : std::uint8_t {
  kNone,
  /// The content and state of each blob whose name is known.
  kBlobs,
  /// The listing, too.
  kContainer,
};

/// What a user keeps with a container.
struct ContainerOptions {
  std::vector<MetadataPair> metadata{};
  PublicAccess public_access = PublicAccess::kNone;
};

/// The state of a container.
struct ContainerState {
  std::string name;
  /// Changes with the metadata, the policies and the public access. A lease leaves it.
  ETag etag;
  DateTime modified;
  std::vector<MetadataPair> metadata;
  PublicAccess public_access = PublicAccess::kNone;
  LeaseInfo lease;
};

/// Writes one content as a stream. It is not visible before publish(). Movable; one thread at a time may use it. What a
/// writer wrote that was destroyed, or that a crash ended, is removed in the background (BX-04).
class VARVE_EXPORT BlobWriter {
 public:
  BlobWriter(BlobWriter&&) noexcept;
  BlobWriter& operator=(BlobWriter&&) noexcept;
  ~BlobWriter();

  /// Adds bytes at the end. Needs about 3 MiB of memory at most. Errors: those of any write, kTooLarge
  /// (RequestBodyTooLarge: the store's limit of a content); the writer then cannot be used any more.
  Status append(std::string_view bytes);
  /// Bytes that were added.
  std::uint64_t length() const noexcept;
  /// Makes the content that of the name, in one commit, and returns the blob's new state. Properties whose values are
  /// known only after the content, such as its MD5, may be replaced before: see properties(). A writer of stage_block()
  /// stages the block; the state has its length alone. Errors: kPreconditionFailed and kExists by the conditions, those
  /// of any write, that of an append that failed before. The writer cannot be used afterwards.
  Result<BlobState> publish();
  /// The properties that publish() will give the blob.
  BlobProperties& properties() & noexcept;

  /// The implementation. Not for users.
  struct State;

 private:
  friend class BlobWrite;
  friend class Container;
  explicit BlobWriter(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Reads one state of one blob, also after the blob was changed or deleted. Copies are not possible; any thread may read.
/// It keeps the state readable, as a Snapshot does, until no read has come for StoreOptions::reader_idle_max.
class VARVE_EXPORT BlobReader {
 public:
  BlobReader(BlobReader&&) noexcept;
  BlobReader& operator=(BlobReader&&) noexcept;
  ~BlobReader();

  /// The state that is read.
  const BlobState& state() const& noexcept;
  /// Fills the buffer with the content from `offset` on. Returns the number of bytes, which is less than the buffer has
  /// only at the end of the content. Bytes that do not match their hash are kCorruption, and none of them is returned.
  /// No read for StoreOptions::reader_idle_max is kClosed. Source: BX-07, BX-09, BX-11.
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const;

  /// The implementation. Not for users.
  struct State;

 private:
  friend class Container;
  explicit BlobReader(std::unique_ptr<const State> state) noexcept;
  std::unique_ptr<const State> state_;
};

/// A handle of one container. Copies are cheap and equal. The container is named, not held: if it is deleted and created
/// again, the handle means the new one.
///
/// Any thread may use it. It may outlive the Store object; its verbs then return kClosed.
///
/// Errors that every verb may return: kNotFound (ContainerNotFound), kBusy (ContainerBeingDeleted: as QueueBeingDeleted),
/// kInvalidArgument (InvalidResourceName, OutOfRangeInput: the blob's name), kClosed, kLocked, kCorruption, kIoError,
/// kTooManyFiles, kOutOfMemory. A verb on a blob that must exist: kNotFound (BlobNotFound). A verb that writes may also
/// return those that table.h lists for any write, kPreconditionFailed (ConditionNotMet; LeaseIdMissing,
/// LeaseIdMismatchWithBlobOperation, LeaseNotPresentWithBlobOperation, LeaseLost), kExists (BlobAlreadyExists) and
/// kConflict (InvalidBlobType: the verb is for the other kind). Nothing changed, except perhaps after kUnknown.
class VARVE_EXPORT Container {
 public:
  /// The account's name.
  std::string_view account() const& noexcept;
  std::string account() && { return std::string(account()); }
  /// The container's name.
  std::string_view name() const& noexcept;
  std::string name() && { return std::string(name()); }

  /// Writes a block blob from memory. Source: BB-01, BB-02.
  Result<BlobState> put(std::string_view blob, std::string_view content, const BlobWriteOptions& options = {});
  /// Begins to write a block blob. The conditions are judged now, so that a hopeless upload ends early, and again by
  /// publish(). Source: BX-03, BX-04, BH-06.
  Result<BlobWriter> write(std::string_view blob, const BlobWriteOptions& options = {});
  /// Opens a blob for reading. Errors: kConflict (BlobArchived), kPreconditionFailed (ConditionNotMet), kNotModified is
  /// kPreconditionFailed (ConditionNotMet) too. Source: BG-01, BG-06.
  Result<BlobReader> read(std::string_view blob, const BlobReadOptions& options = {}) const;
  /// Returns the state of a blob. Source: BG-02.
  Result<BlobState> state(std::string_view blob, const BlobReadOptions& options = {}) const;
  /// Deletes a blob, and the blocks that are staged under its name. Source: BD-01.
  Status remove(std::string_view blob, const BlobChangeOptions& options = {});

  /// Replace a part of a blob's state, and return the new state. Errors: kInvalidArgument (InvalidMetadata,
  /// EmptyMetadataKey; InvalidTag, EmptyTagName, DuplicateTagNames; InvalidHeaderValue: the tier), kTooLarge
  /// (MetadataTooLarge, TagsTooLarge), kConflict (InvalidBlobType: an append blob has no tier). Source: BP-01, BP-03,
  /// BT-10, BT-01.
  /// @{
  Result<BlobState> set_properties(std::string_view blob, const BlobProperties& properties,
                                   const BlobChangeOptions& options = {});
  Result<BlobState> set_metadata(std::string_view blob, const std::vector<MetadataPair>& metadata,
                                 const BlobChangeOptions& options = {});
  Result<BlobState> set_tags(std::string_view blob, const std::vector<BlobTag>& tags,
                             const BlobChangeOptions& options = {});
  Result<BlobState> set_tier(std::string_view blob, BlobTier tier, const BlobChangeOptions& options = {});
  /// @}

  /// Begins to write a block of a block blob, which need not exist. BlobWriter::publish() stages it, in place of a
  /// staged block of this id. Of the options, the lease and the durability count. Errors: kInvalidArgument
  /// (InvalidQueryParameterValue: the id's length; InvalidBlobOrBlock: other ids of this blob have another length),
  /// kConflict (InvalidBlobType; BlockCountExceedsLimit). Source: BB-06.
  Result<BlobWriter> stage_block(std::string_view blob, std::string_view id, const BlobWriteOptions& options = {});
  /// Makes a content of blocks, and publishes it as put() does. Staged blocks that the list leaves out are discarded.
  /// Errors: kInvalidArgument (InvalidBlockList: there is no such block; BlockListTooLong: over 50,000). Source: BB-07 to
  /// BB-09.
  Result<BlobState> commit_blocks(std::string_view blob, std::span<const BlockChoice> blocks,
                                  const BlobWriteOptions& options = {});
  /// Returns the blocks of a block blob. Errors: kNotFound (BlobNotFound: there is neither a blob nor a block). Source:
  /// BB-20.
  Result<BlockLists> blocks(std::string_view blob, const BlobReadOptions& options = {},
                            BlockKinds kinds = BlockKinds::kBoth) const;
  /// Returns how many blocks blocks() would return. Errors: those of blocks().
  Result<BlockCounts> block_counts(std::string_view blob, const BlobReadOptions& options = {}) const;

  /// Creates an append blob without content, or replaces a blob by one. Source: BA-01.
  Result<BlobState> create_append_blob(std::string_view blob, const BlobWriteOptions& options = {});
  /// Adds 1 byte to limits::kAppendBytesMax bytes at the end of an append blob, whole or not at all. Errors:
  /// kPreconditionFailed (AppendPositionConditionNotMet, MaxBlobSizeConditionNotMet), kConflict
  /// (BlockCountExceedsLimit), kTooLarge (RequestBodyTooLarge), kInvalidArgument (InvalidHeaderValue: no byte). Source:
  /// BA-01 to BA-05.
  Result<AppendedBlock> append(std::string_view blob, std::string_view bytes, const AppendOptions& options = {});
  /// Begins an append of any length as a stream. BlobWriter::publish() adds the bytes, and returns the state after it. The
  /// conditions are judged as by write(). Errors: those of append().
  Result<BlobWriter> write_append(std::string_view blob, const AppendOptions& options = {});
  /// Returns bytes of an append blob from an offset on. If there are none yet, waits for an append (blob_tail.h). Returns
  /// no bytes after the wait. If the blob is deleted, or the store closed, the wait ends with the error of a verb that
  /// begins then. Errors: kConflict (InvalidBlobType), kPreconditionFailed (ConditionNotMet: another blob has the name
  /// now), kInvalidArgument (InvalidRange: the blob is shorter; OutOfRangeQueryParameterValue: bytes_max). Source: BX-25.
  Result<BlobTail> tail(std::string_view blob, const BlobTailOptions& options = {}) const;

  /// Makes `blob` a copy of a blob of the same store, which may be in another container of the same account. No content
  /// is copied: both share it. Errors: kNotFound (BlobNotFound: the source), kPreconditionFailed
  /// (SourceConditionNotMet), kInvalidArgument (InvalidInput: the source is of another store or account). Source: BY-01,
  /// BY-06, BX-08.
  Result<BlobState> copy(std::string_view blob, const Container& source, std::string_view source_blob,
                         const BlobCopyOptions& options = {});

  /// Changes the lease of a blob. Errors: kConflict (LeaseAlreadyPresent and the others of BE-02), kInvalidArgument
  /// (InvalidHeaderValue: a time). Source: BE-01 to BE-05.
  Result<LeaseAnswer> lease(std::string_view blob, const LeaseRequest& request, const BlobChangeOptions& options = {});

  /// Returns a page of blobs. Errors: kInvalidArgument (InvalidMarker: the continuation; OutOfRangeQueryParameterValue:
  /// page_max). Source: BL-01 to BL-06.
  Result<BlobPage> list(const BlobListing& listing = {}) const;

  /// Returns the state of the container. Of the conditions, the dates and the lease count. Source: BB-12.
  Result<ContainerState> container_state(const BlobConditions& conditions = {}) const;
  /// Replaces all metadata of the container. Errors: as Queue::set_metadata(). Source: BB-13.
  Result<ContainerState> set_container_metadata(const std::vector<MetadataPair>& metadata,
                                                const BlobConditions& conditions = {});
  /// Replaces the access policies and the public access of the container. They are on stable storage when this returns.
  /// Errors: as check_container_access_policies(). Source: BB-14.
  Result<ContainerState> set_access(std::span<const AccessPolicy> policies, PublicAccess public_access,
                                    const BlobConditions& conditions = {});
  /// Returns the policies in the order in which they were set.
  Result<std::vector<AccessPolicy>> access_policies() const;
  /// Changes the lease of the container. Source: BB-16.
  Result<LeaseAnswer> lease_container(const LeaseRequest& request, const BlobConditions& conditions = {});

  /// The implementation. Not for users.
  struct State;

 private:
  friend class AsyncContainer;
  friend class BlobWrite;
  friend class Store;
  friend class StoreTransaction;
  explicit Container(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
};

/// Checks the name of a container: that of a queue, or `$root`, `$logs` or `$web`. Errors: kInvalidArgument
/// (OutOfRangeInput: the length; InvalidResourceName: characters). Source: BN-01.
VARVE_EXPORT Status check_container_name(std::string_view name);
/// Checks the name of a blob: 1 to 1,024 UTF-16 code units, in UTF-8. Errors: kInvalidArgument (OutOfRangeInput: the length;
/// InvalidResourceName: not UTF-8). Source: BN-02.
VARVE_EXPORT Status check_blob_name(std::string_view name);
/// Checks the tags of a blob. Errors: kInvalidArgument (InvalidTag, EmptyTagName, DuplicateTagNames), kTooLarge
/// (TagsTooLarge). Source: BT-10.
VARVE_EXPORT Status check_blob_tags(const std::vector<BlobTag>& tags);
}  // namespace varve
