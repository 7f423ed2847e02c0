#include "tools/varve/reach/held_checkpoint.h"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/serve/local/served_place.h"
#include "tools/varve/reach/rest_answer.h"

namespace varve::tool {
namespace {

/// The server ends connections without requests after 60 s.
constexpr std::chrono::seconds kAliveInterval{15};
/// The time for making a checkpoint. Linking a million files takes about a minute.
constexpr std::chrono::seconds kCheckpointTimeMax{600};

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Result<std::shared_ptr<HeldCheckpoint>> HeldCheckpoint::make(const std::string& store, std::shared_ptr<Wire> wire) {
  const Result<serve::HttpResponse> response = wire->send(request_to("POST", "/_varve/checkpoint"), kCheckpointTimeMax);
  if (!response.ok()) return response.status();
  if (Status made = status_of(*response); !made.ok()) return made;
  const auto json = nlohmann::json::parse((*response).body, nullptr, false);
  const std::string name = json.is_object() ? json.value("name", std::string()) : std::string();
  if (!is_name(name)) return Status::io_error("the answer of the server names no checkpoint");
  return std::shared_ptr<HeldCheckpoint>(
      new HeldCheckpoint(std::move(wire), store + "/" + serve::kServedName + "/" + name));
}

HeldCheckpoint::HeldCheckpoint(std::shared_ptr<Wire> wire, std::string path)
    : wire_(std::move(wire)), path_(std::move(path)), thread_([this] { keep_alive(); }) {}

HeldCheckpoint::~HeldCheckpoint() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void HeldCheckpoint::keep_alive() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kAliveInterval, [this] { return is_ended_; })) {
    lock.unlock();
    (void)wire_->send(request_to("GET", "/_varve/store"));
    lock.lock();
  }
}

}  // namespace varve::tool
