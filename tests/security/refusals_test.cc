// Goal: no request passes without a valid signature: 2,000 generated attempts are each refused with the right answer,
// and the store has no commit after any of them.
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "api/model/percent.h"
#include "tests/security/security_bench.h"
#include "tests/support/effort.h"

namespace varve::security::refusals_test {
namespace {

using namespace test;

/// One store, and attempts of many kinds, each from its own seed.
class Attempts {
 public:
  explicit Attempts(std::uint32_t seed) : random_(seed) {}

  void next(std::uint32_t seed) {
    random_.seed(seed);
    reset();
    using Attempt = void (Attempts::*)();
    static constexpr std::array<Attempt, 15> kAttempts = {
        &Attempts::changed_signature,  &Attempts::widened_range,       &Attempts::widened_terms,
        &Attempts::other_table,        &Attempts::out_of_time,         &Attempts::other_place,
        &Attempts::replaced_key,       &Attempts::removed_policy,      &Attempts::point_outside,
        &Attempts::missing_permission, &Attempts::transaction_outside, &Attempts::token_outside,
        &Attempts::account_operation,  &Attempts::narrow_account,      &Attempts::changed_request};
    (this->*kAttempts[seed % kAttempts.size()])();
  }

 private:
  // -- Material of the attempts ---------------------------------------------------------------------------------------

  std::size_t below(std::size_t end) { return random_() % end; }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  std::string key() { return one_of<std::string>({"a", "eu", "eu west", "eu west2", "us", "zz", "\xC3\xA9"}); }
  std::string row() { return one_of<std::string>({"0001", "0400", "0500", "0999", "1000", "x"}); }
  std::string permissions() {
    std::string letters;
    for (const char letter : {'r', 'a', 'u', 'd'}) {
      if (below(2) == 0) letters.push_back(letter);
    }
    return letters.empty() ? "r" : letters;
  }

  /// Returns the terms for Orders for a day, sometimes with a range, an address, or an older version.
  TableSasTerms terms(std::string_view letters) {
    TableSasTerms made = SecurityBench::table_terms(letters);
    if (below(2) == 0) made.interval.from = KeyBound{"eu", row()};
    if (below(2) == 0) made.interval.to = KeyBound{"us", row()};
    made.version = one_of<std::string>({"2020-12-06", "2019-02-02", "2015-02-21", "2013-08-15"});
    return made;
  }
  /// Returns terms within that: "eu" 0500 to "eu west" 0500.
  TableSasTerms confined(std::string_view letters) {
    TableSasTerms made = SecurityBench::table_terms(letters);
    made.interval = {KeyBound{"eu", "0500"}, KeyBound{"eu west", "0500"}};
    return made;
  }
  std::pair<std::string, std::string> outside() {
    return one_of<std::pair<std::string, std::string>>({{"eu", "0001"},
                                                        {"eu", "04999"},
                                                        {"eu", ""},
                                                        {"a", "0700"},
                                                        {"", ""},
                                                        {"eu west", "0501"},
                                                        {"eu west", "05000"},
                                                        {"eu westend", "0001"},
                                                        {"us", "0001"},
                                                        {"\xF0\x9F\x98\x80", "0500"}});
  }

  void reset() {
    bench_.account = credentials();
    bench_.arrival = {"203.0.113.7", true};
    *bench_.time = kPresent;
    set_policies({});
    before_ = version();
  }
  void set_policies(const std::vector<AccessPolicy>& policies) {
    ASSERT_TRUE(bench_.store().set_access_policies(kAccount, "Orders", policies).ok());
  }
  DateTime version() { return (*bench_.store().snapshot()).version(); }

  // -- Results --------------------------------------------------------------------------------------------------------

  void expect(const Said& got, const Said& expected, const std::string& what) {
    EXPECT_EQ(got, expected) << what;
    EXPECT_EQ(version(), before_) << what << ": something was committed";
  }
  void expect_refused(const std::string& query, const Said& expected) {
    expect(said(bench_.open(query)), expected, query);
  }
  Table opened(const TableSasTerms& of) {
    const Result<Session> session = bench_.open(bench_.token(of));
    if (!session.ok()) ADD_FAILURE() << session.status().to_string();
    return *session->table("Orders");
  }

