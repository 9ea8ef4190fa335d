#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr const char* kOperation = "fit the kernels in place";
void require_batch(int index_bits, std::uint64_t batch) {
  if (batch == 0) fail(ErrorCode::value, kOperation, "a batch of 0", "at least one array");
  constexpr int max_total_bits = 63;
  if (index_bits > max_total_bits || batch > std::uint64_t{1} << (max_total_bits - index_bits)) {
    fail(ErrorCode::unsupported, kOperation,
         std::to_string(batch) + " arrays of 2^" + std::to_string(index_bits) + " elements",
         "at most 2^63 elements in all");
  }
}

// --- the basis of block numbers

// Block numbers in a basis in which the involution is a shift and an XOR.
struct SwapBasis {
  std::vector<Word> directions;  // of block numbers as given: v, x, u and p
  Word origin = 0;
  int moved_bits = 0;
  bool all_move = false;
};

// A basis for next(b) = N b ^ d with N N = I and N d = d.
SwapBasis find_swap_basis(const Matrix& next, Word complement) {
  const int k = next.rows();
  const Matrix moved = next + Matrix::identity(k);
  SwapBasis basis;
  Subspace images(k);
  std::vector<Word> image_list;
  for (int i = 0; i < k; ++i) {
    if (!images.insert(moved.column(i))) continue;
    basis.directions.push_back(f2::unit(i));
    image_list.push_back(moved.column(i));
  }
  basis.moved_bits = static_cast<int>(image_list.size());
  basis.all_move = !images.contains(complement);
  Subspace staying = images;
  if (basis.all_move) {
    staying.insert(complement);
  } else if (complement != 0) {
    const auto origin = moved.solve(complement);
    FARO_CHECK(origin.has_value());
    basis.origin = *origin;
  }
  basis.directions.insert(basis.directions.end(), image_list.begin(), image_list.end());
  const std::vector<Word> kernel = moved.kernel();
  for (const Word u : f2::complete(staying, Subspace::span(k, kernel))) basis.directions.push_back(u);
  if (basis.all_move) basis.directions.push_back(complement);
  FARO_CHECK(static_cast<int>(basis.directions.size()) == k);
  return basis;
}

OrbitKind kind_of(const SwapBasis& basis) {
  if (basis.all_move) return OrbitKind::all_swap;
  return basis.moved_bits == 0 ? OrbitKind::stay : OrbitKind::swap;
}

// The tile with its blocks counted along other directions, from another origin on.
void count_along(OrderedTile& ordered, const SwapBasis& basis) {
  layout::Tile& tile = ordered.tile;
  std::vector<Word> sources;
  std::vector<Word> targets;
  for (const Word direction : basis.directions) {
    sources.push_back(f2::combine(tile.block_sources.data(), direction));
    targets.push_back(f2::combine(tile.block_targets.data(), direction));
  }
  ordered.origin = f2::combine(tile.block_sources.data(), basis.origin);
  tile.complement ^= f2::combine(tile.block_targets.data(), basis.origin);
  tile.block_sources = std::move(sources);
  tile.block_targets = std::move(targets);
}

void fill_digits(std::uint64_t (&table)[kBlockDigits][kBlockDigitValues], const std::vector<Word>& columns) {
  for (std::size_t bit = 0; bit < columns.size(); ++bit) {
    const std::size_t bit_of_digit = std::size_t{1} << bit % kBlockDigitBits;
    for (std::size_t value = 0; value < kBlockDigitValues; ++value) {
      if ((value & bit_of_digit) != 0) table[bit / kBlockDigitBits][value] ^= columns[bit];
    }
  }
}

std::vector<Word> in_bytes(std::vector<Word> elements, int width_bits) {
  for (Word& v : elements) v <<= width_bits;
  return elements;
}

// Every look-up XORs exactly one value of digit 0, if there is a block bit at all.
void add_origin(std::uint64_t (&table)[kBlockDigits][kBlockDigitValues], Word origin) {
  for (std::uint64_t& value : table[0]) value ^= origin;
}

}  // namespace

OrderedTile order_orbits(const layout::InPlaceTile& in_place, std::uint64_t batch) {
  const int k = in_place.tile.block_bits();
  if (k > kMaxBlockBits) {
    fail(ErrorCode::unsupported, kOperation, "2^" + std::to_string(k) + " blocks an array",
         "at most 2^" + std::to_string(kMaxBlockBits));
  }
  require_batch(in_place.tile.index_bits, batch);
  OrderedTile ordered{.tile = in_place.tile, .origin = 0, .orbits = {}};
  BlockOrbits& orbits = ordered.orbits;
  orbits.block_bits = k;
  orbits.most_tiles = static_cast<std::int32_t>(in_place.orbit_tiles);
  orbits.batch = batch;
  if (in_place.orbit_tiles > 2) {
    orbits.kind = OrbitKind::walk;
    orbits.next_complement = in_place.next_complement;
    for (int j = 0; j < k; ++j) orbits.next_column[j] = in_place.next_matrix.column(j);
    return ordered;
  }
  const SwapBasis basis = find_swap_basis(in_place.next_matrix, in_place.next_complement);
  orbits.kind = kind_of(basis);
  orbits.moved_bits = basis.moved_bits;
  orbits.next_complement = basis.all_move ? f2::unit(k - 1) : 0;
  count_along(ordered, basis);
  return ordered;
}

