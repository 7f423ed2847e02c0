#include "tools/varve/backup/content_hash.h"

#include <array>

#include <openssl/evp.h>

namespace varve::tool {

struct ContentHash::State {
  ~State() { EVP_MD_CTX_free(context); }
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool is_good = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {}
ContentHash::~ContentHash() = default;

void ContentHash::update(std::string_view bytes) {
  state_->is_good = state_->is_good && EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1;
}

std::string ContentHash::take() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (!state_->is_good || EVP_DigestFinal_ex(state_->context, bytes.data(), &size) != 1) return std::string();
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4U];
    text += kDigits[bytes[i] & 0xFU];
  }
  return text;
}

std::string content_hash_of(std::string_view bytes) {
  ContentHash hash;
  hash.update(bytes);
  return hash.take();
}

}  // namespace varve::tool
