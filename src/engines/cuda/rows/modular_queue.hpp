// A multiplication modulo a count as a queue of one kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "faro/error.hpp"
#include "faro/modular.hpp"
#include "kernels/modular_tile.hpp"

namespace faro::cuda {

struct ModularWork {
  Modular map;
  std::uint64_t element_bytes = 1;  // 1, 2, 4, 8 or 16
  std::uint64_t batch = 1;
  const std::byte* in = nullptr;  // both aligned to an element
  std::byte* out = nullptr;
  // Of negated ones: a factor below twice the count, of which the map's is the rest.
  std::uint64_t sign_factor = 0;
  kernels::ModularSign sign = kernels::ModularSign::none;
  std::uint64_t modulus = 0;
  bool wide = false;  // places of 64 bits, also where half of that would do
};

namespace detail {

__extension__ using WideProduct = unsigned __int128;

inline std::uint64_t product_mod(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<WideProduct>(a) * b % modulus);
}

/// Places on a ring, by which tiles and threads are told where they begin.
struct ModularRing {
  std::uint64_t count = 1;
  std::uint64_t x_step = 0;  // of j
  std::uint64_t y_step = 0;  // of i
  std::uint64_t y_of_j = 0;  // one, or besides the count

  std::uint64_t product(std::uint64_t a, std::uint64_t b) const { return product_mod(a, b, count); }
  std::uint64_t less(std::uint64_t a, std::uint64_t b) const {
    return (a % count + count - b % count) % count;
  }
};

/// Of a line of so many elements of a tile, each `along` on the ring and lines `across`.
inline kernels::RingSteps ring_steps(const ModularRing& ring, std::uint64_t threads, std::uint64_t line,
                                     std::uint64_t along, std::uint64_t across) {
  const std::uint64_t lines = ring.product(threads / line, across);
  return {.step = (lines + ring.product(threads % line, along)) % ring.count,
          .wrap = ring.less(across, ring.product(line, along))};
}

// Parts of at most 5/4 `side`, all about as long.
inline std::uint64_t equal_part(std::uint64_t all, std::uint64_t side) {
  const std::uint64_t most = side + side / 4;
  const std::uint64_t parts = (all + most - 1) / most;
  return (all + parts - 1) / parts;
}

// Sides of a run, where the rectangle is as long; where one is shorter, the other takes what is left.
inline kernels::ModularTiles tiles_of(const ModularRectangle& all, std::uint32_t side, std::uint64_t threads,
                                      const ModularRing& ring) {
  kernels::ModularTiles made;
  made.columns = all.rows == 0 ? 0 : all.columns;
  made.rows = all.rows;
  if (made.columns == 0) return made;
  const std::uint64_t fitting = std::uint64_t{side} * side;
  std::uint64_t columns = equal_part(all.columns, side);
  const std::uint64_t rows = equal_part(all.rows, columns < side ? fitting / columns : side);
  if (rows < side) columns = equal_part(all.columns, fitting / rows);
  made.tile_columns = static_cast<std::uint32_t>(columns);
  made.tile_rows = static_cast<std::uint32_t>(rows);
  made.across = (all.columns + columns - 1) / columns;
  constexpr std::uint64_t kStrip = 8;
  const std::uint64_t strip = std::min(made.across, kStrip);
  made.of_strip = device::Division64(strip * ((all.rows + rows - 1) / rows));
  made.of_strip_row = device::Division32(static_cast<std::uint32_t>(strip));
  const std::uint64_t last = made.across % strip;
  made.of_last_row = device::Division32(static_cast<std::uint32_t>(last == 0 ? strip : last));
  made.of_row = device::Division32(made.tile_columns);
  made.of_column = device::Division32(made.tile_rows);
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
  made.reading_x = ring_steps(ring, threads, columns, 1, ring.x_step);
  made.writing_x = ring_steps(ring, threads, rows, ring.x_step, 1);
  made.writing_y = ring_steps(ring, threads, rows, 1, ring.y_step);
  return made;
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
  kernel.modulus = work.modulus;
  const ModularRing places{.count = ring, .x_step = kernel.x_step, .y_step = kernel.y_step, .y_of_j = y_of_j};
  const auto cover = l_shape(work.map);
  for (std::size_t r = 0; r < cover.size(); ++r) {
    kernel.tiles[r] = tiles_of(cover[r], kernel.kSide, kernel.kThreads, places);
    kernel.tiles[r].first_y = (kernel.tiles[r].first_y + work.map.shift) % ring;
  }
  kernel.of_array = device::Division64(kernel.tiles[0].count() + kernel.tiles[1].count());
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
  switch (work.element_bytes) {
    case 1:
      return multiply_elements<1, kSigned>(queue, work);
    case 2:
      return multiply_elements<2, kSigned>(queue, work);
    case 4:
      return multiply_elements<4, kSigned>(queue, work);
    case 8:
      return multiply_elements<8, kSigned>(queue, work);
    default:
      if constexpr (!kSigned) multiply_elements<16, false>(queue, work);
  }
}

}  // namespace detail

template <typename Queue>
void multiply(Queue& queue, const ModularWork& work) {
  if (work.batch == 0) return;
  if (work.sign == kernels::ModularSign::none) return detail::multiply_of<false>(queue, work);
  detail::multiply_of<true>(queue, work);
}

}  // namespace faro::cuda
