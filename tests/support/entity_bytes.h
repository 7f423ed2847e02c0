// Owns: the stored bytes of whole entities, for tests.
// Must never: encode or decode by itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/model/entity_codec.h"

namespace varve::test {

/// Returns the encoded properties of an entity that is within the limits.
inline std::string encoded_properties(const Entity& entity) {
  format::EntityBuilder builder;
  std::string value;
  encode_properties(entity, builder, value);
  return value;
}

/// Decodes the entity that the commit `version` stored as `bytes`. Errors: those of decode_properties().
inline Result<Entity> decoded_entity(std::string partition_key, std::string row_key, format::CommitVersion version,
                                     std::string_view bytes) {
  Entity entity(std::move(partition_key), std::move(row_key));
  if (Status decoded = decode_properties(entity, version, bytes, {}); !decoded.ok()) return decoded;
  return entity;
}

}  // namespace varve::test
