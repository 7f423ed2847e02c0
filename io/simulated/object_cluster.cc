// Owns: the effect of a change on an object, and the fate of changes on their way.
// Must never: call the scheduler under the lock.
#include "io/simulated/object_cluster.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/simulated/model_door.h"

namespace varve::io {

namespace {

thread_local int calls_inside = 0;

}  // namespace

InsideModel::InsideModel() noexcept {
  ++calls_inside;
}
InsideModel::~InsideModel() {
  --calls_inside;
}

bool inside_object_cluster() noexcept {
  return calls_inside > 0;
}

ObjectCluster::ObjectCluster(Scheduler& scheduler, std::uint64_t seed)
    : scheduler_(scheduler), standing_(scheduler), gone_on_(scheduler), random_(seed) {}

ObjectCluster::ObjectCluster(Scheduler& scheduler, std::uint64_t seed, const Image& image)
    : ObjectCluster(scheduler, seed) {
  objects_ = image.objects_;
  clients_ = image.clients_;
}

ObjectCluster::Image ObjectCluster::image() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  Image image;
  image.objects_ = objects_;
  for (const auto& [name, client] : clients_) {
    Client& gone = image.clients_[name];
    gone.is_blocked = client.is_blocked;
    gone.late = client.late;
  }
  return image;
}

void ObjectCluster::Image::add_late(std::string_view client, const ObjectChange& change) {
  clients_[std::string(client)].late.push_back({change, {change.bytes.begin(), change.bytes.end()}});
}

bool ObjectCluster::await(std::string_view object, std::chrono::milliseconds patience) {
  if (!has_still_.load(std::memory_order_acquire)) return true;
  const MutexGuard guard(standing_);
  while (still_prefix_.has_value() && object.starts_with(*still_prefix_)) {
    if (patience.count() == 0) {
      gone_on_.wait(standing_);
    } else if (!gone_on_.wait_for(standing_, patience)) {
      return false;
    }
  }
  return true;
}

bool ObjectCluster::is_held_up(std::string_view client, std::string_view object) {
  if (!has_still_.load(std::memory_order_acquire)) return false;
  const MutexGuard guard(standing_);
  if (still_prefix_.has_value() && object.starts_with(*still_prefix_)) return true;
  const auto found = losses_.find(client);
  return found != losses_.end() && found->second == Loss::kRequests;
}

bool ObjectCluster::await_reserve(const ObjectChange& change) {
  if (!change.may_exceed || !has_still_.load(std::memory_order_acquire)) return true;
  const MutexGuard guard(standing_);
  while (past_reserve_ != nullptr && past_reserve_(change.object)) {
    if (change.patience.count() == 0) {
      gone_on_.wait(standing_);
    } else if (!gone_on_.wait_for(standing_, change.patience)) {
      return false;
    }
  }
  return true;
}

ObjectCluster::Passed ObjectCluster::await_network(std::string_view client, std::optional<Loss> loss,
                                                   std::chrono::milliseconds patience) {
  if (!has_still_.load(std::memory_order_acquire)) return Passed::kAtOnce;
  const MutexGuard guard(standing_);
  Passed passed = Passed::kAtOnce;
  for (;;) {
    const auto found = losses_.find(client);
    if (found == losses_.end() || (loss.has_value() && found->second != *loss)) return passed;
    passed = Passed::kAfterAWait;
    if (patience.count() == 0) {
      gone_on_.wait(standing_);
    } else if (!gone_on_.wait_for(standing_, patience)) {
      return Passed::kNever;
    }
  }
}

void ObjectCluster::note_still() {
  const bool has_still = still_prefix_.has_value() || past_reserve_ != nullptr || !losses_.empty();
  has_still_.store(has_still, std::memory_order_release);
}

void ObjectCluster::lose(std::string_view name, Loss loss) {
  const MutexGuard guard(standing_);
  losses_[std::string(name)] = loss;
  note_still();
}

void ObjectCluster::fill_reserve(std::function<bool(std::string_view)> has) {
  set_full(true);
  const MutexGuard guard(standing_);
  past_reserve_ = std::move(has);
  note_still();
}

