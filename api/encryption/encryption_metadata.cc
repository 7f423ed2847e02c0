// Owns: reading and writing both texts. The parser reports events, so a refused text builds nothing.
#include "varve/encryption/encryption_metadata.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/encryption/cipher.h"
#include "api/encryption/utf8.h"
#include "api/model/base64.h"
#include "varve/encryption/key_encryption_key.h"
#include "varve/limits.h"

namespace varve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kWrappedContentKey = "WrappedContentKey";
constexpr std::string_view kEncryptionAgent = "EncryptionAgent";
constexpr std::string_view kKeyWrappingMetadata = "KeyWrappingMetadata";
constexpr std::size_t kMembersMax = 32;
constexpr std::size_t kAlgorithmBytesMax = 64;
constexpr std::size_t kWrappedKeyBytesMax = 4096;

struct ProtocolNames {
  EncryptionProtocol protocol;
  std::string_view id;
  std::string_view algorithm;
};
constexpr std::array<ProtocolNames, 2> kProtocols = {{
    {EncryptionProtocol::kAuthenticated, "2.0", "AES_GCM_256"},
    {EncryptionProtocol::kClassic, "1.0", "AES_CBC_256"},
}};

struct Member {
  enum class Kind : std::uint8_t { kString, kObject, kOther };
  std::size_t depth = 0;  // 1: of the whole; 2: of `object`
  std::string object;
  std::string name;
  Kind kind = Kind::kOther;
  std::string value;
};

/// Refuses every event; a reader overrides those that it accepts. Numbers that are ignored have many forms.
class StrictReader : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return scalar(); }
  bool boolean(bool /*value*/) override { return scalar(); }
  bool number_integer(number_integer_t /*value*/) override { return scalar(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return scalar(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return scalar(); }
  bool string(string_t& /*value*/) override { return false; }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*elements*/) override { return false; }
  bool key(string_t& /*name*/) override { return false; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override { return false; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 protected:
  virtual bool scalar() { return false; }
};

/// Accepts an object of scalars and of objects of scalars.
class MemberReader final : public StrictReader {
 public:
  std::vector<Member>& members() noexcept { return members_; }

  bool string(string_t& value) override {
    if (depth_ == 0) return false;
    members_.back().kind = Member::Kind::kString;
    members_.back().value = std::move(value);
    return true;
  }
  bool start_object(std::size_t /*elements*/) override {
    if (depth_ == 2) return false;
    if (depth_ == 1) {
      members_.back().kind = Member::Kind::kObject;
      object_ = members_.back().name;
    }
    ++depth_;
    return true;
  }
  bool key(string_t& name) override {
    const std::string_view object = depth_ == 2 ? std::string_view(object_) : std::string_view();
    const bool is_twice = std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
      return member.depth == depth_ && member.object == object && member.name == name;
    });
    if (is_twice || members_.size() == kMembersMax) return false;
    members_.push_back({depth_, std::string(object), std::move(name), Member::Kind::kOther, {}});
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }

 protected:
  bool scalar() override { return depth_ > 0; }

 private:
  std::size_t depth_ = 0;
  std::string object_;
  std::vector<Member> members_;
};

class NameReader final : public StrictReader {
 public:
  std::vector<std::string>& names() noexcept { return names_; }

  bool string(string_t& value) override {
    if (!inside_ || names_.size() == limits::kCustomPropertiesMax) return false;
    names_.push_back(std::move(value));
    return true;
  }
  bool start_array(std::size_t /*elements*/) override { return !std::exchange(inside_, true); }

 private:
  bool inside_ = false;
  std::vector<std::string> names_;
};

/// The parser accepts a byte order mark before a text, and a zero byte as its end. We accept neither.
bool read_json(std::string_view text, StrictReader& reader) {
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) return false;
  return Json::sax_parse(text.begin(), text.end(), &reader);
}

Status damaged(std::string_view what) {
  return Status::corruption(std::string(kEncryptionMetadataName) + ": " + std::string(what));
}

/// Members with a meaning are taken from the list one by one. The rest is unknown.
class MemberList {
 public:
  explicit MemberList(std::vector<Member> members) noexcept : members_(std::move(members)) {}

  Result<std::string> take_string(std::string_view object, std::string_view name, std::size_t bytes_max) {
    const std::size_t depth = object.empty() ? 1 : 2;
    const auto at = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
      return member.depth == depth && member.object == object && member.name == name;
    });
    if (at == members_.end()) return damaged("lacks the member " + std::string(name));
    if (at->kind != Member::Kind::kString || at->value.empty() || at->value.size() > bytes_max) {
      return damaged("the member " + std::string(name) + " must be a text of 1 to " + std::to_string(bytes_max) +
                     " bytes");
    }
    std::string value = std::move(at->value);
    members_.erase(at);
    return value;
  }

  Result<std::string> take_base64(std::string_view object, std::string_view name, std::size_t bytes_max) {
    Result<std::string> text = take_string(object, name, (bytes_max + 2) / 3 * 4);
    if (!text.ok()) return text;
    std::optional<std::string> bytes = decode_base64(*text);
    if (!bytes) return damaged("the member " + std::string(name) + " is not base64");
    return *std::move(bytes);
  }

  /// Returns true if only the objects themselves and the content of KeyWrappingMetadata remain.
  bool holds_nothing_else() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member& member) {
      if (member.depth == 2) return member.object == kKeyWrappingMetadata;
      if (member.name == kKeyWrappingMetadata) return member.kind == Member::Kind::kObject;
      return member.kind == Member::Kind::kObject &&
             (member.name == kWrappedContentKey || member.name == kEncryptionAgent);
    });
  }

 private:
  std::vector<Member> members_;
};

