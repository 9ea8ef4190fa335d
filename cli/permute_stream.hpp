// `faro permute SPEC - -`: standard input and output, whole arrays in their order.
#pragma once

#include "cli/permute_options.hpp"

namespace faro::cli {

/// Where IN, OUT or both are kStream. A result that goes to a file appears whole or not at all. Errors: those
/// of file::permute_stream(); ErrorCode::unsupported for options that need a file.
void permute_stream(const PermuteOptions& options);

}  // namespace faro::cli
