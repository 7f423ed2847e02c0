// Owns: the door of one client of the model of RADOS, and the changes that it sends without a wait.
// Must never: change an object. ObjectCluster does.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/rados/object_door.h"
#include "io/simulated/object_cluster.h"

namespace varve::io {

/// Marks the thread as one in a function of a door (inside_object_cluster()).
class InsideModel {
 public:
  InsideModel() noexcept;
  ~InsideModel();
  InsideModel(const InsideModel&) = delete;
  InsideModel& operator=(const InsideModel&) = delete;
};

/// A change that was sent without a wait for its answer, with its own copy of the bytes.
class ModelSentChange final : public SentChange {
 public:
  ModelSentChange(ObjectCluster& cluster, std::string client, const ObjectChange& change)
      : cluster_(cluster),
        client_(std::move(client)),
        bytes_(change.bytes.begin(), change.bytes.end()),
        change_(change) {
    change_.bytes = bytes_;
  }
  ~ModelSentChange() override { (void)await(); }
  ModelSentChange(const ModelSentChange&) = delete;
  ModelSentChange& operator=(const ModelSentChange&) = delete;

  const std::string& object() const noexcept { return change_.object; }

  /// Called under the lock.
  void arrive(ObjectCluster::Client& own) {
    cluster_.arrive(own, passage_);
    has_arrived_ = true;
    std::erase(own.on_the_way, this);
  }

  ObjectAnswer await() noexcept override {
    if (is_answered_) return passage_.answer;
    const InsideModel inside;
    cluster_.scheduler_.yield();
    (void)cluster_.await(change_.object);
    (void)cluster_.await_network(client_, ObjectCluster::Loss::kRequests);
    {
      const std::lock_guard<std::mutex> guard(cluster_.mutex_);
      if (!has_arrived_) arrive(cluster_.client(client_));
    }
    is_answered_ = true;
    return cluster_.await_answer(client_, passage_);
  }

  /// A question lets the change arrive, unless its OSD or the network holds it up.
  bool is_answered() noexcept override {
    if (is_answered_) return true;
    const InsideModel inside;
    cluster_.scheduler_.yield();
    if (cluster_.is_held_up(client_, change_.object)) return false;
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    if (!has_arrived_) arrive(cluster_.client(client_));
    return true;
  }

 private:
  ObjectCluster& cluster_;
  const std::string client_;
  const std::vector<std::byte> bytes_;
  ObjectChange change_;
  ObjectCluster::Passage passage_{&change_};
  bool has_arrived_ = false;  // guarded by the lock
  bool is_answered_ = false;
};

/// The door of one client.
class ModelDoor final : public ObjectDoor {
 public:
  ModelDoor(ObjectCluster& cluster, std::string client) : cluster_(cluster), client_(std::move(client)) {}

  std::string client() const override { return client_; }

  ObjectAnswer change(const ObjectChange& change) override {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    (void)cluster_.await(change.object);
    if (!cluster_.await_reserve(change)) return ETIMEDOUT;
    (void)cluster_.await_network(client_, ObjectCluster::Loss::kRequests);
    ObjectCluster::Passage passage{&change};
    {
      const std::lock_guard<std::mutex> guard(cluster_.mutex_);
      ObjectCluster::Client& own = cluster_.client(client_);
      bring_earlier(own, change.object);
      cluster_.arrive(own, passage);
    }
    return cluster_.await_answer(client_, passage);
  }

  std::unique_ptr<SentChange> send(const ObjectChange& change) override {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    auto sent = std::make_unique<ModelSentChange>(cluster_, client_, change);
    const bool is_held_up = cluster_.is_held_up(client_, change.object);
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    ObjectCluster::Client& own = cluster_.client(client_);
    bring_earlier(own, change.object);
    own.on_the_way.push_back(sent.get());
    if (!is_held_up && random_below(cluster_.random_, 100) >= cluster_.delay_percent_) sent->arrive(own);
    return sent;
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
    ObjectCluster::Client& other = cluster_.client(client);
    if (other.questions < cluster_.delayed_questions_) {
      ++other.questions;
      return EINPROGRESS;
    }
    other.is_blocked = cluster_.heeds_blocklists_;
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
  /// Lets changes of the object arrive that the client sent before. Called under the lock.
  static void bring_earlier(ObjectCluster::Client& own, std::string_view object) {
    const std::vector<ModelSentChange*> sent = own.on_the_way;
    for (ModelSentChange* const earlier : sent) {
      if (earlier->object() == object) earlier->arrive(own);
    }
  }

  template <typename Use>
  ObjectAnswer with_object(std::string_view object, const Use& use,
                           std::chrono::milliseconds patience = std::chrono::milliseconds(0)) {
    const InsideModel inside;
    cluster_.scheduler_.yield();
    if (!cluster_.await(object, patience)) return ETIMEDOUT;
    if (cluster_.await_network(client_, std::nullopt, patience) == ObjectCluster::Passed::kNever) return ETIMEDOUT;
    const std::lock_guard<std::mutex> guard(cluster_.mutex_);
    ObjectCluster::Client& own = cluster_.client(client_);
    bring_earlier(own, object);
    if (const ObjectAnswer refused = cluster_.refusal(own); refused != 0) return refused;
    const auto found = cluster_.objects_.find(object);
    if (found == cluster_.objects_.end()) return ENOENT;
    use(found->second);
    return 0;
  }

  ObjectCluster& cluster_;
  const std::string client_;
};

}  // namespace varve::io
