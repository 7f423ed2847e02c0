// SPDX-License-Identifier: Apache-2.0
// Owns: what a query's request options say, as the service writes them: `$filter`, `$top`, `$select` and a
// continuation. Must never: judge a filter; whoever runs the scan does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "query.h"
#include "result.h"

#pragma GCC visibility push(default)

namespace varve {

/// A projection as the service's `$select` has it: names separated by commas, spaces around them ignored; blank, or `*`
/// alone, is all properties, which is an empty list here. Errors: kInvalidArgument (InvalidInput: more than
/// limits::kSelectedNamesMax names, or an empty one among others). Source: Q-50.
Result<std::vector<std::string>> parse_select(std::string_view text);

/// What a request's query string asks for, as `$filter=PartitionKey%20eq%20'eu'&$top=5`: `$filter`, `$top`, `$select`,
/// NextPartitionKey and NextRowKey; each value is percent-decoded once, with `+` for a space. Names are case-sensitive;
/// unknown ones are ignored.
/// Errors   kInvalidArgument (InvalidInput: a value that is not of its form, or a name of these given twice)
///          kUnsupported (NotImplemented: `$orderby`, `$skip`, `$count`, `$inlinecount`, `$expand`, `$skiptoken`)
/// Source  .
Result<Scan> parse_query_options(std::string_view query);
/// What the context of a result with this projection ends in: `&$select=A,B`, or nothing.
std::string context_suffix(const std::vector<std::string>& select);

}  // namespace varve

#pragma GCC visibility pop
