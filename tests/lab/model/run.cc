#include "tests/lab/model/run.h"

#include <algorithm>

#include "tests/api/filter/slow_filter.h"
#include "tests/support/small_trees.h"

namespace varve::lab {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  hash = (hash ^ more) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

}  // namespace

RunResult run_list(const OperationList& list, Planted planted) {
  return Run(list, planted).run();
}

Run::Run(const OperationList& list, Planted planted)
    : list_(list), planted_(planted), profile_(profile_of(list.profile)), random_(list.machine) {
  make_resources();
}

void Run::make_resources() {
  ResourceOptions chosen;
  chosen.write_buffer_bytes = profile_.write_buffer_bytes;
  chosen.block_cache_bytes = profile_.block_cache_bytes;
  test::suit_tree_to(chosen.write_buffer_bytes);
  resources_ = *Resources::create(chosen);
}

Run::~Run() {
  held_ = {};
  store_.reset();
}

RunResult Run::run() {
  prepare();
  for (std::size_t i = 0; i < list_.operations.size() && !failed(); ++i) {
    result_.operation = i;
    step(list_.operations[i]);
  }
  if (!failed()) {
    result_.operation = list_.operations.size();
    reopen(0);
    const std::string stray = machine_->files->stray(path());
    if (!failed() && !stray.empty()) broken("an object that no entry names: " + stray);
  }
  return std::move(result_);
}

/// Creates two accounts and a table for every list.
void Run::prepare() {
  make_machine(empty_machine(list_.on_rados, list_.machine), list_.machine);
  state_ = std::make_shared<const State>();
  if (const Status opened = open(); !opened.ok()) return broken("the first open: " + opened.to_string());
  create_account(0);
  create_account(1);
  create_table(0);
}

void Run::step(const Operation& operation) {
  answer_ = 0;
  count("operations");
  pass_near_ends();
  if (failed()) return;
  if (!do_data(operation) && !do_tables(operation)) do_machine(operation);
  if (failed()) return;
  expect_unchanged();
  check_image();
  result_.answers.push_back(answer_);
}

bool Run::do_data(const Operation& operation) {
  const Numbers& numbers = operation.numbers;
  switch (operation.name) {
    case OperationName::kInsert:
    case OperationName::kReplace:
    case OperationName::kMerge:
    case OperationName::kInsertOrReplace:
    case OperationName::kInsertOrMerge:
    case OperationName::kRemove: write(operation.name, numbers); return true;
    case OperationName::kGroup: group(numbers); return true;
    case OperationName::kTransact: transact(numbers); return true;
    case OperationName::kPatch: patch(numbers); return true;
    case OperationName::kGet: get(numbers); return true;
    case OperationName::kGetMany: get_many(numbers); return true;
    case OperationName::kScan: scan(numbers); return true;
    case OperationName::kCount: count_entities(numbers); return true;
    case OperationName::kQueryIndex: query_index(numbers); return true;
    case OperationName::kBeginWalk: begin_walk(numbers); return true;
    case OperationName::kContinueWalk: continue_walk(); return true;
    case OperationName::kTakeSnapshot: take_snapshot(numbers[0]); return true;
    case OperationName::kReadSnapshot: read_snapshot(numbers[0]); return true;
    case OperationName::kReleaseSnapshot: held_[numbers[0] % kSlots].reset(); return true;
    default: return false;
  }
}

bool Run::do_tables(const Operation& operation) {
  const Numbers& numbers = operation.numbers;
  switch (operation.name) {
    case OperationName::kCreateTable: create_table(numbers[0]); return true;
    case OperationName::kDropTable: drop_table(numbers[0]); return true;
    case OperationName::kCreateAccount: create_account(numbers[0]); return true;
    case OperationName::kDropAccount: drop_account(numbers[0]); return true;
    case OperationName::kList: list(numbers[0]); return true;
    case OperationName::kSetPolicies: set_policies(numbers); return true;
    case OperationName::kReadPolicies: read_policies(numbers[0]); return true;
    case OperationName::kSetExpiry: set_expiry(numbers); return true;
    case OperationName::kDeclareIndex: declare_index(numbers); return true;
    case OperationName::kDropIndex: drop_index(numbers); return true;
    case OperationName::kLoad: load(numbers); return true;
    case OperationName::kCheckpoint: checkpoint(numbers[0]); return true;
    case OperationName::kCompact: compact(); return true;
    case OperationName::kSync: sync(); return true;
    case OperationName::kLastTag: last_tag(); return true;
    case OperationName::kCompareAll: compare_store(*store_, *state_, "a look at everything"); return true;
    default: return false;
  }
}

void Run::do_machine(const Operation& operation) {
  const Numbers& numbers = operation.numbers;
  switch (operation.name) {
    case OperationName::kJumpClock: return jump_clock(numbers);
    case OperationName::kReopen: return reopen(numbers[0]);
    case OperationName::kVerify: return verify();
    case OperationName::kReadOnlyOpen: return read_only_open();
    case OperationName::kKill: return crash(true, io::CrashPolicy::kEverything);
    case OperationName::kTakeOver: return take_over();
    case OperationName::kPowerCut: return crash(false, io::kCrashPolicies[numbers[0] % std::size(io::kCrashPolicies)]);
    case OperationName::kCrashImage: return plan_image(numbers);
    case OperationName::kFail: return fail(numbers);
    case OperationName::kFillDisk: return fill_disk(numbers[0]);
    case OperationName::kFreeDisk: return free_disk();
    default: return;
  }
}

