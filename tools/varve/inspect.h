// Owns: the list of what `varve inspect` can read.
// Must never: read what a store needs open for; a file is looked at alone, by the readers of format/.
#pragma once

#include <string_view>

#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "tools/varve/inspect_output.h"

namespace varve::tool {

struct InspectOptions {
  /// Of table files: each block; each entry.
  bool blocks = false;
  bool entries = false;
};

// Each shows what is in `file`, whose header was shown already, up to its end or to the first damage.
void inspect_root(std::string_view file, InspectOutput& out);
void inspect_manifest(std::string_view file, const format::FileHeader& header, InspectOutput& out);
void inspect_segment(std::string_view file, const format::FileHeader& header, InspectOutput& out);
void inspect_log_buffer(std::string_view file, const format::FileHeader& header, InspectOutput& out);
void inspect_table(std::string_view file, const format::FileHeader& header, const InspectOptions& options,
                   InspectOutput& out);

/// A record of the log and what it holds. False, and the damage told, if its payload breaks the format.
bool show_log_record(const format::Record& record, std::uint64_t offset, InspectOutput& out);

}  // namespace varve::tool
