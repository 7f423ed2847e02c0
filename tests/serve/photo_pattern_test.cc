// Goal: over HTTP, where no transaction spans services, an entity and its photo are replaced in steps that may end anywhere:
// put the blob under a new name, write the entity with its address, delete the old blob by a queue message (BX-23).
// Method: the client, or the worker of the queue, ends after each of its steps, and the power is cut. In the store that is
// left, the entity names a whole photo. The steps are repeated there, and no photo is left that no entity names.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/serve/blob_service_bench.h"
#include "tests/serve/queue_service_bench.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::photo_pattern_test {
namespace {

using namespace test;

constexpr std::string_view kOldPhoto = "0007-1.jpg";
constexpr std::string_view kNewPhoto = "0007-2.jpg";
constexpr std::string_view kEmployee = "Employees(PartitionKey='sales',RowKey='0007')";
constexpr int kClientSteps = 3;
constexpr int kWorkerSteps = 2;

std::string address_of(std::string_view photo) {
  return "http://127.0.0.1:10000/" + std::string(kAccount) + "/photos/" + std::string(photo);
}
std::string content_of(std::string_view photo) {
  return uneven_bytes(30'000, static_cast<std::uint32_t>(photo[5]));
}

/// The three services of one store.
class Services {
 public:
  explicit Services(Store& store)
      : keyring_(std::make_shared<Keyring>(accounts())),
        tables_(store, keyring_, clock(), log()),
        queues_(store, keyring_, clock(), log()),
        blobs_(store, keyring_, clock(), log()) {}

  HttpResponse table(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
    HttpRequest made =
        ServiceBench::request(verb, ServiceBench::path_of(resource), std::move(body), std::move(headers));
    made.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, made.head, credentials()));
    return *wait(tables_.handle(std::move(made)));
  }
  HttpResponse queue(std::string_view verb, std::string_view resource, std::string body = {}) {
    Headers headers{{"x-ms-version", "2021-12-02"}};
    if (!body.empty()) headers.emplace_back("Content-Length", std::to_string(body.size()));
    HttpRequest made =
        ServiceBench::request(verb, ServiceBench::path_of(resource), std::move(body), std::move(headers));
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kQueues));
    return *wait(queues_.handle(std::move(made)));
  }
  HttpResponse blob(std::string_view verb, std::string_view photo, std::string body = {}) {
    Headers headers;
    if (verb == "PUT") headers = {{"x-ms-blob-type", "BlockBlob"}, {"Content-Length", std::to_string(body.size())}};
    HttpResponse response = *wait(blobs_.handle(
        BlobServiceBench::with_signature(verb, "photos/" + std::string(photo), std::move(body), std::move(headers))));
    while (response.source && response.body.size() < *response.stated_bytes) {
      const Result<std::string> piece = wait(response.source->next());
      EXPECT_TRUE(piece.ok()) << piece.status().to_string();
      if (!piece.ok()) break;
      response.body += *piece;
    }
    return response;
  }

  /// Returns the address that the entity has.
  std::string photo() {
    constexpr std::string_view kBefore = "\"Photo\":\"";
    const HttpResponse entity = table("GET", kEmployee);
    EXPECT_EQ(outcome(entity), "200");
    const std::size_t begin = entity.body.find(kBefore);
    if (begin == std::string::npos) return "(none)";
    const std::size_t end = entity.body.find('"', begin + kBefore.size());
    return entity.body.substr(begin + kBefore.size(), end - begin - kBefore.size());
  }

 private:
  static security::Clock clock() {
    return [] { return kPresent; };
  }
  static FailureLog log() {
    return [](std::string_view, const Status&) {};
  }

  const std::shared_ptr<Keyring> keyring_;
  TableDispatcher tables_;
  QueueDispatcher queues_;
  BlobDispatcher blobs_;
};

std::string photo_body(std::string_view photo) {
  return "{\"Photo\":\"" + address_of(photo) + "\"}";
}

/// Makes the account, its employee and the employee's photo.
void begin(StoreBench& bench) {
  Store& store = bench.open();
  ASSERT_TRUE(store.create_account(kAccount).ok());
  ASSERT_TRUE(store.create_table(kAccount, "Employees").ok());
  ASSERT_TRUE(store.create_queue(kAccount, "orders").ok());
  ASSERT_TRUE(store.create_container(kAccount, "photos").ok());
  Services services(store);
  ASSERT_EQ(outcome(services.blob("PUT", kOldPhoto, content_of(kOldPhoto))), "201");
  ASSERT_EQ(outcome(services.table(
                "POST", "Employees",
                "{\"PartitionKey\":\"sales\",\"RowKey\":\"0007\",\"Photo\":\"" + address_of(kOldPhoto) + "\"}")),
            "201");
}

