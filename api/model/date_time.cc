// Owns: the text form of times and of ETags. An ETag is a time in another form.
// Must never: use a clock or a time zone database.
#include "varve/date_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/limits.h"
#include "varve/types.h"

namespace varve {
namespace {

constexpr std::int64_t kTicksPerSecond = 10'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::size_t kFractionDigits = 7;
/// Largest distance of a zone from UTC, in minutes.
constexpr std::int64_t kZoneMinutesMax = 14 * 60;

constexpr std::int64_t kDaysPer400Years = 146'097;
/// Ticks count from this day.
constexpr std::chrono::sys_days kFirstDay = std::chrono::year(1) / std::chrono::January / 1;

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

std::chrono::year_month_day day_of(const Moment& moment) noexcept {
  return std::chrono::year(static_cast<int>(moment.year)) / static_cast<int>(moment.month) /
         static_cast<int>(moment.day);
}

/// Reads a text from its front.
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
  /// Reads exactly `digits` digits as a number of at most `max`.
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
         reader.take('-') && reader.take_number(2, 31, &moment.day) && day_of(moment).ok();
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

/// By X-16, the seconds may be missing, or the whole time with its zone.
bool read_time(Reader& reader, Moment& moment) noexcept {
  if (reader.at_end()) return true;
  if (!reader.take('T') || !reader.take_number(2, 23, &moment.hour) || !reader.take(':') ||
      !reader.take_number(2, 59, &moment.minute))
    return false;
  if (reader.take(':') && (!reader.take_number(2, 59, &moment.second) || !read_fraction(reader, moment))) return false;
  return read_zone(reader, moment);
}

std::optional<Moment> read_moment(std::string_view text) noexcept {
  Reader reader(text);
  Moment moment;
  const bool complete = read_date(reader, moment) && read_time(reader, moment) && reader.at_end();
  return complete ? std::optional(moment) : std::nullopt;
}

/// Returns nothing for a time before year 1.
std::optional<std::uint64_t> ticks_of(const Moment& moment) noexcept {
  if (moment.year < 1) return std::nullopt;
  const std::int64_t days = (std::chrono::sys_days(day_of(moment)) - kFirstDay).count();
  const std::int64_t minutes = moment.hour * 60 + moment.minute - moment.zone_minutes;
  const std::int64_t seconds = days * kSecondsPerDay + minutes * 60 + moment.second;
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seconds * kTicksPerSecond + moment.fraction_ticks);
}

Moment moment_of(std::uint64_t ticks) noexcept {
  const auto seconds = static_cast<std::int64_t>(ticks / kTicksPerSecond);
  const std::int64_t days = seconds / kSecondsPerDay;
  // The range of ticks exceeds the years of std::chrono. The calendar repeats every 400 years, so the remainder gives
  // the date.
  const std::chrono::year_month_day date(kFirstDay + std::chrono::days(days % kDaysPer400Years));
  Moment moment;
  moment.year = static_cast<int>(date.year()) + 400 * (days / kDaysPer400Years);
  moment.month = static_cast<unsigned>(date.month());
  moment.day = static_cast<unsigned>(date.day());
  moment.hour = seconds / 3600 % 24;
  moment.minute = seconds / 60 % 60;
  moment.second = seconds % 60;
  moment.fraction_ticks = static_cast<std::int64_t>(ticks % kTicksPerSecond);
  return moment;
}

/// Maximum length of a printed time, with the colons of an ETag and a year that no property has.
constexpr std::size_t kPrintedBytesMax = std::string_view("58456-03-03T10%3A20%3A30.1234567Z").size();

/// Puts two digits.
void put_two(char*& end, std::int64_t number) noexcept {
  *end++ = static_cast<char>('0' + number / 10);
  *end++ = static_cast<char>('0' + number % 10);
}
void put(char*& end, std::string_view text) noexcept {
  for (const char c : text) *end++ = c;
}
/// Puts four digits, or more after the year 9999.
void put_year(char*& end, std::int64_t year) noexcept {
  if (year >= 10'000) *end++ = static_cast<char>('0' + year / 10'000);
  put_two(end, year / 100 % 100);
  put_two(end, year % 100);
}

/// Prints a time by D-35, with `colon` for every colon. Each entity of a page has one or two times.
std::string printed(std::uint64_t ticks, std::string_view colon) {
  const Moment moment = moment_of(ticks);
  std::array<char, kPrintedBytesMax> text{};
  char* end = text.data();
  put_year(end, moment.year);
  *end++ = '-';
  put_two(end, moment.month);
  *end++ = '-';
  put_two(end, moment.day);
  *end++ = 'T';
  put_two(end, moment.hour);
  put(end, colon);
  put_two(end, moment.minute);
  put(end, colon);
  put_two(end, moment.second);
  if (moment.fraction_ticks != 0) {
    *end++ = '.';
    put_two(end, moment.fraction_ticks / 100'000);
    put_two(end, moment.fraction_ticks / 1'000 % 100);
    put_two(end, moment.fraction_ticks / 10 % 100);
    *end++ = static_cast<char>('0' + moment.fraction_ticks % 10);
    while (end[-1] == '0') --end;
  }
  *end++ = 'Z';
  return {text.data(), end};
}

constexpr std::string_view kETagStart = "W/\"datetime'";
constexpr std::string_view kETagEnd = "'\"";
constexpr std::string_view kColonInETag = "%3A";

Status malformed_etag(std::string_view text) {
  return service_error::invalid_input("the ETag " + quoted(text) + " must be * or of the form W/\"...\"");
}

/// Returns the text between the quotes of `W/"..."`, with a W of either case; nothing for any other text. The text must
/// not contain a quote, which would end the ETag and begin a list.
std::optional<std::string_view> opaque_part(std::string_view text) noexcept {
  constexpr std::size_t kPrefixBytes = 3;
  const bool is_weak = text.size() > kPrefixBytes && (text.starts_with("W/\"") || text.starts_with("w/\""));
  if (!is_weak || text.back() != '"') return std::nullopt;
  text = text.substr(kPrefixBytes, text.size() - kPrefixBytes - 1);
  const bool is_clean = std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F && byte != '"';
  });
  return is_clean ? std::optional(text) : std::nullopt;
}

std::string with_colons(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text.substr(i).starts_with("%3A") || text.substr(i).starts_with("%3a");
    plain.push_back(is_escape ? ':' : text[i]);
    if (is_escape) i += kColonInETag.size() - 1;
  }
  return plain;
}

