#include "api/rest/protocol/operator_error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

#include "api/model/percent.h"

namespace varve::serve {
namespace {

constexpr std::size_t kMessageMax = 4096;
constexpr std::size_t kFields = 5;
constexpr Code kLastCode = Code::kCancelled;

std::optional<Code> code_of_name(std::string_view name) {
  for (int number = 1; number <= static_cast<int>(kLastCode); ++number) {
    const auto code = static_cast<Code>(number);
    if (code_name(code) == name) return code;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> parsed_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

/// Splits the text at its spaces into exactly kFields fields.
std::optional<std::array<std::string_view, kFields>> split(std::string_view text) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t space = text.find(' ');
    if ((space == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
    fields[i] = text.substr(0, space);
    if (space != std::string_view::npos) text.remove_prefix(space + 1);
  }
  return fields;
}

}  // namespace

void add_operator_error(HttpResponse& response, const Status& status) {
  std::string text(code_name(status.code()));
  text.append(" ").append(status.service_error().empty() ? "-" : status.service_error());
  const std::optional<std::uint32_t> index = status.operation_index();
  text.append(" ").append(index ? std::to_string(*index) : "-");
  text.append(" ").append(std::to_string(status.os_error()));
  text.append(" ").append(percent_encode(status.message().substr(0, kMessageMax)));
  response.with(kOperatorErrorHeader, text);
}

std::optional<Status> read_operator_error(const Headers& headers, ErrorName (*known_error)(std::string_view text)) {
  const std::string* const text = find_header(headers, kOperatorErrorHeader);
  if (text == nullptr) return std::nullopt;
  const std::optional<std::array<std::string_view, kFields>> fields = split(*text);
  if (!fields) return std::nullopt;
  const std::optional<Code> code = code_of_name((*fields)[0]);
  const std::optional<std::uint32_t> os_error = parsed_number((*fields)[3]);
  const std::optional<std::string> message = percent_decode((*fields)[4]);
  if (!code || !os_error || !message) return std::nullopt;
  Status status(*code, *message);
  if ((*fields)[1] != "-") status = status.with_service_error(known_error((*fields)[1]));
  if ((*fields)[2] != "-") {
    const std::optional<std::uint32_t> index = parsed_number((*fields)[2]);
    if (!index) return std::nullopt;
    status = status.at_operation(*index);
  }
  return status.with_os_error(static_cast<int>(*os_error));
}

}  // namespace varve::serve
