// SPDX-License-Identifier: Apache-2.0
// Owns: the request options of a query as the service writes them: `$filter`, `$top`, `$select` and a continuation.
// Must never: judge a filter. The scan judges it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "query.h"
#include "result.h"
#include "version.h"

namespace varve {

/// Parses a projection in the form of the service's `$select`: names separated by commas. Spaces around names are
/// ignored. A blank text, or `*` alone, selects all properties and returns an empty list.
/// Errors: kInvalidArgument (InvalidInput: more than limits::kSelectedNamesMax names, or an empty name in the list).
/// Source: Q-50.
VARVE_EXPORT Result<std::vector<std::string>> parse_select(std::string_view text);

/// Parses the query string of a request, for example ``$filter=PartitionKey%20eq%20'eu'&$top=5``. It reads `$filter`,
/// `$top`, `$select`, NextPartitionKey and NextRowKey. Each name and value is percent-decoded once, and `+` is a space.
/// Names are case-sensitive, and unknown names are ignored.
/// Errors   kInvalidArgument    (InvalidInput: a malformed value, or one of these names given twice)
///          kUnsupported        (NotImplemented: `$orderby`, `$skip`, `$count`, `$inlinecount`, `$expand`,
///                              `$skiptoken`)
/// Source  .
VARVE_EXPORT Result<Scan> parse_query_options(std::string_view query);
/// As parse_query_options(), and reads `$orderby` as Scan::order_by. With an order, NextPartitionKey is the token of the
/// page before, and NextRowKey is empty or absent. Errors: as parse_query_options(), but not for `$orderby`.
VARVE_EXPORT Result<Scan> parse_ordered_query_options(std::string_view query);
/// Returns the suffix of the context URL for this projection: `&$select=A,B`, or nothing.
VARVE_EXPORT std::string context_suffix(const std::vector<std::string>& select);

}  // namespace varve
