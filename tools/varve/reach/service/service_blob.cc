// Owns: the access to a container of the blob service at an address (blob_access.h).
// Must never: publish a part of a content, or read two states of a blob as one.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "api/model/base64.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/encoding/policy_xml.h"
#include "api/rest/protocol/message.h"
#include "api/security/query_fields.h"
#include "tools/varve/reach/blob_access.h"
#include "tools/varve/reach/service/service_blob_state.h"
#include "tools/varve/reach/service/service_wire.h"

namespace varve::tool {
namespace {

using SharedWire = std::shared_ptr<const ServiceWire>;
using ServiceAnswer = Result<serve::HttpResponse>;

/// The most time of a request with a content, which a slow line carries.
constexpr std::chrono::seconds kContentTimeMax{600};
/// A longer content is sent as blocks: at first short ones, and then long ones, so that a blob of 2.6 TB has no more
/// blocks than it may.
constexpr std::size_t kShortPieceBytes = std::size_t{8} << 20;
constexpr std::size_t kLongPieceBytes = std::size_t{64} << 20;
constexpr std::size_t kShortPieces = 10'000;
/// The pause before the next look at a copy that the service makes in the background.
constexpr std::chrono::seconds kCopyPause{1};

/// Returns the failure of reading the answer to a change that the server has carried out.
Status after_blob_change(const Status& failure) {
  return failure.code() == Code::kIoError ? failure.with_code(Code::kUnknown) : failure;
}

std::string raw_header(const serve::HttpResponse& response, std::string_view name) {
  const std::string* const text = serve::find_header(response.headers, name);
  return text == nullptr ? std::string() : *text;
}

/// One blob of a service.
struct BlobPlaceAt {
  SharedWire wire;
  std::string container;
  std::string blob;

  std::string path(const std::string& query = {}) const {
    return service_path(container, blob) + (query.empty() ? "" : "?" + query);
  }
  ServiceAnswer send(std::string_view verb, const std::string& query, serve::Headers headers = {},
                     std::string body = {}) const {
    return wire->send(verb, path(query), std::move(headers), std::move(body), kContentTimeMax);
  }

  /// Returns the answer to a HEAD. Its failures have no texts of their own.
  ServiceAnswer head() const {
    ServiceAnswer response = wire->send("HEAD", path());
    const auto error = response.status().service_error();
    if (error == "ContainerNotFound") {
      return Status::not_found("there is no container '" + container + "'").with_service_error("ContainerNotFound");
    }
    if (error != "BlobNotFound") return response;
    return Status::not_found("container '" + container + "' has no blob '" + blob + "'")
        .with_service_error("BlobNotFound");
  }
  Result<std::vector<BlobTag>> tags() const {
    const ServiceAnswer response = wire->send("GET", path("comp=tags"));
    if (!response.ok()) return response.status();
    Result<std::vector<BlobTag>> tags = serve::read_tags(response->body);
    if (!tags.ok()) return unexpected_answer("it has no tags");
    return tags;
  }
  /// Returns the tags of a blob whose state was read.
  Result<std::vector<BlobTag>> tags_beside(const serve::HttpResponse& response) const {
    if (raw_header(response, "x-ms-tag-count").empty()) return std::vector<BlobTag>();
    return tags();
  }
  Result<BlobState> state() const {
    const ServiceAnswer response = head();
    if (!response.ok()) return response.status();
    Result<BlobState> state = blob_state_of(blob, response->headers);
    if (!state.ok()) return state;
    Result<std::vector<BlobTag>> read = tags_beside(*response);
    if (!read.ok() && read.code() != Code::kForbidden) return read.status();  // tags have a permission of their own
    if (read.ok()) state->tags = *std::move(read);
    return state;
  }
  /// Returns the state that a change has made.
  Result<BlobState> changed_state(const ServiceAnswer& response) const {
    if (!response.ok()) return response.status();
    const Result<ETag> etag = serve::parse_blob_etag(raw_header(*response, "etag"));
    if (!etag.ok()) return after_blob_change(unexpected_answer("it has no ETag"));
    // The caller may not be allowed to read, and another caller may have changed the blob again.
    const Result<BlobState> present = state();
    if (present.ok() && present->etag == *etag) return present;
    BlobState written;
    written.name = blob;
    written.etag = *etag;
    if (const Result<DateTime> time = time_of_answer(raw_header(*response, "last-modified")); time.ok()) {
      written.modified = *time;
    }
    return written;
  }
  Result<BlobState> commit(const std::vector<BlockChoice>& blocks, const BlobWriteOptions& options) const {
    serve::Headers headers{{"Content-Type", "application/xml"}};
    add_write_headers(headers, options);
    return changed_state(send("PUT", "comp=blocklist", std::move(headers), block_list_body(blocks)));
  }
  Status stage(const std::string& id, std::string bytes, const BlobConditions& conditions) const {
    BlobConditions lease;
    lease.lease = conditions.lease;
    serve::Headers headers;
    add_condition_headers(headers, lease);
    std::string query = "comp=block";
    security::append_field(query, "blockid", encode_base64(id));
    return send("PUT", query, std::move(headers), std::move(bytes)).status();
  }
};

void add_public_access(serve::Headers& headers, PublicAccess access) {
  if (access == PublicAccess::kBlobs) headers.emplace_back("x-ms-blob-public-access", "blob");
  if (access == PublicAccess::kContainer) headers.emplace_back("x-ms-blob-public-access", "container");
}

/// A content that becomes a blob: in one request if it is short, else as blocks.
class ServiceSink final : public BlobSink {
 public:
  ServiceSink(BlobPlaceAt place, BlobWriteOptions options)
      : place_(std::move(place)), options_(std::move(options)), ids_(Guid::random().to_string()) {
    std::erase(ids_, '-');
  }

  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t room = (blocks_.size() < kShortPieces ? kShortPieceBytes : kLongPieceBytes) - piece_.size();
      if (room == 0) {
        if (Status staged = stage_piece(); !staged.ok()) return staged;
        continue;
      }
      const std::size_t taken = std::min(bytes.size(), room);
      piece_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
    }
    return Status();
  }
  Result<BlobState> publish() override {
    if (blocks_.empty()) {
      serve::Headers headers{{"x-ms-blob-type", "BlockBlob"}};
      add_write_headers(headers, options_);
      return place_.changed_state(place_.send("PUT", "", std::move(headers), std::move(piece_)));
    }
    if (Status staged = stage_piece(); !staged.ok()) return staged;
    return place_.commit(blocks_, options_);
  }

