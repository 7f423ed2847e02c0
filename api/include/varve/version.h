// SPDX-License-Identifier: Apache-2.0
// Owns: the version of the library, in one place: CMake reads it from this file. Also the marks of what it exports.
// Must never: be generated.
#pragma once

#if __cplusplus < 202002L
#error "Varve needs C++20: compile with -std=c++20 or a later standard"
#endif

#include <string_view>

#define VARVE_VERSION_MAJOR 0
#define VARVE_VERSION_MINOR 1
#define VARVE_VERSION_PATCH 0
#define VARVE_VERSION "0.1.0"

/// A declaration with this mark is a symbol of libvarve.so. Classes, functions and variables that are defined whole in
/// a header need no mark.
#define VARVE_EXPORT __attribute__((visibility("default")))
/// A nested class, or a member function, with this mark stays inside libvarve.so, although its outer class is exported.
#define VARVE_LOCAL [[gnu::visibility("hidden")]]

namespace varve {

/// The version of the headers that this program was compiled with, for example "0.1.0".
inline constexpr std::string_view kVersion = VARVE_VERSION;

/// Returns the version of the library that this program runs with. It may differ from kVersion if the library is
/// shared.
/// Any thread.
VARVE_EXPORT std::string_view library_version() noexcept;

}  // namespace varve
