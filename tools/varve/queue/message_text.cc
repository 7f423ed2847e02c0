#include "tools/varve/queue/message_text.h"

#include <iostream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "varve/limits.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

bool never_expires(const Message& message) noexcept {
  return message.expires.ticks >= limits::kDateTimeTicksMax;
}

void print_field(std::string_view name, std::string_view value) {
  std::cout << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ') << for_output(value) << "\n";
}

Json json_of(const Message& message) {
  Json json{{"id", message.id.to_string()}, {"inserted", message.inserted.to_string()}};
  json["expires"] = never_expires(message) ? Json(nullptr) : Json(message.expires.to_string());
  json["deliveries"] = message.deliveries;
  if (!message.origin.empty()) json["origin"] = message.origin;
  json["text"] = message.text;
  return json;
}

Json json_of(const HeldMessage& message) {
  Json json = json_of(static_cast<const Message&>(message));
  json["receipt"] = message.receipt;
  json["visible"] = message.visible.to_string();
  return json;
}

void print_head(const Message& message) {
  print_field("id", message.id.to_string());
}

void print_rest(const Message& message) {
  print_field("deliveries", std::to_string(message.deliveries));
  print_field("inserted", message.inserted.to_string());
  print_field("expires", never_expires(message) ? "never" : message.expires.to_string());
  if (!message.origin.empty()) print_field("origin", message.origin);
  print_field("text", message.text);
}

void print_for_people(const Message& message) {
  print_head(message);
  print_rest(message);
}

void print_for_people(const HeldMessage& message) {
  print_head(message);
  print_field("receipt", message.receipt);
  print_field("held until", message.visible.to_string());
  print_rest(message);
}

template <typename Kind>
void print_all(const std::vector<Kind>& messages, MessageForm form) {
  bool is_first = true;
  for (const Kind& message : messages) {
    switch (form) {
      case MessageForm::kJson: std::cout << json_of(message).dump() << "\n"; break;
      case MessageForm::kText: std::cout << for_output(message.text) << "\n"; break;
      case MessageForm::kPeople:
        if (!is_first) std::cout << "\n";
        print_for_people(message);
    }
    is_first = false;
  }
}

Json json_of(const std::vector<MetadataPair>& metadata) {
  Json json = Json::object();
  for (const MetadataPair& pair : metadata) json[pair.name] = pair.value;
  return json;
}

}  // namespace

Result<std::vector<MetadataPair>> parse_metadata(const std::vector<std::string>& words) {
  std::vector<MetadataPair> pairs;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::invalid_argument("metadata must be NAME=VALUE, not \"" + word + "\"");
    }
    pairs.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  if (Status checked = check_metadata(pairs); !checked.ok()) return checked;
  return pairs;
}

void print_messages(const std::vector<HeldMessage>& messages, MessageForm form) {
  print_all(messages, form);
}

void print_messages(const std::vector<Message>& messages, MessageForm form) {
  print_all(messages, form);
}

void print_sent(const PutAnswer& message, bool json) {
  if (!json) {
    std::cout << message.id.to_string() << " " << message.receipt << "\n";
    return;
  }
  std::cout << Json{{"id", message.id.to_string()},
                    {"receipt", message.receipt},
                    {"inserted", message.inserted.to_string()},
                    {"visible", message.visible.to_string()},
                    {"is_duplicate", message.is_duplicate}}
                   .dump()
            << "\n";
}

void print_queue(const std::string& account, const ListedQueue& queue, bool json) {
  if (json) {
    Json line{{"name", queue.info.name}, {"account", account}};
    if (!queue.is_at_address) line["created"] = queue.info.created.to_string();
    line["messages"] = queue.figures.messages;
    if (!queue.is_at_address) line["text_bytes"] = queue.figures.text_bytes;
    line["metadata"] = json_of(queue.info.metadata);
    std::cout << line.dump() << "\n";
    return;
  }
  print_field("queue", queue.info.name);
  print_field("account", account);
  if (!queue.is_at_address) print_field("created", queue.info.created.to_string());
  const std::string messages = with_commas(queue.figures.messages);
  print_field("messages", queue.is_at_address ? messages : messages + ", " + bytes_text(queue.figures.text_bytes));
  for (const MetadataPair& pair : queue.info.metadata) print_field("metadata", pair.name + "=" + pair.value);
}

void print_metadata(const std::vector<MetadataPair>& metadata, bool json) {
  if (json) {
    std::cout << json_of(metadata).dump() << "\n";
    return;
  }
  for (const MetadataPair& pair : metadata) std::cout << for_output(pair.name + "=" + pair.value) << "\n";
}

}  // namespace varve::tool