void Run::broken(const std::string& what) {
  if (result_.what.empty()) result_.what = what;
}

void Run::answer(std::string_view text) {
  answer_ = mixed(answer_, std::hash<std::string_view>()(text));
}

void Run::answer(const Status& status) {
  answer(code_name(status.code()));
  answer(status.service_error());
}

void Run::answer(const Entity& entity) {
  answer(entity.partition_key());
  answer(entity.row_key());
  std::uint64_t properties = 0;  // in any order
  for (const Property& property : entity.properties()) {
    properties +=
        mixed(std::hash<std::string>()(property.name), std::hash<std::string>()(test::literal_text(property.value)));
  }
  answer_ = mixed(answer_, properties);
}

std::optional<TableVerbs> Run::verbs(const TableName& name) {
  const std::string at = name.account + "/" + name.lower;
  auto known = handles_.find(at);
  if (known == handles_.end()) {
    const Result<Table> opened = store_->open_table(name.account, name.spelling);
    if (opened.ok() != (state_->table(name) != nullptr)) {
      broken("opening a table: its being there differs: " + name.lower + ": " + opened.status().to_string());
    }
    if (!opened.ok()) return std::nullopt;
    known = handles_.emplace(at, *opened).first;
  }
  return TableVerbs(known->second, machine_->scheduler(), profile_.asynchronous);
}

DateTime Run::visible() {
  const Result<Snapshot> snapshot = store_->snapshot();
  if (snapshot.ok()) return snapshot->version();
  broken("a snapshot: " + snapshot.status().to_string());
  return DateTime{version_};
}

bool Run::is_excused(const Status& status) const {
  if (!misfortune_) return false;
  switch (status.code()) {
    case Code::kIoError:
    case Code::kNoSpace:
    case Code::kUnknown:
    case Code::kPoisoned:
    case Code::kTooManyFiles:
    case Code::kReadOnly:
    case Code::kOutOfMemory: return true;
    default: return false;
  }
}

bool Run::settle(const Status& status, const Expected& expected, bool durable, const Change& change) {
  if (is_excused(status)) {
    count("writes refused by misfortunes");
    if (status.code() != Code::kUnknown || !expected.fine()) return false;
    count("writes that ended Unknown");
    if (unknown_) broken("a second commit ended Unknown: " + status.to_string());
    unknown_ = change;
    return false;
  }
  answer(status);
  if (is_taken_as_expected(status, expected) || failed()) return false;
  const bool as_expected = status.code() == expected.code &&
                           (expected.service_error.empty() || status.service_error() == expected.service_error) &&
                           (!expected.operation || status.operation_index() == expected.operation);
  if (!as_expected) {
    broken("a write: expected " + std::string(code_name(expected.code)) + " (" + std::string(expected.service_error) +
           ") at " + std::to_string(expected.operation ? static_cast<int>(*expected.operation) : -1) + ", found " +
           status.to_string() + " at " +
           std::to_string(status.operation_index() ? static_cast<int>(*status.operation_index()) : -1));
  }
  if (failed() || !expected.fine()) return false;
  if (unknown_) broken("a write: acknowledged after one that ended Unknown");
  auto next = std::make_shared<State>(*state_);
  change(*next, ETag::of_timestamp(visible()));
  state_ = std::move(next);
  count("commits");
  note_version(durable);
  return true;
}

bool Run::is_taken_as_expected(const Status& status, const Expected& expected) {
  if (status.service_error() == "PropertyValueTooLarge" && expected.may_be_too_long) return true;
  if (status.service_error() != "IndexValueAlreadyExists") {
    const auto is_certain = [](const TakenByModel& taken) { return taken.is_certain; };
    if (status.ok() && std::any_of(expected.taken.begin(), expected.taken.end(), is_certain)) {
      broken("a write: it gave an entity a value of index " + expected.taken.front().index + " that another one has");
    }
    return false;
  }
  const TakenValue* const found = status.taken_value();
  if (status.code() != Code::kExists || found == nullptr || !found->has_keys) {
    broken("a write: the refusal of a unique index does not name an entity: " + status.to_string());
    return false;
  }
  const Units holder{code_units(found->partition_key), code_units(found->row_key)};
  const auto is_this = [&](const TakenByModel& taken) {
    return taken.index == found->index && taken.operation == status.operation_index() &&
           std::find(taken.holders.begin(), taken.holders.end(), holder) != taken.holders.end();
  };
  if (std::none_of(expected.taken.begin(), expected.taken.end(), is_this)) {
    broken("a write: a unique index refused it in vain: " + status.to_string());
    return false;
  }
  count("writes refused by unique indexes");
  return true;
}

void Run::note_version(bool durable) {
  const std::uint64_t version = visible().ticks;
  if (version <= highest_) broken("a commit: its version is not above all others");
  version_ = highest_ = acknowledged_ = version;
  history_[version] = state_;
  if (durable || planted_ == Planted::kBufferedIsDurable) promised_ = version;
}

void Run::expect_unchanged() {
  if (visible().ticks != version_) broken("the visible version changed without a commit");
}

WriteOptions Run::write_options(std::uint32_t durability, const std::string& tag, bool* durable) const {
  *durable = profile_.durability == DurabilityChoice::kAlwaysSync ||
             (profile_.durability == DurabilityChoice::kAsTold && durability % 2 == 0);
  WriteOptions options;
  options.durability = *durable ? Durability::kSync : Durability::kBuffered;
  options.tag = tag;
  return options;
}

}  // namespace varve::lab