AffineInPlaceParams make_affine_in_place_params(const layout::InPlaceTile& in_place,
                                                const AffineTileShape& shape, std::uint64_t batch,
                                                const machine::MemoryGeometry& geometry) {
  const OrderedTile ordered = order_orbits(in_place, batch);
  AffineInPlaceParams params{.tile = make_affine_tile_params(ordered.tile, shape, batch, geometry),
                             .orbits = ordered.orbits};
  add_origin(params.tile.block_source, ordered.origin);
  return params;
}

BlockedInPlaceParams make_blocked_in_place_params(const layout::InPlaceTile& in_place,
                                                  const AffineTileShape& shape, std::uint64_t batch,
                                                  const machine::MemoryGeometry& geometry) {
  const OrderedTile ordered = order_orbits(in_place, batch);
  BlockedInPlaceParams params{.tile = make_affine_blocked_params(ordered.tile, shape, batch, geometry),
                              .orbits = ordered.orbits};
  add_origin(params.tile.tile.block_source, ordered.origin);
  return params;
}

bool swaps_segments(const Affine& map, int segment_bits) {
  if (segment_bits > map.bits() || !map.is_involution()) return false;
  for (int j = 0; j < segment_bits; ++j) {
    if (map.matrix().column(j) != f2::unit(j)) return false;
  }
  return true;
}

AffineSwapParams make_affine_swap_params(const layout::InPlaceTile& in_place, const Affine& map,
                                         int width_bits, int vector_bits, std::uint64_t batch) {
  const int s = in_place.tile.segment_bits;
  FARO_CHECK(in_place.tile.row_bits == 0 && vector_bits >= 0 && vector_bits <= s);
  FARO_CHECK(in_place.tile.index_bits == map.bits());
  FARO_CHECK(1 << (width_bits + vector_bits) <= kMaxVectorBytes);
  if (!swaps_segments(map, s)) {
    fail(ErrorCode::unsupported, kOperation,
         "a map that is more than segments of 2^" + std::to_string(s) + " in pairs",
         "an involution that moves whole segments");
  }
  const int n = map.bits();
  const int tile_bits = std::min(n, vector_bits + kSwapThreadBits + kSwapPairBits);
  const int segment_bits = std::min(s, tile_bits);
  const OrderedTile ordered = order_orbits(
      layout::make_in_place_tile({.map = map, .space = Subspace::low(n, segment_bits), .orbit_tiles = 2},
                                 segment_bits, tile_bits - segment_bits),
      batch);
  FARO_CHECK(ordered.tile.tile_bits() == tile_bits);

  AffineSwapParams params{};
  fill_digits(params.source, in_bytes(ordered.tile.block_sources, width_bits));
  fill_digits(params.target, in_bytes(ordered.tile.block_targets, width_bits));
  add_origin(params.source, ordered.origin << width_bits);
  params.complement = ordered.tile.complement << width_bits;
  params.orbits = ordered.orbits;
  params.array_bits = n + width_bits;
  // What the bits of a vector's number in the tile lead to: columns, then rows.
  std::vector<Word> directions;
  for (int j = vector_bits; j < segment_bits; ++j) directions.push_back(f2::unit(j));
  directions.insert(directions.end(), ordered.tile.source_rows.begin(), ordered.tile.source_rows.end());
  std::vector<Word> targets = directions;
  for (Word& v : targets) v = map.matrix() * v;
  directions = in_bytes(std::move(directions), width_bits);
  targets = in_bytes(std::move(targets), width_bits);
  params.lane_bits = std::min(kSwapThreadBits, tile_bits - vector_bits);
  params.pair_bits = tile_bits - vector_bits - params.lane_bits;
  std::copy_n(directions.begin(), params.lane_bits, params.thread_source);
  std::copy_n(targets.begin(), params.lane_bits, params.thread_target);
  std::copy_n(directions.begin() + params.lane_bits, params.pair_bits, params.pair_source);
  std::copy_n(targets.begin() + params.lane_bits, params.pair_bits, params.pair_target);
  return params;
}

AffineSmallParams make_affine_small_params(const Affine& map, int width_bits, int block_bits,
                                           std::uint64_t batch) {
  const int n = map.bits();
  if (n > kSmallIndexBits) {
    fail(ErrorCode::unsupported, kOperation, "arrays of 2^" + std::to_string(n) + " elements",
         "at most 2^" + std::to_string(kSmallIndexBits));
  }
  require_batch(n, batch);
  AffineSmallParams params{};
  for (int j = 0; j < n; ++j) params.column[j] = static_cast<std::uint32_t>(map.matrix().column(j));
  params.complement = static_cast<std::uint32_t>(map.complement());
  params.elements = batch << n;
  params.index_bits = n;
  params.block_bits = std::max(n, block_bits);
  params.width_bits = width_bits;
  return params;
}

}  // namespace faro::kernels
