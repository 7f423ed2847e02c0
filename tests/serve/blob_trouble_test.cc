// Goal: trouble of the machine shows in the answers of the blob and queue services as the specification says: damaged
// content is never sent, and a full disk refuses, publishes nothing and ends by itself (BX-07, BX-04, BH-07, QX-05).
// Method: bytes of a closed store are flipped, and a service opens it. The disk of another store fills while a body is read.
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/full_disk.h"
#include "tests/serve/blob_service_bench.h"
#include "tests/serve/queue_service_bench.h"

namespace varve::serve::blob_trouble_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kLongBytes = 1'300'000;
/// A part that is read into the second half of the answer.
constexpr std::size_t kLate = 1'200'000;

/// A blob service on the disk that a closed store left.
class ServiceOnDisk {
 public:
  explicit ServiceOnDisk(io::MemoryDisk disk)
      : bench_(9, std::move(disk)),
        dispatcher_(
            bench_.open(), std::make_shared<Keyring>(accounts()), [] { return kPresent; },
            [this](std::string_view, const Status& status) { failures.push_back(status); }) {}

  HttpResponse get(std::string_view resource, Headers headers = {}) {
    return *wait(dispatcher_.handle(BlobServiceBench::with_signature("GET", resource, {}, std::move(headers))));
  }

  std::vector<Status> failures;

 private:
  StoreBench bench_;
  BlobDispatcher dispatcher_;
};

io::MemoryDisk disk_with_a_film() {
  BlobBench bench;
  Container photos = bench.container();
  EXPECT_EQ(said(photos.put("film", uneven_bytes(kLongBytes))), kFine);
  EXPECT_EQ(said(bench.store->compact()), kFine);
  Container again = bench.reopened();  // so that the content is not in the last segment of the log
  EXPECT_EQ(said(again.put("later", "text")), kFine);
  EXPECT_EQ(said(bench.store->compact()), kFine);
  EXPECT_EQ(said(bench.store->close()), kFine);
  return bench.machine.files->snapshot();
}

