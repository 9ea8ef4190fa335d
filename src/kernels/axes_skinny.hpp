// Transposes with few rows or few columns of single units: axes_few_vectors.hpp, axes_few_rows.hpp and
// axes_few_columns.hpp by one name.
//
//     axes(3 1000000; 1 0)      few rows         kernel of phases load_axes_skinny, store_axes_skinny
//     axes(1000000 3; 1 0)      few columns      the same
#pragma once

#include <cstdint>

#include "kernels/axes_few_columns.hpp"
#include "kernels/axes_few_rows.hpp"
#include "kernels/axes_few_vectors.hpp"

namespace faro::kernels {

/// Phase 1. Requires: thread < kAxesSkinnyThreads.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void load_axes_skinny(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                std::uint32_t thread) {
  if constexpr (shape.few > 0) {
    load_few_vectors<shape>(memory, p, tile, thread);
  } else if constexpr (shape.by_rows) {
    load_skinny_rows<shape>(memory, p, tile, thread);
  } else {
    load_skinny_stretch<shape>(memory, p, tile, thread);
  }
}

/// Phase 2, of shapes for which skinny_words_wait().
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void spread_axes_skinny(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                  std::uint32_t thread) {
  if constexpr (skinny_words_wait<shape, Memory>()) spread_skinny_rows<shape>(memory, p, tile, thread);
}

/// Phase 3.
template <AxesSkinnyShape shape, device::Memory Memory>
constexpr void store_axes_skinny(Memory& memory, const AxesLinesParams& p, const AxesLinesTile& tile,
                                 std::uint32_t thread) {
  if constexpr (shape.few > 0) {
    store_few_vectors<shape>(memory, p, tile, thread);
  } else if constexpr (shape.by_rows) {
    store_skinny_stretch<shape>(memory, p, tile, thread);
  } else {
    store_skinny_lines<shape>(memory, p, tile, thread);
  }
}

}  // namespace faro::kernels
