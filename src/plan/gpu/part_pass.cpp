#include "plan/gpu/part_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "faro/error.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

using f2::Subspace;
using f2::Word;
using kernels::CompiledTile;
using kernels::kSegmentsThreadBits;

bool parity(Word x) { return (std::popcount(x) & 1) != 0; }

// v moved along the slices' directions to where all slice bits are 0.
Word into_first_slice(const PartProblem& of, Word v) {
  Word moved = v;
  for (std::size_t i = 0; i < of.slice_masks.size(); ++i) {
    if (parity(v & of.slice_masks[i])) moved ^= of.slice_sources[i];
  }
  return moved;
}

Word rank_of(const PartProblem& of, Word place) {
  return of.local_bits >= f2::kMaxDimension ? 0 : place >> of.local_bits;
}

Word complement_of(const PartProblem& of) {
  return of.local_bits >= f2::kMaxDimension ? of.map.complement() : of.map(of.rank << of.local_bits);
}

// Block directions: what leads to other arrays first, then by target, then the slices.
std::vector<Word> block_sources(const PartProblem& of, const Subspace& tile, int segment_bits) {
  const int m = of.local_bits;
  Subspace grown = tile;
  std::vector<Word> made;
  const auto take = [&](Word v) {
    const Word direction = into_first_slice(of, v) & ~f2::low_mask(segment_bits);
    if (grown.insert(direction)) made.push_back(direction);
  };
  Subspace arrays(of.map.bits() - m);
  for (const Word t : tile.basis()) arrays.insert(rank_of(of, of.map.matrix() * t));
  for (int j = m - 1; j >= segment_bits; --j) {
    if (arrays.insert(rank_of(of, of.map.matrix().column(j)))) take(f2::unit(j));
  }
  for (int i = segment_bits; i < of.map.bits(); ++i) {
    const Word source = of.map.inverse_matrix().column(i);
    if (rank_of(of, source) == 0) take(source);
  }
  for (int j = segment_bits; j < m; ++j) take(f2::unit(j));
  for (const Word v : of.slice_sources) {
    FARO_CHECK(grown.insert(v));
    made.push_back(v & ~f2::low_mask(segment_bits));
  }
  FARO_CHECK(grown.dimension() == m);
  return made;
}

std::optional<layout::Tile> tile_of(const PartProblem& of, const CompiledTile& kernel) {
  const int s = kernel.shape.segment_bits;
  const int m = of.local_bits;
  const auto slices = static_cast<int>(of.slice_masks.size());
  if (m < kernel.shape.tile_bits() + slices || !keeps_segments_local(of.map, m, s) ||
      of.map.rank_gamma(s) > kernel.shape.row_bits)
    return std::nullopt;
  const Subspace segment = Subspace::low(of.map.bits(), s);
  Subspace space = f2::sum(segment, f2::image(of.map.inverse_matrix(), segment));
  for (const Word t : space.basis()) {
    if (into_first_slice(of, t) != t) return std::nullopt;  // a slice would part a tile
  }
  std::vector<Word> directions;
  for (int i = s; i < m && space.dimension() < kernel.shape.tile_bits(); ++i) {
    const Word v = into_first_slice(of, f2::unit(i));
    if (space.insert(v)) directions.push_back(v);
  }
  layout::Tile tile = layout::make_tile(of.map, {.segment_bits = s, .directions = directions});
  tile.block_sources = block_sources(of, space, s);
  tile.block_targets.clear();
  for (const Word v : tile.block_sources) tile.block_targets.push_back(of.map.matrix() * v);
  tile.complement = complement_of(of);
  return tile;
}

std::optional<PartPass> tile_pass(const PartProblem& of, const CompiledTile& kernel, const Target& target) {
  const kernels::AffineTileShape& shape = kernel.shape;
  if (shape.width_bits != of.unit_bits || !kernels::moves_parts(kernel)) return std::nullopt;
  const std::optional<layout::Tile> tile = tile_of(of, kernel);
  if (!tile) return std::nullopt;
  const machine::MemoryGeometry geometry = geometry_of(target);
  if (!(kernel.blocked ? kernels::fits_blocked(*tile, shape, geometry) : kernels::fits(*tile, shape)))
    return std::nullopt;
  PartPass made{
      .tile = kernel,
      .params = {},
      .blocks = std::uint64_t{1} << tile->block_bits(),
      .threads = shape.threads(),
      .shared_bytes = static_cast<std::uint64_t>(shape.tile_bytes()),
      .vector_bytes = static_cast<std::uint64_t>(shape.vector_bytes()),
      .slice_bits = static_cast<int>(of.slice_masks.size()),
      .array_bytes_bits = of.local_bits + of.unit_bits,
      .kernel = fmt::format("tiles of 2^{} units of {} bytes", shape.tile_bits(), shape.element_bytes())};
  if (kernel.blocked) {
    made.params = kernels::make_affine_blocked_params(*tile, shape, 1, geometry);
  } else {
    made.params = kernels::make_affine_tile_params(*tile, shape, 1, geometry);
  }
  return made;
}

