// Owns: the verbs of sessions as tasks (async_session.h).
// Must never: read the store on the thread that begins a task.
#include "varve/security/async_session.h"

#include <utility>

#include "api/model/guarded.h"
#include "api/security/session_state.h"

namespace varve::security {

struct AsyncSession::Verbs {
  using State = std::shared_ptr<const Session::State>;

  /// As State::check_still_valid().
  static Task<Status> still_valid(State state, std::stop_token stop) {
    if (!state->names_policy()) co_return state->check_still_valid();
    Task<Status> reading =
        AsyncStore(*state->store).run([&](Store&) { return state->check_still_valid(); }, std::move(stop));
    Status valid = co_await reading;
    co_return valid;
  }

  /// As Session::judged().
  static Task<Result<Session>> judged(Result<Session> shown, std::stop_token stop) {
    if (!shown.ok()) co_return shown;
    Task<Status> judging = still_valid(shown->state_, std::move(stop));
    const Status valid = co_await judging;
    if (!valid.ok()) co_return valid;
    if (!shown->state_->arrived.ok()) co_return shown->state_->arrived;
    co_return shown;
  }

  static Task<Status> check(State state, AccountOperation operation, std::stop_token stop) {
    Task<Status> judging = still_valid(state, std::move(stop));
    const Status valid = co_await judging;
    if (!valid.ok()) co_return valid;
    co_return state->check_operation(operation);
  }

  static Task<Result<Table>> table(State state, std::string name, std::stop_token stop) {
    Task<Status> judging = still_valid(state, stop);
    const Status valid = co_await judging;
    if (!valid.ok()) co_return valid;
    if (Status may = state->check_table(name); !may.ok()) co_return may;
    Task<Result<Table>> opening =
        AsyncStore(*state->store).open_table(state->account, std::move(name), std::move(stop));
    Result<Table> whole = co_await opening;
    if (!whole.ok()) co_return whole;
    co_return state->fenced(*std::move(whole));
  }
};

Task<Result<Session>> AsyncSession::open(Store& store, const AccountCredentials& account, const Request& request,
                                         const Arrival& arrival, Clock clock, std::stop_token stop) {
  Result<Session> shown =
      guarded([&]() -> Result<Session> { return Session::shown(store, account, request, arrival, std::move(clock)); });
  return Verbs::judged(std::move(shown), std::move(stop));
}

Task<Result<Session>> AsyncSession::open(Store& store, const VerifiedSignature& signature, const Arrival& arrival,
                                         Clock clock, std::stop_token stop) {
  Result<Session> shown =
      guarded([&]() -> Result<Session> { return Session::shown(store, signature, arrival, std::move(clock)); });
  return Verbs::judged(std::move(shown), std::move(stop));
}

Task<Status> AsyncSession::check(AccountOperation operation, std::stop_token stop) const {
  return Verbs::check(session_.state_, operation, std::move(stop));
}

Task<Result<Table>> AsyncSession::table(std::string table, std::stop_token stop) const {
  return Verbs::table(session_.state_, std::move(table), std::move(stop));
}

}  // namespace varve::security
