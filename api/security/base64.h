// Owns: base64, standard alphabet with padding, of keys and signatures.
// Must never: accept two texts for the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace varve::security {

std::string encode_base64(std::string_view bytes);
/// Nothing unless the text is exactly what encode_base64() makes. Up to a mebibyte.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace varve::security
