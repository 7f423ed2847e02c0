// Goal: the door to a real cluster builds each change with both halves of the fence (S1), and no other way past them.
// Method: a client library that is made up records what it is asked for. The model of RADOS is given changes as a whole, so
// it cannot show how they are built. What the monitors say of a pool is made up as well.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/librados_calls.h"
#include "io/rados/librados_connection.h"
#include "io/rados/librados_door.h"
#include "tests/io/io_test_support.h"

namespace varve::io::librados_write_test {
namespace {

using Presence = ObjectChange::Presence;

constexpr int kFullTry = 64;
constexpr int kFullForce = 128;
constexpr int kOrderSnapshots = 512;

/// What the library was asked for. A write is a text of steps.
struct Library {
  int contexts = 0;
  std::map<RadosContext, std::uint64_t> sequences;
  std::string steps;
  std::string object;
  std::uint64_t sequence = UINT64_MAX;
  int flags = 0;
  int answer = 0;
  int refusal = 0;  // of a change that is sent without a wait
  bool hangs = false;
  int released = 0;
  void (*done)(RadosCompletion, void*) = nullptr;
  void* argument = nullptr;
  std::map<std::string, std::string> pool;
};
Library* library = nullptr;

void add_step(const std::string& step) {
  library->steps += (library->steps.empty() ? "" : ", ") + step;
}

int operate(RadosContext context, const char* object, int flags) {
  library->object = object;
  library->sequence = library->sequences.at(context);
  library->flags = flags;
  return library->answer;
}

LibradosCalls made_up_calls() {
  LibradosCalls calls{};
  calls.ioctx_create = [](RadosCluster, const char*, RadosContext* context) {
    *context = reinterpret_cast<RadosContext>(static_cast<std::uintptr_t>(++library->contexts));
    library->sequences[*context] = UINT64_MAX;
    return 0;
  };
  calls.ioctx_destroy = [](RadosContext) {};
  calls.ioctx_set_namespace = [](RadosContext, const char*) {};
  calls.ioctx_selfmanaged_snap_set_write_ctx = [](RadosContext context, std::uint64_t sequence, std::uint64_t*,
                                                  int count) {
    EXPECT_EQ(count, 0) << "a write that lists a snapshot clones the object";
    library->sequences[context] = sequence;
    return 0;
  };
  calls.create_write_op = []() -> RadosWrite {
    library->steps.clear();
    return library;
  };
  calls.release_write_op = [](RadosWrite) {};
  calls.write_op_assert_exists = [](RadosWrite) { add_step("exists"); };
  calls.write_op_create = [](RadosWrite, int exclusive, const char*) {
    add_step(exclusive == 1 ? "create exclusively" : "create");
  };
  calls.write_op_cmpxattr = [](RadosWrite, const char* name, std::uint8_t comparison, const char* value,
                               std::size_t size) {
    EXPECT_EQ(comparison, 1) << "equal";
    add_step(std::string("expect ") + name + "=" + std::string(value, size));
  };
  calls.write_op_setxattr = [](RadosWrite, const char* name, const char* value, std::size_t size) {
    add_step(std::string("set ") + name + "=" + std::string(value, size));
  };
  calls.write_op_write = [](RadosWrite, const char*, std::size_t size, std::uint64_t offset) {
    add_step("write " + std::to_string(size) + " at " + std::to_string(offset));
  };
  calls.write_op_set_alloc_hint2 = [](RadosWrite, std::uint64_t object_size, std::uint64_t write_size,
                                      std::uint32_t flags) {
    add_step("hint " + std::to_string(object_size) + " by " + std::to_string(write_size) + " flags " +
             std::to_string(flags));
  };
  calls.write_op_remove = [](RadosWrite) { add_step("remove"); };
  calls.write_op_omap_set = [](RadosWrite, const char* const* keys, const char* const*, const std::size_t*,
                               std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_step(std::string("enter ") + keys[i]);
  };
  calls.write_op_omap_rm_keys = [](RadosWrite, const char* const* keys, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_step(std::string("erase ") + keys[i]);
  };
  calls.write_op_operate = [](RadosWrite, RadosContext context, const char* object, std::time_t*, int flags) {
    return operate(context, object, flags);
  };
  calls.aio_create_completion2 = [](void* argument, void (*done)(RadosCompletion, void*), RadosCompletion* completion) {
    library->done = done;
    library->argument = argument;
    *completion = library;
    return 0;
  };
  calls.aio_write_op_operate = [](RadosWrite, RadosContext context, RadosCompletion completion, const char* object,
                                  std::time_t*, int flags) {
    (void)operate(context, object, flags);
    if (library->refusal < 0) return library->refusal;
    if (!library->hangs) library->done(completion, library->argument);
    return 0;
  };
  calls.aio_cancel = [](RadosContext, RadosCompletion completion) {
    library->answer = -ECANCELED;
    library->done(completion, library->argument);
    return 0;
  };
  calls.aio_get_return_value = [](RadosCompletion) { return library->answer; };
  calls.aio_release = [](RadosCompletion) { ++library->released; };
  calls.buffer_free = [](char* buffer) { std::free(buffer); };
  calls.mon_command = [](RadosCluster, const char** commands, std::size_t, const char*, std::size_t, char** output,
                         std::size_t* output_size, char**, std::size_t*) {
    const std::string command = commands[0];
    for (const auto& [name, value] : library->pool) {
      if (command.find("\"var\":\"" + name + "\"") == std::string::npos) continue;
      const std::string answer = "{\"pool\":\"tables\",\"pool_id\":1,\"" + name + "\":" + value + "}";
      *output = static_cast<char*>(std::malloc(answer.size()));
      std::memcpy(*output, answer.data(), answer.size());
      *output_size = answer.size();
    }
    return 0;
  };
  return calls;
}

class LibradosWrite : public testing::Test {
 protected:
  LibradosWrite() {
    library = &library_;
    door_ = make_librados_door(std::make_unique<LibradosConnection>(made_up_calls(), "tables"));
  }
  ~LibradosWrite() override { door_.reset(); }

