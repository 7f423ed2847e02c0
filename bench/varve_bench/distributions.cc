#include "bench/varve_bench/distributions.h"

#include <algorithm>
#include <cmath>

namespace varve::bench {

namespace {

constexpr double kTheta = 0.99;
constexpr std::uint64_t kScrambledItems = 10'000'000'000;
constexpr double kScrambledZeta = 26.46902820178302;  // of that many

double zeta_of(std::uint64_t items) {
  double sum = 0;
  for (std::uint64_t i = 1; i <= items; ++i) sum += 1 / std::pow(static_cast<double>(i), kTheta);
  return sum;
}

}  // namespace

Zipfian::Zipfian(std::uint64_t items) : Zipfian(items, zeta_of(items)) {}

Zipfian::Zipfian(std::uint64_t items, double zeta)
    : items_(static_cast<double>(items)), zeta_(zeta), alpha_(1 / (1 - kTheta)) {
  eta_ = (1 - std::pow(2 / items_, 1 - kTheta)) / (1 - zeta_of(2) / zeta_);
}

std::uint64_t Zipfian::draw(Random& random) const noexcept {
  const double place = unit_interval(random);
  const double weighted = place * zeta_;
  if (weighted < 1) return 0;
  if (weighted < 1 + std::pow(0.5, kTheta)) return 1;
  const double drawn = items_ * std::pow(eta_ * place - eta_ + 1, alpha_);
  return static_cast<std::uint64_t>(std::min(drawn, items_ - 1));
}

double Zipfian::share_of(std::uint64_t number) const noexcept {
  return 1 / std::pow(static_cast<double>(number + 1), kTheta) / zeta_;
}

ScrambledZipfian::ScrambledZipfian(std::uint64_t items) : items_(items), zipfian_(kScrambledItems, kScrambledZeta) {}

std::uint64_t ScrambledZipfian::draw(Random& random) const noexcept {
  return fnv_hash(zipfian_.draw(random)) % items_;
}

std::uint64_t fnv_hash(std::uint64_t number) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (int i = 0; i < 8; ++i, number >>= 8) hash = (hash ^ (number & 0xFF)) * 1'099'511'628'211U;
  return hash >> 63 == 0 ? hash : ~hash + 1;
}

double unit_interval(Random& random) noexcept {
  constexpr double kSteps = 9007199254740992;  // 2^53
  return static_cast<double>(random.next() >> 11) / kSteps;
}

}  // namespace varve::bench
