// Owns: the table from errno to code (given_path.h).
#include "engine/base/given_path.h"

#include <cerrno>

namespace varve::engine {

Status answer_for_path(const Status& status) noexcept {
  switch (status.os_error()) {
    case ENOENT: return status.with_code(Code::kNotFound);
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP: return status.with_code(Code::kInvalidArgument);
    case EROFS: return status.with_code(Code::kReadOnly);
    default: return status;
  }
}

Status answer_for_writer(const Status& status) noexcept {
  return status.os_error() == EROFS ? status.with_code(Code::kReadOnly) : status;
}

}  // namespace varve::engine