// One vector a thread: AffineSegmentsParams of the part's own bits.
std::optional<PartPass> vectors_pass(const PartProblem& of, int vector_bits) {
  const int m = of.local_bits - vector_bits;
  const Word complement = complement_of(of);
  if (m < 0 || m > kernels::kMaxBlockBits + kSegmentsThreadBits || !of.slice_masks.empty())
    return std::nullopt;
  if ((complement & f2::low_mask(vector_bits)) != 0) return std::nullopt;
  for (int j = 0; j < of.local_bits; ++j) {
    const Word column = of.map.matrix().column(j);
    if (j < vector_bits ? column != f2::unit(j) : (column & f2::low_mask(vector_bits)) != 0)
      return std::nullopt;
  }
  const auto image = [&](int j) {
    return j < m ? of.map.matrix().column(vector_bits + j) >> vector_bits : 0;
  };
  kernels::AffineSegmentsParams params{};
  for (int j = 0; j < kSegmentsThreadBits; ++j) params.thread_target[j] = image(j);
  params.block_bits = std::max(0, m - kSegmentsThreadBits);
  for (int bit = 0; bit < params.block_bits; ++bit) {
    for (int value = 0; value < kernels::kBlockDigitValues; ++value) {
      if ((value >> bit % kernels::kBlockDigitBits & 1) != 0)
        params.block_target[bit / kernels::kBlockDigitBits][value] ^= image(kSegmentsThreadBits + bit);
    }
  }
  params.complement = complement >> vector_bits;
  params.vectors = std::uint64_t{1} << m;
  const std::uint64_t bytes = std::uint64_t{1} << (of.unit_bits + vector_bits);
  return PartPass{.tile = {},
                  .params = params,
                  .blocks = params.blocks(),
                  .threads = kernels::kSegmentsThreads,
                  .shared_bytes = 0,
                  .vector_bytes = bytes,
                  .slice_bits = 0,
                  .array_bytes_bits = of.local_bits + of.unit_bits,
                  .kernel = fmt::format("vectors of {} bytes", bytes)};
}

bool has_room(const PartProblem& of) {
  constexpr int widest_unit_bits = 4;
  return of.unit_bits >= 0 && of.unit_bits <= widest_unit_bits && of.local_bits >= 0 &&
         (1 << std::min(of.map.bits() - of.local_bits, 30)) <= kernels::kMostPartArrays;
}

}  // namespace

bool keeps_segments_local(const Affine& map, int local_bits, int segment_bits) {
  if (segment_bits > local_bits) return false;
  for (int i = 0; i < segment_bits; ++i) {
    if (local_bits < f2::kMaxDimension && map.inverse_matrix().column(i) >> local_bits != 0) return false;
  }
  return true;
}

std::optional<PartPass> make_part_pass(const PartProblem& problem, const Target& target) {
  if (!has_room(problem)) return std::nullopt;
  // Whole lines change places: nothing is to be exchanged on chip. But vectors move in the order of the part,
  // and what goes to one array is often one half of it: tiles go to all arrays by turns.
  const auto by_vectors = [&]() -> std::optional<PartPass> {
    constexpr int vector_bytes_bits = 4;
    constexpr int line_bytes_bits = 7;
    const int line = line_bytes_bits - problem.unit_bits;
    if (line > problem.local_bits || !vectors_pass(problem, line)) return std::nullopt;
    return vectors_pass(problem, vector_bytes_bits - problem.unit_bits);
  };
  if (problem.map.bits() == problem.local_bits) {
    if (auto made = by_vectors()) return made;
  }
  for (const CompiledTile& kernel : target.tiles) {
    if (auto made = tile_pass(problem, kernel, target)) return made;
  }
  return by_vectors();
}

std::optional<PartPass> make_unit_part_pass(const PartProblem& problem) {
  if (!has_room(problem)) return std::nullopt;
  return vectors_pass(problem, 0);
}

}  // namespace faro::detail
