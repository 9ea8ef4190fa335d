// The planner for GPUs in place: the passes of layout::factor_in_place, each by a compiled kernel.
//
//     direct     arrays that are too small and too few for tiles: whole, through shared memory
//     segments   whole segments of at least Target::vector_bytes change places in pairs
//     tile       otherwise: the tiles of an orbit, through shared memory
//
// A kernel holds so many elements, and the fewer passes it needs the better; among equals the longest
// segments. Maps that leave long segments whole are factored as maps of segments, so that their factors leave
// them whole, too. Small arrays of a batch are taken 2^f at a time, as out of place: then the whole of them
// is one tile, and every map one pass.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/affine_params.hpp"
#include "kernels/in_place_tiles.hpp"
#include "plan/in_place_launches.hpp"
#include "plan/planners.hpp"

namespace faro::detail {
namespace {

using kernels::CompiledTile;
using kernels::kInPlaceTiles;
using kernels::kMaxVectorBytes;
using layout::InPlaceFactor;
using layout::InPlaceTile;

// Longer segments that stay whole are cut: nothing is gained beyond.
constexpr std::uint64_t kSwapSegmentBytesMax = 4096;
// What a block of the kernel of small arrays holds of them.
constexpr std::uint64_t kSmallBlockBytes = 16384;

// The grid of the launch for aligned arrays.
void write_grid(Pass& pass, int unit_bits) {
  const InPlaceLaunch launch = in_place_launches(pass, unit_bits).front();
  pass.launch->blocks = launch.blocks;
  pass.launch->threads = launch.threads;
  pass.launch->shared_bytes = launch.shared_bytes;
}

// --- small arrays

Pass small_pass(const Work& work) {
  const auto unit_bytes = std::uint64_t{1} << work.unit_bits;
  const int n = work.map.bits();
  Pass pass = make_pass(PassKind::direct, work.map, work.unit_bits, work.arrays, work.array_bytes());
  pass.orbits = layout::make_in_place_tile({.map = work.map, .space = f2::Subspace::low(n, n)}, 0, 0);
  pass.tile = pass.orbits->tile;
  pass.launch = Launch{.vector_bytes = static_cast<int>(unit_bytes), .shared_bytes = kSmallBlockBytes};
  write_grid(pass, work.unit_bits);
  return pass;
}

// --- factors

// `map` without its low bits, which it leaves where they are.
Affine map_of_segments(const Affine& map, int low_bits) {
  const int n = map.bits() - low_bits;
  f2::Matrix matrix = f2::Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) matrix.set_column(j, map.matrix().column(low_bits + j) >> low_bits);
  return {matrix, map.complement() >> low_bits};
}

// A factor of segments as one of their elements.
InPlaceFactor of_elements(const InPlaceFactor& factor, int low_bits) {
  InPlaceFactor whole{.map = direct_sum(Affine(low_bits), factor.map),
                      .space = f2::Subspace::low(factor.map.bits() + low_bits, low_bits),
                      .orbit_tiles = factor.orbit_tiles};
  for (const f2::Word v : factor.space.basis()) whole.space.insert(v << low_bits);
  return whole;
}

// Segments of 2^low_bits elements stay whole, or low_bits is 0.
struct Factoring {
  const Affine& map;
  int low_bits = 0;
  kernels::AffineTileShape shape;
};

std::vector<InPlaceFactor> factor(const Factoring& f, int most_tiles) {
  const int tile_bits = f.shape.tile_bits() - f.low_bits;
  const layout::InPlaceOptions options{
      .segment_bits = f.low_bits > 0 ? 0 : f.shape.segment_bits,
      .capacity_bits = tile_bits + log2_floor(static_cast<std::uint64_t>(most_tiles)),
      .max_orbit_tiles = static_cast<std::uint64_t>(most_tiles),
      .tile_bits_max = tile_bits};
  if (f.low_bits == 0) return layout::factor_in_place(f.map, options);
  std::vector<InPlaceFactor> factors = layout::factor_in_place(map_of_segments(f.map, f.low_bits), options);
  for (InPlaceFactor& each : factors) each = of_elements(each, f.low_bits);
  return factors;
}

// --- passes

const CompiledTile* find_tile(const kernels::AffineTileShape& shape, bool aligned, bool blocked) {
  const auto* const found =
      std::find_if(std::begin(kInPlaceTiles), std::end(kInPlaceTiles), [&](const CompiledTile& tile) {
        return tile.shape.width_bits == shape.width_bits && tile.shape.segment_bits == shape.segment_bits &&
               tile.shape.row_bits == shape.row_bits && tile.blocked == blocked &&
               (aligned ? tile.shape.vector_bytes() == kMaxVectorBytes : tile.shape.vector_bits == 0);
      });
  return found == std::end(kInPlaceTiles) ? nullptr : found;
}

bool moves_segments(const InPlaceTile& tile) {
  return tile.next_complement != 0 || !(tile.next_matrix == f2::Matrix::identity(tile.tile.block_bits()));
}

struct Setting {
  const Work& work;
  const Target& target;
  const CompiledTile& kernel;
  int low_bits = 0;  // segments that stay whole
  int folded_batch_bits = 0;
};

Pass pass_of(const Setting& setting, PassKind kind, const InPlaceFactor& factor, InPlaceTile tile) {
  const int segment_bits = tile.tile.segment_bits + setting.work.unit_bits;
  Pass pass = make_pass(kind, factor.map, setting.work.unit_bits,
                        setting.work.arrays >> setting.folded_batch_bits, std::uint64_t{1} << segment_bits);
  pass.tile = tile.tile;
  pass.orbits = std::move(tile);
  return pass;
}

// Where the factor does no more than swap segments.
std::optional<Pass> swap_pass(const Setting& setting, const InPlaceFactor& factor) {
  const int s = setting.low_bits > 0 ? setting.low_bits : setting.kernel.shape.segment_bits;
  if (factor.space.dimension() != s || !kernels::swaps_segments(factor.map, s)) return std::nullopt;
  InPlaceTile tile = layout::make_in_place_tile(factor, s, 0);
  if (!moves_segments(tile)) return std::nullopt;
  Pass pass = pass_of(setting, PassKind::segments, factor, std::move(tile));
  pass.launch = Launch{.vector_bytes = kMaxVectorBytes};
  write_grid(pass, setting.work.unit_bits);
  return pass;
}

std::optional<Pass> tile_pass(const Setting& setting, const InPlaceFactor& factor) {
  const kernels::AffineTileShape& shape = setting.kernel.shape;
  const machine::MemoryGeometry geometry = geometry_of(setting.target);
  InPlaceTile tile = layout::make_in_place_tile(factor, shape.segment_bits, shape.row_bits);
  if (!kernels::fits(tile.tile, shape)) return std::nullopt;
  CompiledTile kernel = setting.kernel;
  if (kernel.blocked && !kernels::fits_blocked(tile.tile, shape, geometry)) {
    const CompiledTile* const plain = find_tile(shape, true, false);
    if (plain == nullptr) return std::nullopt;
    kernel = *plain;
  }
  Pass pass = pass_of(setting, PassKind::tile, factor, std::move(tile));
  pass.placement = kernel.blocked ? kernels::make_blocked_layout(pass.tile, kernel.shape, geometry)
                                  : kernels::make_tile_layout(pass.tile, kernel.shape, geometry);
  const CompiledTile* const unaligned = find_tile(shape, false, false);
  pass.launch = Launch{.tile = kernel,
                       .unaligned_tile = unaligned == nullptr ? std::nullopt : std::optional(*unaligned),
                       .vector_bytes = kernel.shape.vector_bytes()};
  write_grid(pass, setting.work.unit_bits);
  if (pass.launch->shared_bytes > setting.target.chunk_bytes_max) return std::nullopt;
  return pass;
}

// --- the choice

std::optional<std::vector<Pass>> passes_of(const Setting& setting,
                                           const std::vector<InPlaceFactor>& factors) {
  std::vector<Pass> passes;
  for (const InPlaceFactor& factor : factors) {
    std::optional<Pass> pass = swap_pass(setting, factor);
    if (!pass) pass = tile_pass(setting, factor);
    if (!pass) return std::nullopt;
    passes.push_back(*std::move(pass));
  }
  return passes;
}

// Orbits as long as the kernels take, then pairs, then single tiles.
std::optional<std::vector<Pass>> try_factors(const Setting& setting, const Affine& map) {
  const kernels::AffineTileShape& shape = setting.kernel.shape;
  const Factoring factoring{.map = map, .low_bits = setting.low_bits, .shape = shape};
  for (int most_tiles = kernels::most_orbit_tiles(shape); most_tiles >= 1; most_tiles /= 2) {
    const int block_tiles = kernels::is_clustered(shape) ? 1 : most_tiles;
    if (static_cast<std::uint64_t>(shape.tile_bytes()) * static_cast<std::uint64_t>(block_tiles) >
        setting.target.chunk_bytes_max) {
      continue;
    }
    try {
      if (auto passes = passes_of(setting, factor(factoring, most_tiles))) return passes;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
    }
  }
  return std::nullopt;
}

std::optional<Planned> try_in_place(const Work& work, const CompiledTile& kernel, const Target& target) {
  const int folded = std::max(0, kernel.shape.tile_bits() - work.map.bits());
  if (folded > log2_floor(work.arrays)) return std::nullopt;
  const Affine map = direct_sum(work.map, Affine(folded));
  Setting setting{
      .work = work, .target = target, .kernel = kernel, .low_bits = 0, .folded_batch_bits = folded};
  const int whole = whole_segment_bits(work);
  const int least = log2_floor(target.vector_bytes) - work.unit_bits;
  if (whole >= least) {
    const int most = log2_floor(kSwapSegmentBytesMax) - work.unit_bits;
    for (const int low_bits : {std::min(whole, most), least}) {
      setting.low_bits = low_bits;
      if (low_bits == 0 || low_bits > kernel.shape.tile_bits()) continue;
      if (auto passes = try_factors(setting, map)) {
        return Planned{.passes = *std::move(passes), .folded_batch_bits = folded};
      }
    }
    setting.low_bits = 0;
  }
  if (auto passes = try_factors(setting, map)) {
    return Planned{.passes = *std::move(passes), .folded_batch_bits = folded};
  }
  return std::nullopt;
}

// So much shared memory a block comes with clusters of blocks: compute capabilities 9.0 and 10.0.
bool has_clusters(const Target& target) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{227} << 10;
  return target.chunk_bytes_max >= kLeastBytes;
}

