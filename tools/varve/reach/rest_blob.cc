// Owns: the access to a container through the server that has its store open (blob_access.h).
// Must never: be compiled in a build without the server. no_server.cc is.
#include <algorithm>
#include <cstring>
#include <utility>

#include "api/rest/encoding/policy_xml.h"
#include "api/security/query_fields.h"
#include "tools/serve/local/blob_door.h"
#include "tools/serve/local/blob_fields.h"
#include "tools/varve/reach/blob_access.h"
#include "tools/varve/reach/rest_alive.h"
#include "tools/varve/reach/rest_answer.h"
#include "tools/varve/reach/server_socket.h"

namespace varve::tool {
namespace {

using serve::Fields;

/// Returns the body of a successful answer.
Result<std::string> body_of_answer(Result<serve::HttpResponse> response) {
  if (!response.ok()) return response.status();
  if (Status status = status_of(*response); !status.ok()) return status;
  return std::move((*response).body);
}

/// Reads the fields of an answer by `read`.
template <typename Value>
Result<Value> value_of_answer(const Result<std::string>& body, Result<Value> (*read)(const Fields& fields)) {
  if (!body.ok()) return body.status();
  const Result<Fields> fields = serve::parse_fields(*body);
  Result<Value> value = fields.ok() ? read(*fields) : fields.status();
  if (value.ok()) return value;
  return Status::io_error("the answer of the server is not as expected: it describes no container or blob");
}

template <typename Value>
std::string body_with(const Value& value) {
  Fields fields;
  serve::add_fields(fields, value);
  return serve::fields_text(fields);
}

serve::HttpRequest blob_request(const std::string& query, std::string body) {
  return request_to("POST", "/_varve/blobs?" + query, std::move(body));
}

/// The parameters of a request.
struct BlobParameters {
  std::string query;

  BlobParameters& with(std::string_view name, const std::string& value) {
    security::append_field(query, name, value);
    return *this;
  }
};

/// A content that the server takes in pieces of this connection.
class ServedSink final : public BlobSink {
 public:
  explicit ServedSink(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}

  Result<std::string> send(const std::string& query, std::string body) {
    return body_of_answer(wire_.send(blob_request(query, std::move(body))));
  }
  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t taken = std::min(bytes.size(), serve::kBlobPieceBytes - piece_.size());
      piece_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (piece_.size() < serve::kBlobPieceBytes) continue;
      if (Status sent = flush(); !sent.ok()) return sent;
    }
    return Status();
  }
  Result<BlobState> publish() override {
    if (Status sent = flush(); !sent.ok()) return sent;
    return value_of_answer(send("verb=publish", ""), &serve::blob_of);
  }

 private:
  Status flush() {
    if (piece_.empty()) return Status();
    return send("verb=append", std::exchange(piece_, std::string())).status();
  }

  AliveWire wire_;
  std::string piece_;
};

/// Returns the failure of a request that changes nothing. A wire cannot know that of a POST.
Status of_reading(const Status& failure) {
  if (failure.code() != Code::kUnknown) return failure;
  return Status::io_error("the server ended the connection before it answered");
}

/// A content that the program may read with pauses of any length.
class ServedSource final : public BlobSource {
 public:
  ServedSource(std::shared_ptr<Wire> wire, std::string query, BlobState state)
      : wire_(std::move(wire)), query_(std::move(query)), state_(std::move(state)) {}

  const BlobState& state() const noexcept override { return state_; }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    std::size_t done = 0;
    while (done < buffer.size() && offset + done < state_.length) {
      const std::size_t wanted = std::min(buffer.size() - done, serve::kBlobPieceBytes);
      BlobParameters asked{query_};
      asked.with("offset", std::to_string(offset + done)).with("bytes", std::to_string(wanted));
      const Result<std::string> body = body_of_answer(wire_.send(blob_request(asked.query, "")));
      if (!body.ok()) return of_reading(body.status());
      if ((*body).empty() || (*body).size() > wanted) {
        return Status::io_error("the answer of the server has another length than the blob");
      }
      std::memcpy(buffer.data() + done, (*body).data(), (*body).size());
      done += (*body).size();
    }
    return done;
  }

 private:
  AliveWire wire_;
  const std::string query_;
  const BlobState state_;
};

class ServedContainer final : public BlobAccess {
 public:
  ServedContainer(std::shared_ptr<Wire> wire, std::string account, std::string container)
      : wire_(std::move(wire)), account_(std::move(account)), name_(std::move(container)) {}