/// Returns the timestamp of an opaque part if the part has the form that a store writes. It may have `:` for `%3A`, and
/// zeros at the end of the fraction. Any other spelling of a time is foreign.
std::optional<DateTime> stored_timestamp(std::string_view opaque) {
  constexpr std::string_view kOpening = "datetime'";
  constexpr std::size_t kTextMax = 64;
  if (opaque.size() > kTextMax || !opaque.starts_with(kOpening) || !opaque.ends_with("Z'")) return std::nullopt;
  std::string plain = with_colons(opaque.substr(kOpening.size(), opaque.size() - kOpening.size() - 1));
  const Result<DateTime> timestamp = DateTime::parse(plain);
  if (!timestamp.ok()) return std::nullopt;
  if (plain.find('.') != std::string::npos) {
    plain.pop_back();  // Z
    while (plain.back() == '0') plain.pop_back();
    if (plain.back() == '.') plain.pop_back();
    plain.push_back('Z');
  }
  return timestamp->to_string() == plain ? std::optional(*timestamp) : std::nullopt;
}

constexpr std::string_view kForeignStart = "foreign-";
constexpr int kHexadecimal = 16;

/// Returns the number of a foreign ETag as ETag::to_string() writes it, or a hash of the text (FNV-1a). The number is
/// at least `first` and below UINT64_MAX.
std::uint64_t foreign_number(std::string_view opaque, std::uint64_t first) noexcept {
  if (opaque.starts_with(kForeignStart)) {
    const std::string_view digits = opaque.substr(kForeignStart.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, kHexadecimal);
    const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
    if (is_whole && number >= first && number != UINT64_MAX) return number;
  }
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  for (const char c : opaque) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return std::min(hash | first, UINT64_MAX - 1);
}

std::string foreign_text(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, kHexadecimal).ptr;
  return std::string("W/\"").append(kForeignStart).append(digits.data(), end).append("\"");
}

}  // namespace

Result<DateTime> DateTime::parse(std::string_view text) {
  const std::optional<Moment> moment = read_moment(text);
  if (!moment) return service_error::invalid_input(quoted(text) + " is not a date and time");
  const std::optional<std::uint64_t> ticks = ticks_of(*moment);
  if (!ticks || *ticks < limits::kDateTimeTicksMin || *ticks > limits::kDateTimeTicksMax) {
    return service_error::out_of_range_input(quoted(text) + " is outside the years 1601 to 9999");
  }
  return DateTime{*ticks};
}

std::string DateTime::to_string() const {
  return printed(ticks, ":");
}

Result<ETag> ETag::parse(std::string_view text) {
  if (text == "*") return any();
  const std::optional<std::string_view> opaque = opaque_part(text);
  if (!opaque) return malformed_etag(text);
  if (const std::optional<DateTime> timestamp = stored_timestamp(*opaque)) return of_timestamp(*timestamp);
  return ETag(foreign_number(*opaque, kFirstForeign));
}

std::string ETag::to_string() const {
  if (is_none()) return std::string();
  if (is_any()) return "*";
  if (is_foreign()) return foreign_text(ticks_);
  return std::string(kETagStart).append(printed(ticks_, kColonInETag)).append(kETagEnd);
}

}  // namespace varve
