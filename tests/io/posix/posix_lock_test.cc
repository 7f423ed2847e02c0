// The lock of the plain-call back end among real processes.
#include "io/posix/posix_lock.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/io/child_process.h"
#include "tests/io/posix/posix_test_support.h"
#include "tests/io/posix/refused_system_calls.h"

namespace varve::io::posix_lock_test {
namespace {

using std::chrono::milliseconds;

class PosixLockTest : public PosixTest {
 protected:
  static Result<std::unique_ptr<DirectoryLock>> take(const std::string& path, LockMode mode = LockMode::kExclusive,
                                                     milliseconds wait_max = milliseconds(0)) {
    return open_at_path(path)->lock("LOCK", mode, wait_max);
  }
};

TEST_F(PosixLockTest, EveryAliasOfThePathMeetsTheSameLock) {
  ASSERT_EQ(::mkdir(path_of("store").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("store", path_of("alias").c_str()), 0);
  Result<std::unique_ptr<DirectoryLock>> lock = take(path_of("store"));
  ASSERT_TRUE(is_ok(lock));
  for (const char* alias : {"store", "alias", "store/", "store/../alias", "./store"}) {
    SCOPED_TRACE(alias);
    EXPECT_TRUE(fails_with(take(path_of(alias)), Code::kLocked, "LOCK"));
    EXPECT_TRUE(fails_with(take(path_of(alias)), Code::kLocked, "another process, or another handle"));
    EXPECT_EQ(in_child([&] { return code_of(take(path_of(alias))); }), "Locked");
  }
  lock->reset();
  EXPECT_EQ(in_child([&] { return code_of(take(path_of("alias"))); }), "Ok");
}

TEST_F(PosixLockTest, ALockEndsWithItsProcessHoweverThatEnds) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    auto lock = take(path());
    const char answer = lock.ok() ? 'y' : 'n';
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(fails_with(take(path()), Code::kLocked));
  ::kill(holder, SIGKILL);
  EXPECT_TRUE(is_ok(take(path(), LockMode::kExclusive, milliseconds(60'000)))) << "waits until the holder is gone";
  ::waitpid(holder, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixLockTest, AForkedChildNeitherHoldsNorReleasesTheLock) {
  Result<std::unique_ptr<DirectoryLock>> lock = take(path());
  ASSERT_TRUE(is_ok(lock));
  EXPECT_TRUE(is_ok((*lock)->check()));
  const std::string answer = in_child([&] {
    const std::string checked = told((*lock)->check());
    (*lock).reset();  // Calls the destructor, as a child that ends by exit() would.
    return checked;
  });
  EXPECT_EQ(answer.find("Locked: write under " + path_of("LOCK")), 0U) << answer;
  EXPECT_NE(answer.find("a fork"), std::string::npos) << answer;
  EXPECT_TRUE(is_ok((*lock)->check()));
  EXPECT_TRUE(fails_with(take(path()), Code::kLocked)) << "the child let it go";
}

TEST_F(PosixLockTest, AChildThatLivesOnDoesNotKeepTheLockOfAnOwnerThatLetItGo) {
  Result<std::unique_ptr<DirectoryLock>> lock = take(path());
  ASSERT_TRUE(is_ok(lock));
  int end[2];
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(end[1]);
    char never = 0;
    (void)!::read(end[0], &never, 1);  // Returns when the parent closes its end.
    ::_exit(0);
  }
  lock->reset();
  EXPECT_TRUE(is_ok(take(path())));
  ::close(end[0]);
  ::close(end[1]);
  ::waitpid(child, nullptr, 0);
}

TEST_F(PosixLockTest, ALockFileThatIsNoneIsRefused) {
  ASSERT_EQ(::mkfifo(path_of("LOCK").c_str(), 0600), 0);
  EXPECT_TRUE(fails_with(take(path()), Code::kCorruption, "a pipe"));
  ASSERT_EQ(::unlink(path_of("LOCK").c_str()), 0);
  ASSERT_TRUE(is_ok(write_whole(directory(), "real", bytes_of("x"))));
  ASSERT_EQ(::symlink("real", path_of("LOCK").c_str()), 0);
  EXPECT_TRUE(fails_with(take(path()), Code::kCorruption, "symbolic link"));
  EXPECT_TRUE(fails_with(take(path(), LockMode::kShared), Code::kCorruption, "symbolic link"));
}

TEST_F(PosixLockTest, AFileSystemWithoutLocksIsAnErrorAndNoLock) {
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_flock, ENOLCK}});
    return told(take(path()));
  });
  EXPECT_EQ(answer, "IoError: flock " + path_of("LOCK") + ": No locks available");
}

TEST_F(PosixLockTest, AnInterruptedCallIsTriedAgainButNotForEver) {
  const std::string answer = in_child([&] {
    refuse_system_calls({{SYS_flock, EINTR}});
    return code_of(take(path()));
  });
  EXPECT_EQ(answer, "IoError");
}

}  // namespace
}  // namespace varve::io::posix_lock_test
