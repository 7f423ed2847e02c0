#include "tools/serve/http_date.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ratio>

namespace varve::serve {
namespace {

using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

/// From 0001-01-01 to 1970-01-01.
constexpr std::int64_t kUnixTicks = 621'355'968'000'000'000;

constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string http_date(DateTime time) {
  namespace chrono = std::chrono;
  const chrono::sys_time<Ticks> point{Ticks(static_cast<std::int64_t>(time.ticks) - kUnixTicks)};
  const auto day = chrono::floor<chrono::days>(point);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss clock{chrono::floor<chrono::seconds>(point - day)};
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                                   kDays.at(chrono::weekday{day}.c_encoding()), static_cast<unsigned>(date.day()),
                                   kMonths.at(static_cast<unsigned>(date.month()) - 1), static_cast<int>(date.year()),
                                   static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                                   static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

DateTime present_time() {
  const auto since_unix = std::chrono::duration_cast<Ticks>(std::chrono::system_clock::now().time_since_epoch());
  return DateTime{static_cast<std::uint64_t>(since_unix.count() + kUnixTicks)};
}

}  // namespace varve::serve
