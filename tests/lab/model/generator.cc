#include "tests/lab/model/generator.h"

#include <algorithm>

#include "io/simulated/manual_clock.h"
#include "tests/lab/model/profile.h"
#include "tests/lab/model/values.h"

namespace varve::lab {
namespace {

struct Weight {
  OperationName name;
  std::uint32_t weight;
};

constexpr std::array<Weight, kOperationNames> kWeights = {{
    {OperationName::kInsert, 60},         {OperationName::kReplace, 50},
    {OperationName::kMerge, 40},          {OperationName::kInsertOrReplace, 100},
    {OperationName::kInsertOrMerge, 80},  {OperationName::kRemove, 70},
    {OperationName::kGroup, 90},          {OperationName::kTransact, 50},
    {OperationName::kPatch, 40},          {OperationName::kGet, 80},
    {OperationName::kGetMany, 30},        {OperationName::kScan, 80},
    {OperationName::kCount, 20},          {OperationName::kQueryIndex, 60},
    {OperationName::kBeginWalk, 10},      {OperationName::kContinueWalk, 30},
    {OperationName::kTakeSnapshot, 14},   {OperationName::kReadSnapshot, 14},
    {OperationName::kReleaseSnapshot, 6}, {OperationName::kCreateTable, 40},
    {OperationName::kDropTable, 12},      {OperationName::kCreateAccount, 8},
    {OperationName::kDropAccount, 3},     {OperationName::kList, 8},
    {OperationName::kSetPolicies, 8},     {OperationName::kReadPolicies, 8},
    {OperationName::kSetExpiry, 8},       {OperationName::kDeclareIndex, 36},
    {OperationName::kDropIndex, 6},       {OperationName::kLoad, 18},
    {OperationName::kCheckpoint, 3},      {OperationName::kCompact, 8},
    {OperationName::kSync, 12},           {OperationName::kLastTag, 6},
    {OperationName::kCompareAll, 2},      {OperationName::kJumpClock, 16},
    {OperationName::kReopen, 5},          {OperationName::kVerify, 1},
    {OperationName::kReadOnlyOpen, 2},    {OperationName::kKill, 8},
    {OperationName::kTakeOver, 12},       {OperationName::kPowerCut, 14},
    {OperationName::kCrashImage, 14},     {OperationName::kFail, 25},
    {OperationName::kFillDisk, 6},        {OperationName::kFreeDisk, 0},
}};

bool is_fault(OperationName name) {
  return name >= OperationName::kFail;
}

class Generator {
 public:
  Generator(std::uint64_t seed, bool on_rados) : random_(seed), on_rados_(on_rados) {}

  OperationList make() {
    OperationList list;
    list.machine = random_.next();
    list.profile = below(kProfiles);
    list.on_rados = on_rados_;
    choose_weights();
    for (std::uint32_t& key : hot_keys_) key = below(kLegalKeys);
    hot_table_ = below(kTables);
    const std::uint32_t length = 150 + below(251);
    while (list.operations.size() < length) {
      list.operations.push_back(operation(draw_name()));
      end_misfortune(list);
    }
    return list;
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(io::random_below(random_, bound)); }
  bool one_in(std::uint32_t times) { return below(times) == 0; }

  void choose_weights() {
    const bool crashes = !one_in(3);
    const bool faults = crashes && one_in(2);
    for (std::size_t i = 0; i < kOperationNames; ++i) {
      const OperationName name = kWeights[i].name;
      if (name == OperationName::kTakeOver && !on_rados_) continue;
      const std::uint32_t factor = name <= OperationName::kGroup ? 2 + below(4) : one_in(6) ? 0 : 1 + below(4);
      weights_[i] = kWeights[i].weight * factor;
      if (is_misfortune(name) && !crashes) weights_[i] = 0;
      if (is_fault(name) && !faults) weights_[i] = 0;
      total_ += weights_[i];
    }
  }

  OperationName draw_name() {
    std::uint32_t at = below(total_);
    std::size_t i = 0;
    while (at >= weights_[i]) at -= weights_[i++];
    return static_cast<OperationName>(i);
  }

  std::uint32_t key() {
    if (one_in(100)) return below(kKeys);
    return one_in(3) ? below(kLegalKeys) : hot_keys_[below(static_cast<std::uint32_t>(hot_keys_.size()))];
  }

  std::uint32_t number(std::string_view name) {
    if (name == "table") return one_in(3) ? below(2 * kTables) : hot_table_;
    if (name == "partition" || name == "row") return key();
    if (name == "range") return below(8) + 8 * (key() + kKeys * (key() + kKeys * key()));
    if (name == "filter") return one_in(2) ? 0 : below(1 << 20);
    if (name == "page" || name == "take") return one_in(2) ? 0 : below(64);
    if (name == "slot") return below(4);
    if (name == "account") return below(kAccounts);
    if (name == "minutes") return one_in(2) ? below(60) : below(10'000);
    if (name == "pages") return one_in(2) ? below(20) : below(600);
    if (name == "step") return one_in(2) ? below(8) : below(64);
    if (name == "entity" || name == "changes" || name == "seed" || name == "index" || name == "rule") {
      return below(1 << 20) + (one_in(2) ? kLater : 0);
    }
    if (name == "lasting") return one_in(3) ? 1 : 0;
    return below(1 << 20);
  }

  Operation operation(OperationName name) {
    Operation made;
    made.name = name;
    const auto names = number_names(name);
    for (std::size_t i = 0; i < names.size(); ++i) made.numbers[i] = number(names[i]);
    return made;
  }

  /// Ends a fault soon by an open: a failed store refuses all writes.
  void end_misfortune(OperationList& list) {
    if (is_fault(list.operations.back().name)) left_ = 3 + below(30);
    if (left_ == 0 || --left_ > 0) return;
    constexpr std::array<OperationName, 4> kEnds = {OperationName::kFreeDisk, OperationName::kReopen,
                                                    OperationName::kKill, OperationName::kPowerCut};
    const std::uint32_t first = below(2);
    list.operations.push_back(operation(kEnds[first]));
    if (first == 0) list.operations.push_back(operation(kEnds[1 + below(3)]));
  }

  io::SeededRandom random_;
  const bool on_rados_;
  std::array<std::uint32_t, kOperationNames> weights_{};
  std::uint32_t total_ = 0;
  std::array<std::uint32_t, 6> hot_keys_{};
  std::uint32_t hot_table_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace

OperationList make_list(std::uint64_t seed, bool on_rados) {
  return Generator(seed, on_rados).make();
}

bool has_one_answer(const OperationList& list) {
  return std::none_of(list.operations.begin(), list.operations.end(), [&list](const Operation& operation) {
    // On RADOS, a look at what a death leaves shows fewer buffered commits under other options.
    return is_misfortune(operation.name) || (list.on_rados && operation.name == OperationName::kReadOnlyOpen);
  });
}

}  // namespace varve::lab
