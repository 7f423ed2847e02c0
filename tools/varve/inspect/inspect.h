// Owns: the list of the files that `varve inspect` can read.
// Must never: read data that requires an open store. Each file is read alone, by the readers of format/.
#pragma once

#include <string_view>

#include "format/log/file_header.h"
#include "format/log/log_record.h"
#include "tools/varve/inspect/inspect_output.h"

namespace varve::tool {

struct InspectOptions {
  /// Show each block, and each entry, of table files.
  bool blocks = false;
  bool entries = false;
};

// Each function shows the content of `file` after its header, up to the end or to the first damage.
void inspect_warm_list(std::string_view file, InspectOutput& out);
void inspect_root(std::string_view file, InspectOutput& out);
void inspect_manifest(std::string_view file, const format::FileHeader& header, InspectOutput& out);
void inspect_segment(std::string_view file, const format::FileHeader& header, InspectOutput& out);
void inspect_log_buffer(std::string_view file, const format::FileHeader& header, InspectOutput& out);
void inspect_table(std::string_view file, const format::FileHeader& header, const InspectOptions& options,
                   InspectOutput& out);

/// Shows a record of the log and its content. Returns false and reports the damage if its payload breaks the format.
bool show_log_record(const format::Record& record, std::uint64_t offset, InspectOutput& out);

}  // namespace varve::tool
