#include "tools/serve/local/blob_door.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/encoding/policy_xml.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "tools/serve/local/blob_fields.h"
#include "tools/serve/local/client_hold.h"
#include "tools/serve/local/door_query.h"
#include "varve/blob.h"
#include "varve/store.h"

namespace varve::serve {
namespace {

/// A content that arrives in several requests of one connection.
class ArrivingBlob final : public ClientHold {
 public:
  explicit ArrivingBlob(BlobWriter writer) : writer_(std::move(writer)) {}
  BlobWriter& writer() noexcept { return writer_; }

 private:
  BlobWriter writer_;
};

/// A request with its parameters. The first parameter that is malformed is its failure.
class BlobRequest : public DoorQuery {
 public:
  explicit BlobRequest(const HttpRequest& request) : DoorQuery(request.head.query), request_(request) {
    account_ = text("account");
    container_ = text("container");
    blob_ = text("blob");
  }

  const HttpRequest& request() const noexcept { return request_; }
  const std::string& body() const noexcept { return request_.body; }
  const std::string& account() const noexcept { return account_; }
  const std::string& container() const noexcept { return container_; }
  const std::string& blob() const noexcept { return blob_; }

  /// Parses the body as options.
  BlobWriteOptions options() {
    const Result<Fields> fields = parse_fields(body(), kBlobFieldsMax);
    Result<BlobWriteOptions> options = fields.ok() ? write_options_of(*fields) : fields.status();
    if (options.ok()) return *std::move(options);
    fail(options.status());
    return {};
  }
  /// Returns the conditions that the parameters have. A lease is the id of the client's lease.
  BlobConditions conditions() {
    BlobConditions conditions;
    conditions.if_match = etag("if_match");
    const std::string lease = text("lease");
    if (lease.empty()) return conditions;
    const Result<Guid> parsed = Guid::parse(lease);
    if (parsed.ok()) {
      conditions.lease = *parsed;
    } else {
      fail(refused("InvalidQueryParameterValue", "lease must be a GUID"));
    }
    return conditions;
  }
  std::optional<ETag> etag(std::string_view name) {
    const std::string written = text(name);
    if (written.empty()) return std::nullopt;
    const Result<ETag> parsed = ETag::parse(written);
    if (parsed.ok()) return *parsed;
    fail(parsed.status());
    return std::nullopt;
  }

