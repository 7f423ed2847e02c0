// Owns: the effect of a change on an object, and the fate of changes on their way.
// Must never: call the scheduler under the lock.
#include "io/simulated/object_cluster.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace varve::io {

namespace {

thread_local int calls_inside = 0;

class InsideModel {
 public:
  InsideModel() noexcept { ++calls_inside; }
  ~InsideModel() { --calls_inside; }
  InsideModel(const InsideModel&) = delete;
  InsideModel& operator=(const InsideModel&) = delete;
};

}  // namespace

bool inside_object_cluster() noexcept {
  return calls_inside > 0;
}

/// The door of one client.
class ModelDoor final : public ObjectDoor {
 public:
  ModelDoor(ObjectCluster& cluster, std::string client) : cluster_(cluster), client_(std::move(client)) {}

  std::string client() const override { return client_; }

  ObjectAnswer change(const ObjectChange& change) override {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    (void)cluster_.await(change.object);
    bool is_repeated = false;
    ObjectAnswer answer = 0;
    {
      const std::lock_guard<std::mutex> guard(cluster_.mutex_);
      ++cluster_.change_count_;
      ObjectCluster::Client& own = cluster_.client(client_);
      if (own.is_blocked) return ESHUTDOWN;
      if (own.changes_left == 0) {
        keep(own, change);
        return ETIMEDOUT;
      }
      if (own.changes_left != UINT64_MAX) --own.changes_left;
      is_repeated = random_below(cluster_.random_, 100) < cluster_.repeat_percent_;
      answer = cluster_.apply(change);
    }
    cluster_.scheduler_.yield();
    if (!is_repeated) return answer;
    // Others may have made changes since.
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    return cluster_.client(client_).is_blocked ? ESHUTDOWN : cluster_.apply(change);
  }

  ObjectAnswer look(std::string_view object, ObjectLook& found) override {
    return with_object(object, [&](const ObjectCluster::Object& seen) {
      found = {seen.content.size_bytes(), seen.attributes};
    });
  }

  ObjectAnswer entries(std::string_view object, TextMap& found) override {
    return with_object(object, [&](const ObjectCluster::Object& seen) { found = seen.entries; });
  }

  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    std::chrono::milliseconds patience) override {
    const auto take = [&](const ObjectCluster::Object& seen) {
      const std::uint64_t size = seen.content.size_bytes();
      count = static_cast<std::size_t>(offset < size ? std::min<std::uint64_t>(bytes.size(), size - offset) : 0);
      seen.content.read(offset, bytes.first(count));
    };
    return with_object(object, take, patience);
  }

  ObjectAnswer blocklist(std::string_view client) override {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    if (const ObjectAnswer refused = cluster_.refusal(cluster_.client(client_)); refused != 0) return refused;
    if (cluster_.delays_blocklists_) return EINPROGRESS;
    cluster_.client(client).is_blocked = cluster_.heeds_blocklists_;
    return 0;
  }

  ObjectAnswer look_at_pool(std::string_view /*object*/, PoolLook& found) override {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    found = cluster_.look_at_pool();
    return 0;
  }

 private:
  static void keep(ObjectCluster::Client& own, const ObjectChange& change) {
    if (own.late_left == 0) return;
    --own.late_left;
    own.late.push_back({change, {change.bytes.begin(), change.bytes.end()}});
  }

  template <typename Use>
  ObjectAnswer with_object(std::string_view object, const Use& use,
                           std::chrono::milliseconds patience = std::chrono::milliseconds(0)) {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    if (!cluster_.await(object, patience)) return ETIMEDOUT;
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    if (const ObjectAnswer refused = cluster_.refusal(cluster_.client(client_)); refused != 0) return refused;
    const auto found = cluster_.objects_.find(object);
    if (found == cluster_.objects_.end()) return ENOENT;
    use(found->second);
    return 0;
  }

  ObjectCluster& cluster_;
  const std::string client_;
};

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

void ObjectCluster::stand_still(std::string_view prefix) {
  const MutexGuard guard(standing_);
  still_prefix_ = prefix;
  has_still_.store(true, std::memory_order_release);
}

void ObjectCluster::go_on() {
  const MutexGuard guard(standing_);
  still_prefix_.reset();
  has_still_.store(false, std::memory_order_release);
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

void ObjectCluster::cut_off(std::string_view name, std::uint64_t changes, std::size_t late_max) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Client& cut = client(name);
  cut.changes_left = changes;
  cut.late_left = late_max;
}

void ObjectCluster::reconnect(std::string_view name) {
  const std::lock_guard<std::mutex> guard(mutex_);
  client(name).changes_left = UINT64_MAX;
}

std::size_t ObjectCluster::deliver(std::string_view name, std::size_t count) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Client& sender = client(name);
  std::size_t made = 0;
  for (; count > 0 && !sender.late.empty(); --count) {
    Kept kept = std::move(sender.late.front());
    sender.late.erase(sender.late.begin());
    kept.change.bytes = kept.bytes;
    if (!sender.is_blocked && apply(kept.change) == 0) ++made;
  }
  return made;
}

void ObjectCluster::set_full(bool is_full) {
  const std::lock_guard<std::mutex> guard(mutex_);
  is_full_ = is_full;
}

void ObjectCluster::delay_blocklists() {
  const std::lock_guard<std::mutex> guard(mutex_);
  delays_blocklists_ = true;
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

ObjectAnswer ObjectCluster::apply(const ObjectChange& change) {
  const auto found = objects_.find(change.object);
  const bool is_there = found != objects_.end();
  if (is_there && heeds_epochs_ && change.epoch < found->second.epoch) return kStaleEpoch;
  const bool must_exist = change.presence == ObjectChange::Presence::kMustExist;
  if (!is_there && must_exist && heeds_presence_) return ENOENT;
  if (!is_there && change.removes) return ENOENT;
  if (is_there && !must_exist) return EEXIST;
  const std::uint64_t end = change.bytes.empty() ? 0 : change.offset + change.bytes.size();
  const bool grows = !is_there || end > found->second.content.size_bytes();
  if (is_full_ && grows && !change.may_exceed) return ENOSPC;
  if (!is_there && !change.expected_attributes.empty()) return ENOENT;  // RADOS finds nothing to compare with
  if (is_there && !has_expected(found->second, change)) return ECANCELED;
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
