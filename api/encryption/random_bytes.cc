// Owns: the random source that everything except tests uses.
#include "varve/encryption/random_bytes.h"

#include <openssl/err.h>
#include <openssl/rand.h>

namespace varve {
namespace {

class OpensslRandomBytes final : public RandomBytes {
 public:
  Status fill(std::span<std::uint8_t> out) override {
    if (RAND_bytes(out.data(), static_cast<int>(out.size())) == 1) return {};
    ERR_clear_error();
    return Status::io_error("OpenSSL could not supply random bytes");
  }
};

}  // namespace

RandomBytes& system_random_bytes() noexcept {
  static OpensslRandomBytes source;
  return source;
}

}  // namespace varve
