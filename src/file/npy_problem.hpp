// What of a .npy file is permuted. Its axes are, from the first on, those of a batch, those of the array, and
// those of one element:
//
//     shape (6, 5, 7, 2) of f4     batch     array       an element
//     no options                   1         6x5x7x2     4 bytes
//     --batch 6                    6         5x7x2       4 bytes
//     --axis 1                     6         5           7x2: 56 bytes
//     --rows, which is --axis 0    1         6           5x7x2: 280 bytes
//     --element-bytes 8            1         6x5x7       2: 8 bytes
//     --batch 3                    3         2x5x7x2     4 bytes
//
// A permutation of as many elements as the file has rows is one of its rows, as numpy's data[index] is. The
// array's axes are those that `transpose` and `axes` name, and the result has them in the order that the
// permutation gives them; a pattern such as 'b (h d) s -> b h s d' takes axes apart and joins them. `flip(K)`
// is a flip along axis K where the file has one. An axis in which a batch
// or an element ends is cut there, and joined again in the result. Where they end at no such place, what is
// permuted has no axes, and the shape stays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/plan/plan.hpp"
#include "file/npy_division.hpp"
#include "io/npy.hpp"
#include "permutation/text.hpp"

namespace faro::file {

struct FileProblem {
  Problem problem;
  std::vector<std::uint64_t> shape;  // of the file
  CutShape cut;                      // the same
  /// The axes of the cut shape that are the array's; nothing where none begin and end there.
  std::optional<AxesPart> part;
  /// As the text says them, inverted for --inverse.
  std::optional<NamedAxes> axes;
  /// What a pattern of axes says, likewise.
  std::optional<RegroupedShape> regrouped;
  /// What axes composed with other maps say, likewise.
  std::optional<RegroupedShape> shapes;
  /// The result's shape, where the problem's own order is that of its file: --order F.
  std::optional<std::vector<std::uint64_t>> result_shape;
  /// All elements of the array backwards: along one axis, or along all of them.
  bool is_flip = false;
  bool is_along_axis = false;
  /// What was taken as an element: "2^20 elements of 4 bytes", "1000 rows of 12 bytes".
  std::string elements;

  /// The permutation with all that the text says of axes.
  faro::detail::NotedPermutation read() const;
  /// The array's axes.
  std::vector<std::uint64_t> array_shape() const;
  /// The file's shape with these axes in the place of the array's.
  std::vector<std::uint64_t> with_array(const std::vector<std::uint64_t>& axes) const;
  /// The result's shape. `plan` is of the problem; it knows what an index array really is.
  std::vector<std::uint64_t> shape_after(const Plan& plan) const;
};

/// The elements whose affine maps are left as they are: those that kernels take, or, for sweeps over files,
/// all.
enum class Widths : std::uint8_t { of_kernels, any };

/// Any view of a file's items, and what its result's shape is.
FileProblem viewed(const io::NpyHeader& header, const Strided& view, std::vector<std::uint64_t> result_shape);

/// The shape of an array of other words than those of axes, where they move its axes all the same.
std::optional<NamedAxes> axes_moved(const Permutation& permutation, const std::vector<std::uint64_t>& array);

/// Whether all elements go backwards. Index arrays are not looked at.
bool is_flip(const Permutation& permutation);

}  // namespace faro::file
