// Plain copies as one would write them, the ceiling that a kernel of ours can hope for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

// Both queue, and throw ErrorCode::device where the launch fails. Arrays are aligned to 16 bytes.

/// One element a thread. Requires: 1, 2, 4, 8 or 16 bytes an element (checked).
void scalar_copy(const std::byte* in, std::byte* out, std::uint64_t bytes, std::uint64_t element_bytes,
                 Stream stream);

/// One access of 16 bytes a thread, the caches told to drop what passed. Requires: a multiple of 16 bytes.
void vector_copy(const std::byte* in, std::byte* out, std::uint64_t bytes, Stream stream);

}  // namespace faro::bench::gpu
