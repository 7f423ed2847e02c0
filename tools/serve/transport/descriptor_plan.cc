#include "tools/serve/transport/descriptor_plan.h"

#include <algorithm>
#include <string>

namespace varve::serve {
namespace {

/// The standard streams, the listeners, and one connection of each listener that is accepted only to be refused. Also
/// the directory of the socket in the store. The rest is for files that are open briefly: certificates, random bytes, the
/// parent directory of the store.
constexpr std::uint64_t kProcessDescriptors = 17;
/// The event queue of each thread, its wake-up descriptor and its timer.
constexpr std::uint64_t kThreadDescriptors = 3;
constexpr std::uint64_t kWatchMin = 4;
constexpr std::uint64_t kWatchMax = 64;
constexpr std::uint64_t kWatchShare = 16;
constexpr std::uint64_t kOperatorsMin = 1;
constexpr std::uint64_t kOperatorsMax = 32;
constexpr std::uint64_t kOperatorsShare = 32;
/// One connection for each of two clients.
constexpr std::uint64_t kConnectionsMin = 2;

}  // namespace

Result<DescriptorPlan> plan_descriptors(std::uint64_t limit, unsigned threads) {
  DescriptorPlan plan;
  plan.process = kProcessDescriptors + kThreadDescriptors * threads;
  plan.store = std::clamp(limit / 2, kStoreDescriptorsMin, kStoreDescriptorsMax);
  plan.watch = std::clamp(limit / kWatchShare, kWatchMin, kWatchMax);
  plan.operators = std::clamp(limit / kOperatorsShare, kOperatorsMin, kOperatorsMax);
  const std::uint64_t needed = plan.process + kStoreDescriptorsMin + kWatchMin + kOperatorsMin + kConnectionsMin;
  if (limit < needed) {
    return Status(Code::kTooManyFiles, "the process may open " + std::to_string(limit) +
                                           " files, but the server needs at least " + std::to_string(needed) +
                                           "; raise the limit (`ulimit -n`)");
  }
  const std::uint64_t others = plan.process + plan.store + plan.watch + plan.operators;
  if (others + kConnectionsMin > limit) {
    plan.store = kStoreDescriptorsMin;
    plan.watch = kWatchMin;
    plan.operators = kOperatorsMin;
  }
  plan.connections = limit - plan.process - plan.store - plan.watch - plan.operators;
  return plan;
}

}  // namespace varve::serve