 private:
  /// The ids of one sink are like no others, and have the length of those of `blob put --resume`.
  std::string next_id() const {
    std::array<char, 9> number{};
    std::snprintf(number.data(), number.size(), "%08x", static_cast<unsigned>(blocks_.size()));
    return ids_.substr(0, 24) + number.data();
  }
  Status stage_piece() {
    std::string id = next_id();
    Status staged = place_.stage(id, std::exchange(piece_, std::string()), options_.conditions);
    if (staged.ok()) blocks_.push_back({std::move(id), BlockChoice::From::kStaged});
    return staged;
  }

  const BlobPlaceAt place_;
  const BlobWriteOptions options_;
  std::string ids_;
  std::string piece_;
  std::vector<BlockChoice> blocks_;
};

/// A block that is staged in one request.
class ServiceBlockSink final : public BlobSink {
 public:
  ServiceBlockSink(BlobPlaceAt place, std::string id, const BlobConditions& conditions)
      : place_(std::move(place)), id_(std::move(id)), conditions_(conditions) {}

  Status append(std::string_view bytes) override {
    bytes_.append(bytes);
    return Status();
  }
  Result<BlobState> publish() override {
    BlobState staged;
    staged.length = bytes_.size();
    if (Status sent = place_.stage(id_, std::move(bytes_), conditions_); !sent.ok()) return sent;
    return staged;
  }

 private:
  const BlobPlaceAt place_;
  const std::string id_;
  const BlobConditions conditions_;
  std::string bytes_;
};

class ServiceSource final : public BlobSource {
 public:
  /// `etag` is the text of the service.
  ServiceSource(BlobPlaceAt place, std::string etag, BlobState state)
      : place_(std::move(place)), etag_(std::move(etag)), state_(std::move(state)) {}

