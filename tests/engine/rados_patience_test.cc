// Goal: while a part of the cluster hangs, reads of it are given up one by one and writes wait. Afterwards all is as before.
// Method: an engine over a model of RADOS in which operations on the store wait, but not those on its lease.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_patience_test {
namespace {

using io::fails_with;
using io::is_ok;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Change;
using test::key_of;
using test::value_of;

class RadosPatience : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosPatience() : machine_(GetParam()), program_(machine_.start()) {}

  std::unique_ptr<Engine> open() {
    auto opened = Engine::open(machine_.env_of(program_), test::kRadosPath, test::Machine::writable());
    EXPECT_TRUE(is_ok(opened.status()));
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  /// The objects of the store are in placement groups that hang. The lease is in another one.
  void hang() {
    io::ObjectLook root;
    EXPECT_EQ(program_.door->look(io::root_object(test::kStoreName), root), 0);
    machine_.cluster.stand_still(root.attributes["id"]);
  }

  test::RadosMachine machine_;
  test::RadosProgram& program_;
};

TEST_P(RadosPatience, ReadsEndAndWritesWaitWhileAPartOfTheClusterHangs) {
  std::unique_ptr<Engine> engine = open();
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "cold", "1").commit(*engine)));
  ASSERT_TRUE(is_ok(engine->flush()));
  ASSERT_TRUE(is_ok(engine->close()));
  engine = open();  // with nothing in memory
  ASSERT_NE(engine, nullptr);
  program_.files->process().set_read_patience(seconds(3));
  ASSERT_TRUE(is_ok(Change().put("p", "warm", "2").commit(*engine)));
  hang();

  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto began = machine_.clock.monotonic();
    const ReadView view = engine->view();
    EXPECT_TRUE(fails_with(view.get(key_of("p", "cold")).status(), Code::kBusy));
    EXPECT_LT(machine_.clock.monotonic() - began, seconds(10));
    EXPECT_EQ(value_of(*engine, "p", "warm"), "2") << "the lease is renewed, and memory answers";
  }
  Status written(Code::kUnknown);
  io::Thread writer = *machine_.scheduler().start(
      "writer", [&] { written = Change().put("p", "later", "3").commit(*engine).status(); });
  program_.files->process().rest(seconds(60));
  EXPECT_EQ(written.code(), Code::kUnknown) << "nothing is acknowledged";

  machine_.cluster.go_on();
  writer = io::Thread();
  EXPECT_TRUE(is_ok(written));
  EXPECT_EQ(value_of(*engine, "p", "cold"), "1");
  EXPECT_EQ(value_of(*engine, "p", "later"), "3");
  EXPECT_TRUE(is_ok(engine->close()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosPatience, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::engine::rados_patience_test
