// Owns: a machine that lies: successful writes that are lost or misdirected, syncs without effect, reads that return
// wrong bytes.
// Must never: require the impossible of such a machine: lost data may be lost. But the store must detect the loss, or
// the lost commits must be the last ones. No answer may be wrong.
#pragma once

#include "tests/lab/crash/law.h"
#include "tests/lab/suite.h"

namespace varve::lab {

/// A round runs one scenario, which `only` names or which is next in turn, many times. Each run has one lie at another
/// operation. Every answer must be correct or a typed error: in the running store, after a power cut and after a close.
/// A store that opens must contain a prefix of the commit order.
Report lies(const Share& share);

}  // namespace varve::lab
