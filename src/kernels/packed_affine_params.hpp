// Parameters of the kernel for affine maps of packed elements (packed_affine.hpp), made on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "faro/layout/tile.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/permutation/affine.hpp"
#include "kernels/packed_affine.hpp"
#include "kernels/packed_in_place.hpp"

namespace faro::kernels {

/// A tile's exchange inside words, and the map of words that is left.
struct PackedWordMap {
  WordExchange exchange{};
  std::vector<f2::Word> words = {};   // source places of words: the basis of a thread's
  std::vector<f2::Word> groups = {};  // and of groups
  f2::Matrix stored;                  // places in words to numbers of words that are stored
  f2::Matrix local;                   // of words: source slot to target place
};
/// Groups whose words share lines of 64 bytes on either side come one behind another.
/// Requires: `local` has twice as many index bits as a word has, or more (unchecked).
PackedWordMap make_packed_word_map(const f2::Matrix& local, int word_index_bits);

/// Where a group's first word is read, or written back: what its elements have added to their places is made
/// up for by the words' numbers.
struct PackedGroupSlots {
  f2::Word read = 0;
  f2::Word written = 0;
};
PackedGroupSlots packed_group_slots(const PackedWordMap& map, const f2::Matrix& local, f2::Word group,
                                    int word_index_bits);

/// Whether arrays of the map are large enough for a tile, and not too large; by squares, moreover, whether
/// words of one sector exchange no bits.
bool fits(const Affine& map, const PackedAffineShape& shape);

/// The tile of elements.
layout::Tile make_packed_tile(const Affine& map, const PackedAffineShape& shape);

/// Errors: ErrorCode::unsupported for a map that does not fit, and as make_affine_tile_params().
/// Cost: O(m^3) word operations, some ten microseconds.
PackedAffineParams make_packed_affine_params(const Affine& map, const PackedAffineShape& shape,
                                             std::uint64_t batch,
                                             const machine::MemoryGeometry& geometry = {});

/// The same of a tile that was made before, of the shape's size; squares are loaded, if there are any.
PackedAffineParams make_packed_affine_params(const layout::Tile& tile, const PackedAffineShape& shape,
                                             std::uint64_t batch,
                                             const machine::MemoryGeometry& geometry = {});

/// Passes in place by the kernel of kPackedInPlaceTiles[tile], the first to be run first.
struct PackedInPlacePasses {
  std::size_t tile = 0;
  std::vector<PackedInPlaceParams> passes;
};

/// Nothing for arrays that are smaller than the smallest tile, and where a pass has other tiles.
/// Cost: some milliseconds.
std::optional<PackedInPlacePasses> make_packed_in_place(std::uint32_t element_bits, const Affine& map,
                                                        std::uint64_t batch);

/// Lanes that wait for one bank while words are read for the exchange, and while they are written back, or
/// written by load_squares: 1, but where no layout that was tried parts all banks. Loads and stores of the
/// tile have 1.
struct ExchangeCongestion {
  int loads = 1;
  int stores = 1;
};
ExchangeCongestion predicted_exchange_congestion(const PackedAffineParams& params,
                                                 const PackedAffineShape& shape,
                                                 const machine::MemoryGeometry& geometry = {});

}  // namespace faro::kernels
