#include "api/rest/service/accounts.h"

#include <array>
#include <utility>

#include <openssl/rand.h>

#include "api/model/base64.h"
#include "api/model/service_error.h"
#include "varve/names.h"

namespace varve::serve {

Result<Accounts> Accounts::create() {
  std::array<unsigned char, 64> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Status::io_error("OpenSSL could not supply random bytes");
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Result<security::AccountKeys> nobodys = security::AccountKeys::create(encode_base64(text));
  if (!nobodys.ok()) return nobodys.status();
  return Accounts(*std::move(nobodys));
}

Status Accounts::add(std::string_view definition) {
  const std::size_t colon = definition.find(':');
  const std::string_view name = definition.substr(0, colon);
  if (Status named = check_account_name(name); !named.ok()) return named;
  if (colon == std::string_view::npos)
    return service_error::invalid_input("--account must be NAME:@FILE, NAME:KEY or NAME:KEY:KEY2");
  const std::string_view words = definition.substr(colon + 1);
  const std::size_t second = words.find(':');
  Result<security::AccountKeys> keys = security::AccountKeys::create(
      words.substr(0, second), second == std::string_view::npos ? std::string_view() : words.substr(second + 1));
  if (!keys.ok()) return keys.status();
  accounts_.insert_or_assign(std::string(name), *std::move(keys));
  return Status();
}

security::AccountCredentials Accounts::find(std::string_view name) const {
  const auto known = accounts_.find(name);
  return {std::string(name), known == accounts_.end() ? nobodys_ : known->second};
}

}  // namespace varve::serve
