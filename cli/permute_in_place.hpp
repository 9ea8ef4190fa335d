// faro permute --in-place SPEC FILE.npy: the file's data takes the place of what it was.
#pragma once

#include "cli/permute_options.hpp"

namespace faro::cli {

/// Errors: those of planning and running; ErrorCode::value for options that need a second array;
/// ErrorCode::file. Unless the options say --no-backup, the file is then as it was.
void permute_in_place(const PermuteOptions& options);

}  // namespace faro::cli
