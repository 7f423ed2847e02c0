#include "api/rest/encoding/http_date.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <ratio>
#include <string_view>

namespace varve::serve {
namespace {

using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

/// Ticks of 100 ns from 0001-01-01 to 1970-01-01.
constexpr std::int64_t kUnixTicks = 621'355'968'000'000'000;

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Writes a number by hand, since every answer has a date.
template <typename Number>
void put_number(std::string& text, std::size_t end, std::size_t digits, Number number) {
  auto rest = static_cast<unsigned>(number);
  for (; digits > 0; --digits, rest /= 10) text[--end] = static_cast<char>('0' + rest % 10);
}

}  // namespace

std::string http_date(DateTime time) {
  namespace chrono = std::chrono;
  const chrono::sys_time<Ticks> point{Ticks(static_cast<std::int64_t>(time.ticks) - kUnixTicks)};
  const auto day = chrono::floor<chrono::days>(point);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss clock{chrono::floor<chrono::seconds>(point - day)};
  std::string text = "Day, 00 Mon 0000 00:00:00 GMT";
  text.replace(0, 3, kDays.at(chrono::weekday{day}.c_encoding()));
  put_number(text, 7, 2, static_cast<unsigned>(date.day()));
  text.replace(8, 3, kMonths.at(static_cast<unsigned>(date.month()) - 1));
  put_number(text, 16, 4, static_cast<int>(date.year()));
  put_number(text, 19, 2, clock.hours().count());
  put_number(text, 22, 2, clock.minutes().count());
  put_number(text, 25, 2, clock.seconds().count());
  return text;
}

DateTime present_time() {
  const auto since_unix = std::chrono::duration_cast<Ticks>(std::chrono::system_clock::now().time_since_epoch());
  return DateTime{static_cast<std::uint64_t>(since_unix.count() + kUnixTicks)};
}

}  // namespace varve::serve
