// Owns: testing whether the time of a denial reveals how much of a signature was right.
// Must never: be a gate. Other work on the machine makes its figures worthless.
//
// Method: Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE 2017). Two kinds of denied requests
// are sent in random order, and each is timed alone. Welch's t-test compares the kinds, using the samples below several
// percentiles, because long tails hide small differences. |t| above 4.5 is a difference. A comparison that stops at the
// first wrong byte is measured as well, to show that the method detects one.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "varve/security/account_keys.h"
#include "varve/security/request.h"
#include "varve/security/shared_key.h"

namespace {

using namespace varve;
using namespace varve::security;

constexpr std::size_t kSamplesDefault = 1'000'000;  // of each kind
constexpr std::size_t kToFindPercentiles = 20'000;
constexpr std::array kPercentiles{0.5, 0.9, 0.99, 1.0};
constexpr double kDifference = 4.5;
constexpr std::string_view kAccount = "devstoreaccount1";
/// The public key of the emulator.
constexpr std::string_view kKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Computes mean and variance of samples without storing them (Welford).
class Moments {
 public:
  void add(double sample) noexcept {
    ++count_;
    const double delta = sample - mean_;
    mean_ += delta / count_;
    squares_ += delta * (sample - mean_);
  }
  double mean() const noexcept { return mean_; }
  /// Returns the squared error of the mean.
  double squared_error() const noexcept { return squares_ / (count_ - 1) / count_; }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

using Kinds = std::array<Moments, 2>;
using Try = std::function<void(std::size_t kind)>;

double nanoseconds_of(const Try& attempt, std::size_t kind) {
  const auto begun = std::chrono::steady_clock::now();
  attempt(kind);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
}

void compare(const char* what, std::size_t samples, const Try& attempt) {
  std::mt19937_64 random(1);
  std::vector<double> first;
  for (std::size_t i = 0; i < kToFindPercentiles; ++i) first.push_back(nanoseconds_of(attempt, random() % 2));
  std::sort(first.begin(), first.end());
  std::array<Kinds, kPercentiles.size()> kinds{};
  for (std::size_t i = 0; i < 2 * samples; ++i) {
    const std::size_t kind = random() % 2;
    const double taken = nanoseconds_of(attempt, kind);
    for (std::size_t p = 0; p < kPercentiles.size(); ++p) {
      const auto rank = static_cast<std::size_t>(kPercentiles[p] * static_cast<double>(first.size()));
      if (rank == first.size() || taken <= first[rank]) kinds[p][kind].add(taken);
    }
  }
  for (std::size_t p = 0; p < kPercentiles.size(); ++p) {
    const auto& [a, b] = kinds[p];
    const double error = std::sqrt(a.squared_error() + b.squared_error());
    const double difference = b.mean() - a.mean();
    const double t = difference / error;
    std::printf("| %-36s | %4.0f %% | %8.1f | %8.2f +- %8.2f | %7.2f | %-4s |\n", what, 100 * kPercentiles[p], a.mean(),
                difference, 1.96 * error, t, std::fabs(t) > kDifference ? "yes" : "no");
  }
}

/// Returns a correctly signed request with one byte of the signature's text changed.
Request wrong_at(std::size_t position) {
  Request request{"GET", "/Orders(PartitionKey='eu',RowKey='0001')", "", {}};
  request.headers.emplace_back("x-ms-date", "Tue, 03 Mar 2026 10:20:30 GMT");
  const AccountCredentials owner{std::string(kAccount), *AccountKeys::create(kKey, "")};
  std::string header = *shared_key_authorization(SharedKeyScheme::kSharedKey, request, owner);
  char& byte = header[header.size() - 44 + position];  // base64 of 32 bytes
  byte = byte == 'A' ? 'Q' : 'A';
  request.headers.emplace_back("Authorization", header);
  return request;
}

/// Stops at the first byte that differs, like a plain comparison.
bool equal_until_different(const volatile unsigned char* left, const volatile unsigned char* right) {
  for (std::size_t i = 0; i < 32; ++i) {
    if (left[i] != right[i]) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t samples = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : kSamplesDefault;
  if (samples < 1'000) {
    std::fprintf(stderr, "Usage: %s [SAMPLES OF EACH KIND, AT LEAST 1000]\n", argv[0]);
    return 2;
  }
  const AccountCredentials account{std::string(kAccount), *AccountKeys::create(kKey, "")};
  const DateTime now = *DateTime::parse("2026-03-03T10:20:30Z");
  const std::array requests{wrong_at(0), wrong_at(41)};
  bool denied = true;
  std::printf("%zu samples of each kind\n\n", samples);
  std::printf("| %-36s | %-6s | %-8s | %-20s | %-7s | %-4s |\n", "wrong in its first or its last byte", "below",
              "mean ns", "difference ns", "t", "told");
  std::printf("|--------------------------------------|--------|----------|----------------------|---------|------|\n");
  compare("SharedKey signature", samples,
          [&](std::size_t kind) { denied = !verify_shared_key(requests[kind], account, now).ok() && denied; });
  std::array<std::array<unsigned char, 32>, 3> bytes{};
  bytes[1][0] = bytes[2][31] = 1;
  bool differs = true;
  compare("control: stops at the first", samples, [&](std::size_t kind) {
    differs = !equal_until_different(bytes[0].data(), bytes[kind + 1].data()) && differs;
  });
  if (denied && differs) return 0;
  std::fprintf(stderr, "a wrong signature was accepted\n");
  return 1;
}