bool is_candidate(const CompiledTile& kernel, const Work& work, const Target& target) {
  return kernel.shape.width_bits == work.unit_bits && kernel.shape.vector_bytes() == kMaxVectorBytes &&
         (has_clusters(target) || !kernels::is_clustered(kernel.shape));
}

std::optional<Planned> choose(const Work& work, const Target& target) {
  if (target.tile) {
    if (is_candidate(*target.tile, work, target)) {
      if (auto planned = try_in_place(work, *target.tile, target)) return planned;
    }
    fail(ErrorCode::unsupported, "plan", "a tile kernel that cannot carry out this map in place",
         "one of this element width that holds the map's tiles", "leave the choice to the planner");
  }
  const bool small = work.array_bytes() <= target.small_bytes_max / work.arrays;
  std::optional<Planned> best;
  int best_bytes = 0;
  for (const CompiledTile& kernel : kInPlaceTiles) {
    if (!is_candidate(kernel, work, target)) continue;
    const bool smaller = small && kernel.shape.tile_bytes() < best_bytes;
    if (best && best->passes.size() == 1 && !smaller) continue;
    auto planned = try_in_place(work, kernel, target);
    if (!planned) continue;
    const std::size_t passes = planned->passes.size();
    if (best && passes >= best->passes.size() && !(smaller && passes == best->passes.size())) continue;
    best = std::move(planned);
    best_bytes = kernel.shape.tile_bytes();
  }
  return best;
}

}  // namespace

Planned plan_in_place_for_gpu(const Work& work, const Target& target) {
  require_units(work, kernels::kSwapThreadBits);
  if (work.map.is_identity()) return {};
  std::optional<Planned> planned = choose(work, target);
  if (!planned) {
    const bool small = work.map.bits() <= kernels::kSmallIndexBits &&
                       work.array_bytes() <= std::max(target.chunk_bytes_max, kSmallBlockBytes);
    if (small) return {.passes = {small_pass(work)}};
    fail(ErrorCode::unsupported, "plan",
         "2^" + std::to_string(work.map.bits()) + " units of " + std::to_string(1 << work.unit_bits) +
             " bytes in place, " + std::to_string(target.chunk_bytes_max) + " bytes of shared memory a block",
         "shared memory for the tiles of a compiled kernel", "give a second array for the result");
  }
  const std::uint64_t folded = work.arrays >> planned->folded_batch_bits << planned->folded_batch_bits;
  if (folded != work.arrays) {
    Pass rest = small_pass({.map = work.map, .unit_bits = work.unit_bits, .arrays = work.arrays - folded});
    rest.offset = folded * work.array_bytes();
    planned->passes.push_back(std::move(rest));
  }
  return *std::move(planned);
}

}  // namespace faro::detail
