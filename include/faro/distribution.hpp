// How an array of several axes is distributed over a mesh of ranks: who holds what.
//
//     faro::parse_distribution("mesh 2x3; axis 0 over 0; axis 1 over 1")
//
//     4 x 6 elements, 6 ranks         0 0 1 1 2 2        mesh axis 0 has 2 ranks and cuts the rows,
//     as a mesh of 2 x 3              0 0 1 1 2 2        mesh axis 1 has 3 and cuts the columns:
//                                     3 3 4 4 5 5        rank 4 has the coordinates 1, 1
//                                     3 3 4 4 5 5
//
// Each array axis is cut over none, one or several mesh axes, and each mesh axis cuts one array axis at most.
// Over the mesh axes that cut none the array is replicated:
//
//     axis 0 over 0                   ranks 0 1 2 all hold the upper rows, 3 4 5 the lower ones
//     axis 0 over 0 1                 six slabs of rows, the first of the mesh axes named slowest
//     axis 1 over 1 in blocks of 1    dealt out like cards: columns 0 3, 1 4, 2 5 (ScaLAPACK's cyclic blocks)
//     axis 1 over 1 in 3 0 3          so many columns each
//     mesh 2 at 4                     ranks 4 and 5; all others hold nothing
//     mesh 3; rank 0 holds 0:4 0:2; rank 2 holds 0:4 2:6        a box each, or nothing
//
// What a rank holds is a product, along each axis a few runs of places; it holds them in the order of the
// array's indices. Two distributions of different meshes, or of groups of ranks that share nobody, are two
// meshes among the ranks of one communicator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faro {

struct MeshAxis {
  std::string name = {};  // may be empty
  int ranks = 1;

  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// Ranks `first` and following of a communicator as a grid, the last axis fastest.
struct Mesh {
  std::vector<MeshAxis> axes = {};
  int first = 0;

  friend bool operator==(const Mesh&, const Mesh&) = default;
};

/// How one array axis is cut over mesh axes.
struct CutAxis {
  int axis = 0;
  std::vector<int> over = {};  // mesh axes, the slowest first
  /// 0: a slab each. Else blocks of so many places are dealt out to the ranks in turn.
  std::uint64_t block = 0;
  /// Of the slabs, one for each; empty: as even as can be, the longer ones first.
  std::vector<std::uint64_t> extents = {};

  friend bool operator==(const CutAxis&, const CutAxis&) = default;
};

/// What a rank of the mesh holds: the places from `begin` to before `end`, of each axis.
struct RankBox {
  int rank = 0;  // of the mesh, row by row
  std::vector<std::uint64_t> begin = {};
  std::vector<std::uint64_t> end = {};

  friend bool operator==(const RankBox&, const RankBox&) = default;
};

/// Cuts of axes, or boxes.
struct Distribution {
  Mesh mesh = {};
  std::vector<CutAxis> axes = {};
  /// Several ranks may hold the same box; others share nothing, and together they hold all. Ranks without
  /// hold nothing.
  std::vector<RankBox> boxes = {};

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Reads the text form, as above, or JSON (docs/guide/json.md, "distributions"). `operation` is for messages.
/// Errors: ErrorCode::value with what was expected.
Distribution parse_distribution(std::string_view text, const std::string& operation = "read a distribution");
/// A mesh alone: "2x3", "data=2,model=3", "2x3 at 4".
Mesh parse_mesh(std::string_view text, const std::string& operation = "read a mesh");

/// Law: parse_distribution(to_text(d)) == d, and so of to_json().
std::string to_text(const Distribution& distribution);
std::string to_text(const Mesh& mesh);
std::string to_json(const Distribution& distribution);

/// Runs of places along an axis: `begin` + k `stride` and the `length` - 1 behind it, for k below `count`.
struct AxisRuns {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t count = 1;
  std::uint64_t stride = 0;

  friend bool operator==(const AxisRuns&, const AxisRuns&) = default;
};

/// What a rank holds: the product of its axes' runs, ascending. Nothing: every axis without runs.
struct RankPart {
  std::vector<std::vector<AxisRuns>> axes = {};

  /// Of the part as an array of its own.
  std::vector<std::uint64_t> shape() const;
  std::uint64_t elements() const;
};

/// Requires: a rank of 0 or more. Errors: ErrorCode::value for a distribution that is none of this shape,
/// saying why.   Cost: of the axes; with boxes, of their number.
RankPart part_of(const Distribution& distribution, const std::vector<std::uint64_t>& shape, int rank);

/// SVG: who holds what of the array's first two axes of more than one place, before and after.
struct DrawnDistribution {
  Distribution distribution;
  std::vector<std::uint64_t> shape;
};
std::string svg_of(const DrawnDistribution& before, const DrawnDistribution& after);

}  // namespace faro
