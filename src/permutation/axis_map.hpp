// Axes with strides on both sides: the one form of transposes, flips, rolls, slices, windows, broadcasts and
// batches.
//
// An axis has an extent n, a stride a in the input, a stride b in the output, and a shift s, by which it is
// rolled. A map is a list of axes, whose order says nothing, and where both sides begin:
//
//     out[out_first + sum of b j] = in[in_first + sum of a ((j - s) mod n)]      for all j below the extents
//
// From zero: two rows of three are transposed. Element (r, c) lies at 3 r + c, and goes to r + 2 c. The rows'
// axis has extent 2 and the strides 3 and 1, the columns' axis has extent 3 and the strides 1 and 2:
//
//     in   a b c      out  a d      (2, 3, 1) (3, 1, 2)       the rows flipped: (2, -3, 1) (3, 1, 2), and the
//          d e f           b e                                input's first is the element d, in_first = 3
//                          c f
//
// A broadcast has a = 0, a flip a < 0, a slice larger strides than the extents inside it. What is moved is a
// unit of so many elements or bytes. CuTe's layouts and mdspan's strided mappings are one side of this form:
// here both sides share the extents, so that a map is inverted by exchanging a and b.
//
//     drop       an axis of extent 1 says nothing
//     merge      (n, m a, m b, s) outside (m, a, b, 0)      is  (n m, a, b, m s)
//     split      the other way, where m divides n and s
//     flip       (n, a, b, s)    is  (n, -a, -b, -s) from the other end of both sides
//     fold       (n, 1, 1, 0), n dividing all other strides and both firsts: n units are one
//     invert     (n, b, a, -s)
//     compose    axes of one extent that meet: (n, a, m, s) then (n, m, b, t)   is  (n, a, b, s + t)
//     whole      it permutes a dense array where a and b are each the strides of a dense order
//
// The normal form is the same for all ways to write a map: drop, flip until b > 0, split what is rolled by
// half its extent, merge, and order by b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace faro::detail {

struct StridedAxis {
  std::uint64_t extent = 1;
  std::int64_t in = 0;  // strides in units, of any sign; of the input 0 in a broadcast
  std::int64_t out = 0;
  std::uint64_t shift = 0;  // below the extent

  friend bool operator==(const StridedAxis&, const StridedAxis&) = default;
};

struct AxisMap {
  std::vector<StridedAxis> axes = {};
  std::int64_t in_first = 0;  // units from the beginning of an array to where all j are 0
  std::int64_t out_first = 0;
  std::uint64_t unit = 1;  // elements or bytes of what is moved

  friend bool operator==(const AxisMap&, const AxisMap&) = default;
};

/// Units that are moved. Errors of this and of all below: ErrorCode::value for numbers past 2^63.
std::uint64_t unit_count(const std::vector<StridedAxis>& axes);

/// The two axes as one; nothing where the inner one does not continue in the outer one.
std::optional<StridedAxis> merged(const StridedAxis& outer, const StridedAxis& inner);
/// An outer axis and an inner one of extent `inner`; nothing where that does not divide extent and shift.
std::optional<std::pair<StridedAxis, StridedAxis>> split(const StridedAxis& axis, std::uint64_t inner);
/// The same map, along one axis counted from the other end. Requires: no extent of 0.
void flip(AxisMap& map, std::size_t axis);

/// The most units that can be one: all axes and both beginnings are those of whole ones. 1 where no axis has
/// stride 1 on both sides.
std::uint64_t widest_fold(const AxisMap& map);
/// So many units as one. Requires: `units` divides widest_fold().
AxisMap folded(AxisMap map, std::uint64_t units);
/// Each unit as so many. Law: folded(unfolded(m, n), n) is m in normal form, and both move the same.
AxisMap unfolded(AxisMap map, std::uint64_t units);

/// The part where the axis's j lies in begin .. begin + length - 1. Requires: an axis without shift.
AxisMap cut(AxisMap map, std::size_t axis, std::uint64_t begin, std::uint64_t length);
/// Parts without shifts that together move all: two for each axis that is rolled.
std::vector<AxisMap> unrolled(const AxisMap& map);

/// From the output back to the input. Requires: no broadcast, if it is to be one map's.
AxisMap inverse(AxisMap map);
/// `second` of what `first` gives; nothing where no axes say it, or one of them is not whole() between.
std::optional<AxisMap> compose(const AxisMap& second, const AxisMap& first);

/// The one form of a map, the output's fastest axis first. A map of no units has one axis of extent 0.
/// Requires: no axis of more than one element with the output's stride 0.
AxisMap normal_form(AxisMap map);
/// A normal form where an axis of two elements that is flipped against the one inside it is a roll of both by
/// half, as permutations are written.
AxisMap with_rolls(AxisMap normal);

/// The strides of a dense array, slowest axis first; an extent of 0 counts as 1.
std::vector<std::int64_t> dense_strides(const std::vector<std::uint64_t>& extents);
/// The axes of more than one element, slowest first, where such strides, flipped or not, leave no gaps.
std::optional<std::vector<std::size_t>> dense_order(const std::vector<std::uint64_t>& extents,
                                                    const std::vector<std::int64_t>& strides);
/// Whether an array with such strides is dense and lies in the order of its axes, none flipped.
bool is_dense(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& strides);

/// A permutation of a dense array's axes: those of the input, slowest first, and the output's order of them.
struct WholeAxes {
  std::vector<StridedAxis> axes;
  std::vector<int> order;
};
/// Nothing where a side has gaps or does not begin at 0. Requires: strides of the output above 0.
std::optional<WholeAxes> whole(const AxisMap& map);

/// How far below its first unit a side of such strides reaches, `&StridedAxis::in` or `out`: at most 0.
std::int64_t lowest(const std::vector<StridedAxis>& axes, std::int64_t StridedAxis::*stride);

/// An input with any strides, written densely: numpy's ascontiguousarray. Requires: as many strides as
/// extents.
AxisMap packed(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& in_strides);
/// The same with the axes in another order: numpy's `ascontiguousarray(x.transpose(order))`.
AxisMap permuted(const std::vector<std::uint64_t>& extents, const std::vector<std::int64_t>& in_strides,
                 const std::vector<int>& order);

}  // namespace faro::detail
