// Owns: the source of randomness that everything but a test uses.
#include "api/security/encryption/random_bytes.h"

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
