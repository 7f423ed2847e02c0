#include "api/store.h"
#include "bench/varve_bench/contender.h"

namespace varve::bench {

namespace {

class VarveContender final : public Contender {
 public:
  VarveContender(std::unique_ptr<Store> store, Table table) : store_(std::move(store)), table_(std::move(table)) {}
  std::string name() const override { return "Varve"; }

  Status put(const std::string& partition, const std::string& row, const std::string& payload) override {
    Entity entity(partition, row);
    entity.add("Payload", payload);
    return table_.insert_or_replace(entity).status();
  }
  Status checked_put(const std::string& partition, const std::string& row, const std::string& payload) override {
    Entity entity(partition, row);
    entity.add("Payload", payload);
    return table_.insert(entity).status();  // refused if the key is there, so it looks first
  }

 private:
  std::unique_ptr<Store> store_;
  Table table_;
};

}  // namespace

Result<std::unique_ptr<Contender>> open_varve(const std::string& directory) {
  const Result<std::shared_ptr<Resources>> resources =
      Resources::create({.write_buffer_bytes = std::uint64_t{4} << 30});
  if (!resources.ok()) return resources.status();
  StoreOptions options;
  options.create_if_missing = true;
  options.resources = *resources;
  Result<std::unique_ptr<Store>> store = Store::open(directory, options);
  if (!store.ok()) return store.status();
  if (Status made = (*store)->create_account("bench"); !made.ok()) return made;
  Result<Table> table = (*store)->create_table("bench", "Entities");
  if (!table.ok()) return table.status();
  return std::unique_ptr<Contender>(std::make_unique<VarveContender>(*std::move(store), *std::move(table)));
}

}  // namespace varve::bench
