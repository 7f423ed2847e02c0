// Owns: a door before that of a process on the model of RADOS, at which a trial watches changes, lets them fail, and lets
// late ones of dead processes arrive.
// Must never: change what the model does with a change that it passes on.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/rados/object_door.h"
#include "io/simulated/fault_plan.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/object_cluster.h"

namespace varve::lab {

/// What the doors of one pool have in common. Any thread may use it.
class DoorTraffic {
 public:
  DoorTraffic(io::ObjectCluster& cluster, std::uint64_t seed, std::vector<std::string> senders)
      : cluster_(cluster), random_(seed), senders_(std::move(senders)) {}

  /// Calls `look` before each change of an object of a store, which is on its way then. Leases are not meant.
  void observe(std::function<void()> look);
  /// Lets operations on objects of stores fail, or changes alone. An effect after which a step is done makes a change whose
  /// answer does not come. FaultEffect::kNever stops the object, unless another one is stopped.
  void fail(io::FaultRule rule);
  void end_faults();
  std::uint64_t fault_count() const;
  /// Returns whether an object is stopped.
  bool is_stuck() const;
  void let_go();
  /// Returns the number of changes that wrote bytes.
  std::uint64_t write_count() const;

  /// Adds a client whose late changes may arrive at each change of another one.
  void add_sender(std::string client);
  std::vector<std::string> senders() const;
  /// Adds to an image the changes that are on their way.
  void add_late_to(io::ObjectCluster::Image& image) const;

 private:
  friend class TryingChange;
  friend class TryingDoor;
  enum class Fate : std::uint8_t { kMade, kMadeAndUnanswered, kNotMade, kRefused, kStuck };
  enum class Step : std::uint8_t { kLogWrite, kOtherChange, kRead, kOtherLook };

  void begin(const std::string& client, const io::ObjectChange& change);
  void end(const io::ObjectChange& change);
  /// Returns the fate of a change. If it is kStuck, its object is stopped then.
  Fate fate_of(const io::ObjectChange& change);
  /// Returns whether an operation that changes nothing fails. It may stop the object.
  bool fails_to_read(std::string_view object, Step step);
  static bool concerns(const io::FaultRule& rule, Step step);
  Fate next_fate(Step step, bool may_exceed);
  void stop(const std::string& object);
  void let_late_ones_arrive(const std::string& client);

  io::ObjectCluster& cluster_;
  mutable std::mutex mutex_;  // guards the members below; held briefly
  io::SeededRandom random_;
  std::vector<std::string> senders_;
  std::function<void()> look_;
  std::vector<std::pair<std::string, const io::ObjectChange*>> on_the_way_;
  std::vector<std::pair<io::FaultRule, std::uint64_t>> faults_;  // with the number of operations seen
  std::uint64_t fault_count_ = 0;
  std::uint64_t write_count_ = 0;
  bool is_stuck_ = false;
};

class TryingDoor final : public io::ObjectDoor {
 public:
  TryingDoor(DoorTraffic& traffic, std::unique_ptr<io::ObjectDoor> door) : traffic_(traffic), door_(std::move(door)) {}

  std::string client() const override { return door_->client(); }
  io::ObjectAnswer change(const io::ObjectChange& change) override;
  std::unique_ptr<io::SentChange> send(const io::ObjectChange& change) override;
  io::ObjectAnswer look(std::string_view object, io::ObjectLook& found) override {
    return traffic_.fails_to_read(object, DoorTraffic::Step::kOtherLook) ? EIO : door_->look(object, found);
  }
  io::ObjectAnswer entries(std::string_view object, io::TextMap& found) override {
    return traffic_.fails_to_read(object, DoorTraffic::Step::kOtherLook) ? EIO : door_->entries(object, found);
  }
  io::ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                        std::chrono::milliseconds patience) override {
    if (traffic_.fails_to_read(object, DoorTraffic::Step::kRead)) return EIO;
    return door_->read(object, offset, bytes, count, patience);
  }
  io::ObjectAnswer read_log(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes,
                            std::size_t& count, std::chrono::milliseconds patience) override {
    if (traffic_.fails_to_read(object, DoorTraffic::Step::kOtherLook)) return EIO;
    return door_->read_log(object, offset, bytes, count, patience);
  }
  io::ObjectAnswer blocklist(std::string_view client) override { return door_->blocklist(client); }
  io::ObjectAnswer look_at_pool(std::string_view object, io::PoolLook& found) override {
    return door_->look_at_pool(object, found);
  }

 private:
  DoorTraffic& traffic_;
  const std::unique_ptr<io::ObjectDoor> door_;
};

}  // namespace varve::lab
