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
};

namespace detail {

__extension__ using WideProduct = unsigned __int128;

inline std::uint64_t product_mod(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<WideProduct>(a) * b % modulus);
}

// Sides of a run, where the rectangle is as long; where one is shorter, the other takes what is left.
inline kernels::ModularTiles tiles_of(const ModularRectangle& all, std::uint32_t side, std::uint64_t ring,
                                      std::uint64_t x_step, std::uint64_t y_step, std::uint64_t y_of_j) {
  kernels::ModularTiles made;
  made.columns = all.rows == 0 ? 0 : all.columns;
  made.rows = all.rows;
  if (made.columns == 0) return made;
  const std::uint64_t fitting = std::uint64_t{side} * side;
  std::uint64_t columns = std::min<std::uint64_t>(all.columns, side);
  const std::uint64_t rows = std::min(all.rows, fitting / columns);
  columns = std::min(all.columns, fitting / rows);
  made.tile_columns = static_cast<std::uint32_t>(columns);
  made.tile_rows = static_cast<std::uint32_t>(rows);
  made.across = device::Division64((all.columns + columns - 1) / columns);
  made.of_row = device::Division32(made.tile_columns);
  made.of_column = device::Division32(made.tile_rows);
  made.first_x = (all.first_i + product_mod(all.first_j, x_step, ring)) % ring;
  made.first_y = (product_mod(all.first_i, y_step, ring) + product_mod(all.first_j, y_of_j, ring)) % ring;
  const auto walk = [&](std::uint64_t tile, std::uint64_t step) {
    const std::uint64_t of_tile = product_mod(tile, step, ring);
    constexpr std::uint64_t kFar = std::uint64_t{1} << kernels::RingWalk::kNearBits;
    return kernels::RingWalk{.step = of_tile, .far_step = product_mod(kFar, of_tile, ring)};
  };
  made.x_down = walk(rows, x_step);
  made.y_along = walk(columns, y_step);
  return made;
}

template <int kBytes, bool kSigned, typename Queue>
void multiply_by(Queue& queue, const ModularWork& work) {
  const std::uint64_t count = work.map.count;
  const std::uint64_t ring = kSigned ? 2 * count : count;
  kernels::MoveModularTiles<kBytes, kSigned> kernel;
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
  const auto cover = l_shape(work.map);
  for (std::size_t r = 0; r < cover.size(); ++r) {
    kernel.tiles[r] = tiles_of(cover[r], kernel.kSide, ring, kernel.x_step, kernel.y_step, y_of_j);
    kernel.tiles[r].first_y = (kernel.tiles[r].first_y + work.map.shift) % ring;
  }
  kernel.of_array = device::Division64(kernel.tiles[0].count() + kernel.tiles[1].count());
  queue.run(kernel);
}

template <bool kSigned, typename Queue>
void multiply_of(Queue& queue, const ModularWork& work) {
  switch (work.element_bytes) {
    case 1:
      return multiply_by<1, kSigned>(queue, work);
    case 2:
      return multiply_by<2, kSigned>(queue, work);
    case 4:
      return multiply_by<4, kSigned>(queue, work);
    case 8:
      return multiply_by<8, kSigned>(queue, work);
    default:
      if constexpr (!kSigned) multiply_by<16, false>(queue, work);
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
