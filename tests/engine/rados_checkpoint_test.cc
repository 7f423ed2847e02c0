// Goal: a checkpoint changes nothing at the address that it is given, if another store, its own, or a foreign root is there.
// Method: two stores over one model of RADOS. The contents of all objects but the leases are compared.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_checkpoint_test {
namespace {

using io::fails_with;
using io::is_ok;
using test::Change;
using test::RadosMachine;
using test::RadosProgram;
using test::value_of;

constexpr const char* kOtherPath = "rados:pool/other";
constexpr const char* kCopyPath = "rados:pool/copy";

class RadosCheckpoint : public testing::Test {
 protected:
  std::unique_ptr<Engine> open(const char* path) {
    auto opened = Engine::open(machine_.env_of(program_), path, test::Machine::writable());
    EXPECT_TRUE(is_ok(opened));
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  /// Returns the content of every object that is no lease.
  std::string everything() {
    std::string all;
    for (const std::string& object : machine_.cluster.names()) {
      if (object.ends_with("/lease")) continue;
      io::ObjectLook look;
      io::TextMap entries;
      EXPECT_EQ(raw_->look(object, look), 0);
      EXPECT_EQ(raw_->entries(object, entries), 0);
      std::vector<std::byte> bytes(look.size_bytes);
      std::size_t count = 0;
      EXPECT_EQ(raw_->read(object, 0, bytes, count, std::chrono::milliseconds(0)), 0);
      all.append(object).append(reinterpret_cast<const char*>(bytes.data()), count);
      for (const auto& [name, value] : look.attributes) all.append(name).append("=").append(value);
      for (const auto& [key, value] : entries) all.append(key).append(":").append(value);
    }
    return all;
  }

  RadosMachine machine_{1};
  RadosProgram& program_ = machine_.start();
  const std::unique_ptr<io::ObjectDoor> raw_ = machine_.cluster.make_door();
};

TEST_F(RadosCheckpoint, IntoAnAddressThatHoldsAStoreIsRefusedAndChangesNothing) {
  {
    const std::unique_ptr<Engine> other = open(kOtherPath);
    ASSERT_NE(other, nullptr);
    ASSERT_TRUE(is_ok(Change().put("p", "r", "other").commit(*other)));
    ASSERT_TRUE(is_ok(other->close()));
  }
  const std::unique_ptr<Engine> engine = open(test::kRadosPath);
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(is_ok(Change().put("p", "r", "first").commit(*engine)));
  ASSERT_TRUE(is_ok(engine->flush()));
  ASSERT_TRUE(
      is_ok(engine->checkpoint(kCopyPath)));  // A checkpoint seals the log, so the next one finds nothing to seal.

  const std::string before = everything();
  for (const char* const path : {kOtherPath, test::kRadosPath, kCopyPath}) {
    SCOPED_TRACE(path);
    EXPECT_TRUE(fails_with(engine->checkpoint(path), Code::kExists, "must be absent or empty"));
    EXPECT_EQ(everything() == before, true) << "an object was changed";
  }
  // Back from the checkpoint into the address of the first store, which is open.
  const std::unique_ptr<Engine> copy = open(kCopyPath);
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(fails_with(copy->checkpoint(test::kRadosPath), Code::kExists));
  EXPECT_EQ(value_of(*copy, "p", "r"), "first");
  EXPECT_EQ(value_of(*engine, "p", "r"), "first");
  EXPECT_TRUE(is_ok(Change().put("p", "r", "later").commit(*engine)));
  EXPECT_EQ(value_of(*open(kOtherPath), "p", "r"), "other");
}

TEST_F(RadosCheckpoint, IntoAnAddressWhoseRootIsOfALaterBuildIsRefused) {
  io::ObjectChange making;
  making.object = io::root_object("copy");
  making.presence = io::ObjectChange::Presence::kMustBeAbsent;
  making.attributes["format"] = "9";
  ASSERT_EQ(raw_->change(making), 0);
  const std::unique_ptr<Engine> engine = open(test::kRadosPath);
  ASSERT_NE(engine, nullptr);
  EXPECT_TRUE(fails_with(engine->checkpoint(kCopyPath), Code::kUnsupported, "format 9"));
  io::ObjectLook look;
  EXPECT_EQ(raw_->look(making.object, look), 0);
  EXPECT_EQ(look.attributes, making.attributes);
  EXPECT_TRUE(fails_with(Engine::open(machine_.env_of(program_), kCopyPath, test::Machine::writable()),
                         Code::kUnsupported, "format 9"));
}

}  // namespace
}  // namespace varve::engine::rados_checkpoint_test