Result<EncryptionProtocol> take_protocol(MemberList& members) {
  const Result<std::string> id = members.take_string(kEncryptionAgent, "Protocol", kAlgorithmBytesMax);
  if (!id.ok()) return id.status();
  const auto names = std::find_if(kProtocols.begin(), kProtocols.end(),
                                  [&](const ProtocolNames& candidate) { return candidate.id == *id; });
  if (names == kProtocols.end()) {
    return Status::unsupported("the protocol '" + *id + "' of the entity's encryption is not known to this build");
  }
  const Result<std::string> algorithm =
      members.take_string(kEncryptionAgent, "EncryptionAlgorithm", kAlgorithmBytesMax);
  if (!algorithm.ok()) return algorithm.status();
  if (*algorithm != names->algorithm) {
    return Status::unsupported("the algorithm '" + *algorithm + "' does not belong to protocol " + *id);
  }
  return names->protocol;
}

bool is_text(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && is_utf8(text);
}

}  // namespace

Result<std::string> format_encryption_metadata(const EncryptionMetadata& metadata) {
  if (!is_text(metadata.key_id, kKeyIdBytesMax) || !is_text(metadata.key_algorithm, kAlgorithmBytesMax)) {
    return Status::invalid_argument(
        "the id and the algorithm of a key must be UTF-8 texts of 1 to 1024 and 1 to 64 bytes");
  }
  if (metadata.wrapped_key.empty() || metadata.wrapped_key.size() > kWrappedKeyBytesMax) {
    return Status::invalid_argument("a wrapped key must have 1 to 4096 bytes");
  }
  const ProtocolNames& names = kProtocols[metadata.protocol == EncryptionProtocol::kAuthenticated ? 0 : 1];
  Json wrapped = Json::object();
  wrapped["KeyId"] = metadata.key_id;
  wrapped["EncryptedKey"] = encode_base64(metadata.wrapped_key);
  wrapped["Algorithm"] = metadata.key_algorithm;
  Json agent = Json::object();
  agent["Protocol"] = names.id;
  agent["EncryptionAlgorithm"] = names.algorithm;
  Json whole = Json::object();
  whole[std::string(kWrappedContentKey)] = std::move(wrapped);
  whole[std::string(kEncryptionAgent)] = std::move(agent);
  whole["ContentEncryptionIV"] = encode_base64(metadata.iv);
  whole[std::string(kKeyWrappingMetadata)] = Json::object();
  return whole.dump();
}

Result<EncryptionMetadata> parse_encryption_metadata(std::string_view json) {
  if (json.size() > kEncryptionMetadataBytesMax) return damaged("has more than 16384 bytes, the most that are allowed");
  MemberReader reader;
  if (!read_json(json, reader))
    return damaged("must be a JSON object of texts and of objects of texts, each member once");
  MemberList members(std::move(reader.members()));

  EncryptionMetadata metadata;
  const Result<EncryptionProtocol> protocol = take_protocol(members);
  if (!protocol.ok()) return protocol.status();
  metadata.protocol = *protocol;
  Result<std::string> key_id = members.take_string(kWrappedContentKey, "KeyId", kKeyIdBytesMax);
  if (!key_id.ok()) return key_id.status();
  Result<std::string> algorithm = members.take_string(kWrappedContentKey, "Algorithm", kAlgorithmBytesMax);
  if (!algorithm.ok()) return algorithm.status();
  Result<std::string> wrapped = members.take_base64(kWrappedContentKey, "EncryptedKey", kWrappedKeyBytesMax);
  if (!wrapped.ok()) return wrapped.status();
  Result<std::string> iv = members.take_base64({}, "ContentEncryptionIV", kCbcIvBytes);
  if (!iv.ok()) return iv.status();
  if (iv->size() != kCbcIvBytes) return damaged("the IV has " + std::to_string(iv->size()) + " bytes, not 16");
  if (wrapped->size() > kWrappedKeyBytesMax || !members.holds_nothing_else()) {
    return damaged("contains a member that is not allowed");
  }
  metadata.key_id = *std::move(key_id);
  metadata.key_algorithm = *std::move(algorithm);
  metadata.wrapped_key = *std::move(wrapped);
  metadata.iv = *std::move(iv);
  return metadata;
}

std::string format_encrypted_names(std::span<const std::string> names) {
  Json array = Json::array();
  for (const std::string& name : names) array.push_back(name);
  return array.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<std::string>> parse_encrypted_names(std::string_view json) {
  NameReader reader;
  const Status bad =
      Status::corruption(std::string(kEncryptedNamesName) + ": must be a JSON list of different property names");
  if (!read_json(json, reader)) return bad;
  std::vector<std::string> names = std::move(reader.names());
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return bad;
  for (const std::string& name : names) {
    if (name.empty() || name == kEncryptionMetadataName || name == kEncryptedNamesName || name == "PartitionKey" ||
        name == "RowKey" || name == "Timestamp") {
      return bad;
    }
  }
  return names;
}

}  // namespace varve
