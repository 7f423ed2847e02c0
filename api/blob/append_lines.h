// Owns: which appends to one blob share a commit, and whose thread makes it.
// Must never: leave a group without a thread that leads it.
//
// Appends to one blob come one after another under the lock of its row. If each were a commit of its own, the lock would
// pass from thread to thread, and each wake-up takes longer than the append. So appends that come while others are being
// committed wait in a group. A thread leads it when no other group of the blob is being committed, or when the group has
// as many appends as the one that is, so that two groups take turns at the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/scheduler.h"
#include "varve/blob.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

/// One append. Its caller keeps it until the outcome is set.
struct SharedAppend {
  std::string_view bytes;
  const AppendOptions* options = nullptr;
  Durability durability = Durability::kSync;
  /// The CRC-64 of the bytes.
  std::uint64_t crc64 = 0;
  // Set by the thread that leads:
  Status outcome;
  AppendedBlock block;
  /// The next append of the group.
  SharedAppend* next = nullptr;
};

/// Any thread.
class AppendLines {
 public:
  /// Most bytes of an append that shares a commit, and of a group.
  static constexpr std::size_t kAppendBytesMax = std::size_t{64} << 10;
  static constexpr std::size_t kGroupBytesMax = std::size_t{1} << 20;

  class Group {
   public:
    explicit Group(io::Scheduler& scheduler) noexcept : lead_(scheduler), done_(scheduler) {}
    /// The appends, in their order. For the thread that leads.
    SharedAppend* first() const noexcept { return first_; }

   private:
    friend class AppendLines;
    SharedAppend* first_ = nullptr;
    SharedAppend* last_ = nullptr;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    bool is_led_by_first_ = false;
    io::Event lead_;  // for the first append: it leads, or its outcome is set
    io::Event done_;  // all outcomes are set
  };

  /// What an append has to do.
  struct Part {
    enum class Kind : std::uint8_t {
      kLeads,  // commits `group`, sets its outcomes, and calls end()
      kEnded,  // has its outcome
      kAlone,  // is too large for the group that waits, and makes a commit of its own
    };
    Kind kind = Kind::kEnded;
    std::shared_ptr<Group> group;
  };

  /// The scheduler outlives it.
  explicit AppendLines(io::Scheduler& scheduler) : scheduler_(scheduler), mutex_(scheduler) {}
  AppendLines(const AppendLines&) = delete;
  AppendLines& operator=(const AppendLines&) = delete;

  /// Joins the appends to the blob with this key, and waits until this one leads or has ended. The append has at most
  /// kAppendBytesMax bytes.
  Part join(const std::string& key, SharedAppend& append);
  /// Ends the group that the caller leads, all of whose outcomes are set.
  void end(const std::string& key, Group& group) noexcept;

 private:
  static constexpr std::size_t kGroupsAtOnce = 2;
  struct Line {
    std::size_t groups = 0;   // that are being committed
    std::size_t appends = 0;  // in them
    std::shared_ptr<Group> waiting;
  };

  static bool may_begin(const Line& line) noexcept;
  static std::shared_ptr<Group> begin(Line& line) noexcept;

  io::Scheduler& scheduler_;
  io::Mutex mutex_;
  std::unordered_map<std::string, Line> lines_ VARVE_GUARDED_BY(mutex_);  // of blobs with appends
};

}  // namespace varve
