// SPDX-License-Identifier: Apache-2.0
// Owns: the entry of a name as a struct, its mapping to an entity, and new ids.
// Must never: use a store.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <varve/mapping.h>

namespace names {

enum class Kind { kDirectory, kFile };

struct Entry {
  /// The id of the parent directory.
  std::string parent;
  /// The name, escaped.
  std::string key;
  std::string id;
  Kind kind = Kind::kFile;
  std::int64_t bytes = 0;
  varve::ETag etag;
};

/// Returns an id that no entry has yet: 128 random bits.
inline std::string new_id() {
  std::random_device device;
  varve::Guid guid;
  for (std::uint8_t& byte : guid.bytes) byte = static_cast<std::uint8_t>(device());
  return guid.to_string();
}

}  // namespace names

template <>
inline constexpr std::array<std::pair<names::Kind, std::string_view>, 2> varve::enum_names<names::Kind> = {
    {{names::Kind::kDirectory, "directory"}, {names::Kind::kFile, "file"}}};

template <>
inline constexpr auto varve::mapping<names::Entry> = varve::mapped::members(
    varve::mapped::partition_key(&names::Entry::parent), varve::mapped::row_key(&names::Entry::key),
    varve::mapped::property("Id", &names::Entry::id), varve::mapped::property("Kind", &names::Entry::kind),
    varve::mapped::property("Bytes", &names::Entry::bytes), varve::mapped::etag(&names::Entry::etag));
