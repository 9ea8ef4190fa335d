#include "network/launches.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "kernels/affine_params.hpp"

namespace faro::network {
namespace {

constexpr int kMaxElementBytes = 16;

// Elements that a thread holds in registers, log2: 64 or 128 bytes of them, more of large tiles, whose blocks
// are few.
int held_bits(int width_bits, int tile_bits) {
  constexpr int large_bits = 13;
  if (width_bits == 2 && tile_bits >= large_bits) return 5;
  return width_bits <= 3 ? 4 : 3;
}

kernels::TileFunctional functional(const Functional& from, bool negated) {
  return {from.place, from.block, from.constant != negated};
}

kernels::TileLayer tile_layer(const LocalLayer& layer) {
  const bool negated = layer.op.kind == OperatorKind::compare_exchange && layer.op.reversed;
  kernels::TileLayer result;
  result.delta = layer.delta;
  result.bits = layer.bits;
  result.first = functional(layer.frame.front(), negated);
  result.numbered = needs_pair_number(layer.op.kind);
  for (std::size_t i = 1; result.numbered && i < layer.frame.size(); ++i) {
    result.pair.push_back(functional(layer.frame[i], false));
  }
  return result;
}

// The same tile without the move.
layout::Tile in_place(const layout::Tile& tile) {
  layout::Tile still = tile;
  still.target_rows = still.source_rows;
  still.block_targets = still.block_sources;
  still.complement = 0;
  still.local = f2::Matrix::identity(tile.tile_bits());
  return still;
}

// For a launch without layers: any operator that has a kernel for such elements.
Operator idle_operator(const ElementType& element) {
  return is_complex(element.scalar) && !element.with_value ? operators::hadamard() : operators::min_max();
}

enum class Part { only, first, middle, last };

Part part_of(bool first, bool last) {
  if (first) return last ? Part::only : Part::first;
  return last ? Part::last : Part::middle;
}

// Where one of several launches of a pass reads and writes. Those before the last stay in one array: the
// target where tiles are written where they were read, else the source or, since the input is never written,
// the array that is free.
Places places_of(const Pass& pass, const Places& places, Part part) {
  const Place free = places.target == Place::out ? Place::workspace : Place::out;
  const Place resting = pass.in_place ? places.target : places.source == Place::in ? free : places.source;
  const bool reads_source = part == Part::only || part == Part::first;
  const bool writes_target = part == Part::only || part == Part::last;
  return {reads_source ? places.source : resting, writes_target ? places.target : resting};
}

}  // namespace

bool same_kernel(const Operator& a, const Operator& b) {
  if (a.kind == OperatorKind::compare_exchange) return b.kind == a.kind;
  return a == b;
}

kernels::NetworkShape kernel_shape(const Plan& plan, Access access) {
  const std::uint64_t bytes = plan.problem().element.bytes();
  if (bytes > kMaxElementBytes) {
    fail(ErrorCode::unsupported, "plan a network for a GPU",
         "elements of " + std::to_string(bytes) + " bytes", "at most 16", "use engine cpu");
  }
  const int width_bits = std::countr_zero(bytes);
  const int m = plan.sizes().tile_bits;
  const int s = plan.sizes().segment_bits;
  constexpr int vector_width_bits = 4;
  kernels::NetworkShape shape;
  shape.register_bits = std::min(m, held_bits(width_bits, m));
  if (m - shape.register_bits > kernels::kMaxThreadBits) shape.register_bits = m - kernels::kMaxThreadBits;
  shape.tile.width_bits = width_bits;
  shape.tile.segment_bits = s;
  shape.tile.row_bits = m - s;
  shape.tile.vector_bits =
      access == Access::vectors ? std::min({vector_width_bits - width_bits, s, shape.register_bits}) : 0;
  shape.tile.thread_bits = m - shape.register_bits;
  if (!kernels::is_valid(shape)) {
    fail(ErrorCode::unsupported, "plan a network for a GPU",
         "tiles of 2^" + std::to_string(m) + " elements, segments of 2^" + std::to_string(s),
         "at most 2^" + std::to_string(kernels::kMaxThreadBits + kernels::kMaxRegisterBits) +
             " elements, and 2^" + std::to_string(kernels::kMaxRowBits) + " segments",
         "choose smaller tiles or longer segments");
  }
  return shape;
}

std::vector<NetworkLaunch> make_launches(const Plan& plan) {
  const kernels::NetworkShape shape = kernel_shape(plan, Access::vectors);
  const std::vector<Places> places = run_places(plan.passes());
  std::vector<NetworkLaunch> launches;
  for (std::size_t number = 0; number < plan.passes().size(); ++number) {
    const Pass& pass = plan.passes()[number];
    std::size_t begin = 0;
    do {
      std::size_t end = begin;
      std::vector<kernels::TileLayer> layers;
      for (; end < pass.layers.size() && same_kernel(pass.layers[begin].op, pass.layers[end].op); ++end) {
        layers.push_back(tile_layer(pass.layers[end]));
      }
      const bool last = end == pass.layers.size();
      const layout::Tile tile = last ? pass.tile : in_place(pass.tile);
      const layout::Xor layout = kernels::make_network_layout(tile, shape, layers);
      NetworkLaunch launch;
      launch.pass = number;
      launch.op = end > begin ? pass.layers[begin].op : idle_operator(plan.problem().element);
      launch.params = kernels::make_affine_tile_params(tile, shape.tile, plan.problem().batch, layout);
      launch.tables = kernels::make_network_tables(tile, shape, layout, layers);
      launch.places = places_of(pass, places[number], part_of(begin == 0, last));
      launches.push_back(std::move(launch));
      begin = end;
    } while (begin < pass.layers.size());
  }
  return launches;
}

}  // namespace faro::network
