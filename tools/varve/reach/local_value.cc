// Owns: the access to the large values of a store that this process has open (value_access.h).
// Must never: add anything to the verbs of the table.
#include <utility>
#include <vector>

#include "tools/varve/reach/value_access.h"

namespace varve::tool {
namespace {

class LocalValues final : public ValueAccess {
 public:
  explicit LocalValues(Table table) : table_(std::move(table)) {}

  Status begin() override {
    Result<LargeValueWriter> begun = table_.write_large_value();
    if (!begun.ok()) return begun.status();
    writers_.push_back(*std::move(begun));
    return Status();
  }
  Status append(std::string_view bytes) override { return writers_.back().append(bytes); }
  Result<LargeValue> finish() override { return writers_.back().finish(); }
  Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) override {
    const Result<ETag> written = table_.write(operation, options);
    writers_.clear();
    return written;
  }
  void discard() override { writers_.clear(); }

 private:
  Table table_;
  std::vector<LargeValueWriter> writers_;
};

}  // namespace

std::unique_ptr<ValueAccess> values_of(Table table) {
  return std::make_unique<LocalValues>(std::move(table));
}

}  // namespace varve::tool