  /// Runs an operation on one entity that needs this permission.
  Said try_write(Table& table, char letter, const Entity& entity) {
    switch (letter) {
      case 'a': return said(table.insert(entity));
      case 'u':
        return below(2) == 0 ? said(table.replace(entity, ETag::any())) : said(table.merge(entity, ETag::any()));
      case 'd': return said(table.remove(entity.partition_key(), entity.row_key(), ETag::any()));
      case 'w': return below(2) == 0 ? said(table.insert_or_replace(entity)) : said(table.insert_or_merge(entity));
      default: break;
    }
    if (below(2) == 0) return said(table.get(entity.partition_key(), entity.row_key()));
    return said(table.get_many(std::vector<EntityKey>{{"eu", "0999"}, {entity.partition_key(), entity.row_key()}}));
  }

  // -- The kinds ----------------------------------------------------------------------------------------------------

  void changed_signature() {
    const bool of_account = below(3) == 0;
    std::string query =
        of_account ? bench_.token(SecurityBench::account_terms("sco", "rwdlacu")) : bench_.token(terms(permissions()));
    const std::size_t begin = query.find("&sig=") + 5;
    std::string signature = *percent_decode(std::string_view(query).substr(begin));
    switch (below(4)) {
      case 0: signature[below(signature.size() - 1)] ^= 1; break;
      case 1: signature.resize(below(signature.size() - 1) + 1); break;
      case 2: signature.append("="); break;
      default: signature[below(signature.size() - 1)] = one_of<char>({'*', ' ', '-', '_'}); break;
    }
    expect_refused(query.substr(0, begin) + percent_encode(signature), kAuthenticationFailed);
  }

  void widened_range() {
    TableSasTerms narrow = confined("raud");
    narrow.version = one_of<std::string>({"2020-12-06", "2014-02-14"});
    const TableSas good = *parse_table_sas(bench_.token(narrow));
    TableSas wider = good;
    const std::vector<std::string TableSas::*> fields = {&TableSas::spk, &TableSas::srk, &TableSas::epk,
                                                         &TableSas::erk};
    std::string& field = wider.*one_of(fields);
    field = below(2) == 0 ? std::string() : key() + row();  // does not equal an existing bound
    expect_refused(to_query(wider), kAuthenticationFailed);
  }

  void widened_terms() {
    const TableSas good = *parse_table_sas(bench_.token(terms("r")));
    TableSas wider = good;
    switch (below(6)) {
      case 0: wider.sp = one_of<std::string>({"ra", "raud", "d", "", "u"}); break;
      case 1: wider.se = one_of<std::string>({"2026-03-05T00:00:00Z", "2036-03-04", "", "9999-12-31T23:59:59Z"}); break;
      case 2: wider.st = one_of<std::string>({"2025-03-03T00:00:00Z", "", "1601-01-01"}); break;
      case 3: wider.sv = one_of<std::string>({"2018-03-28", "2012-02-12", "2021-01-01"}); break;
      case 4: wider.sip = "0.0.0.0-255.255.255.255"; break;
      default: wider.si = "readers"; break;
    }
    expect_refused(to_query(wider), kAuthenticationFailed);
  }

  void other_table() {
    const TableSasTerms made = terms(permissions());
    if (below(2) == 0) {
      TableSas other = *parse_table_sas(bench_.token(made));
      other.tn = one_of<std::string>({"Other", "Orders2", "O"});
      return expect_refused(to_query(other), kAuthenticationFailed);
    }
    const Result<Session> session = bench_.open(bench_.token(made));
    ASSERT_TRUE(session.ok());
    expect(said(session->table(one_of<std::string>({"Other", "Missing", "Order", ""}))), kAuthorizationFailure,
           "table");
  }

  void out_of_time() {
    TableSasTerms made = terms(permissions());
    const std::uint64_t distance = (1 + below(1'000'000)) * kSecondTicks;
    const bool expired = below(2) == 0;
    if (below(2) == 0) {  // The token is used at another time.
      *bench_.time =
          expired ? DateTime{made.expiry->ticks - kSecondTicks + distance} : DateTime{made.start->ticks - distance};
      return expect_refused(bench_.token(made), kAuthenticationFailed);
    }
    Table table = opened(made);  // The time changes while the table is open.
    *bench_.time = expired ? DateTime{made.expiry->ticks + distance} : DateTime{made.start->ticks - distance};
    const char letter = one_of<char>({'r', 'a', 'u', 'd', 'w'});
    expect(try_write(table, letter, with_value("eu", "0999", "y")), kAuthenticationFailed, "out of time");
    expect(said(table.scan({})), kAuthenticationFailed, "out of time");
  }

