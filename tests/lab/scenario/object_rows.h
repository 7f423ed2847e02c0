// Owns: queues, messages, containers and blobs as rows of a store's content (content.h).
// Must never: know how they came about. The steps of a scenario know it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/lab/scenario/content.h"

namespace varve::lab {

std::string queue_name(std::string_view account, std::string_view queue);
/// The texts of the messages of one queue must differ, and their order must be the order of the queue.
std::string message_name(std::string_view account, std::string_view queue, std::string_view text);
std::string container_name(std::string_view account, std::string_view container);
std::string blob_name(std::string_view account, std::string_view container, std::string_view blob);

/// The properties of these rows.
inline constexpr std::string_view kMessagesProperty = "messages";      // of a queue: visible ones and others
inline constexpr std::string_view kDeliveriesProperty = "deliveries";  // of a visible message
inline constexpr std::string_view kContentProperty = "content";        // of a blob that was published
/// Returns the name of the property with the length of a staged block.
std::string staged_property(std::string_view block);
/// Returns the value of a property of type LargeValue with this content.
std::string large_value_text(std::string_view content);

/// Adds the account's queues, visible messages, containers and blobs. Errors: those of reading.
Status read_objects(const Store& store, const std::string& account, Content& content);

/// Replaces the numbers of large values in the row by their contents. Errors: those of reading.
Status read_large_values(const Table& table, const Entity& entity, Row& row);

}  // namespace varve::lab