/// Gives the employee the new photo, and ends after so many steps.
void replace_photo(Services& services, int steps) {
  if (steps < 1) return;
  EXPECT_EQ(outcome(services.blob("PUT", kNewPhoto, content_of(kNewPhoto))), "201");
  if (steps < 2) return;
  EXPECT_EQ(outcome(services.table("MERGE", kEmployee, photo_body(kNewPhoto), {{"If-Match", "*"}})), "204");
  if (steps < 3) return;
  EXPECT_EQ(outcome(services.queue("POST", "orders/messages", message_body(kOldPhoto))), "201");
}

/// Deletes the photos that messages name and the entity does not. Ends after so many steps of a message.
void work(Services& services, int steps) {
  for (;;) {
    const HttpResponse got = services.queue("GET", "orders/messages?visibilitytimeout=30");
    EXPECT_EQ(outcome(got), "200");
    const std::string photo = element(got.body, "MessageText");
    if (photo == "(none)" || steps < 1) return;
    if (services.photo() != address_of(photo)) {
      const int status = services.blob("DELETE", photo).status;
      EXPECT_TRUE(status == 202 || status == 404) << status;  // The worker before may have deleted it.
    }
    if (steps < 2) return;
    EXPECT_EQ(outcome(services.queue("DELETE", message_path(got))), "204");
  }
}

/// The entity names a photo that is there, whole.
void expect_whole(Services& services) {
  const std::string address = services.photo();
  const std::string photo = address.substr(address.rfind('/') + 1);
  ASSERT_TRUE(photo == kOldPhoto || photo == kNewPhoto) << address;
  const HttpResponse got = services.blob("GET", photo);
  EXPECT_EQ(outcome(got), "200") << "the reference dangles";
  EXPECT_TRUE(got.body == content_of(photo));
}

std::vector<std::string> photos_in(Store& store) {
  std::vector<std::string> names;
  const Result<Container> photos = store.open_container(kAccount, "photos");
  EXPECT_TRUE(photos.ok()) << photos.status().to_string();
  if (!photos.ok()) return names;
  const Result<BlobPage> page = photos->list();
  EXPECT_TRUE(page.ok()) << page.status().to_string();
  if (!page.ok()) return names;
  for (const BlobListed& each : page->entries) names.push_back(each.blob.name);
  return names;
}

/// Opens what a power cut left, and finishes the steps there.
void go_on_after(io::MemoryDisk image) {
  StoreBench after(1, std::move(image));
  Store& store = after.open();
  {
    Services services(store);
    expect_whole(services);
    after.machine.clock.advance(std::chrono::minutes(2));  // A message that the dead worker held is visible again.
    replace_photo(services, kClientSteps);
    work(services, kWorkerSteps);
    expect_whole(services);
    EXPECT_EQ(services.photo(), address_of(kNewPhoto));
  }
  EXPECT_EQ(photos_in(store), std::vector<std::string>{std::string(kNewPhoto)});
}

TEST(PhotoPattern, BX23_WhereverTheStepsEndNoReferenceDangles) {
  for (int of_client = 0; of_client <= kClientSteps; ++of_client) {
    for (int of_worker = 0; of_worker <= kWorkerSteps; ++of_worker) {
      SCOPED_TRACE(std::to_string(of_client) + " steps of the client, " + std::to_string(of_worker) + " of the worker");
      StoreBench bench;
      begin(bench);
      if (::testing::Test::HasFailure()) return;
      Services services(*bench.store);
      replace_photo(services, of_client);
      work(services, of_worker);
      expect_whole(services);
      io::SeededRandom random(1);
      for (io::MemoryDisk& image : bench.machine.files->power_cuts(random, 2)) go_on_after(std::move(image));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(PhotoPattern, BX23_AStepThatIsRefusedLeavesTheOldPhoto) {
  StoreBench bench;
  begin(bench);
  if (::testing::Test::HasFailure()) return;
  Services services(*bench.store);
  const std::string etag = header_of(services.table("GET", kEmployee), "ETag");
  replace_photo(services, 1);
  EXPECT_EQ(outcome(services.table("MERGE", kEmployee, "{\"Name\":\"Ann\"}", {{"If-Match", "*"}})), "204");
  EXPECT_EQ(outcome(services.table("MERGE", kEmployee, photo_body(kNewPhoto), {{"If-Match", etag}})),
            "412 UpdateConditionNotSatisfied");
  expect_whole(services);
  EXPECT_EQ(services.photo(), address_of(kOldPhoto));
  // The client gives up: no entity names its blob, which the worker deletes.
  EXPECT_EQ(outcome(services.queue("POST", "orders/messages", message_body(kNewPhoto))), "201");
  EXPECT_EQ(outcome(services.queue("POST", "orders/messages", message_body(kOldPhoto))), "201") << "a mistake";
  work(services, kWorkerSteps);
  expect_whole(services);
  EXPECT_EQ(photos_in(*bench.store), std::vector<std::string>{std::string(kOldPhoto)});
}

}  // namespace
}  // namespace varve::serve::photo_pattern_test