void ObjectCluster::stand_still(std::string_view prefix) {
  const MutexGuard guard(standing_);
  still_prefix_ = prefix;
  note_still();
}

void ObjectCluster::go_on() {
  const MutexGuard guard(standing_);
  still_prefix_.reset();
  note_still();
  gone_on_.notify_all();
}

void ObjectCluster::set_copies(std::uint64_t copies) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    copies_ = copies;
  }
  copies < kCopiesMin ? stand_still("") : go_on();
}

PoolLook ObjectCluster::look_at_pool() const {
  PoolLook look;
  look.is_full = is_full_;
  look.copies = copies_;
  look.copies_min = kCopiesMin;
  return look;
}

std::unique_ptr<ObjectDoor> ObjectCluster::make_door() {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::string name = "client." + std::to_string(clients_.size() + 1);
  clients_[name] = Client();
  return std::make_unique<ModelDoor>(*this, std::move(name));
}

ObjectCluster::Client& ObjectCluster::client(std::string_view name) {
  return clients_[std::string(name)];
}

ObjectAnswer ObjectCluster::refusal(const Client& client) const {
  if (client.is_blocked) return ESHUTDOWN;
  return client.changes_left == 0 ? ETIMEDOUT : 0;
}

void ObjectCluster::repeat(unsigned percent) {
  const std::lock_guard<std::mutex> guard(mutex_);
  repeat_percent_ = percent;
}

void ObjectCluster::delay_sent(unsigned percent) {
  const std::lock_guard<std::mutex> guard(mutex_);
  delay_percent_ = percent;
}

void ObjectCluster::cut_off(std::string_view name, std::uint64_t changes, std::size_t late_max) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Client& cut = client(name);
  cut.changes_left = changes;
  cut.late_left = late_max;
}

void ObjectCluster::reconnect(std::string_view name) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    client(name).changes_left = UINT64_MAX;
  }
  if (!has_still_.load(std::memory_order_acquire)) return;
  const MutexGuard guard(standing_);
  losses_.erase(std::string(name));
  note_still();
  gone_on_.notify_all();
}

std::size_t ObjectCluster::deliver(std::string_view name, std::size_t count) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Client& sender = client(name);
  std::size_t made = 0;
  for (; count > 0 && !sender.late.empty(); --count) {
    const std::string drawn = sender.late[random_below(random_, sender.late.size())].change.object;
    const auto first = std::find_if(sender.late.begin(), sender.late.end(),
                                    [&](const Kept& kept) { return kept.change.object == drawn; });
    Kept kept = std::move(*first);
    sender.late.erase(first);
    kept.change.bytes = kept.bytes;
    if (!sender.is_blocked && apply(kept.change) == 0) ++made;
  }
  return made;
}

void ObjectCluster::drop_late(std::string_view name) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::vector<Kept>& late = client(name).late;
  if (!late.empty()) late.erase(late.begin());
}

void ObjectCluster::set_full(bool is_full) {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_full_ = is_full;
  }
  if (is_full || !has_still_.load(std::memory_order_acquire)) return;
  const MutexGuard guard(standing_);
  past_reserve_ = nullptr;
  note_still();
  gone_on_.notify_all();
}

void ObjectCluster::limit_objects(std::uint64_t bytes) {
  const std::lock_guard<std::mutex> guard(mutex_);
  object_bytes_max_ = bytes;
}

void ObjectCluster::delay_blocklists(std::uint64_t questions) {
  const std::lock_guard<std::mutex> guard(mutex_);
  delayed_questions_ = questions;
}

void ObjectCluster::hold_blocklists() {
  const std::lock_guard<std::mutex> guard(mutex_);
  heeds_blocklists_ = false;
}

void ObjectCluster::ignore_epochs() {
  const std::lock_guard<std::mutex> guard(mutex_);
  heeds_epochs_ = false;
}

void ObjectCluster::ignore_presence() {
  const std::lock_guard<std::mutex> guard(mutex_);
  heeds_presence_ = false;
}

