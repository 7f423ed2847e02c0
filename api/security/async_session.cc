// Owns: the verbs of sessions as tasks (async_session.h).
// Must never: read the store on the thread that begins a task.
#include "varve/security/async_session.h"

#include <coroutine>
#include <optional>
#include <utility>

#include "api/model/guarded.h"
#include "api/security/session_state.h"

namespace varve::security {

struct AsyncSession::Verbs {
  using State = std::shared_ptr<const Session::State>;

  /// Awaited, gives State::permitted_now(). Reads the store on a thread that may wait. A session whose signature names
  /// no policy is checked at once, without a task.
  class StillValid {
   public:
    StillValid(const State& state, std::stop_token stop) noexcept : state_(*state), stop_(std::move(stop)) {}
    StillValid(const StillValid&) = delete;
    StillValid& operator=(const StillValid&) = delete;

    bool await_ready() {
      if (state_.names_policy()) return false;
      permitted_ = state_.permitted_now();
      return true;
    }
    bool await_suspend(std::coroutine_handle<> waiting) {
      reading_.emplace(AsyncStore(*state_.store)
                           .run(
                               [this](Store&) {
                                 permitted_ = state_.permitted_now();
                                 return permitted_.status();
                               },
                               std::move(stop_)));
      return reading_->operator co_await().await_suspend(waiting);
    }
    Result<Permissions> await_resume() {
      if (!reading_) return permitted_;
      const Status read = reading_->operator co_await().await_resume();
      if (!read.ok()) return read;
      return permitted_;
    }

   private:
    const Session::State& state_;
    std::stop_token stop_;
    Result<Permissions> permitted_ = Permissions();
    std::optional<Task<Status>> reading_;
  };

  /// As Session::judged().
  static Task<Result<Session>> judged(Result<Session> shown, std::stop_token stop) {
    if (!shown.ok()) co_return shown;
    const State state = shown->state_;
    StillValid judging(state, std::move(stop));
    const Result<Permissions> permitted = co_await judging;
    if (!permitted.ok()) co_return permitted.status();
    if (!state->arrived.ok()) co_return state->arrived;
    co_return shown;
  }

  static Task<Status> check(State state, AccountOperation operation, std::string resource, std::stop_token stop) {
    StillValid judging(state, std::move(stop));
    const Result<Permissions> permitted = co_await judging;
    if (!permitted.ok()) co_return permitted.status();
    co_return state->check_operation(operation, resource, *permitted);
  }

  static Task<Result<Table>> table(State state, std::string name, std::stop_token stop) {
    StillValid judging(state, stop);
    const Result<Permissions> permitted = co_await judging;
    if (!permitted.ok()) co_return permitted.status();
    if (Status may = state->check_table(name); !may.ok()) co_return may;
    Task<Result<Table>> opening =
        AsyncStore(*state->store).open_table(state->account, std::move(name), std::move(stop));
    Result<Table> whole = co_await opening;
    if (!whole.ok()) co_return whole;
    co_return state->fenced(*std::move(whole));
  }
};

Task<Result<Session>> AsyncSession::open(Store& store, const AccountCredentials& account, const Request& request,
                                         const Arrival& arrival, Clock clock, std::stop_token stop,
                                         const SignedPlace& place) {
  Result<Session> shown = guarded(
      [&]() -> Result<Session> { return Session::shown(store, account, request, arrival, std::move(clock), place); });
  return Verbs::judged(std::move(shown), std::move(stop));
}

Task<Result<Session>> AsyncSession::open(Store& store, const VerifiedSignature& signature, const Arrival& arrival,
                                         Clock clock, std::stop_token stop) {
  Result<Session> shown =
      guarded([&]() -> Result<Session> { return Session::shown(store, signature, arrival, std::move(clock)); });
  return Verbs::judged(std::move(shown), std::move(stop));
}

Task<Status> AsyncSession::check(AccountOperation operation, std::stop_token stop, std::string resource) const {
  return Verbs::check(session_.state_, operation, std::move(resource), std::move(stop));
}

Task<Result<Table>> AsyncSession::table(std::string table, std::stop_token stop) const {
  return Verbs::table(session_.state_, std::move(table), std::move(stop));
}

}  // namespace varve::security
