// Owns: what the handles of large values name.
// Must never: let a content go before the call that uses it has ended.
#pragma once

#include <memory>
#include <utility>

#include "api/c/handles.h"
#include "varve/large_value.h"

namespace varve::c {

/// varve_large_value_writer.
struct ValueWriterObject : Object {
  static constexpr Kind kKind = Kind::kValueWriter;
  static constexpr bool kOneThread = true;
  ValueWriterObject(LargeValueWriter begun, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), writer(std::move(begun)) {}
  LargeValueWriter writer;
};

/// varve_large_value_reader.
struct ValueReaderObject : Object {
  static constexpr Kind kKind = Kind::kValueReader;
  static constexpr bool kOneThread = false;
  ValueReaderObject(LargeValueReader opened, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), reader(std::move(opened)) {}
  const LargeValueReader reader;
};

}  // namespace varve::c