std::vector<std::string> ObjectCluster::names() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, object] : objects_) names.push_back(name);
  return names;
}

std::uint64_t ObjectCluster::change_count() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return change_count_;
}

bool ObjectCluster::has_expected(const Object& object, const ObjectChange& change) {
  return std::all_of(change.expected_attributes.begin(), change.expected_attributes.end(), [&](const auto& expected) {
    // RADOS takes an absent attribute for an empty one.
    const auto found = object.attributes.find(expected.first);
    return found == object.attributes.end() ? expected.second.empty() : found->second == expected.second;
  });
}

void ObjectCluster::arrive(Client& own, Passage& passage) {
  const ObjectChange& change = *passage.change;
  ++change_count_;
  passage.is_refused = own.is_blocked || own.changes_left == 0;
  if (own.is_blocked) {
    passage.answer = ESHUTDOWN;
    return;
  }
  if (own.changes_left == 0) {
    passage.answer = ETIMEDOUT;
    if (own.late_left == 0) return;
    --own.late_left;
    own.late.push_back({change, {change.bytes.begin(), change.bytes.end()}});
    return;
  }
  if (own.changes_left != UINT64_MAX) --own.changes_left;
  const bool is_repeated = random_below(random_, 100) < repeat_percent_;
  repeat_earlier(own, change.object);
  passage.answer = apply(change);
  if (!is_repeated) return;
  own.repeats.push_back(&passage);
  passage.turns = 1 + static_cast<unsigned>(random_below(random_, 12));
}

ObjectAnswer ObjectCluster::await_answer(std::string_view name, Passage& passage) {
  // Others may make changes meanwhile, and this client's other threads too.
  for (unsigned turn = 0; turn < passage.turns; ++turn) scheduler_.yield();
  if (passage.is_refused) return passage.answer;
  const Passed passed = await_network(name, Loss::kAnswers);
  const std::lock_guard<std::mutex> guard(mutex_);
  Client& own = client(name);
  if (passed == Passed::kAfterAWait) own.repeats.push_back(&passage);
  repeat_earlier(own, passage.change->object);
  std::erase(own.repeats, &passage);
  return passage.answer;
}

void ObjectCluster::repeat_earlier(Client& own, std::string_view object) {
  for (Passage* const earlier : own.repeats) {
    if (earlier->has_come_again || earlier->change->object != object) continue;
    earlier->has_come_again = true;
    earlier->answer = own.is_blocked ? ESHUTDOWN : apply(*earlier->change);
  }
}

ObjectAnswer ObjectCluster::apply(const ObjectChange& change) {
  const auto found = objects_.find(change.object);
  const bool is_there = found != objects_.end();
  if (is_there && heeds_epochs_ && change.epoch < found->second.epoch) return kStaleEpoch;
  const bool must_exist = change.presence == ObjectChange::Presence::kMustExist;
  if (!is_there && must_exist && heeds_presence_) return ENOENT;
  if (!is_there && change.removes) return ENOENT;
  if (is_there && !must_exist) return EEXIST;
  const std::uint64_t end = change.bytes.empty() ? 0 : change.offset + change.bytes.size();
  if (!is_there && !change.expected_attributes.empty()) return ENOENT;  // RADOS finds nothing to compare with
  if (is_there && !has_expected(found->second, change)) return ECANCELED;
  if (end > object_bytes_max_) return EFBIG;
  const bool grows = !is_there || end > found->second.content.size_bytes();
  if (is_full_ && grows && !change.may_exceed) return ENOSPC;  // Last: what is refused anyway is refused as ever.
  Object& object = objects_[change.object];
  if (change.removes) {
    objects_.erase(change.object);
    return 0;
  }
  object.epoch = std::max(object.epoch, change.epoch);
  for (const auto& [name, value] : change.attributes) object.attributes[name] = value;
  if (!change.bytes.empty()) object.content.write(change.offset, change.bytes);
  for (const auto& [key, value] : change.entries) object.entries[key] = value;
  for (const std::string& key : change.entries_removed) object.entries.erase(key);
  return 0;
}

}  // namespace varve::io