  const BlobState& state() const noexcept override { return state_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    if (offset >= state_.length || buffer.empty()) return std::size_t{0};
    const std::uint64_t wanted = std::min<std::uint64_t>(buffer.size(), state_.length - offset);
    serve::Headers headers{
        {"x-ms-range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + wanted - 1)}};
    if (!etag_.empty()) headers.emplace_back("If-Match", etag_);
    const ServiceAnswer response = place_.send("GET", "", std::move(headers));
    if (!response.ok()) return response.status();
    const bool is_part = response->status == 206 || wanted == state_.length;
    if (!is_part || response->body.size() != wanted) return unexpected_answer("it has another length than the blob");
    std::memcpy(buffer.data(), response->body.data(), response->body.size());
    return response->body.size();
  }

 private:
  const BlobPlaceAt place_;
  const std::string etag_;
  const BlobState state_;
};

class ServiceContainer final : public BlobAccess {
 public:
  ServiceContainer(ServiceWire wire, std::string container)
      : wire_(std::make_shared<const ServiceWire>(std::move(wire))), name_(std::move(container)) {}

  Status create(const ContainerOptions& options) override {
    serve::Headers headers;
    add_metadata_headers(headers, options.metadata);
    add_public_access(headers, options.public_access);
    return wire_->send("PUT", of_container(), std::move(headers)).status();
  }
  Status drop(const BlobConditions& conditions) override {
    serve::Headers headers;
    add_condition_headers(headers, conditions);
    return wire_->send("DELETE", of_container(), std::move(headers)).status();
  }
  Result<ContainerState> container() override {
    const ServiceAnswer response = wire_->send("GET", of_container());
    if (!response.ok()) return response.status();
    return container_state_of(name_, response->headers);
  }
  Result<std::vector<AccessPolicy>> policies() override {
    const ServiceAnswer response = wire_->send("GET", of_container() + "&comp=acl");
    return response.ok() ? serve::read_policies(response->body, &Permissions::parse_for_blob) : response.status();
  }
  Status set_access(const std::vector<AccessPolicy>& policies, PublicAccess public_access,
                    const BlobConditions& conditions) override {
    serve::Headers headers{{"Content-Type", "application/xml"}};
    add_public_access(headers, public_access);
    add_condition_headers(headers, conditions);
    return wire_->send("PUT", of_container() + "&comp=acl", std::move(headers), serve::write_policies(policies))
        .status();
  }
  Result<ContainerPage> containers(const ListOptions& options) override {
    std::string query = "comp=list&include=metadata&maxresults=" + std::to_string(options.page_names_max);
    security::append_field(query, "prefix", options.prefix);
    security::append_field(query, "marker", options.continuation);
    const ServiceAnswer response = wire_->send("GET", "/?" + query);
    if (!response.ok()) return response.status();
    return container_page_of(*response);
  }
  Result<BlobPage> list(const BlobListing& listing) override {
    const ServiceAnswer response = wire_->send("GET", listing_target(listing));
    // Tags have a permission of their own, which a signature may lack.
    if (response.code() == Code::kForbidden && std::exchange(shows_tags_, false)) return list(listing);
    if (!response.ok()) return response.status();
    return blob_page_of(*response);
  }
  Result<BlobState> state(const std::string& blob) override { return at(blob).state(); }
  Result<std::unique_ptr<BlobSource>> read(const std::string& blob) override {
    const ServiceAnswer response = at(blob).head();
    if (!response.ok()) return response.status();
    if (raw_header(*response, "content-length").empty())
      return unexpected_answer("it does not state the blob's length");
    Result<BlobState> state = blob_state_of(blob, response->headers);
    if (!state.ok()) return state.status();
    return std::unique_ptr<BlobSource>(
        std::make_unique<ServiceSource>(at(blob), raw_header(*response, "etag"), *std::move(state)));
  }
  Result<std::unique_ptr<BlobSink>> write(const std::string& blob, const BlobWriteOptions& options) override {
    if (options.compresses) return not_in_protocol("--compress");
    if (Status judged = judge_write(at(blob), options.conditions); !judged.ok()) return judged;
    return std::unique_ptr<BlobSink>(std::make_unique<ServiceSink>(at(blob), options));
  }
  Result<std::unique_ptr<BlobSink>> stage_block(const std::string& blob, const std::string& id,
                                                const BlobWriteOptions& options) override {
    return std::unique_ptr<BlobSink>(std::make_unique<ServiceBlockSink>(at(blob), id, options.conditions));
  }
  Result<BlockLists> blocks(const std::string& blob) override {
    const ServiceAnswer response = wire_->send("GET", at(blob).path("comp=blocklist&blocklisttype=all"));
    if (!response.ok()) return response.status();
    return block_lists_of(*response);
  }
  Result<BlobState> commit_blocks(const std::string& blob, const std::vector<BlockChoice>& blocks,
                                  const BlobWriteOptions& options) override {
    return at(blob).commit(blocks, options);
  }
  Status remove(const std::string& blob, const BlobChangeOptions& options) override {
    serve::Headers headers;
    add_condition_headers(headers, options.conditions);
    return wire_->send("DELETE", at(blob).path(), std::move(headers)).status();
  }
  /// Copies one state of the source, with its tags.
  Result<BlobState> copy(const std::string& blob, const std::string& from, const std::string& from_blob,
                         const BlobChangeOptions& options) override {
    const BlobPlaceAt source{wire_, from, from_blob};
    const ServiceAnswer read = source.head();
    if (!read.ok()) return read.status();
    const Result<std::vector<BlobTag>> tags = source.tags_beside(*read);
    if (!tags.ok()) return tags.status();
    serve::Headers headers{{"x-ms-copy-source", wire_->url_of(source.path())},
                           {"x-ms-source-if-match", raw_header(*read, "etag")}};
    add_tags_header(headers, *tags);
    add_condition_headers(headers, options.conditions);
    const BlobPlaceAt target = at(blob);
    const ServiceAnswer response = target.send("PUT", "", std::move(headers));
    if (!response.ok()) return response.status();
    if (Status copied = await_copy(target, *response); !copied.ok()) return copied;
    return target.changed_state(response);
  }
  Result<LeaseAnswer> lease(const std::string& blob, const LeaseRequest& request,
                            const BlobChangeOptions& options) override {
    serve::Headers headers;
    add_lease_headers(headers, request);
    add_condition_headers(headers, options.conditions);
    const std::string target = blob.empty() ? of_container() + "&comp=lease" : at(blob).path("comp=lease");
    const ServiceAnswer response = wire_->send("PUT", target, std::move(headers));
    if (!response.ok()) return response.status();
    const Result<LeaseAnswer> answer = lease_answer_of(request, *response);
    if (!answer.ok()) return after_blob_change(answer.status());
    return answer;
  }
  Store* local() noexcept override { return nullptr; }
  Status close() override { return Status(); }

 private:
  std::string of_container() const { return service_path(name_) + "?restype=container"; }
  BlobPlaceAt at(const std::string& blob) const { return {wire_, name_, blob}; }

  std::string listing_target(const BlobListing& listing) const {
    std::string include = shows_tags_ ? "metadata,copy,tags" : "metadata,copy";
    if (listing.with_uncommitted) include += ",uncommittedblobs";
    std::string query = of_container() + "&comp=list&maxresults=" + std::to_string(listing.page_max);
    security::append_field(query, "include", include);
    security::append_field(query, "prefix", listing.prefix);
    security::append_field(query, "delimiter", listing.delimiter);
    security::append_field(query, "marker", listing.continuation);
    return query;
  }

  /// Judges the ETags before a content is sent. The service judges them again with the change.
  static Status judge_write(const BlobPlaceAt& place, const BlobConditions& conditions) {
    if (!conditions.if_match && !conditions.if_none_match) return Status();
    const ServiceAnswer response = place.head();
    const bool is_absent = response.status().service_error() == "BlobNotFound";
    if (is_absent && !conditions.if_match) return Status();
    if (response.code() == Code::kForbidden) return Status();  // a signature may permit writing alone
    if (!response.ok() && !is_absent) return response.status();
    if (!is_absent) {
      const Result<BlobState> present = blob_state_of(place.blob, response->headers);
      if (!present.ok()) return present.status();
      if (serve::judge_change(conditions, present->etag, present->modified)) return Status();
      if (conditions.if_none_match) {
        return Status::exists("there is a blob '" + place.blob + "' already").with_service_error("BlobAlreadyExists");
      }
    }
    return Status(Code::kPreconditionFailed, "the blob has not the ETag of --if-match")
        .with_service_error("ConditionNotMet");
  }

  /// Waits for a copy that other services than Varve make in the background.
  static Status await_copy(const BlobPlaceAt& target, const serve::HttpResponse& answer) {
    std::string status = raw_header(answer, "x-ms-copy-status");
    while (status == "pending") {
      std::this_thread::sleep_for(kCopyPause);
      const ServiceAnswer response = target.head();
      if (!response.ok()) return after_blob_change(response.status());
      status = raw_header(*response, "x-ms-copy-status");
    }
    if (status == "success") return Status();
    return Status(Code::kUnknown, "the service did not complete the copy: " + (status.empty() ? "no status" : status));
  }

  const SharedWire wire_;
  const std::string name_;
  bool shows_tags_ = true;
};

}  // namespace

Result<std::unique_ptr<BlobAccess>> container_at_address(const std::string& address, const std::string& account,
                                                         std::string container) {
  Result<ServiceWire> wire = ServiceWire::reach(address, account, StorageService::kBlobs);
  if (!wire.ok()) return wire.status();
  return std::unique_ptr<BlobAccess>(std::make_unique<ServiceContainer>(*std::move(wire), std::move(container)));
}

}  // namespace varve::tool
