// Owns: dates of HTTP headers (http_date.h).
// Must never: compute a calendar. DateTime does that.
#include "api/security/http_date.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace varve::security {
namespace {

constexpr std::string_view kPattern = "Www, dd Mmm yyyy hh:mm:ss GMT";
constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// The first tick is on a Monday.
constexpr std::uint64_t kTicksPerDay = std::uint64_t{86'400} * 10'000'000;

/// Checks everything except the names of day and month: digits in the place of lower-case letters, and all separators.
bool has_form(std::string_view text) noexcept {
  for (std::size_t i = 3; i < kPattern.size(); ++i) {
    if (i >= 8 && i < 11) continue;  // the month
    const bool wants_digit = kPattern[i] >= 'a' && kPattern[i] <= 'z';
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (wants_digit ? !is_digit : text[i] != kPattern[i]) return false;
  }
  return true;
}

std::uint64_t day_of_week(DateTime time) noexcept {
  return time.ticks / kTicksPerDay % kDays.size();
}

}  // namespace

std::string http_date(DateTime time) {
  const std::string iso = time.to_string();  // yyyy-mm-ddThh:mm:ss
  const std::size_t month = static_cast<std::size_t>(iso[5] - '0') * 10 + static_cast<std::size_t>(iso[6] - '0');
  std::string text(kDays[day_of_week(time)]);
  text.append(", ").append(iso, 8, 2).append(1, ' ').append(kMonths[month - 1]).append(1, ' ');
  return text.append(iso, 0, 4).append(1, ' ').append(iso, 11, 8).append(" GMT");
}

std::optional<DateTime> parse_http_date(std::string_view text) {
  if (text.size() != kPattern.size() || !has_form(text)) return std::nullopt;
  const auto day = std::find(kDays.begin(), kDays.end(), text.substr(0, 3));
  if (day == kDays.end()) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  const std::string number = std::to_string(month - kMonths.begin() + 1);
  std::string iso(text.substr(12, 4));
  iso.append(number.size() == 1 ? "-0" : "-").append(number).append(1, '-').append(text.substr(5, 2));
  iso.append(1, 'T').append(text.substr(17, 8)).append(1, 'Z');
  const Result<DateTime> time = DateTime::parse(iso);
  const bool is_that_day = time.ok() && day_of_week(*time) == static_cast<std::uint64_t>(day - kDays.begin());
  return is_that_day ? std::optional<DateTime>(*time) : std::nullopt;
}

}  // namespace varve::security
