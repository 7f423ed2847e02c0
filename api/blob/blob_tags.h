// Owns: the tags of a blob as one stored text.
// Must never: change a name, a value or their order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/blob.h"

namespace varve {

/// Each tag as `name=value`, joined by `&`. Checked tags contain `=` only as a character of a value or name: so it is
/// written as `%3D`, and `%` cannot occur.
std::string stored_tags(const std::vector<BlobTag>& tags);
/// Returns nothing for a text that stored_tags() does not make.
std::optional<std::vector<BlobTag>> parse_stored_tags(std::string_view text);

}  // namespace varve
