// Owns: base64 of keys and signatures, in the standard alphabet with padding.
// Must never: accept two texts for the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace varve::security {

std::string encode_base64(std::string_view bytes);
/// Returns the bytes, or nothing if encode_base64() cannot produce the text. Texts of more than one MiB give nothing.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace varve::security