  void other_place() {
    TableSasTerms made = SecurityBench::table_terms(permissions());
    if (below(2) == 0) {
      made.https_only = true;
      bench_.arrival.is_https = false;
      return expect_refused(bench_.token(made), kProtocolMismatch);
    }
    made.addresses = one_of<std::string>({"203.0.113.8", "203.0.113.8-203.0.113.200", "10.0.0.0-10.255.255.255"});
    bench_.arrival.client_ip =
        one_of<std::string>({"203.0.113.7", "203.0.112.8", "9.255.255.255", "11.0.0.0", "", "fe80::1", "10.0.0"});
    expect_refused(bench_.token(made), kSourceIpMismatch);
  }

  void replaced_key() {
    const std::string query = below(2) == 0 ? bench_.token(terms(permissions()))
                                            : bench_.token(SecurityBench::account_terms("sco", "rwdlacu"));
    if (below(2) == 0) {
      bench_.account = credentials(kOtherKeyText, kSecondKeyText);
    } else {
      bench_.account.name = "devstoreaccount2";  // the same keys, another account
    }
    expect_refused(query, kAuthenticationFailed);
  }

  void removed_policy() {
    const DateTime expiry = at("2026-03-04T00:00:00Z");
    const AccessPolicy policy{"readers", {}, expiry, Permissions::all()};
    set_policies({policy, {"others", {}, expiry, Permissions::all()}});
    TableSasTerms made;
    made.table = "Orders";
    made.policy = "readers";
    const std::string query = bench_.token(made);
    Table table = opened(made);
    AccessPolicy changed = policy;
    switch (below(5)) {
      case 0: changed.id = "writers"; break;
      case 1: changed.expiry = at("2026-03-03T10:20:30Z"); break;
      case 2: changed.expiry.reset(); break;
      case 3: changed.permissions.reset(); break;
      default: changed.start = at("2026-03-03T10:20:31Z"); break;
    }
    set_policies({changed});
    before_ = version();
    const char letter = one_of<char>({'r', 'a', 'u', 'd', 'w'});
    expect(try_write(table, letter, with_value("eu", "0999", "y")), kAuthenticationFailed, "removed policy");
    expect(said(table.scan({})), kAuthenticationFailed, "removed policy");
    expect_refused(query, kAuthenticationFailed);
  }

  void point_outside() {
    Table table = opened(confined("raud"));
    const auto [partition, row_key] = outside();
    const char letter = one_of<char>({'r', 'a', 'u', 'd', 'w'});
    expect(try_write(table, letter, with_value(partition, row_key, "y")), kAuthorizationFailure,
           "'" + partition + "', '" + row_key + "'");
  }

  void missing_permission() {
    const std::string letters = permissions();
    Table table = opened(SecurityBench::table_terms(letters));
    for (const char letter : {'r', 'a', 'u', 'd', 'w'}) {
      const bool has =
          letter == 'w' ? letters.find("au") != std::string::npos : letters.find(letter) != std::string::npos;
      if (has) continue;
      expect(try_write(table, letter, with_value("eu", "0999", "y")), kPermissionMismatch, letters + letter);
    }
    if (letters.find('r') == std::string::npos) expect(said(table.scan({})), kPermissionMismatch, letters);
  }

  void transaction_outside() {
    const bool by_key = below(2) == 0;
    Table table = opened(by_key ? confined("raud") : SecurityBench::table_terms("a"));
    const std::size_t count = 1 + below(8);
    const std::size_t bad = below(count);
    EntityGroupTransaction transaction;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string row_key = (by_key && i == bad ? "0001" : "0700") + std::to_string(i);
      if (!by_key && i == bad) {
        transaction.insert_or_replace(with_value("eu", row_key, "y"));
      } else {
        transaction.insert(with_value("eu", row_key, "y"));
      }
    }
    const Status status = table.execute(transaction).status();
    expect(said(status), by_key ? kAuthorizationFailure : kPermissionMismatch, "transaction");
    EXPECT_EQ(status.operation_index(), bad);
  }

