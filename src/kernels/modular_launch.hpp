// A multiplication modulo a count as a launch of one kernel: `queue.run(kernel)` of any queue.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "faro/error.hpp"
#include "faro/permutation/modular.hpp"
#include "kernels/modular_tile.hpp"
#include "permutation/modular_arithmetic.hpp"
#include "rounding.hpp"
#include "unit_bytes.hpp"

namespace faro::kernels {

struct ModularWork {
  Modular map;
  std::uint64_t element_bytes = 1;  // 1, 2, 4, 8 or 16
  std::uint64_t batch = 1;
  const std::byte* in = nullptr;  // both aligned to an element
  std::byte* out = nullptr;
  // For negated ones: a factor below twice the count, of which the map's is the rest.
  std::uint64_t sign_factor = 0;
  kernels::ModularSign sign = kernels::ModularSign::none;
  std::span<const std::uint64_t> moduli = {};  // of integers: array b has moduli[b mod their number]; none: 0
  std::uint64_t large_bytes = std::uint64_t{16} << 20;  // arrays of which the caches hold a small part
  bool wide = false;                                    // places of 64 bits, also where half of that would do
};

namespace detail {

using faro::detail::product_mod;

/// Places on a ring, by which tiles and threads are told where they begin.
struct ModularRing {
  std::uint64_t count = 1;
  std::uint64_t x_step = 0;  // of j
  std::uint64_t y_step = 0;  // of i
  std::uint64_t y_of_j = 0;  // one, or besides the count
  std::uint64_t array = 1;   // elements of an array

