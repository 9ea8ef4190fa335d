// Transposes arrays in place that fit shared memory whole, several a block: a block reads them in order and
// writes the results in order.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_places.hpp"

namespace faro::kernels {

struct TransposeWholeParams {
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
  std::uint32_t units = 1;   // of an element
  std::uint32_t arrays = 1;  // a block
  std::uint64_t total = 0;   // arrays in all
  std::uint32_t threads = 0;
  device::Division32 by_rows;
  device::Division32 by_count;
  device::Division32 by_units;

  constexpr std::uint32_t count() const { return rows * columns; }
  constexpr std::uint64_t shared_bytes(std::uint64_t unit_bytes) const {
    const std::uint64_t elements = std::uint64_t{arrays} * count();
    return (elements + elements / 32) * units * unit_bytes;
  }
  constexpr std::uint64_t blocks() const { return (total + arrays - 1) / arrays; }
};

/// Fills in what follows. Requires: all units of a block below 2^31.
constexpr void finish(TransposeWholeParams& p) {
  p.by_rows = device::Division32(p.rows);
  p.by_count = device::Division32(p.count());
  p.by_units = device::Division32(p.units);
}

namespace detail {

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_whole(Memory& memory, const TransposeWholeParams& p, std::uint64_t block,
                          std::uint32_t thread) {
  const std::uint64_t first_array = block * p.arrays;
  const std::uint64_t left = p.total - first_array;
  const std::uint32_t all =
      static_cast<std::uint32_t>(left < p.arrays ? left : p.arrays) * p.count() * p.units;
  const std::uint64_t base = first_array * p.count() * p.units;
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < all; first += kC2rBatch * p.threads) {
    device::Packet<bytes> data[kC2rBatch] = {};
    std::uint32_t shared[kC2rBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      const std::uint32_t at = first + k * p.threads + thread;
      if (at >= all) {
        device::idle(memory);
        continue;
      }
      std::uint32_t unit = at;
      std::uint32_t element = p.by_units.divide(unit);
      if constexpr (!into_shared) {
        std::uint32_t in_array = element;
        const std::uint32_t array = p.by_count.divide(in_array);
        const std::uint32_t column = p.by_rows.divide(in_array);
        element = array * p.count() + in_array * p.columns + column;
      }
      shared[k] = (c2r_padded(element) * p.units + unit) * bytes;
      if constexpr (into_shared) {
        data[k] = memory.template load_global<bytes>(kC2rIn, (base + at) * bytes);
      } else {
        data[k] = memory.template load_shared<bytes>(shared[k]);
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      const std::uint32_t at = first + k * p.threads + thread;
      if (at >= all) {
        device::idle(memory);
      } else if constexpr (into_shared) {
        memory.template store_shared<bytes>(shared[k], data[k]);
      } else {
        memory.template store_global<bytes>(kC2rOut, (base + at) * bytes, data[k]);
      }
    }
  }
}

}  // namespace detail

/// First phase, then the second.
template <int bytes, device::Memory Memory>
constexpr void load_whole(Memory& memory, const TransposeWholeParams& p, std::uint64_t block,
                          std::uint32_t thread) {
  detail::move_whole<bytes, true>(memory, p, block, thread);
}
template <int bytes, device::Memory Memory>
constexpr void store_whole(Memory& memory, const TransposeWholeParams& p, std::uint64_t block,
                           std::uint32_t thread) {
  detail::move_whole<bytes, false>(memory, p, block, thread);
}

template <typename Mover, typename Take>
constexpr void with_phases(const TransposeWholeParams& p, const Take& take) {
  take([&p](auto& m, std::uint64_t b, std::uint32_t t) { load_whole<Mover::bytes>(m, p, b, t); },
       [&p](auto& m, std::uint64_t b, std::uint32_t t) { store_whole<Mover::bytes>(m, p, b, t); });
}

}  // namespace faro::kernels