TEST(TroubleOfBlobs, BX07_DamageAtTheBeginningIsAnErrorAndAnswersNoByte) {
  const std::string film = uneven_bytes(kLongBytes);
  ServiceOnDisk service(with_flip(disk_with_a_film(), film.substr(1'000, 64)));
  const HttpResponse whole = service.get("photos/film");
  EXPECT_EQ(outcome(whole), "500 InternalError");
  EXPECT_EQ(whole.source, nullptr);
  EXPECT_THAT(whole.body, Not(HasSubstr(film.substr(2'000, 16))));
  ASSERT_FALSE(service.failures.empty()) << "the operator's log has the cause";
  EXPECT_EQ(service.failures.front().code(), Code::kCorruption);
  EXPECT_EQ(outcome(service.get("photos/film", {{"x-ms-range", "bytes=500-600"}})), "500 InternalError");
  const HttpResponse other = service.get("photos/film", {{"x-ms-range", "bytes=200000-200099"}});
  EXPECT_EQ(outcome(other), "206");
  EXPECT_TRUE(other.body == film.substr(200'000, 100)) << "a range beside the damage";
}

TEST(TroubleOfBlobs, BX07_DamageInTheMiddleCutsTheAnswerBeforeIt) {
  const std::string film = uneven_bytes(kLongBytes);
  ServiceOnDisk service(with_flip(disk_with_a_film(), film.substr(kLate, 64)));
  const HttpResponse whole = service.get("photos/film");
  EXPECT_EQ(outcome(whole), "200");
  EXPECT_EQ(whole.stated_bytes, kLongBytes);
  ASSERT_NE(whole.source, nullptr);
  std::string body = whole.body;
  Result<std::string> piece = std::string();
  while (body.size() < kLongBytes) {
    piece = wait(whole.source->next());
    if (!piece.ok()) break;
    body += *piece;
  }
  EXPECT_EQ(piece.code(), Code::kCorruption) << "the connection is cut";
  EXPECT_LE(body.size(), kLate);
  EXPECT_TRUE(body == film.substr(0, body.size())) << "what was sent is right";
}

/// A body that does something once before it hands out a later piece.
class InterruptedBody final : public BodySource {
 public:
  InterruptedBody(std::string text, std::size_t after, std::function<void()> then)
      : text_(std::move(text)), after_(after), then_(std::move(then)) {}
  Task<Result<std::string_view>> next() override {
    if (at_ >= after_ && then_) std::exchange(then_, nullptr)();
    const std::string_view piece = std::string_view(text_).substr(at_, 100'000);
    at_ += piece.size();
    co_return piece;
  }
  void keeps_all(std::uint64_t /*bytes_max*/, std::uint64_t /*times*/) override {}
  std::uint64_t bytes() const noexcept override { return at_; }

 private:
  const std::string text_;
  const std::size_t after_;
  std::function<void()> then_;
  std::size_t at_ = 0;
};

const Headers kBlock{{"x-ms-blob-type", "BlockBlob"}};
const Headers kNew{{"x-ms-version", "2022-11-02"}};  // with large appends

class UploadsToAFullDisk : public ::testing::Test {
 protected:
  /// Sends a body that is longer than what the log has reserved when the room is taken, and fills the disk then.
  std::string interrupted(std::string_view resource, Headers headers) {
    constexpr std::size_t kSentBefore = 1'100'000;
    HttpRequest made = service_.signed_request("PUT", resource, uneven_bytes(12'000'000), std::move(headers));
    InterruptedBody body(std::exchange(made.body, {}), kSentBefore, [this] { disk_.take_room(); });
    made.source = &body;
    const std::string answered = outcome(service_.send(std::move(made)));
    disk_.fill();
    return answered;
  }
  /// Sends a request until the service has noticed that there is room again.
  std::string patient(std::string_view verb, std::string_view resource, const std::string& body,
                      const Headers& headers) {
    std::string told;
    for (int i = 0; i < 1'000'000 && (told.empty() || told == "503 ServerBusy"); ++i) {
      told = service_.told(verb, resource, body, headers);
      std::this_thread::yield();
    }
    return told;
  }
  BlobServiceBench service_;
  FullDisk disk_{service_.bench};
};

constexpr std::size_t kUploadBytes = 6'000'000;

TEST_F(UploadsToAFullDisk, BX04_BH07_PublishNothingAndTheNextOneWorks) {
  const std::string old = uneven_bytes(40'000, 7);
  EXPECT_EQ(outcome(service_.put("film", old)), "201");
  EXPECT_EQ(interrupted("photos/film", kBlock), "503 ServerBusy");
  EXPECT_EQ(outcome(service_.put("new", uneven_bytes(60'000))), "503 ServerBusy");
  EXPECT_TRUE(service_.send("GET", "photos/film").body == old) << "reads go on";
  EXPECT_EQ(service_.told("GET", "photos/new"), "404 BlobNotFound");
  disk_.give_room();
  EXPECT_EQ(patient("PUT", "photos/new", uneven_bytes(60'000), kBlock), "201");
  const std::string next = uneven_bytes(kUploadBytes, 2);
  EXPECT_EQ(outcome(service_.send_pieces("PUT", "photos/film", next, 100'000, kBlock)), "201");
  EXPECT_TRUE(service_.send("GET", "photos/film").body == next);

  EXPECT_EQ(said(service_.bench.store->close()), kFine);
  SettledStore settled(33, service_.bench.machine.files->snapshot());
  settled.settle();
  const BlobRecount recount = settled.recount();
  expect_settled(recount);
  EXPECT_EQ(recount.contents(), 2U) << "what the interrupted upload wrote is gone";
}

TEST_F(UploadsToAFullDisk, BX04_BH07_StageAndAppendNothing) {
  EXPECT_EQ(service_.told("PUT", "photos/log", {}, {{"x-ms-blob-type", "AppendBlob"}}), "201");
  EXPECT_EQ(service_.told("PUT", "photos/log?comp=appendblock", "first"), "201");
  EXPECT_EQ(service_.told("PUT", "photos/list?comp=block&blockid=MDAx", "staged"), "201");
  EXPECT_EQ(interrupted("photos/list?comp=block&blockid=MDAy", {}), "503 ServerBusy");
  EXPECT_EQ(
      outcome(service_.send_pieces("PUT", "photos/log?comp=appendblock", uneven_bytes(kUploadBytes), 100'000, kNew)),
      "503 ServerBusy");
  EXPECT_EQ(service_.send("GET", "photos/log").body, "first");
  EXPECT_THAT(service_.send("GET", "photos/list?comp=blocklist&blocklisttype=all").body, Not(HasSubstr("MDAy")));
  disk_.give_room();
  EXPECT_EQ(patient("PUT", "photos/log?comp=appendblock", " second", {}), "201");
  EXPECT_EQ(service_.send("GET", "photos/log").body, "first second");
  EXPECT_EQ(service_.told("PUT", "photos/list?comp=blocklist", "<BlockList><Latest>MDAx</Latest></BlockList>"), "201");
  EXPECT_EQ(service_.send("GET", "photos/list").body, "staged");
}

TEST(TroubleOfQueues, QX05_QX07_AFullDiskRefusesAndEndsByItself) {
  QueueServiceBench service;
  const std::string text(12'000, 'x');
  EXPECT_EQ(service.told("POST", "orders/messages", message_body(text)), "201");
  EXPECT_EQ(service.told("POST", "orders/messages", message_body("held")), "201");
  const HttpResponse long_one = service.send("GET", "orders/messages");
  const HttpResponse held = service.send("GET", "orders/messages");
  EXPECT_EQ(element(held.body, "MessageText"), "held");
  EXPECT_EQ(service.told("POST", "orders/messages", message_body(text)), "201");
  bool is_removed = false;
  {
    FullDisk disk(service.bench);
    disk.fill();
    EXPECT_EQ(service.told("POST", "orders/messages", message_body(text)), "503 ServerBusy");
    EXPECT_EQ(service.told("GET", "orders/messages"), "503 ServerBusy");
    EXPECT_EQ(service.told("PUT", message_path(long_one) + "&visibilitytimeout=0", message_body(text)),
              "503 ServerBusy");
    const std::string removed = service.told("DELETE", message_path(held));
    is_removed = removed == "204";
    EXPECT_TRUE(is_removed || removed == "503 ServerBusy") << removed;
    EXPECT_EQ(element(service.send("GET", "orders/messages?peekonly=true").body, "MessageText"), text);
    EXPECT_EQ(counted(service.orders), is_removed ? 2U : 3U);
  }
  std::string put;
  for (int i = 0; i < 1'000'000 && (put.empty() || put == "503 ServerBusy"); ++i) {
    put = service.told("POST", "orders/messages", message_body("after"));
    std::this_thread::yield();
  }
  EXPECT_EQ(put, "201");
  EXPECT_EQ(service.told("DELETE", message_path(held)), is_removed ? "404 MessageNotFound" : "204");
  EXPECT_EQ(service.told("DELETE", message_path(long_one)), "204");
  EXPECT_EQ(counted(service.orders), 2U);
}

}  // namespace
}  // namespace varve::serve::blob_trouble_test
