// A run of numbers converted on one thread: what lies together on both sides.
//
//     stored  --swap-->  --widen-->  computed  f, scale, offset, + beta addend  --narrow-->  --swap-->  stored
//
// Chunk by chunk through buffers in the first-level cache, each step a loop over one type: as many loops as
// there are types, not as pairs of them. A step that has nothing to do is left out.
#pragma once

#include <complex>
#include <cstddef>

#include "engines/cpu/values/value_arguments.hpp"

namespace faro::cpu {

/// Any alignment. Requires: `to` overlaps neither input, or is the addend of as wide a type itself
/// (unchecked); after the last streamed run finish_streams().   Cost: 17 KiB of the stack.
void convert_run(const ValueProgram& program, const ValueRun& run);

/// A coefficient as convert_run() takes it, bytes_of(computed) bytes.
void store_factor(Number computed, std::complex<double> value, std::byte* to);

}  // namespace faro::cpu
