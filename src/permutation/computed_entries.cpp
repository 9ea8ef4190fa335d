// A computed map as an index array, written tile by tile where it has tiles.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/computed.hpp"
#include "io/buffer.hpp"
#include "permutation/computed_map.hpp"
#include "permutation/computed_sides.hpp"
#include "permutation/index_check.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostTilePlaces = std::uint64_t{1} << 14;

// The formula's own entries: of each element x of the ordered side the place on the other.
template <typename Word>
std::vector<Word> places_by_tiles(const detail::ComputedTiles& tiles, std::uint64_t count) {
  const detail::ComputedTiles::Sizes& sizes = tiles.sizes();
  std::vector<Word> places(count);
  detail::for_each_index(count / sizes.tile, [&](std::uint64_t number) {
    std::vector<detail::ComputedRun> runs(sizes.runs);
    std::vector<detail::ComputedLeaf> leaves(tiles.leaves());
    std::vector<Word> buffer(sizes.buffer);
    const std::size_t found = tiles.tile(number, runs, leaves);
    for (const detail::ComputedRun& run : std::span(runs).first(found)) {
      for (std::uint64_t i = 0; i < run.elements; ++i) buffer[run.at + i] = static_cast<Word>(run.place + i);
    }
    Word* to = places.data() + number * sizes.tile;
    for (const detail::ComputedLeaf& leaf : leaves) {
      const std::uint16_t* const order = tiles.order(leaf.order);
      for (std::uint64_t k = 0; k < sizes.leaf; ++k) *to++ = buffer[leaf.at + order[k]];
    }
  });
  return places;
}

template <typename Word>
Indexed entries_of_computed(const Computed& map) {
  const std::uint64_t count = map.count();
  const Direction direction = detail::entry_direction(map);
  if (const auto tiles = map.map().tiles(kMostTilePlaces))
    return Indexed(places_by_tiles<Word>(*tiles, count), direction);
  const Computed entry = direction == Direction::scatter ? map : map.inverse();
  std::vector<Word> entries(count);
  detail::for_each_index(count, [&](std::uint64_t i) { entries[i] = static_cast<Word>(entry(i)); });
  return Indexed(std::move(entries), direction);
}

}  // namespace

Indexed as_index_array(const Computed& map) {
  const std::uint64_t count = map.count();
  if (count > Indexed::kMaxCount) {
    fail(ErrorCode::value, "index array", map.text() + " of " + std::to_string(count) + " elements",
         "at most 2^40 elements");
  }
  const bool wide = count > std::uint64_t{1} << 32;
  detail::require_memory(map.text(), std::to_string(count) + " entries", count * (wide ? 8 : 4) + count / 8);
  const Indexed made =
      wide ? entries_of_computed<std::uint64_t>(map) : entries_of_computed<std::uint32_t>(map);
  return made.labelled(map.text());
}

}  // namespace faro
