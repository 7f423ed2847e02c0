// Owns: two tables with the same entities, of which one has indexes, and the pages of a scan with an order as text.
// Must never: give one of the tables an entity that the other one lacks.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/table_index.h"

namespace varve::test {

using Keys = std::vector<std::string>;

/// One page as text, or its refusal.
inline std::string page_of(const Table& table, const Scan& scan) {
  const Result<Page> page = table.scan(scan);
  if (!page.ok()) return "refused " + std::string(page.status().service_error());
  std::string text;
  for (const std::string& key : keys_of(*page)) text += key + " ";
  return text;
}

/// Returns what all pages have, at most ten.
inline std::string pages_of(const Table& table, Scan scan) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const Result<Page> page = table.scan(scan);
    if (!page.ok()) return text + "refused " + std::string(page.status().service_error());
    for (const std::string& key : keys_of(*page)) text += key + " ";
    if (!page->continuation) return text;
    scan.continuation = *page->continuation;
  }
  return text + "...";
}

class OrderedTables : public ::testing::Test {
 protected:
  void SetUp() override {
    plain_.emplace(bench_.table("Plain"));
    indexed_.emplace(bench_.table("Indexed"));
  }
  void put(const Entity& entity) {
    ASSERT_EQ(said(plain_->insert_or_replace(entity)), kFine);
    ASSERT_EQ(said(indexed_->insert_or_replace(entity)), kFine);
  }
  void create_index(const std::string& name, std::vector<IndexComponent> components) {
    IndexDefinition definition{name, {}, {}};
    definition.components = std::move(components);
    ASSERT_EQ(said(bench_.store->create_index(kAccount, "Indexed", definition)), kFine);
  }
  std::string order_index(const Scan& scan) const {
    const Result<ScanPlan> plan = indexed_->explain(scan);
    EXPECT_EQ(said(plan), kFine);
    return plan.ok() ? plan->order_index : std::string();
  }

  StoreBench bench_;
  std::optional<Table> plain_;
  std::optional<Table> indexed_;
};

}  // namespace varve::test
