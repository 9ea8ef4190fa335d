// A permutation in place as passes of steps: what each step reads, it writes again, and no two steps of a
// pass share a byte.
//
//     pass      step 0 | step 1 | …          in order, or with the later passes first undone
//     step      |tile b| <==> |tile next(b)|   both read, permuted, each written where the other was
//
//     affine maps            the factors of layout::factor_in_place: one pass for involutions, two for all
//     axes that keep the     as squares and cubes do: boxes change places around orbits, one pass or two
//       shape                (axes_steps.hpp)
//     axes that do not       squares of parts of rows, then those parts in pairs: three passes at most, where
//                            there are few enough of them (unit_steps.hpp)
//     rolls and flips        a reversal is a pass that swaps blocks from both ends; a roll is two reversals
//     arrays that fit        whatever moves inside one array of a batch, or of leading axes that stay: some
//                            arrays a step, one pass
#pragma once

#include <memory>
#include <vector>

#include "faro/file.hpp"
#include "file/steps.hpp"

namespace faro::file {

/// The passes, the first first; none for the identity. Errors: those of Sweep; ErrorCode::unsupported for
/// what no pass in place is known for, such as axes that leave too short parts of rows whole and do not fit.
std::vector<std::unique_ptr<Steps>> in_place_passes(const Problem& problem, const Options& options);

}  // namespace faro::file