  static ObjectChange full_change(Presence presence) {
    static constexpr std::byte kBytes[3] = {};
    ObjectChange change;
    change.object = "store/1.2.0";
    change.epoch = 7;
    change.presence = presence;
    change.expected_attributes = {{"epoch", "7"}, {"id", "x"}};
    change.attributes["value"] = "new";
    change.bytes = kBytes;
    change.offset = 12;
    change.entries["n/a"] = "1";
    change.entries_removed = {"n/b"};
    return change;
  }

  Library library_;
  std::unique_ptr<ObjectDoor> door_;
};

TEST_F(LibradosWrite, S1EveryChangeRequiresItsObjectBeforeAllElse) {
  EXPECT_EQ(door_->change(full_change(Presence::kMustExist)), 0);
  EXPECT_EQ(library_.steps, "exists, expect epoch=7, expect id=x, set value=new, write 3 at 12, enter n/a, erase n/b");
  EXPECT_EQ(library_.object, "store/1.2.0");
  EXPECT_EQ(door_->change(full_change(Presence::kMustBeAbsent)), 0);
  EXPECT_EQ(library_.steps,
            "create exclusively, expect epoch=7, expect id=x, set value=new, write 3 at 12, enter n/a, erase n/b");
  ObjectChange removal;
  removal.object = "store/1.2.0";
  removal.removes = true;
  EXPECT_EQ(door_->change(removal), 0);
  EXPECT_EQ(library_.steps, "exists, remove");
  library_.answer = -ENOENT;
  EXPECT_EQ(door_->change(removal), ENOENT);
}

TEST_F(LibradosWrite, S1EveryChangeCarriesItsEpochAndTheFlagThatRefusesOlderOnes) {
  for (const std::uint64_t epoch : {std::uint64_t{7}, std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 40}) {
    for (const bool may_exceed : {false, true}) {
      for (const bool is_patient : {false, true}) {
        SCOPED_TRACE(epoch);
        ObjectChange change = full_change(Presence::kMustExist);
        change.epoch = epoch;
        change.may_exceed = may_exceed;
        if (is_patient) change.patience = std::chrono::minutes(1);
        library_.sequence = UINT64_MAX;
        EXPECT_EQ(door_->change(change), 0);
        EXPECT_EQ(library_.sequence, epoch);
        EXPECT_EQ(library_.flags, kOrderSnapshots | (may_exceed ? kFullForce : kFullTry)) << "never both, never none";
        EXPECT_EQ(library_.steps.substr(0, 6), "exists");
      }
    }
  }
  EXPECT_EQ(library_.contexts, 3) << "one handle an epoch";
}

TEST_F(LibradosWrite, S1AChangeThatIsSentWithoutAWaitIsBuiltAsAnyOther) {
  for (const std::uint64_t epoch : {std::uint64_t{7}, std::uint64_t{1} << 40}) {
    for (const bool may_exceed : {false, true}) {
      SCOPED_TRACE(epoch);
      ObjectChange change = full_change(Presence::kMustBeAbsent);
      change.epoch = epoch;
      change.may_exceed = may_exceed;
      library_.sequence = UINT64_MAX;
      const std::unique_ptr<SentChange> sent = door_->send(change);
      EXPECT_EQ(library_.steps,
                "create exclusively, expect epoch=7, expect id=x, set value=new, write 3 at 12, enter n/a, erase n/b");
      EXPECT_EQ(library_.object, "store/1.2.0");
      EXPECT_EQ(library_.sequence, epoch);
      EXPECT_EQ(library_.flags, kOrderSnapshots | (may_exceed ? kFullForce : kFullTry));
      EXPECT_EQ(sent->await(), 0);
      EXPECT_EQ(sent->await(), 0) << "each time the same";
    }
  }
  EXPECT_EQ(library_.released, 4) << "with the handle of the change";
}

TEST_F(LibradosWrite, CompressedBytesAreNamedToTheDisksBeforeTheyAreWritten) {
  ObjectChange change = full_change(Presence::kMustBeAbsent);
  change.compressed_bytes_max = 4096;
  const std::unique_ptr<SentChange> sent = door_->send(change);
  EXPECT_EQ(sent->await(), 0);
  EXPECT_EQ(library_.steps,
            "create exclusively, expect epoch=7, expect id=x, set value=new, hint 4096 by 3 flags 537, write 3 at 12, "
            "enter n/a, erase n/b");
}

TEST_F(LibradosWrite, AChangeThatTheLibraryDoesNotTakeHasItsAnswerAndNoneToWaitFor) {
  library_.refusal = -ENOMEM;
  const std::unique_ptr<SentChange> sent = door_->send(full_change(Presence::kMustBeAbsent));
  EXPECT_EQ(sent->await(), ENOMEM);
  EXPECT_EQ(sent->await(), ENOMEM);
}

// The library writes into the handle of a change until it has answered.
TEST_F(LibradosWrite, TheEndOfAChangeThatWasSentWaitsForItsAnswer) {
  library_.hangs = true;
  std::unique_ptr<SentChange> sent = door_->send(full_change(Presence::kMustBeAbsent));
  std::atomic<bool> is_answered{false};
  std::thread answering([&] {
    is_answered = true;
    library_.done(&library_, library_.argument);
  });
  sent.reset();
  EXPECT_TRUE(is_answered);
  EXPECT_EQ(library_.released, 1);
  answering.join();
}

TEST_F(LibradosWrite, AChangeWhosePatienceEndsIsGivenUpAndMayHaveBeenMade) {
  library_.hangs = true;
  ObjectChange change = full_change(Presence::kMustBeAbsent);
  change.may_exceed = true;
  change.patience = std::chrono::milliseconds(5);
  EXPECT_EQ(door_->change(change), ETIMEDOUT);
}

Status check_pool_of(std::map<std::string, std::string> pool) {
  Library made_up;
  made_up.pool = std::move(pool);
  library = &made_up;
  const LibradosConnection connection(made_up_calls(), "tables");
  return check_copies(connection);
}

TEST(PoolCheck, APoolThatAcknowledgesWhatOneCopyAloneHasIsRefused) {
  const Status refused = check_pool_of({{"size", "3"}, {"min_size", "1"}});
  EXPECT_TRUE(fails_with(refused, Code::kUnsupported, "min_size 1"));
  EXPECT_EQ(refused.hint(), "ceph osd pool set tables min_size 2");
  EXPECT_TRUE(fails_with(check_pool_of({{"size", "2"}, {"min_size", "1"}}), Code::kUnsupported, "min_size 1"));
  EXPECT_TRUE(is_ok(check_pool_of({{"size", "3"}, {"min_size", "2"}})));
  EXPECT_TRUE(is_ok(check_pool_of({{"size", "1"}, {"min_size", "1"}}))) << "its owner knows that it has one copy";
  EXPECT_TRUE(fails_with(check_pool_of({{"size", "3"}}), Code::kUnsupported, "do not say how many copies"));
}

}  // namespace
}  // namespace varve::io::librados_write_test
