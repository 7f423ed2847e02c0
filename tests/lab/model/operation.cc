#include "tests/lab/model/operation.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace varve::lab {
namespace {

struct Described {
  std::string_view word;
  std::array<std::string_view, kOperationNumbers> numbers;
};

constexpr std::array<Described, kOperationNames> kDescribed = {{
    {"insert", {"table", "partition", "row", "entity", "condition", "durability"}},
    {"replace", {"table", "partition", "row", "entity", "condition", "durability"}},
    {"merge", {"table", "partition", "row", "entity", "condition", "durability"}},
    {"insert_or_replace", {"table", "partition", "row", "entity", "condition", "durability"}},
    {"insert_or_merge", {"table", "partition", "row", "entity", "condition", "durability"}},
    {"remove", {"table", "partition", "row", "entity", "condition", "durability"}},
    {"group", {"table", "partition", "seed", "count", "durability"}},
    {"transact", {"seed", "writes", "reads", "interference", "durability"}},
    {"patch", {"table", "partition", "row", "changes", "condition", "durability"}},
    {"get", {"table", "partition", "row"}},
    {"get_many", {"table", "seed", "count"}},
    {"scan", {"table", "range", "filter", "page", "take", "backward"}},
    {"count", {"table", "range", "filter"}},
    {"query_index", {"table", "index", "seed", "page", "slot"}},
    {"begin_walk", {"table", "range", "page", "backward"}},
    {"continue_walk", {}},
    {"take_snapshot", {"slot"}},
    {"read_snapshot", {"slot"}},
    {"release_snapshot", {"slot"}},
    {"create_table", {"table"}},
    {"drop_table", {"table"}},
    {"create_account", {"account"}},
    {"drop_account", {"account"}},
    {"list", {"page"}},
    {"set_policies", {"table", "seed"}},
    {"read_policies", {"table"}},
    {"set_expiry", {"table", "rule"}},
    {"declare_index", {"table", "index", "meanwhile", "row"}},
    {"drop_index", {"table", "index"}},
    {"load", {"table", "seed", "count", "end"}},
    {"checkpoint", {"write"}},
    {"compact", {}},
    {"sync", {}},
    {"last_tag", {}},
    {"compare_all", {}},
    {"jump_clock", {"minutes", "back"}},
    {"reopen", {"faults"}},
    {"verify", {}},
    {"read_only_open", {}},
    {"kill", {}},
    {"take_over", {}},
    {"power_cut", {"policy"}},
    {"crash_image", {"step", "policy"}},
    {"fail", {"step", "code", "effect", "lasting"}},
    {"fill_disk", {"pages"}},
    {"free_disk", {}},
}};

const Described& described(OperationName name) {
  return kDescribed[static_cast<std::size_t>(name)];
}

template <typename Number>
bool read_number(std::string_view text, Number* number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// Removes and returns the text up to the next blank.
std::string_view next_word(std::string_view* line) {
  const std::size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}

std::optional<Operation> parse_operation(std::string_view line) {
  const std::string_view word = next_word(&line);
  const auto* const found =
      std::find_if(kDescribed.begin(), kDescribed.end(), [word](const Described& one) { return one.word == word; });
  if (found == kDescribed.end()) return std::nullopt;
  Operation operation;
  operation.name = static_cast<OperationName>(found - kDescribed.begin());
  const std::span<const std::string_view> names = number_names(operation.name);
  while (!line.empty()) {
    const std::string_view field = next_word(&line);
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto name = std::find(names.begin(), names.end(), field.substr(0, equals));
    if (name == names.end()) return std::nullopt;
    std::uint32_t& number = operation.numbers[static_cast<std::size_t>(name - names.begin())];
    if (!read_number(field.substr(equals + 1), &number)) return std::nullopt;
  }
  return operation;
}

bool parse_line(std::string_view line, OperationList* list) {
  if (line.empty() || line.front() == '#') return true;
  if (line.starts_with("machine ")) return read_number(line.substr(8), &list->machine);
  if (line.starts_with("profile ")) return read_number(line.substr(8), &list->profile);
  if (line == "on rados") return list->on_rados = true;
  const std::optional<Operation> operation = parse_operation(line);
  if (!operation) return false;
  list->operations.push_back(*operation);
  return true;
}

}  // namespace

std::span<const std::string_view> number_names(OperationName name) {
  const auto& names = described(name).numbers;
  const auto used = static_cast<std::size_t>(std::find(names.begin(), names.end(), "") - names.begin());
  return std::span(names).first(used);
}

std::string_view operation_word(OperationName name) {
  return described(name).word;
}

bool is_misfortune(OperationName name) {
  return name >= OperationName::kKill;
}

std::string operation_text(const Operation& operation) {
  std::string text(operation_word(operation.name));
  const std::span<const std::string_view> names = number_names(operation.name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (operation.numbers[i] == 0) continue;
    text.append(" ").append(names[i]).append("=").append(std::to_string(operation.numbers[i]));
  }
  return text;
}

std::string list_text(const OperationList& list) {
  std::string text = "machine " + std::to_string(list.machine) + "\nprofile " + std::to_string(list.profile) + "\n";
  if (list.on_rados) text += "on rados\n";
  for (const Operation& operation : list.operations) text += operation_text(operation) + "\n";
  return text;
}

Result<OperationList> parse_list(std::string_view text) {
  OperationList list;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!parse_line(line, &list)) {
      return Status::invalid_argument("line " + std::to_string(number) + ": '" + std::string(line) + "'");
    }
  }
  return list;
}

}  // namespace varve::lab
