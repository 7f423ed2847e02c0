#include "io/os_error.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace varve::io::os_error_test {
namespace {

TEST(OsError, EachErrnoHasItsCode) {
  struct Case {
    int error;
    Code code;
  };
  const Case cases[] = {
      {ENOSPC, Code::kNoSpace},      {EDQUOT, Code::kNoSpace},      {EFBIG, Code::kNoSpace},
      {EMFILE, Code::kTooManyFiles}, {ENFILE, Code::kTooManyFiles}, {ENOMEM, Code::kOutOfMemory},
      {EROFS, Code::kIoError},       {ENOENT, Code::kIoError},      {EEXIST, Code::kIoError},
      {ENOTDIR, Code::kIoError},     {ELOOP, Code::kCorruption},    {ENAMETOOLONG, Code::kIoError},
      {EIO, Code::kIoError},         {EACCES, Code::kIoError},      {EPERM, Code::kIoError},
      {EINVAL, Code::kIoError},      {EAGAIN, Code::kIoError},      {EINTR, Code::kIoError},
      {ESTALE, Code::kIoError},      {EISDIR, Code::kIoError},      {1'000'000, Code::kIoError},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.error);
    EXPECT_EQ(os_error_code(each.error), each.code);
    EXPECT_EQ(os_error(each.error, {"open", "/data"}).code(), each.code);
  }
}

TEST(OsError, NoErrnoIsAnAnswerOfTheModel) {
  constexpr Code kAnswers[] = {Code::kNotFound, Code::kExists,      Code::kPreconditionFailed, Code::kInvalidArgument,
                               Code::kTooLarge, Code::kUnsupported, Code::kForbidden,          Code::kConflict,
                               Code::kReadOnly, Code::kBusy,        Code::kCancelled};
  for (int error = 1; error < 200; ++error) {
    const Status status = os_error(error, {"open", "/data"});
    EXPECT_EQ(std::count(std::begin(kAnswers), std::end(kAnswers), status.code()), 0) << status.to_string();
    EXPECT_EQ(status.os_error(), error);
    EXPECT_EQ(is_missing(status), error == ENOENT);
    EXPECT_EQ(is_taken(status), error == EEXIST);
  }
}

TEST(OsError, NoErrnoIsASuccess) {
  for (int error = 1; error < 200; ++error) {
    SCOPED_TRACE(error);
    EXPECT_NE(os_error_code(error), Code::kOk);
    EXPECT_FALSE(os_error(error, {"open", "/data"}).message().empty());
  }
}

TEST(OsError, MessageNamesCallPathOffsetPointAndError) {
  EXPECT_EQ(os_error(ENOSPC, {"pwrite", "/data/store/000003.wal", 8192, "log group commit"}).message(),
            "pwrite /data/store/000003.wal at offset 8192 (log group commit): No space left on device");
  EXPECT_EQ(os_error(EIO, {"pread", "/data/store/000003.wal", 0}).message(),
            "pread /data/store/000003.wal at offset 0: Input/output error");
  EXPECT_EQ(os_error(ENOENT, {"openat", "/data/store/CURRENT"}).message(),
            "openat /data/store/CURRENT: No such file or directory");
}

TEST(OsError, MessagesSayWhatHelpsWhereThatIsKnown) {
  const auto message = [](int error) { return std::string(os_error(error, {"openat", "/data/x"}).message()); };
  EXPECT_NE(message(EMFILE).find("ulimit -n"), std::string::npos);
  EXPECT_NE(message(EFBIG).find("ulimit -f"), std::string::npos);
  EXPECT_NE(message(EACCES).find("owner and mode"), std::string::npos);
  EXPECT_NE(message(EPERM).find("owner and mode"), std::string::npos);
  EXPECT_NE(message(ELOOP).find("symbolic link"), std::string::npos);
}

TEST(OsError, FailuresWithoutAnErrnoReadTheSame) {
  const Status status = call_error(Code::kIoError, {"pwrite", "/data/x", 4096, "footer"}, {"no ", "progress"});
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(status.message(), "pwrite /data/x at offset 4096 (footer): no progress");
}

}  // namespace
}  // namespace varve::io::os_error_test