  std::uint64_t product(std::uint64_t a, std::uint64_t b) const { return product_mod(a, b, count); }
  std::uint64_t less(std::uint64_t a, std::uint64_t b) const {
    return (a % count + count - b % count) % count;
  }
};

// Parts of at most 5/4 `side`, all about as long.
inline std::uint64_t equal_part(std::uint64_t all, std::uint64_t side) {
  const std::uint64_t most = side + side / 4;
  const std::uint64_t parts = (all + most - 1) / most;
  return (all + parts - 1) / parts;
}

// Sides of a run, where the rectangle is as long; where one is shorter, the other takes what is left.
inline kernels::ModularTiles tiles_of(const ModularRectangle& all, std::uint32_t side, std::uint32_t sector,
                                      const ModularRing& ring) {
  kernels::ModularTiles made;
  made.columns = all.rows == 0 ? 0 : all.columns;
  made.rows = all.rows;
  if (made.columns == 0) return made;
  const std::uint64_t fitting = std::uint64_t{side} * side;
  std::uint64_t columns = equal_part(all.columns, side);
  std::uint64_t rows = equal_part(all.rows, columns < side ? fitting / columns : side);
  constexpr std::uint64_t kMostLines = 2048;  // of which each is looked up
  if (rows < side) columns = equal_part(all.columns, std::min(fitting / rows, kMostLines));
  rows = std::min(rows, equal_part(all.rows, kMostLines));
  // Columns end where sectors of the output do, where they are long and there are several. What small arrays
  // share meets in the cache as it is, and shorter tiles leave more of it for others of large ones: on an
  // H100 the multiples of 12345677 modulo 2^28 go by 80 and 84% of a copy in tiles of 64 and 48 rows, by 78%
  // without sectors; those of 15625 modulo 2^16 by 85 and 80, and by 94% without.
  constexpr std::uint64_t kLeastSectors = 4;
  if (rows < all.rows && rows >= kLeastSectors * sector && sector > 1) {
    made.sector = sector;
    rows = faro::detail::round_up(rows, std::uint64_t{sector});
  }
  made.tile_columns = static_cast<std::uint32_t>(columns);
  made.tile_rows = static_cast<std::uint32_t>(rows);
  made.across = (all.columns + columns - 1) / columns;
  constexpr std::uint64_t kStrip = 8;
  const std::uint64_t strip = std::min(made.across, kStrip);
  made.of_strip = device::Division64(strip * made.down());
  made.of_strip_row = device::Division32(static_cast<std::uint32_t>(strip));
  const std::uint64_t last = made.across % strip;
  made.of_last_row = device::Division32(static_cast<std::uint32_t>(last == 0 ? strip : last));
  made.of_row = device::Division32(made.tile_columns);
  // Ends of a column lie up to a sector apart where the array is no whole number of them.
  made.of_line = device::Division32(made.tile_rows + (ring.array % made.sector == 0 ? 0 : made.sector));
  made.first_x = (all.first_i + ring.product(all.first_j, ring.x_step)) % ring.count;
  made.first_y =
      (ring.product(all.first_i, ring.y_step) + ring.product(all.first_j, ring.y_of_j)) % ring.count;
  const auto walk = [&](std::uint64_t tile, std::uint64_t step) {
    const std::uint64_t of_tile = ring.product(tile, step);
    constexpr std::uint64_t kFar = std::uint64_t{1} << kernels::RingWalk::kNearBits;
    return kernels::RingWalk{.step = of_tile, .far_step = ring.product(kFar, of_tile)};
  };
  made.x_down = walk(rows, ring.x_step);
  made.y_along = walk(columns, ring.y_step);
  made.shorter_x = ring.less(0, ring.product(made.shorter(), ring.x_step));
  return made;
}

// All moduli that a launch's parameters hold are one launch; of more, each group of them is one, for each of
// the numbers that they are the residues of.
template <typename Kernel, typename Queue>
void run_by_moduli(Queue& queue, Kernel kernel, std::span<const std::uint64_t> moduli) {
  const auto run = [&](std::span<const std::uint64_t> those, std::uint64_t first, std::uint64_t number) {
    Kernel part = kernel;
    std::copy(those.begin(), those.end(), part.moduli);
    if (!those.empty()) part.of_moduli = device::Division64(those.size());
    const std::uint64_t skipped = first * kernel.count * sizeof(typename Kernel::Element);
    part.in += skipped;
    part.out += skipped;
    part.first_phase =
        static_cast<std::uint32_t>((kernel.first_phase + first * kernel.count) % Kernel::kSector);
    part.batch = number;
    queue.run(part);
  };
  if (moduli.size() <= Kernel::kMostModuli) return run(moduli, 0, kernel.batch);
  for (std::uint64_t array = 0; array < kernel.batch;) {
    const std::uint64_t which = array % moduli.size();
    const std::uint64_t number = std::min<std::uint64_t>(Kernel::kMostModuli, moduli.size() - which);
    run(moduli.subspan(which, number), array, number);
    array += number;
  }
}

template <int kBytes, typename Place, bool kSigned, typename Queue>
void multiply_by(Queue& queue, const ModularWork& work) {
  const std::uint64_t count = work.map.count;
  const std::uint64_t ring = kSigned ? 2 * count : count;
  kernels::MoveModularTiles<kBytes, Place, kSigned> kernel;
  kernel.in = work.in;
  kernel.out = work.out;
  kernel.count = count;
  kernel.batch = work.batch;
  kernel.ring = device::Division64(ring);
  kernel.x_step = work.map.inverse().factor;
  kernel.y_step = kSigned ? work.sign_factor : work.map.factor;
  const std::uint64_t y_of_j = kSigned ? product_mod(kernel.x_step, work.sign_factor, ring) : 1 % ring;
  kernel.y_jumps = kSigned && y_of_j == 1 + count;
  FARO_CHECK(!kSigned || count == 1 || y_of_j == 1 % ring || kernel.y_jumps);
  kernel.sign = work.sign;
  const ModularRing places{
      .count = ring, .x_step = kernel.x_step, .y_step = kernel.y_step, .y_of_j = y_of_j, .array = count};
  kernel.first_phase =
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(work.out) / kBytes % kernel.kSector);
  const auto cover = l_shape(work.map);
  for (std::size_t r = 0; r < cover.size(); ++r) {
    const bool both_long = std::min(cover[r].columns, cover[r].rows) >= 4 * std::uint64_t{kernel.kSide};
    const bool far_apart = both_long && count * kBytes >= work.large_bytes;
    kernel.tiles[r] = tiles_of(cover[r], far_apart ? kernel.kSide / 4 * 3 : kernel.kSide,
                               far_apart ? kernel.kSector : 1, places);
    kernel.tiles[r].first_y = (kernel.tiles[r].first_y + work.map.shift) % ring;
  }
  kernel.of_array = device::Division64(kernel.tiles[0].count() + kernel.tiles[1].count());
  if constexpr (kSigned) return run_by_moduli(queue, kernel, work.moduli);
  queue.run(kernel);
}

template <int kBytes, bool kSigned, typename Queue>
void multiply_elements(Queue& queue, const ModularWork& work) {
  constexpr std::uint64_t kMostNarrow = std::uint64_t{1} << 30;  // of which four fit a word
  if (work.wide || work.map.count > kMostNarrow)
    return multiply_by<kBytes, std::uint64_t, kSigned>(queue, work);
  multiply_by<kBytes, std::uint32_t, kSigned>(queue, work);
}

template <bool kSigned, typename Queue>
void multiply_of(Queue& queue, const ModularWork& work) {
  faro::detail::by_unit_bytes(work.element_bytes, [&](auto bytes) {
    if constexpr (!kSigned || bytes() < 16) multiply_elements<bytes(), kSigned>(queue, work);
  });
}

}  // namespace detail

template <typename Queue>
void multiply(Queue& queue, const ModularWork& work) {
  if (work.batch == 0) return;
  if (work.sign == kernels::ModularSign::none) return detail::multiply_of<false>(queue, work);
  detail::multiply_of<true>(queue, work);
}

}  // namespace faro::kernels
