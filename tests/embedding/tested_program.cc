// Owns: an embedder's test: acknowledged writes survive a power cut at every step.
// Must never: include anything but installed headers.
#include <cstdio>
#include <string>
#include <vector>

#include <varve/testing.h>

int main() {
  using namespace varve;
  constexpr std::uint64_t kSeed = 7;
  constexpr std::size_t kImagesMax = 4;
  StoreOptions options;
  options.create_if_missing = true;

  testing::Machine machine(kSeed, testing::Threads::kBySeed);
  struct Image {
    testing::Disk disk;
    int acknowledged;
  };
  std::vector<Image> images;
  int acknowledged = 0;
  machine.observe_steps([&] {
    for (testing::Disk& disk : machine.power_cuts(kImagesMax)) images.push_back({std::move(disk), acknowledged});
  });
  {
    auto store = machine.open("shop", options);
    if (!store.ok() || !(*store)->create_account("shop").ok()) return 1;
    auto orders = (*store)->create_table("shop", "Orders");
    if (!orders.ok()) return 1;
    for (int i = 1; i <= 3; ++i) {
      Entity entity("eu", std::to_string(i));
      entity.set("Lines", std::int32_t{i});
      if (!orders->insert(entity).ok()) return 1;
      acknowledged = i;
    }
  }
  machine.observe_steps({});

  for (const Image& image : images) {
    testing::Machine after(kSeed, image.disk, testing::Threads::kBySeed);
    auto store = after.open("shop", options);
    if (!store.ok()) return 2;
    auto orders = (*store)->open_table("shop", "Orders");
    for (int i = 1; i <= image.acknowledged; ++i) {
      if (!orders.ok()) return 3;
      auto found = orders->get("eu", std::to_string(i));
      if (!found.ok() || !found->has_value()) return 3;
    }
  }
  std::printf("%zu power cuts, nothing lost\n", images.size());
  return images.size() > 10 ? 0 : 4;
}
