// SPDX-License-Identifier: Apache-2.0
// Owns: the marks that decide which declarations libvarve.so exports.
// Must never: be needed by a program. The marks have no meaning outside the build of the library.
#pragma once

/// A declaration with this mark is a symbol of libvarve.so. Classes, functions and variables that are defined whole in a
/// header need no mark.
#define VARVE_EXPORT __attribute__((visibility("default")))
/// A nested class, or a member function, with this mark stays inside libvarve.so, although its outer class is exported.
#define VARVE_LOCAL [[gnu::visibility("hidden")]]
