#include "tests/lab/machine/trying_door.h"

#include <algorithm>
#include <cerrno>

namespace varve::lab {
namespace {

bool is_lease(std::string_view object) {
  return object.ends_with("/lease");
}

}  // namespace

void DoorTraffic::observe(std::function<void()> look) {
  const std::lock_guard<std::mutex> guard(mutex_);
  look_ = std::move(look);
}

void DoorTraffic::fail(io::FaultRule rule) {
  const std::lock_guard<std::mutex> guard(mutex_);
  faults_.emplace_back(std::move(rule), 0);
}

void DoorTraffic::end_faults() {
  const std::lock_guard<std::mutex> guard(mutex_);
  faults_.clear();
}

std::uint64_t DoorTraffic::fault_count() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return fault_count_;
}

std::uint64_t DoorTraffic::write_count() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return write_count_;
}

void DoorTraffic::add_sender(std::string client) {
  const std::lock_guard<std::mutex> guard(mutex_);
  senders_.push_back(std::move(client));
}

std::vector<std::string> DoorTraffic::senders() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return senders_;
}

void DoorTraffic::add_late_to(io::ObjectCluster::Image& image) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  for (const auto& [client, change] : on_the_way_) image.add_late(client, *change);
}

void DoorTraffic::begin(const std::string& client, const io::ObjectChange& change) {
  std::function<void()> look;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!change.bytes.empty()) ++write_count_;
    on_the_way_.emplace_back(client, &change);
    look = look_;
  }
  if (look) look();
}

void DoorTraffic::end(const io::ObjectChange& change) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::erase_if(on_the_way_, [&change](const auto& one) { return one.second == &change; });
}

bool DoorTraffic::concerns(const io::FaultRule& rule, Step step) {
  const bool is_change = step == Step::kLogWrite || step == Step::kOtherChange;
  if (rule.mutating_only && !is_change) return false;
  if (!rule.kind.has_value()) return true;
  return (*rule.kind == io::OperationKind::kLogWrite && step == Step::kLogWrite) ||
         (*rule.kind == io::OperationKind::kRead && step == Step::kRead);
}

DoorTraffic::Fate DoorTraffic::next_fate(Step step, bool may_exceed) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Fate fate = Fate::kMade;
  for (auto& [rule, seen] : faults_) {
    if (!concerns(rule, step)) continue;
    const std::uint64_t number = seen++;
    if (fate != Fate::kMade || number < rule.skip_count || number - rule.skip_count >= rule.fail_count) continue;
    const bool is_done = rule.effect != io::FaultEffect::kError && rule.effect != io::FaultEffect::kShortThenError;
    if (rule.effect == io::FaultEffect::kNever) {
      if (!is_stuck_) fate = Fate::kStuck;
      is_stuck_ = true;
    } else if (is_done) {
      fate = Fate::kMadeAndUnanswered;
    } else if (rule.code != Code::kNoSpace) {
      fate = Fate::kNotMade;
    } else if (!may_exceed) {
      fate = Fate::kRefused;
    }
    if (fate != Fate::kMade) ++fault_count_;
  }
  return fate;
}

DoorTraffic::Fate DoorTraffic::fate_of(const io::ObjectChange& change) {
  const bool is_in_place = change.presence == io::ObjectChange::Presence::kMustExist;
  const bool is_log_write = change.of_log && is_in_place && !change.bytes.empty();
  const Fate fate = next_fate(is_log_write ? Step::kLogWrite : Step::kOtherChange, change.may_exceed);
  if (fate == Fate::kStuck) stop(change.object);
  return fate;
}

bool DoorTraffic::fails_to_read(std::string_view object, Step step) {
  if (is_lease(object)) return false;
  const Fate fate = next_fate(step, false);
  if (fate == Fate::kStuck) stop(std::string(object));
  return fate != Fate::kMade && fate != Fate::kStuck;
}

bool DoorTraffic::is_stuck() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return is_stuck_;
}

void DoorTraffic::stop(const std::string& object) {
  cluster_.stand_still(object);
  if (!is_stuck()) cluster_.go_on();  // It was let go meanwhile.
}

void DoorTraffic::let_go() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_stuck_ = false;
  }
  cluster_.go_on();
}

void DoorTraffic::let_late_ones_arrive(const std::string& client) {
  constexpr std::uint64_t kOneIn = 8;
  std::vector<std::string> sending;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    for (const std::string& sender : senders_) {
      if (sender != client && io::one_in(random_, kOneIn)) sending.push_back(sender);
    }
  }
  for (const std::string& sender : sending) (void)cluster_.deliver(sender, 1);
}

/// A change on its way, until its answer is awaited, with its own copy of the bytes.
class TryingChange final : public io::SentChange {
 public:
  TryingChange(DoorTraffic& traffic, io::ObjectDoor& door, const io::ObjectChange& change)
      : traffic_(traffic), bytes_(change.bytes.begin(), change.bytes.end()), change_(change) {
    change_.bytes = bytes_;
    traffic_.begin(door.client(), change_);
    fate_ = traffic_.fate_of(change_);
    const bool is_made = fate_ != DoorTraffic::Fate::kNotMade && fate_ != DoorTraffic::Fate::kRefused;
    if (is_made) sent_ = door.send(change_);
  }
  ~TryingChange() override { (void)await(); }
  TryingChange(const TryingChange&) = delete;
  TryingChange& operator=(const TryingChange&) = delete;

  io::ObjectAnswer await() noexcept override {
    if (is_answered_) return answer_;
    if (sent_ != nullptr) answer_ = sent_->await();
    if (fate_ == DoorTraffic::Fate::kMadeAndUnanswered) answer_ = ETIMEDOUT;
    if (fate_ == DoorTraffic::Fate::kNotMade) answer_ = EIO;
    if (fate_ == DoorTraffic::Fate::kRefused) answer_ = ENOSPC;
    traffic_.end(change_);
    is_answered_ = true;
    return answer_;
  }

 private:
  DoorTraffic& traffic_;
  const std::vector<std::byte> bytes_;
  io::ObjectChange change_;
  DoorTraffic::Fate fate_ = DoorTraffic::Fate::kMade;
  std::unique_ptr<io::SentChange> sent_;  // null if the model never has it
  io::ObjectAnswer answer_ = 0;
  bool is_answered_ = false;
};

std::unique_ptr<io::SentChange> TryingDoor::send(const io::ObjectChange& change) {
  if (is_lease(change.object)) return door_->send(change);
  traffic_.let_late_ones_arrive(door_->client());
  return std::make_unique<TryingChange>(traffic_, *door_, change);
}

io::ObjectAnswer TryingDoor::change(const io::ObjectChange& change) {
  if (is_lease(change.object)) return door_->change(change);
  traffic_.let_late_ones_arrive(door_->client());
  traffic_.begin(door_->client(), change);
  io::ObjectAnswer answer = 0;
  switch (traffic_.fate_of(change)) {
    case DoorTraffic::Fate::kMade:
    case DoorTraffic::Fate::kStuck: answer = door_->change(change); break;
    case DoorTraffic::Fate::kMadeAndUnanswered:
      (void)door_->change(change);
      answer = ETIMEDOUT;
      break;
    case DoorTraffic::Fate::kNotMade: answer = EIO; break;
    case DoorTraffic::Fate::kRefused: answer = ENOSPC; break;
  }
  traffic_.end(change);
  return answer;
}

}  // namespace varve::lab
