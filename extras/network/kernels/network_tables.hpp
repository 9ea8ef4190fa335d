// Layers of a tile, sorted into groups for the registers of the network kernel (network_tile.hpp). Made on
// the host, once a pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/layout/tile.hpp"
#include "kernels/network_tile.hpp"

namespace faro::kernels {

/// parity(place & j) ^ parity(block & b) ^ constant, for place j = column | row << s of tile b.
struct TileFunctional {
  f2::Word place = 0;
  f2::Word block = 0;
  bool constant = false;
};

/// A layer inside a tile, in the places of layout::Tile.
struct TileLayer {
  f2::Word delta = 0;                     // places j and j ^ delta meet
  TileFunctional first = {};              // 0 where an element is the first of the two
  bool numbered = false;                  // whether the operator asks for the pair's number
  std::vector<TileFunctional> pair = {};  // bit i of it
  int bits = 1;                           // k
};

/// The tables in memory of the host.
struct HostNetworkTables {
  std::vector<NetworkGroup> groups;
  std::vector<NetworkLayer> layers;
  std::vector<NetworkPairs> pairs;  // of every layer, or none where none is numbered

  NetworkTables view() const {
    return {groups.data(), layers.data(), pairs.data(), static_cast<std::uint32_t>(groups.size())};
  }
};

/// What a compiler may know of a group's layers.
std::vector<LayerCode> layer_codes(const HostNetworkTables& tables, const NetworkGroup& group);

/// Where the tile's elements sit in shared memory: free of conflicts for load_tile, store_tile and, by the
/// choice of their lanes, all groups. Of the layouts that are, one that suits as many groups as can be. Where
/// operators ask for numbers of pairs, lanes run along single place bits: then the shares of threads and
/// registers in a number do not meet, and powers of w are products. Elsewhere all threads begin where they
/// need not turn their layers round.   Cost: a few milliseconds.
layout::Xor make_network_layout(const layout::Tile& tile, const NetworkShape& shape,
                                std::span<const TileLayer> layers,
                                const machine::MemoryGeometry& geometry = {});

/// Consecutive layers share a group while their directions span at most shape.register_bits dimensions; no
/// partition into consecutive groups has fewer. The lanes of every group are free of bank conflicts under
/// `layout`.
/// Errors: ErrorCode::unsupported where the shape is not valid or not the tile's, or for pair numbers past 31
/// bits.   Cost: O(m^2) word operations a group.
HostNetworkTables make_network_tables(const layout::Tile& tile, const NetworkShape& shape,
                                      const layout::Xor& layout, std::span<const TileLayer> layers,
                                      const machine::MemoryGeometry& geometry = {});

}  // namespace faro::kernels
