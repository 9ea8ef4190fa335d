// The tile kernels in shapes so small that the maps of sixteen indices fill them: the same phases, launched
// by the tests themselves.
//
// A map of four bits acts on the index bits `position`; the others stay. So blocked kernels, whose vectors of
// 16 bytes alone hold as much, see every such map reach into a word, across words and across vectors:
//
//     index of 64 bytes   [ 5 4 | 3 2 | 1 0 ]      position 0 1 4 5
//                           row          in a word
#pragma once

#include <cstddef>
#include <iterator>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/stream.hpp"

namespace faro::testing {

struct TestTile {
  kernels::CompiledTile kernel;
  int index_bits = 4;
  int position[4] = {0, 1, 2, 3};
};

inline constexpr TestTile kTestTiles[] = {
    // width, s, r, v, threads (all log2)
    {{{0, 1, 1, 1, 1}, false}},                  //
    {{{0, 2, 2, 2, 1}, false}},                  //
    {{{1, 2, 2, 2, 2}, false}},                  //
    {{{2, 1, 1, 1, 0}, false}},                  //
    {{{2, 2, 2, 2, 2}, false}},                  //
    {{{3, 2, 2, 1, 2}, false}},                  //
    {{{4, 1, 1, 0, 2}, false}},                  //
    {{{4, 2, 2, 0, 3}, false}},                  //
    {{{0, 4, 2, 4, 0}, true}, 6, {0, 1, 4, 5}},  //
    {{{0, 5, 2, 4, 1}, true}, 7, {1, 3, 5, 6}},  //
    {{{1, 3, 1, 3, 0}, true}},                   //
    {{{1, 4, 2, 3, 1}, true}, 6, {0, 2, 4, 5}},  //
};
inline constexpr std::size_t kTestTileCount = std::size(kTestTiles);

/// Four banks, on which even so few elements have conflicts to avoid: the layouts swizzle.
inline constexpr machine::MemoryGeometry kFourBanks{
    .warp_size = 4, .banks = 4, .sector_bytes = 4, .line_bytes = 8};

/// Queues a kernel of kTestTiles. `params`: kernels::AffineBlockedParams where it is blocked, else
/// kernels::AffineTileParams. Throws std::runtime_error where the launch fails.
void launch_test_tile(std::size_t number, const void* params, std::uint64_t blocks, const std::byte* in,
                      std::byte* out, Stream stream);

}  // namespace faro::testing
