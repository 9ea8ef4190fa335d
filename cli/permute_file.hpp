// `faro permute` of arrays that memory does not hold twice: from file to file, in one sweep within --memory.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/permute_options.hpp"

namespace faro::cli {

/// --memory, --resume and --io.
void add_file_options(CLI::App& command, PermuteOptions& options);

/// Errors: ErrorCode::value for values that they do not take, and for what no sweep over files does.
void check_file_options(const PermuteOptions& options);

/// Permutes where the arrays are larger than the budget. Returns false, and has done nothing, where they fit,
/// and without --memory where only memory will do. Errors: also ErrorCode::unsupported for that with
/// --memory.
bool permute_by_file(const PermuteOptions& options);

}  // namespace faro::cli
