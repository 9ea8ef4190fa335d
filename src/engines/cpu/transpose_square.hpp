// Transposing a square array in place: its tiles change places in pairs, each transposed on the way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::cpu {

/// A square of side x side elements.
void transpose_square(std::byte* data, std::uint64_t side, std::uint64_t element_bytes, int threads);

}  // namespace faro::cpu
