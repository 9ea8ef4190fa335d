// A relayout as it is run: the output is made beside its place, swept into, and gets its name.
//
//     one sweep, or two by way of scratch space                 a region journal notes what is on the disk
//     a map of all elements                                     input -> plain file -> plain file -> output
//
// What is kept of an unfinished run: the output under io::partial_path(), scratch space likewise, the
// journal.
#pragma once

#include "faro/store.hpp"
#include "store/relayout_work.hpp"

namespace faro::store {

/// Errors: as relayout().
Report run_relayout(const Work& work, const Options& options);

}  // namespace faro::store
