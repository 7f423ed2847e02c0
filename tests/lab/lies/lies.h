// Owns: a machine that lies: writes that are lost or go elsewhere though they succeed, syncs that did nothing, reads
// that answer other bytes than were written.
// Must never: ask for what such a machine makes impossible: what is lost may be lost. But it must be noticed, or be the
// end of the order, and no answer may be wrong.
#pragma once

#include "tests/lab/crash/law.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// A round is a scenario, named by `only` or taken in turn, run many times, each with one lie at another operation.
/// Afterwards, live, after a power cut and after a close: every answer is right or a typed error, and what opens holds
/// a prefix of the commit order.
Report lies(const Share& share);

}  // namespace varve::lab
