#include "tools/varve/reach/cluster_notice.h"

#include <new>
#include <string>
#include <system_error>

#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::seconds kLookEvery{1};

std::string text_of(std::chrono::nanoseconds wait, const std::string& object) {
  std::string text = "the cluster has not answered for ";
  text += std::to_string(std::chrono::duration_cast<std::chrono::seconds>(wait).count()) + " s";
  if (!object.empty()) text += " about the object " + object;
  return text + "; `ceph -s` says more, and the verb goes on when it answers";
}

}  // namespace

ClusterNotice::ClusterNotice() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // The verb works without a notice.
  }
}

ClusterNotice::~ClusterNotice() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    ending_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void ClusterNotice::watch(const RadosConnection* connection) {
  const std::lock_guard lock(mutex_);
  connection_ = connection;
  begun_ = Clock::now();
}

void ClusterNotice::run() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, kLookEvery, [this] { return is_ending_; })) {
    if (look()) return;
  }
}

/// A short verb asks for no figures, which begin to ask the monitors.
bool ClusterNotice::look() const try {
  const std::chrono::nanoseconds passed = Clock::now() - begun_;
  if (passed < kPatience) return false;
  if (connection_ == nullptr) {
    print_hint(text_of(passed, ""));
    return true;
  }
  const Result<RadosFigures> figures = connection_->figures();
  if (!figures.ok()) return false;
  const RadosOperations& longest =
      figures->changes.longest_wait >= figures->reads.longest_wait ? figures->changes : figures->reads;
  if (longest.longest_wait < kPatience) return false;
  print_hint(text_of(longest.longest_wait, longest.longest_object));
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace varve::tool
