// A network's plan as launches of the GPU's tile kernel: shapes, tables and parameters, made on the host. The
// CUDA engine runs them, the prediction counts what they do.
#pragma once

#include <vector>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/network/plan.hpp"
#include "kernels/network_tables.hpp"

namespace faro::network {

/// One sweep: layers of one operator in the tiles of one pass.
struct NetworkLaunch {
  std::size_t pass = 0;  // of the plan
  Operator op;
  kernels::AffineTileParams params;
  kernels::HostNetworkTables tables;
  Places places;
};

/// Whether one kernel serves both operators: max_min is min_max with the two elements changed round.
bool same_kernel(const Operator& a, const Operator& b);

/// What a thread moves at once between device memory and its tile.
enum class Access {
  vectors,
  elements
};  // 16 bytes, or single elements where an array is aligned to these only

/// The shape that all launches of a plan share.
/// Errors: ErrorCode::unsupported for elements past 16 bytes and tiles that no block can hold.
kernels::NetworkShape kernel_shape(const Plan& plan, Access access);

/// In order, and the same for either access. A pass whose layers have several operators becomes several
/// launches in place, the last of which makes the pass's move.
/// Errors: as kernel_shape, and as kernels::make_network_tables.
std::vector<NetworkLaunch> make_launches(const Plan& plan);

}  // namespace faro::network
