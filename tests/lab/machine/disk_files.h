// Owns: the files of a machine with a disk in memory (machine_files.h).
// Must never: change a crash of the disk.
#pragma once

#include <memory>

#include "tests/lab/machine/machine_files.h"

namespace varve::lab {

std::unique_ptr<MachineFiles> make_disk_files(io::MemoryDisk disk, io::Scheduler& scheduler);

}  // namespace varve::lab