 private:
  const HttpRequest& request_;
  std::string account_;
  std::string container_;
  std::string blob_;
};

/// What a verb answers.
struct BlobAnswer {
  Fields fields;
  /// A content's bytes, in place of fields.
  std::optional<std::string> bytes{};
  /// Whether the verb is a change, which has happened when its answer is made.
  bool is_of_change = false;
};

template <typename Value>
Status answer_with(const Result<Value>& value, BlobAnswer& answer) {
  if (!value.ok()) return value.status();
  try {
    add_fields(answer.fields, *value);
    return Status();
  } catch (const std::bad_alloc&) {
    return answer.is_of_change ? Status(Code::kUnknown) : Status::out_of_memory();
  }
}

// -- Containers, on threads that may wait -----------------------------------------------------------------------------

/// Returns the parameter `public`.
PublicAccess public_access_in(BlobRequest& request) {
  const std::uint32_t access = request.small_number("public", 0);
  if (access <= static_cast<std::uint32_t>(PublicAccess::kContainer)) return static_cast<PublicAccess>(access);
  request.fail(refused("InvalidQueryParameterValue", "public must be 0, 1 or 2"));
  return PublicAccess::kNone;
}

Status create(Store& store, BlobRequest& request, BlobAnswer& /*answer*/) {
  ContainerOptions options;
  options.metadata = request.options().metadata;
  options.public_access = public_access_in(request);
  if (!request.failure().ok()) return request.failure();
  if (Status named = check_container_name(request.container()); !named.ok()) return named;
  if (Status made = store.create_account(request.account()); !made.ok() && made.code() != Code::kExists) return made;
  return store.create_container(request.account(), request.container(), options).status();
}

Status drop(Store& store, BlobRequest& request, BlobAnswer& /*answer*/) {
  const BlobConditions conditions = request.conditions();
  if (!request.failure().ok()) return request.failure();
  return store.drop_container(request.account(), request.container(), conditions);
}

Status list_containers(Store& store, BlobRequest& request, BlobAnswer& answer) {
  ListOptions options;
  options.prefix = request.text("prefix");
  options.continuation = request.text("continuation");
  options.page_names_max = request.small_number("names", options.page_names_max);
  if (!request.failure().ok()) return request.failure();
  return answer_with(store.list_containers(request.account(), options), answer);
}

// -- Blobs ------------------------------------------------------------------------------------------------------------

Status show_container(Container& container, BlobRequest& /*request*/, BlobAnswer& answer) {
  return answer_with(container.container_state(), answer);
}

Status show_access(Container& container, BlobRequest& /*request*/, BlobAnswer& answer) {
  const Result<std::vector<AccessPolicy>> policies = container.access_policies();
  if (!policies.ok()) return policies.status();
  answer.bytes = write_policies(*policies);
  return Status();
}

Status set_access(Container& container, BlobRequest& request, BlobAnswer& answer) {
  const BlobConditions conditions = request.conditions();
  const PublicAccess access = public_access_in(request);
  if (!request.failure().ok()) return request.failure();
  const Result<std::vector<AccessPolicy>> policies =
      read_policies(request.body(), &Permissions::parse_for_blob, EmptyPermission::kPermitsNothing);
  if (!policies.ok()) return policies.status();
  return answer_with(container.set_access(*policies, access, conditions), answer);
}

Status list(Container& container, BlobRequest& request, BlobAnswer& answer) {
  BlobListing listing;
  listing.prefix = request.text("prefix");
  listing.delimiter = request.text("delimiter");
  listing.continuation = request.text("continuation");
  listing.page_max = request.small_number("names", listing.page_max);
  listing.with_uncommitted = request.flag("uncommitted");
  if (!request.failure().ok()) return request.failure();
  return answer_with(container.list(listing), answer);
}

Status show_blob(Container& container, BlobRequest& request, BlobAnswer& answer) {
  return answer_with(container.state(request.blob()), answer);
}

Status read(Container& container, BlobRequest& request, BlobAnswer& answer) {
  const std::uint64_t offset = request.number("offset", 0);
  const std::uint64_t bytes = std::min<std::uint64_t>(request.number("bytes", kBlobPieceBytes), kBlobPieceBytes);
  BlobReadOptions options;
  options.conditions.if_match = request.etag("etag");
  if (!request.failure().ok()) return request.failure();
  const Result<BlobReader> reader = container.read(request.blob(), options);
  if (!reader.ok()) return reader.status();
  std::string& content = answer.bytes.emplace(static_cast<std::size_t>(bytes), '\0');
  const Result<std::size_t> got = reader->read(offset, std::span<char>(content));
  if (!got.ok()) return got.status();
  content.resize(*got);
  return Status();
}

Status begin(Container& container, BlobRequest& request, BlobAnswer& /*answer*/) {
  const BlobWriteOptions options = request.options();
  const bool is_block = request.flag("block");
  const std::string id = request.text("id");
  if (!request.failure().ok()) return request.failure();
  if (request.request().kept == nullptr) {
    return Status::unsupported("a content that arrives in pieces needs a connection that keeps it");
  }
  Result<BlobWriter> writer =
      is_block ? container.stage_block(request.blob(), id, options) : container.write(request.blob(), options);
  if (!writer.ok()) return writer.status();
  keep_for_client(request.request(), std::make_shared<ArrivingBlob>(*std::move(writer)));
  return Status();
}

Status show_blocks(Container& container, BlobRequest& request, BlobAnswer& answer) {
  return answer_with(container.blocks(request.blob()), answer);
}

Status commit(Container& container, BlobRequest& request, BlobAnswer& answer) {
  const BlobWriteOptions options = request.options();
  if (!request.failure().ok()) return request.failure();
  const Result<Fields> fields = parse_fields(request.body(), kBlobFieldsMax);
  if (!fields.ok()) return fields.status();
  return answer_with(container.commit_blocks(request.blob(), block_choices_of(*fields), options), answer);
}

Status remove(Container& container, BlobRequest& request, BlobAnswer& /*answer*/) {
  BlobChangeOptions options;
  options.conditions = request.conditions();
  options.durability = request.durability();
  if (!request.failure().ok()) return request.failure();
  return container.remove(request.blob(), options);
}

Status lease(Container& container, BlobRequest& request, BlobAnswer& answer) {
  BlobChangeOptions options;
  options.conditions = request.conditions();
  if (!request.failure().ok()) return request.failure();
  const Result<Fields> fields = parse_fields(request.body(), kBlobFieldsMax);
  if (!fields.ok()) return fields.status();
  const Result<LeaseRequest> wanted = lease_request_of(*fields);
  if (!wanted.ok()) return wanted.status();
  return answer_with(request.blob().empty() ? container.lease_container(*wanted, options.conditions)
                                            : container.lease(request.blob(), *wanted, options),
                     answer);
}

Status copy(Store& store, Container& container, BlobRequest& request, BlobAnswer& answer) {
  const BlobWriteOptions given = request.options();
  const std::string from = request.text("from_container");
  const std::string blob = request.text("from_blob");
  if (!request.failure().ok()) return request.failure();
  const Result<Container> source = store.open_container(request.account(), from);
  if (!source.ok()) return source.status();
  constexpr int kAttemptsMax = 100;
  BlobCopyOptions options;
  options.conditions = given.conditions;
  options.durability = given.durability;
  for (int attempt = 1;; ++attempt) {
    Result<BlobState> state = source->state(blob);
    if (!state.ok()) return state.status();
    options.source_conditions.if_match = state->etag;  // the tags and the content are those of one state
    options.tags = std::move(state->tags);
    const Result<BlobState> copied = container.copy(request.blob(), *source, blob, options);
    const bool has_changed = copied.status().service_error() == "SourceConditionNotMet";
    if (!has_changed || attempt == kAttemptsMax) return answer_with(copied, answer);
  }
}

/// Returns whether a verb changes what others see.
bool changes_blobs(std::string_view verb) noexcept {
  constexpr std::array<std::string_view, 8> kChanges = {"access", "commit", "copy",    "create",
                                                        "drop",   "lease",  "publish", "remove"};
  return std::find(kChanges.begin(), kChanges.end(), verb) != kChanges.end();
}

struct BlobVerb {
  std::string_view name;
  Status (*carry_out)(Container& container, BlobRequest& request, BlobAnswer& answer);
};

constexpr std::array<BlobVerb, 11> kBlobVerbs = {{{"access", &set_access},
                                                  {"begin", &begin},
                                                  {"blocks", &show_blocks},
                                                  {"commit", &commit},
                                                  {"container", &show_container},
                                                  {"lease", &lease},
                                                  {"list", &list},
                                                  {"policies", &show_access},
                                                  {"read", &read},
                                                  {"remove", &remove},
                                                  {"state", &show_blob}}};

/// Carries out `append` and `publish`, which need no container: the content that the connection began has it.
Status go_on(ArrivingBlob* arriving, bool is_end, const BlobRequest& request, BlobAnswer& answer) {
  if (arriving == nullptr) return service_error::invalid_input("this connection has begun no content");
  return is_end ? answer_with(arriving->writer().publish(), answer) : arriving->writer().append(request.body());
}

Status carry_out_blob_verb(Store& store, BlobRequest& request, BlobAnswer& answer) {
  const std::string verb = request.text("verb");
  if (!request.failure().ok()) return request.failure();
  answer.is_of_change = changes_blobs(verb);
  if (verb == "create") return create(store, request, answer);
  if (verb == "drop") return drop(store, request, answer);
  if (verb == "containers") return list_containers(store, request, answer);
  if (verb == "append" || verb == "publish") {
    return go_on(kept_for_client<ArrivingBlob>(request.request()).get(), verb == "publish", request, answer);
  }
  const auto* const found =
      std::find_if(kBlobVerbs.begin(), kBlobVerbs.end(), [&](const BlobVerb& one) { return one.name == verb; });
  if (verb != "copy" && found == kBlobVerbs.end()) {
    return refused("InvalidQueryParameterValue", "blobs have no verb " + verb);
  }
  Result<Container> container = store.open_container(request.account(), request.container());
  if (!container.ok()) return container.status();
  return verb == "copy" ? copy(store, *container, request, answer) : found->carry_out(*container, request, answer);
}

}  // namespace

Task<Result<HttpResponse>> answer_blob_request(Store& store, const HttpRequest& request, HomeThread* home,
                                               std::stop_token stop) {
  BlobRequest asked(request);
  BlobAnswer answer;
  Task<Status> working =
      AsyncStore(store).run([&](Store& opened) { return carry_out_blob_verb(opened, asked, answer); }, std::move(stop));
  const Status done = co_await at_home(home, std::move(working));
  if (!done.ok()) co_return done;
  const auto make = [&] {
    HttpResponse response;
    response.with("Content-Type", "application/octet-stream").with("Cache-Control", "no-store");
    response.body = answer.bytes ? *std::move(answer.bytes) : fields_text(answer.fields);
    return response;
  };
  if (answer.is_of_change) co_return carried_out_answer(make);
  co_return make();
}

}  // namespace varve::serve
