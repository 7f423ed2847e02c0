// Goal: rules that were read before a change are not cached after it.
#include "api/rest/service/cross_origin.h"

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::cross_origin_test {
namespace {

using namespace test;

/// Holds returning coroutines until the test admits them.
class HeldHome final : public HomeThread {
 public:
  explicit HeldHome(io::Scheduler& scheduler) : arrived_(scheduler) {}
  bool is_here() const noexcept override { return false; }
  void post(std::coroutine_handle<> coroutine) noexcept override {
    held_ = coroutine;
    arrived_.set();
  }
  void await_arrival() { arrived_.wait(); }
  void let_in() { held_.resume(); }

 private:
  io::Event arrived_;
  std::coroutine_handle<> held_;
};

class CrossOriginRules : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)bench_.table();
    set_age(1);
  }
  void set_age(std::uint32_t seconds) {
    ServicePropertiesChange change;
    change.cors_rules = std::vector<CorsRule>{{{"*"}, {"GET"}, seconds}};
    ASSERT_TRUE(bench_.store->set_service_properties(kAccount, change).ok());
  }
  static HttpRequest preflight() {
    return ServiceBench::request("OPTIONS", ServiceBench::path_of("Orders"), "",
                                 {{"Origin", "https://shop.example"}, {"Access-Control-Request-Method", "GET"}});
  }
  std::string age(CrossOrigin& rules) {
    const HttpRequest request = preflight();
    return header(*wait(rules.preflight(request, std::string(kAccount), nullptr, {})), "Access-Control-Max-Age");
  }

  StoreBench bench_;
};

TEST_F(CrossOriginRules, AreReadOnceAndAgainWhenTheyWereForgotten) {
  CrossOrigin rules(*bench_.store, StorageService::kTables);
  EXPECT_EQ(age(rules), "1");
  set_age(2);
  EXPECT_EQ(age(rules), "1");  // cached: a change must call forget()
  rules.forget(kAccount);
  EXPECT_EQ(age(rules), "2");
}

TEST_F(CrossOriginRules, ThatWereReadBeforeAChangeAreNotKeptBehindIt) {
  CrossOrigin rules(*bench_.store, StorageService::kTables);
  HeldHome home(bench_.env.scheduler);
  const HttpRequest request = preflight();
  Begun<Result<HttpResponse>> early(bench_.env.scheduler, rules.preflight(request, std::string(kAccount), &home, {}));
  home.await_arrival();  // The old rules were read, and are about to be returned.
  set_age(2);
  rules.forget(kAccount);
  home.let_in();
  EXPECT_EQ(header(*early.take(), "Access-Control-Max-Age"), "1");
  EXPECT_EQ(age(rules), "2");
}

}  // namespace
}  // namespace varve::serve::cross_origin_test
