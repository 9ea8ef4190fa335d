// `faro permute` and `faro convert` of stores of arrays: from one to another.
#pragma once

#include "cli/permute_options.hpp"

namespace faro::cli {

/// Whether IN or OUT is a store other than .npy, or an option asks for one.
bool is_of_stores(const PermuteOptions& options);

/// Lays IN out anew as OUT, permuted where `options.spec` is not empty. Errors: those of store::relayout();
/// ErrorCode::value and unsupported for options that stores do not take.
void relayout_stores(const PermuteOptions& options);

}  // namespace faro::cli
