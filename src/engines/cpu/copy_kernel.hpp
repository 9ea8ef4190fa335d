// Moving bytes in order, past the caches, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::cpu {

/// Copies with stores that bypass the caches. Any size and alignment: the ends that are no whole cache lines
/// of the target are copied plainly. Requires: no overlap (unchecked).
void copy_streamed(const std::byte* from, std::byte* to, std::uint64_t bytes);

/// Makes streamed stores of this thread visible to others before what follows.
void finish_streams();

}  // namespace faro::cpu
