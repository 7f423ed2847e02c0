// Owns: the routes that make a blob a copy of another one.
// Must never: fetch anything from another server, or copy what the caller may not read.
#include <optional>
#include <string>
#include <utility>

#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/copy_source.h"
#include "api/rest/blobs/source_content.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"

namespace varve::serve {
namespace {

constexpr std::string_view kBlobType = "x-ms-blob-type";

bool says_true(const std::string* text) {
  return text != nullptr && equal_ignoring_case(trimmed(*text), "true");
}

/// Returns whether the request puts a block blob, instead of a copy that has the type of its source. Source: BY-02.
bool puts_block_blob(const BlobCall& call) {
  return find_header(call.headers(), kBlobType) != nullptr;
}

/// Checks the type of a blob that is put from a URL. Source: BY-02.
Status check_put_type(const BlobCall& call) {
  const std::string* const type = find_header(call.headers(), kBlobType);
  if (type == nullptr || equal_ignoring_case(trimmed(*type), "BlockBlob")) return Status();
  return invalid_header(kBlobType, "only a BlockBlob can be put from a URL");
}

/// Reads what the copy gets besides its content. Source: BY-01, BY-02.
Result<BlobCopyOptions> copy_options(const BlobCall& call, bool is_put) {
  BlobCopyOptions options;
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) return conditions.status();
  const Result<BlobConditions> source = read_source_conditions(call.headers());
  if (!source.ok()) return source.status();
  Result<std::vector<BlobTag>> tags = read_tags_header(call.headers());
  if (!tags.ok()) return tags.status();
  const Result<BlobTier> tier = read_tier(call.headers());
  if (!tier.ok()) return tier.status();
  options.conditions = *conditions;
  options.source_conditions = *source;
  options.tags = *std::move(tags);
  options.tier = *tier;
  guard_present_blob(call, options.conditions);
  std::vector<MetadataPair> metadata = metadata_of(call.headers());
  if (is_put || !metadata.empty()) options.metadata = std::move(metadata);
  if (is_put && !says_true(find_header(call.headers(), "x-ms-copy-source-blob-properties"))) {
    Result<BlobProperties> properties = read_blob_properties(call.headers(), PropertyHeaders::kOwnOrCommon);
    if (!properties.ok()) return properties.status();
    options.properties = *std::move(properties);
  }
  return options;
}

/// The checksums that the request states of the source.
struct SourceSums {
  BodyChecksums stated;
  /// The MD5 that the copy gets as its property. The copy has the content of the source, so both must match.
  std::optional<Md5> own_md5;

