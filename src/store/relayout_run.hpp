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

/// An output that is made beside its place; what its format cannot say is added to `left_out`, in words.
/// Errors: as relayout().
std::unique_ptr<CreatedStore> created(const Work& work, io::Unfinished unfinished,
                                      std::vector<std::string>& left_out);

io::Unfinished unfinished_of(const Options& options);

/// Errors: as relayout().
Report run_relayout(const Work& work, const Options& options);
/// The same into a store that is made already, of no map of all elements.
Report run_relayout(const Work& work, const Options& options, std::unique_ptr<CreatedStore> out);

}  // namespace faro::store
