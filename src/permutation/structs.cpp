#include "faro/permutation/structs.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/maps.hpp"
#include "memory.hpp"

namespace faro::maps {
namespace {

void require_some(const char* map, std::uint64_t number, const char* things, const char* wanted) {
  if (number != 0) return;
  fail(ErrorCode::value, map, things, wanted);
}

Permutation transposed(std::uint64_t rows, std::uint64_t columns) {
  const bool is_affine = f2::is_power_of_two(rows) && f2::is_power_of_two(columns);
  if (is_affine) return transpose(rows, columns);
  return transpose_any(rows, columns);
}

// The last tile has fewer structs than the others and is packed: no permutation of axes.
template <typename Index>
Indexed with_short_tile(std::uint64_t count, std::uint64_t words, std::uint64_t tile) {
  std::vector<Index> targets;
  targets.reserve(count * words);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i - i % tile;
    const std::uint64_t in_tile = std::min(tile, count - first);
    for (std::uint64_t word = 0; word < words; ++word) {
      targets.push_back(static_cast<Index>(first * words + word * in_tile + i % tile));
    }
  }
  return {std::move(targets), Direction::scatter};
}

}  // namespace

Permutation aos_to_soa(std::uint64_t count, std::uint64_t words) {
  require_some("aos_to_soa", words, "structs of 0 words", "at least one word");
  return transposed(count, words);
}

Permutation soa_to_aos(std::uint64_t count, std::uint64_t words) {
  require_some("soa_to_aos", words, "structs of 0 words", "at least one word");
  return transposed(words, count);
}

Permutation aosoa(std::uint64_t count, std::uint64_t words, std::uint64_t tile) {
  require_some("aosoa", words, "structs of 0 words", "at least one word");
  require_some("aosoa", tile, "tiles of 0 structs", "at least one struct");
  if (tile >= count) return transposed(count, words);
  if (count % tile == 0) {
    const Axes axes({count / tile, tile, words}, {0, 2, 1});
    if (auto form = affine_form(axes)) return *form;
    return axes;
  }
  const std::uint64_t elements = Axes({count, words}, {0, 1}).count();  // refuses what is too long
  const bool is_wide = elements > std::uint64_t{1} << 32;
  detail::require_memory("aosoa", std::to_string(elements) + " entries",
                         elements * (is_wide ? 8 : 4) + elements / 8);
  const Indexed map = is_wide ? with_short_tile<std::uint64_t>(count, words, tile)
                              : with_short_tile<std::uint32_t>(count, words, tile);
  return map.labelled("aosoa(" + std::to_string(count) + ", " + std::to_string(words) + ", " +
                      std::to_string(tile) + ")");
}

}  // namespace faro::maps
