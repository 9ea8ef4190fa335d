// A multiplication modulo the count on a CPU: the tiles that a rectangle of its cover is cut into.
#pragma once

#include <algorithm>
#include <cstdint>

#include "faro/permutation/modular.hpp"

namespace faro::detail {

inline constexpr std::uint64_t kModularTileBytes = 32768;
inline constexpr std::uint64_t kModularRunBytes = 512;  // of a tile's sides, where the matrix is as long

/// Tiles of a rectangle, each `columns` x `rows` at most.
struct ModularTiles {
  ModularRectangle all;
  std::uint64_t columns = 1;
  std::uint64_t rows = 1;

  ModularTiles(const ModularRectangle& rectangle, std::uint64_t element_bytes) : all(rectangle) {
    const std::uint64_t fitting = std::max<std::uint64_t>(kModularTileBytes / element_bytes, 1);
    const std::uint64_t run = std::max<std::uint64_t>(kModularRunBytes / element_bytes, 1);
    // Sides of one run; where one is shorter, the other takes what is left.
    columns = std::min({std::max<std::uint64_t>(all.columns, 1), run, fitting});
    rows = std::min(std::max<std::uint64_t>(all.rows, 1), fitting / columns);
    columns = std::min(std::max<std::uint64_t>(all.columns, 1), fitting / rows);
  }

  std::uint64_t across() const { return (all.columns + columns - 1) / columns; }
  std::uint64_t count() const { return across() * ((all.rows + rows - 1) / rows); }

  ModularRectangle tile(std::uint64_t number) const {
    const std::uint64_t i = number % across() * columns;
    const std::uint64_t j = number / across() * rows;
    return {.first_i = all.first_i + i,
            .first_j = all.first_j + j,
            .columns = std::min(columns, all.columns - i),
            .rows = std::min(rows, all.rows - j)};
  }
};

}  // namespace faro::detail
