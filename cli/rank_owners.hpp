// Which rank has what of an array in files: whole chunks of a store, or a file of its own.
//
//     chunks of a store      | 0 0 | 1 1 | 2 |        slabs of whole chunks, for 3 ranks
//     part-{rank}.npy        part-0.npy  part-1.npy  part-2.npy
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faro/shards.hpp"
#include "store/box.hpp"

namespace faro::cli {

using store::Box;
using store::Shape;

/// Who owns which chunks: places of one axis for each rank, in whole units, one behind another.
struct Owners {
  std::size_t axis = 0;
  std::vector<std::uint64_t> extents = {};  // of the store's axis
  ShardAxis cut = {};                       // the same as the plan counts
};

/// The axes of a store, the units that are not taken apart, and the axes that cuts count.
struct OwnedAxes {
  Shape shape;
  Shape unit;
  Shape counted;
  std::uint64_t items = 1;  // of the store, in an element of the plan
};

/// As even as whole units let them be. Where cuts count the store's own axes, along the one that has most
/// units; else along its first one, and where an element of the plan's first one begins.
Owners owners_of(const OwnedAxes& axes, int ranks);
Box box_of(const Owners& owners, const Shape& shape, int rank);

/// The shape of the whole, of those of all ranks' parts. Errors: ErrorCode::value, with `operation`, for
/// parts that the cut does not give.
Shape whole_shape(const ShardCut& cut, const std::vector<Shape>& parts, const std::string& operation);

/// Whether a name has {rank} in it, which is then the rank's number.
bool is_for_each_rank(const std::string& name);
std::string name_of_rank(std::string name, int rank);

}  // namespace faro::cli
