// The memory accesses of a completed program, as a trace for the memory machine: sectors, bank conflicts,
// rounds.
#pragma once

#include <cstdint>

#include "faro/swizzle/interpret.hpp"
#include "machine/trace.hpp"

namespace faro::swizzle {

/// Every access to global and shared memory of one block, in bytes, arrays one after another, each from a
/// multiple of 256: a round for each statement and iteration.
/// Errors: ErrorCode::value for a block that there is not, elements of 0 bytes; those of run_symbolic that do
/// not depend on values.
machine::Trace accesses(const Program& program, const Valuation& valuation, std::int64_t block,
                        std::uint32_t element_bytes);

}  // namespace faro::swizzle
