// Owns: a change of the catalog's rows, in the form that commit() takes.
// Must never: change a row that it does not lock.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/commit/commit.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"

namespace varve {

class RowChange final : public Change {
 public:
  /// `rows` has the newest states of the keys, in their order. The function refuses, or adds the change to the batch.
  using Judge = std::function<Refusal(const engine::ReadView& view, std::span<const engine::Newest> rows,
                                      format::BatchBuilder& batch)>;

  /// Locks the partitions of all keys.
  RowChange(std::vector<std::string> keys, Judge judge) : keys_(std::move(keys)), judge_(std::move(judge)) {
    wanted_.assign(keys_.begin(), keys_.end());
    for (const std::string& key : keys_) lock(format::partition_of(key));
  }
  /// The batch, to which the caller may add operations before the commit.
  format::BatchBuilder& batch() noexcept { return batch_; }
  /// Locks another partition.
  void lock(std::string_view partition) { hashes_.push_back(format::partition_hash(partition)); }

  std::span<const std::uint64_t> locks_needed() const noexcept override { return hashes_; }
  StatesWanted states_wanted() override { return {wanted_, engine::EntryPart::kAll}; }
  Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states) override {
    return judge_(view, states, batch_);
  }
  std::string take_batch() override {
    request.let_go_bytes = batch_.let_go_bytes();
    return batch_.finish();
  }

 private:
  const std::vector<std::string> keys_;
  const Judge judge_;
  std::vector<std::string_view> wanted_;
  std::vector<std::uint64_t> hashes_;
  format::BatchBuilder batch_;
};

}  // namespace varve