  Status create(const ContainerOptions& options) override {
    BlobWriteOptions given;
    given.metadata = options.metadata;
    return send(with_public(of("create"), options.public_access), body_with(given)).status();
  }
  Status drop(const BlobConditions& conditions) override {
    return send(with_conditions(of("drop"), conditions)).status();
  }
  Result<ContainerState> container() override { return value_of_answer(ask(of("container")), &serve::container_of); }
  Result<std::vector<AccessPolicy>> policies() override {
    const Result<std::string> document = ask(of("policies"));
    if (!document.ok()) return document.status();
    return serve::read_policies(*document, &Permissions::parse_for_blob, serve::EmptyPermission::kPermitsNothing);
  }
  Status set_access(const std::vector<AccessPolicy>& policies, PublicAccess public_access,
                    const BlobConditions& conditions) override {
    return send(with_public(with_conditions(of("access"), conditions), public_access), serve::write_policies(policies))
        .status();
  }
  Result<ContainerPage> containers(const ListOptions& options) override {
    BlobParameters asked = of("containers");
    asked.with("prefix", options.prefix).with("continuation", options.continuation);
    asked.with("names", std::to_string(options.page_names_max));
    return value_of_answer(ask(asked), &serve::container_page_of);
  }
  Result<BlobPage> list(const BlobListing& listing) override {
    BlobParameters asked = of("list");
    asked.with("prefix", listing.prefix).with("delimiter", listing.delimiter);
    asked.with("continuation", listing.continuation).with("names", std::to_string(listing.page_max));
    if (listing.with_uncommitted) asked.with("uncommitted", "1");
    return value_of_answer(ask(asked), &serve::blob_page_of);
  }
  Result<BlobState> state(const std::string& blob) override {
    return value_of_answer(ask(of("state", blob)), &serve::blob_of);
  }
  /// Reads one byte too, so that a blob which cannot be read is refused at once.
  Result<std::unique_ptr<BlobSource>> read(const std::string& blob) override {
    Result<BlobState> found = state(blob);
    if (!found.ok()) return found.status();
    BlobParameters asked = of("read", blob);
    asked.with("etag", found->etag.to_string());
    BlobParameters first = asked;
    if (Status readable = ask(first.with("bytes", "1")).status(); !readable.ok()) return readable;
    return std::unique_ptr<BlobSource>(
        std::make_unique<ServedSource>(wire_, std::move(asked.query), *std::move(found)));
  }
  Result<std::unique_ptr<BlobSink>> write(const std::string& blob, const BlobWriteOptions& options) override {
    return begin(of("begin", blob), options);
  }
  Result<std::unique_ptr<BlobSink>> stage_block(const std::string& blob, const std::string& id,
                                                const BlobWriteOptions& options) override {
    BlobParameters asked = of("begin", blob);
    return begin(asked.with("block", "1").with("id", id), options);
  }
  Result<BlockLists> blocks(const std::string& blob) override {
    return value_of_answer(ask(of("blocks", blob)), &serve::block_lists_of);
  }
  Result<BlobState> commit_blocks(const std::string& blob, const std::vector<BlockChoice>& blocks,
                                  const BlobWriteOptions& options) override {
    return value_of_answer(send(of("commit", blob), body_with(options) + body_with(blocks)), &serve::blob_of);
  }
  Status remove(const std::string& blob, const BlobChangeOptions& options) override {
    BlobParameters asked = with_conditions(of("remove", blob), options.conditions);
    if (options.durability) asked.with("durability", *options.durability == Durability::kSync ? "sync" : "buffered");
    return send(asked).status();
  }
  Result<BlobState> copy(const std::string& blob, const std::string& from, const std::string& from_blob,
                         const BlobChangeOptions& options) override {
    BlobWriteOptions given;
    given.conditions = options.conditions;
    given.durability = options.durability;
    BlobParameters asked = of("copy", blob);
    asked.with("from_container", from).with("from_blob", from_blob);
    return value_of_answer(send(asked, body_with(given)), &serve::blob_of);
  }
  Result<LeaseAnswer> lease(const std::string& blob, const LeaseRequest& request,
                            const BlobChangeOptions& options) override {
    return value_of_answer(send(with_conditions(of("lease", blob), options.conditions), body_with(request)),
                           &serve::lease_answer_of);
  }
  Store* local() noexcept override { return nullptr; }
  Status close() override { return Status(); }

 private:
  BlobParameters of(const std::string& verb, const std::string& blob = {}) const {
    BlobParameters parameters;
    return parameters.with("verb", verb).with("account", account_).with("container", name_).with("blob", blob);
  }
  static BlobParameters with_public(BlobParameters asked, PublicAccess access) {
    return asked.with("public", std::to_string(static_cast<int>(access)));
  }
  static BlobParameters with_conditions(BlobParameters asked, const BlobConditions& conditions) {
    if (conditions.if_match) asked.with("if_match", conditions.if_match->to_string());
    if (conditions.lease) asked.with("lease", conditions.lease->to_string());
    return asked;
  }
  Result<std::string> send(const BlobParameters& asked, std::string body = {}) const {
    return body_of_answer(wire_->send(blob_request(asked.query, std::move(body))));
  }
  /// Sends a request that changes nothing.
  Result<std::string> ask(const BlobParameters& asked) const {
    Result<std::string> body = send(asked);
    return body.ok() ? body : of_reading(body.status());
  }
  Result<std::unique_ptr<BlobSink>> begin(const BlobParameters& asked, const BlobWriteOptions& options) const {
    auto sink = std::make_unique<ServedSink>(wire_);
    if (Status begun = sink->send(asked.query, body_with(options)).status(); !begun.ok()) return begun;
    return std::unique_ptr<BlobSink>(std::move(sink));
  }

  const std::shared_ptr<Wire> wire_;
  const std::string account_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<BlobAccess> container_through_server_of(const std::string& store, std::string account,
                                                        std::string container) {
  std::shared_ptr<Wire> wire = find_server(store);
  if (wire == nullptr) return nullptr;
  return std::make_unique<ServedContainer>(std::move(wire), std::move(account), std::move(container));
}

}  // namespace varve::tool