  bool has_any() const noexcept { return stated.md5 || stated.crc64 || own_md5; }
};

/// Copies the content and the tags of one state of the source: if the source changes in between, tries again.
Result<BlobState> copy_with_tags(Container& to, std::string_view blob, const Container& from,
                                 std::string_view from_blob, const BlobCopyOptions& options) {
  constexpr int kAttemptsMax = 100;
  BlobReadOptions judged;
  judged.conditions = options.source_conditions;
  for (int attempt = 1;; ++attempt) {
    Result<BlobState> state = from.state(from_blob, judged);
    if (!state.ok()) return source_failure(state.status());
    BlobCopyOptions bound = options;
    bound.source_conditions.if_match = state->etag;
    bound.tags = std::move(state->tags);
    Result<BlobState> copied = to.copy(blob, from, from_blob, bound);
    const bool has_changed = copied.status().service_error() == "SourceConditionNotMet";
    if (!has_changed || attempt == kAttemptsMax) return copied;
  }
}

/// Copies within the account: both blobs share the content.
Task<Result<BlobState>> copy_shared(const BlobCall& call, const CopySource& source, const BlobCopyOptions& options,
                                    bool copies_tags) {
  Task<Result<BlobState>> copying = ask_container<BlobState>(call, [&](Container& container) -> Result<BlobState> {
    const Result<Container> from = call.store.open_container(source.account, source.target.container);
    if (!from.ok()) return from.status();
    if (copies_tags) return copy_with_tags(container, call.target.blob, *from, source.target.blob, options);
    return container.copy(call.target.blob, *from, source.target.blob, options);
  });
  Result<BlobState> copied = co_await copying;
  co_return copied;
}

/// Makes a block blob of a content that cannot be shared: that of another account, or of an append blob.
Task<Result<BlobState>> copy_bytes(const BlobCall& call, const SourceContent& content, BlobCopyOptions& options,
                                   bool copies_tags) {
  const BlobState& source = content.reader->state();
  if (source.kind != BlobKind::kBlock && !puts_block_blob(call)) {
    co_return unverifiable_source("it is an append blob of another account");
  }
  BlobWriteOptions write;
  write.properties = options.properties.value_or(source.properties);
  write.metadata = options.metadata.value_or(source.metadata);
  write.tags = copies_tags ? source.tags : options.tags;
  write.tier = options.tier;
  write.conditions = options.conditions;
  write.source_address = options.source_address;
  write.compresses = call.options.compresses;
  Task<Result<BlobWriter>> beginning =
      ask_container<BlobWriter>(call, [&](Container& container) { return container.write(call.target.blob, write); });
  Result<BlobWriter> writer = co_await beginning;
  if (!writer.ok()) co_return writer.status();
  ContentSums sums(false);
  Task<Status> taking = take_source(call, content, sums, {}, &*writer);
  const Status taken = co_await taking;
  if (!taken.ok()) co_return taken;
  Task<Result<BlobState>> publishing =
      ask_container<BlobState>(call, [&](Container& /*container*/) { return writer->publish(); });
  Result<BlobState> published = co_await publishing;
  co_return published;
}

/// Compares the whole source with the checksums of the headers, of which one may become a property of the copy. The copy
/// then is one of this state of the source. Source: BY-02, BB-04.
Task<Status> check_source_sums(const BlobCall& call, const SourceContent& content, const SourceSums& sums,
                               BlobCopyOptions& options) {
  ContentSums present(sums.stated.md5 || sums.own_md5);
  Task<Status> taking = take_source(call, content, present, sums.stated, nullptr);
  const Status taken = co_await taking;
  if (!taken.ok()) co_return taken;
  if (sums.own_md5 && present.md5() != sums.own_md5) co_return md5_differs("x-ms-blob-content-md5");
  options.source_conditions.if_match = content.reader->state().etag;
  co_return Status();
}

/// Returns whether the copy may share the content of the source. A block blob cannot share that of an append blob.
Task<bool> may_share(const BlobCall& call, const CopySource& source) {
  if (source.account != call.address.account) co_return false;
  if (!puts_block_blob(call)) co_return true;
  bool is_append_blob = false;
  Task<Status> looking = run_in_store(call, [&](Store& store) -> Status {
    const Result<Container> from = store.open_container(source.account, source.target.container);
    if (!from.ok()) return from.status();
    const Result<BlobState> state = from->state(source.target.blob);
    is_append_blob = state.ok() && state->kind == BlobKind::kAppend;
    return state.status();
  });
  (void)co_await looking;  // the copy itself reports what is wrong with the source
  co_return !is_append_blob;
}

/// Copies a source that the caller may read.
Task<Result<BlobState>> copy_source(const BlobCall& call, const CopySource& source, BlobCopyOptions& options,
                                    bool copies_tags) {
  const Result<BodyChecksums> stated = read_source_checksums(call.headers());
  if (!stated.ok()) co_return stated.status();
  Task<bool> judging = may_share(call, source);
  const bool is_shared = co_await judging;
  const SourceSums sums{*stated, options.properties ? options.properties->content_md5 : std::nullopt};
  SourceContent content;
  if (!is_shared || sums.has_any()) {
    Task<Result<SourceContent>> opening = open_source(call, source, false);
    Result<SourceContent> opened = co_await opening;
    if (!opened.ok()) co_return opened.status();
    content = *std::move(opened);
  }
  if (sums.has_any()) {
    Task<Status> checking = check_source_sums(call, content, sums, options);
    const Status checked = co_await checking;
    if (!checked.ok()) co_return checked;
  }
  Task<Result<BlobState>> copying =
      is_shared ? copy_shared(call, source, options, copies_tags) : copy_bytes(call, content, options, copies_tags);
  Result<BlobState> copied = co_await copying;
  co_return copied;
}

}  // namespace

Answer copy_blob(const BlobCall& call) {
  if (Status typed = check_put_type(call); !typed.ok()) co_return typed;
  const bool is_put = puts_block_blob(call);
  const Result<CopySource> source = read_copy_source(call);
  if (!source.ok()) co_return source.status();
  Result<BlobCopyOptions> options = copy_options(call, is_put);
  if (!options.ok()) co_return options.status();
  if (!is_put) options->source_address = source->address;
  const std::string* const tag_option = find_header(call.headers(), "x-ms-copy-source-tag-option");
  const bool copies_tags = tag_option != nullptr && equal_ignoring_case(trimmed(*tag_option), "COPY");
  Task<Status> asking = check_copy_source(call, *source, copies_tags ? SourceNeeds::kTags : SourceNeeds::kContent);
  const Status readable = co_await asking;
  if (!readable.ok()) co_return readable;
  Task<Result<BlobState>> copying = copy_source(call, *source, *options, copies_tags);
  const Result<BlobState> copied = co_await copying;
  if (!copied.ok()) co_return copied.status();
  co_return carried_out_answer([&] {
    HttpResponse response = written_response(is_put ? 201 : 202, copied->etag, copied->modified);
    if (is_put) {
      if (copied->properties.content_md5) response.with("Content-MD5", md5_text(*copied->properties.content_md5));
      return response;
    }
    if (copied->copy_id) response.with("x-ms-copy-id", copied->copy_id->to_string());
    response.with("x-ms-copy-status", "success");
    return response;
  });
}

Answer abort_copy(const BlobCall& /*call*/) {
  co_return refused("NoPendingCopyOperation", "every copy is complete when it is answered");
}

}  // namespace varve::serve
