// Owns: the implementation of a Resources object.
// Must never: be visible to users.
#pragma once

#include <memory>

#include "engine/base/background_pool.h"
#include "engine/cache/block_cache.h"
#include "engine/memory/write_budget.h"
#include "engine/tables/open_files.h"
#include "io/posix/posix_process.h"
#include "varve/options.h"
#include "varve/version.h"

namespace varve {

struct VARVE_LOCAL Resources::State {
  const io::OwnerProcess owner = io::OwnerProcess::current();
  ResourceOptions options;
  std::shared_ptr<engine::WriteBudget> write_budget;
  std::shared_ptr<engine::BlockCache> block_cache;
  std::shared_ptr<engine::OpenFiles> open_files;
  std::shared_ptr<engine::SharedPool> pool;
};

}  // namespace varve
