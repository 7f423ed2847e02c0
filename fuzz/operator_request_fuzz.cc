// Owns: the fuzzer of the bytes that arrive at the socket in a store's directory.
// Must never: see more of a request kept than the limits allow, or a request served that does not name the store.
//
// Input: one byte, the size of the pieces in which the rest arrives; then the bytes of requests.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/operator_error.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "tools/serve/local/operator_door.h"
#include "tools/serve/local/store_identity.h"
#include "tools/serve/transport/http_exchange.h"
#include "varve/store.h"

namespace varve::serve {
namespace {

constexpr const char* kIdentity = "0123456789abcdef0123456789abcdef-1-2";

void require(bool holds) {
  if (!holds) std::abort();
}

/// The handler of the table service. It must only receive requests of operators.
class Others final : public RequestHandler {
 public:
  Task<Status> admit(const HttpRequest& /*request*/, HomeThread* /*home*/) override { co_return Status(); }
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* /*home*/) override {
    require(request.is_operator);
    require(!request.head.path.starts_with("/_varve/"));
    co_return HttpResponse();
  }
  HttpResponse refuse(const Status& /*status*/, const std::string& /*client_ip*/) override { return HttpResponse(); }
  void stop() noexcept override {}
};

/// A store in memory, with a door to it. It lives as long as the process.
struct Bench {
  Bench() {
    files.keep_no_samples();
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env;
    ResourceOptions small;
    small.write_buffer_bytes = std::uint64_t{1} << 20;
    small.block_cache_bytes = std::uint64_t{1} << 20;
    options.resources = *Resources::create(small);
    store = *Store::open("/store", options);
    // On the real file system, where checkpoints are removed, no such directory exists.
    door.emplace(*store, kIdentity, "/varve-operator-fuzz", others, [](std::string_view /*account*/) {});
  }
  io::MemoryFileSystem files;
  io::ManualClock clock;
  io::SeededRandom random{7};
  io::Scheduler scheduler;
  io::Env env{files, clock, random, scheduler};
  std::unique_ptr<Store> store;
  Others others;
  std::optional<OperatorDoor> door;
};

ErrorName known_error(std::string_view /*text*/) {
  return "AnyError";
}

void serve_one(OperatorDoor& door, HttpRequest request) {
  const std::string* const meant = find_header(request.head.headers, kStoreHeader);
  const bool names_store = meant != nullptr && *meant == kIdentity;
  std::shared_ptr<void> kept;
  request.kept = &kept;
  require(wait(door.admit(request, nullptr)).ok() == names_store);
  const Result<HttpResponse> response = wait(door.handle(std::move(request), nullptr));
  require(response.ok());
  if (!names_store) require((*response).status == 404);
  if ((*response).status >= 400) require(read_operator_error((*response).headers, &known_error).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Bench& bench = *new Bench;
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  ConnectionLimits limits;
  limits.target_bytes_max = 512;
  limits.header_bytes_max = 2048;
  limits.headers_max = 20;
  limits.body_bytes_max = 1024;
  std::string buffer;
  while (!rest.empty() || !buffer.empty()) {
    RequestReader reader(limits);
    boost::beast::error_code error;
    bool is_whole = false;
    while (!is_whole) {
      const std::size_t taken = reader.read(buffer, error);
      buffer.erase(0, taken);
      if (error && error != boost::beast::http::error::need_more) {
        (void)answer_to(error);
        return 0;
      }
      if (reader.is_header_done() && !reader.is_done()) {
        if (!reader.check_framing().ok()) return 0;
        reader.eager(true);
      }
      is_whole = reader.is_done();
      if (is_whole || (taken > 0 && !buffer.empty())) continue;
      if (rest.empty()) return 0;  // half a request: the connection waits until its deadline
      const std::size_t next = std::min(piece, rest.size());
      buffer.append(rest.substr(0, next));
      rest.remove_prefix(next);
    }
    if (!reader.check_framing().ok() || !reader.complete_head({"local", false})) return 0;
    const HttpRequest& request = reader.request();
    require(request.head.headers.size() <= limits.headers_max && request.body.size() <= limits.body_bytes_max);
    serve_one(*bench.door, reader.take());
  }
  return 0;
}

}  // namespace varve::serve
