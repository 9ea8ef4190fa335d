// faro permute SPEC IN OUT --element-bits K: elements that are no whole bytes, of .npy files of bytes and of
// files without a header.
#pragma once

#include "cli/permute_options.hpp"

namespace faro::cli {

/// Whether --element-bits was given.
bool is_of_bits(const PermuteOptions& options);

/// Errors: ErrorCode::value for other options than go with it; those of permute_packed_file().
void permute_bits(const PermuteOptions& options);

}  // namespace faro::cli
