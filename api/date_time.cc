// Owns: points of time as text and back, and ETags, which are points of time in another dress.
// Must never: ask a clock or a time zone database.
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/limits.h"
#include "api/quoted.h"
#include "api/service_error.h"
#include "api/types.h"

namespace varve {
namespace {

constexpr std::int64_t kTicksPerSecond = 10'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::size_t kFractionDigits = 7;
/// No zone is further from UTC.
constexpr std::int64_t kZoneMinutesMax = 14 * 60;

constexpr std::int64_t kDaysPer400Years = 146'097;
constexpr std::int64_t kDaysPer100Years = 36'524;
constexpr std::int64_t kDaysPer4Years = 1'461;
constexpr std::int64_t kDaysPerYear = 365;

constexpr bool is_leap_year(std::int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr std::int64_t days_of_month(std::int64_t year, std::int64_t month) noexcept {
  constexpr std::array<std::int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

/// Days from 0001-01-01 to the first of January of `year`, which is not below 1.
constexpr std::int64_t days_before_year(std::int64_t year) noexcept {
  const std::int64_t whole = year - 1;
  return whole * kDaysPerYear + whole / 4 - whole / 100 + whole / 400;
}

struct Moment {
  std::int64_t year = 1;
  std::int64_t month = 1;
  std::int64_t day = 1;
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  std::int64_t fraction_ticks = 0;
  std::int64_t zone_minutes = 0;
};

/// Takes the text apart from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(text) {}

  bool at_end() const noexcept { return rest_.empty(); }
  bool take(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_digit(std::int64_t* digit) noexcept {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return false;
    *digit = rest_.front() - '0';
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly so many digits, as a number not above `max`.
  bool take_number(int digits, std::int64_t max, std::int64_t* number) noexcept {
    *number = 0;
    for (int i = 0; i < digits; ++i) {
      std::int64_t digit = 0;
      if (!take_digit(&digit)) return false;
      *number = *number * 10 + digit;
    }
    return *number <= max;
  }

 private:
  std::string_view rest_;
};

bool read_date(Reader& reader, Moment& moment) noexcept {
  return reader.take_number(4, 9999, &moment.year) && reader.take('-') && reader.take_number(2, 12, &moment.month) &&
         moment.month > 0 && reader.take('-') &&
         reader.take_number(2, days_of_month(moment.year, moment.month), &moment.day) && moment.day > 0;
}

bool read_time(Reader& reader, Moment& moment) noexcept {
  return reader.take_number(2, 23, &moment.hour) && reader.take(':') && reader.take_number(2, 59, &moment.minute) &&
         reader.take(':') && reader.take_number(2, 59, &moment.second);
}

bool read_fraction(Reader& reader, Moment& moment) noexcept {
  if (!reader.take('.')) return true;
  std::size_t digits = 0;
  std::int64_t digit = 0;
  while (reader.take_digit(&digit)) {
    if (digits++ < kFractionDigits) moment.fraction_ticks = moment.fraction_ticks * 10 + digit;
  }
  for (std::size_t i = digits; i < kFractionDigits; ++i) moment.fraction_ticks *= 10;
  return digits > 0;
}

bool read_zone(Reader& reader, Moment& moment) noexcept {
  if (reader.at_end() || reader.take('Z')) return true;
  const bool east = reader.take('+');
  if (!east && !reader.take('-')) return false;
  std::int64_t hours = 0;
  std::int64_t minutes = 0;
  if (!reader.take_number(2, 99, &hours) || !reader.take(':') || !reader.take_number(2, 59, &minutes)) return false;
  moment.zone_minutes = (east ? 1 : -1) * (hours * 60 + minutes);
  return hours * 60 + minutes <= kZoneMinutesMax;
}

std::optional<Moment> read_moment(std::string_view text) noexcept {
  Reader reader(text);
  Moment moment;
  const bool complete = read_date(reader, moment) && reader.take('T') && read_time(reader, moment) &&
                        read_fraction(reader, moment) && read_zone(reader, moment) && reader.at_end();
  return complete ? std::optional(moment) : std::nullopt;
}

/// Empty for what lies before year 1.
std::optional<std::uint64_t> ticks_of(const Moment& moment) noexcept {
  if (moment.year < 1) return std::nullopt;
  std::int64_t days = days_before_year(moment.year) + moment.day - 1;
  for (std::int64_t month = 1; month < moment.month; ++month) days += days_of_month(moment.year, month);
  const std::int64_t minutes = moment.hour * 60 + moment.minute - moment.zone_minutes;
  const std::int64_t seconds = days * kSecondsPerDay + minutes * 60 + moment.second;
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seconds * kTicksPerSecond + moment.fraction_ticks);
}

Moment moment_of(std::uint64_t ticks) noexcept {
  Moment moment;
  moment.fraction_ticks = static_cast<std::int64_t>(ticks % kTicksPerSecond);
  const auto seconds = static_cast<std::int64_t>(ticks / kTicksPerSecond);
  moment.second = seconds % 60;
  moment.minute = seconds / 60 % 60;
  moment.hour = seconds / 3600 % 24;
  std::int64_t days = seconds / kSecondsPerDay;
  moment.year = 1 + 400 * (days / kDaysPer400Years);
  days %= kDaysPer400Years;
  // The last day of a leap year, and of 400 years, does not begin a year of its own.
  const std::int64_t centuries = days / kDaysPer100Years == 4 ? 3 : days / kDaysPer100Years;
  days -= centuries * kDaysPer100Years;
  const std::int64_t fours = days / kDaysPer4Years;
  days %= kDaysPer4Years;
  const std::int64_t years = days / kDaysPerYear == 4 ? 3 : days / kDaysPerYear;
  days -= years * kDaysPerYear;
  moment.year += 100 * centuries + 4 * fours + years;
  while (days >= days_of_month(moment.year, moment.month)) days -= days_of_month(moment.year, moment.month++);
  moment.day = days + 1;
  return moment;
}

/// Pages have a time in each entity.
void append_number(std::string& out, std::int64_t number, std::size_t digits_min) {
  std::array<char, 20> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto count = static_cast<std::size_t>(end - digits.data());
  if (count < digits_min) out.append(digits_min - count, '0');
  out.append(digits.data(), count);
}

/// Without its colons.
constexpr std::size_t kPrintedBytes = std::string_view("2026-03-03T102030.1234567Z").size();

/// D-35, with `colon` for every colon.
std::string printed(std::uint64_t ticks, std::string_view colon) {
  const Moment moment = moment_of(ticks);
  std::string out;
  out.reserve(kPrintedBytes + 2 * colon.size());
  append_number(out, moment.year, 4);
  append_number(out.append("-"), moment.month, 2);
  append_number(out.append("-"), moment.day, 2);
  append_number(out.append("T"), moment.hour, 2);
  append_number(out.append(colon), moment.minute, 2);
  append_number(out.append(colon), moment.second, 2);
  if (moment.fraction_ticks != 0) {
    append_number(out.append("."), moment.fraction_ticks, kFractionDigits);
    while (out.back() == '0') out.pop_back();
  }
  return out.append("Z");
}

constexpr std::string_view kETagStart = "W/\"datetime'";
constexpr std::string_view kETagEnd = "'\"";
constexpr std::string_view kColonInETag = "%3A";

Status malformed_etag(std::string_view text) {
  return service_error::invalid_input("the ETag " + quoted(text) + " is neither * nor one that a store gave");
}

}  // namespace

Result<DateTime> DateTime::parse(std::string_view text) {
  const std::optional<Moment> moment = read_moment(text);
  if (!moment) return service_error::invalid_input(quoted(text) + " is not a date and time");
  const std::optional<std::uint64_t> ticks = ticks_of(*moment);
  if (!ticks || *ticks < limits::kDateTimeTicksMin || *ticks > limits::kDateTimeTicksMax) {
    return service_error::out_of_range_input(quoted(text) + " does not lie in the years 1601 to 9999");
  }
  return DateTime{*ticks};
}

std::string DateTime::to_string() const {
  return printed(ticks, ":");
}

Result<ETag> ETag::parse(std::string_view text) {
  if (text == "*") return any();
  std::string_view inner = text;
  if (!inner.starts_with(kETagStart)) return malformed_etag(text);
  inner.remove_prefix(kETagStart.size());
  if (!inner.ends_with(kETagEnd)) return malformed_etag(text);
  inner.remove_suffix(kETagEnd.size());
  if (inner.size() > limits::kKeyCodeUnitsMax) return malformed_etag(text);

  std::string plain;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner.substr(i).starts_with("%3A") || inner.substr(i).starts_with("%3a")) {
      plain.push_back(':');
      i += kColonInETag.size() - 1;
    } else {
      plain.push_back(inner[i]);
    }
  }
  if (!plain.ends_with('Z')) return malformed_etag(text);
  const Result<DateTime> timestamp = DateTime::parse(plain);
  if (!timestamp.ok()) return malformed_etag(text);
  return of_timestamp(*timestamp);
}

std::string ETag::to_string() const {
  if (is_none()) return std::string();
  if (is_any()) return "*";
  return std::string(kETagStart).append(printed(ticks_, kColonInETag)).append(kETagEnd);
}

}  // namespace varve