  void token_outside() {
    const Table table = opened(confined("r"));
    Scan scan;  // a token of the whole table, at any place
    scan.page_entities_max = static_cast<std::uint32_t>(1 + below(11));
    scan.continuation = *(*bench_.whole().scan(scan)).continuation;
    scan.page_entities_max = 1000;
    if (below(2) == 0) scan.filter = one_of<std::string>({"RowKey ge '0'", "PartitionKey ge 'a'", "not (V eq 'z')"});
    const Result<Page> page = table.scan(scan);
    ASSERT_TRUE(page.ok());
    EXPECT_FALSE(page->continuation);
    const std::vector<std::string> inside = {"eu/0500", "eu/0999", "eu/1000", "eu west/0001", "eu west/0500"};
    for (const std::string& got : keys_of(*page)) {
      EXPECT_NE(std::find(inside.begin(), inside.end(), got), inside.end()) << got;
    }
    expect(kFine, kFine, "continuation");
  }

  void account_operation() {
    const Result<Session> session = bench_.open(bench_.token(terms("raud")));
    ASSERT_TRUE(session.ok());
    const std::vector<AccessPolicy> policies = {{"mine", {}, at("2027-01-01T00:00:00Z"), Permissions::all()}};
    switch (below(5)) {
      case 0: return expect(said(session->create_table("Fresh")), kAuthorizationFailure, "create");
      case 1: return expect(said(session->drop_table("Orders")), kAuthorizationFailure, "drop");
      case 2: return expect(said(session->list_tables()), kAuthorizationFailure, "list");
      case 3: return expect(said(session->access_policies("Orders")), kAuthorizationFailure, "policies");
      default: return expect(said(session->set_access_policies("Orders", policies)), kAuthorizationFailure, "policies");
    }
  }

  void narrow_account() {
    const auto session = [this](std::string_view types, std::string_view letters) {
      return *bench_.open(bench_.token(SecurityBench::account_terms(types, letters)));
    };
    switch (below(6)) {
      case 0: return expect(said(session("so", "rwdlacu").drop_table("Orders")), kResourceTypeMismatch, "drop");
      case 1: return expect(said(session("sco", "rwlacu").drop_table("Orders")), kPermissionMismatch, "drop");
      case 2: return expect(said(session("sc", "rwdlacu").table("Orders")), kResourceTypeMismatch, "table");
      case 3: return expect(said(session("sco", "rlau").create_table("Fresh")), kPermissionMismatch, "create");
      case 4:
        return expect(said(session("sco", "rwdlacu").set_access_policies("Orders", {})), kAuthorizationFailure, "");
      default: break;
    }
    Table table = *session("o", "wlcq").table("Orders");
    const char letter = one_of<char>({'r', 'a', 'u', 'd', 'w'});
    expect(try_write(table, letter, with_value("eu", "0999", "y")), kPermissionMismatch, "nothing of entities");
  }

  void changed_request() {
    Request request{"GET", "/Orders(PartitionKey='eu',RowKey='0001')", "", {{"x-ms-date", std::string(kDateText)}}};
    const SharedKeyScheme scheme = below(2) == 0 ? SharedKeyScheme::kSharedKey : SharedKeyScheme::kSharedKeyLite;
    const std::string value = *shared_key_authorization(scheme, request, bench_.account);
    request.headers.emplace_back("Authorization", value);
    ASSERT_TRUE(bench_.open(request).ok());
    switch (below(5)) {
      case 0: request.path = "/Orders(PartitionKey='eu',RowKey='" + row() + "')x"; break;
      case 1: request.query = "comp=acl"; break;
      case 2: request.headers[0].second = "Tue, 03 Mar 2026 10:20:3" + std::to_string(1 + below(9)) + " GMT"; break;
      case 3: request.headers[1].second[value.size() - 2 - below(40)] ^= 1; break;
      default: *bench_.time = DateTime{kPresent.ticks + (901 + below(1000)) * kSecondTicks}; break;
    }
    expect(said(bench_.open(request)), kAuthenticationFailed, "changed request");
  }

  std::mt19937 random_;
  SecurityBench bench_;
  DateTime before_{};

 public:
  std::vector<Entity> content() {
    std::vector<Entity> all;
    for (const std::string name : {"Orders", "Other"}) {
      const Page page = *bench_.whole(name).scan({});
      all.insert(all.end(), page.entities.begin(), page.entities.end());
    }
    return all;
  }
};

TEST(Refusals, TwoThousandAttemptsAreRefusedAndChangeNothing) {
  Attempts attempts(1);
  const std::vector<Entity> before = attempts.content();
  ASSERT_EQ(before.size(), 24u);
  for (std::uint32_t seed = 1; seed <= effort(2000u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    attempts.next(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(attempts.content(), before);
}

}  // namespace
}  // namespace varve::security::refusals_test
