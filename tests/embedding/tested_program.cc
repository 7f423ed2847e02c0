// Owns: an embedder's test: acknowledged writes survive a power cut at every step.
// Must never: include anything but installed headers.
#include <cstdio>
#include <string>
#include <vector>

#include <varve/testing.h>

namespace {

using varve::testing::Disk;
using varve::testing::Machine;
using varve::testing::Threads;

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kImagesMax = 4;

struct Image {
  Disk disk;
  int acknowledged;
};

/// Writes three orders, and cuts the power at every step. Returns no image if a write fails.
std::vector<Image> cut_power_at_every_step(const varve::StoreOptions& options) {
  std::vector<Image> images;
  int acknowledged = 0;
  Machine machine(kSeed, Threads::kBySeed);
  machine.observe_steps([&] {
    for (Disk& disk : machine.power_cuts(kImagesMax)) images.push_back({std::move(disk), acknowledged});
  });
  auto store = machine.open("shop", options);
  if (!store.ok() || !(*store)->create_account("shop").ok()) return {};
  auto orders = (*store)->create_table("shop", "Orders");
  if (!orders.ok()) return {};
  for (int i = 1; i <= 3; ++i) {
    varve::Entity entity("eu", std::to_string(i));
    entity.set("Lines", std::int32_t{i});
    if (!orders->insert(entity).ok()) return {};
    acknowledged = i;
  }
  machine.observe_steps({});
  return images;
}

/// Whether every acknowledged order is there after the machine has started again.
bool is_kept(const Image& image, const varve::StoreOptions& options) {
  Machine after(kSeed, image.disk, Threads::kBySeed);
  auto store = after.open("shop", options);
  if (!store.ok()) return false;
  if (image.acknowledged == 0) return true;
  auto orders = (*store)->open_table("shop", "Orders");
  if (!orders.ok()) return false;
  for (int i = 1; i <= image.acknowledged; ++i) {
    auto found = orders->get("eu", std::to_string(i));
    if (!found.ok() || !found->has_value()) return false;
  }
  return true;
}

}  // namespace

int main() {
  varve::StoreOptions options;
  options.create_if_absent = true;
  const std::vector<Image> images = cut_power_at_every_step(options);
  for (const Image& image : images) {
    if (!is_kept(image, options)) return 1;
  }
  std::printf("%zu power cuts, nothing lost\n", images.size());
  return images.size() > 10 ? 0 : 1;
}
