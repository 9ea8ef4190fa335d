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

#include "cli/file_division.hpp"
#include "cli/permute_options.hpp"
#include "faro/faro.hpp"
#include "io/npy.hpp"

namespace faro::cli {

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

/// Errors: ErrorCode::value where the file's items do not fit the permutation in number or in shape, and
/// those of parse_spec.
FileProblem file_problem_of(const PermuteOptions& options, const io::NpyHeader& header,
                            Widths widths = Widths::of_kernels);

/// The same with its affine map for elements that kernels take. Errors: ErrorCode::unsupported for others in
/// place.
FileProblem for_kernels(const PermuteOptions& options, FileProblem asked);

/// The same of options.view, a strided view of the file's items in C order. The result has the view's shape
/// where its elements follow one another in the output, its axes in Fortran order with --order F; else one
/// axis. Errors: ErrorCode::value for a view that leaves the file, and for options that are for permutations.
FileProblem view_problem_of(const PermuteOptions& options, const io::NpyHeader& header);
/// Any view of a file's items, and what its result's shape is.
FileProblem viewed(const io::NpyHeader& header, const Strided& view, std::vector<std::uint64_t> result_shape);
/// options.view. Errors: as above.
const Strided& view_of(const PermuteOptions& options, const io::NpyHeader& header);
/// Errors: ErrorCode::unsupported for a view of which one array does not hold both sides.
void require_view_in_place(const PermuteOptions& options, const io::NpyHeader& header);

/// What is asked of a file, whose text is read once, when it is first looked at. Keeps references to both.
class FileRequest {
 public:
  FileRequest(const PermuteOptions& asked, const io::NpyHeader& of) : options(asked), header(of) {}

  const PermuteOptions& options;
  const io::NpyHeader& header;

  /// With affine maps for elements of any width. Errors: those of file_problem_of() and view_problem_of().
  const FileProblem& problem();

 private:
  std::optional<FileProblem> problem_;
};

/// How a file is cut for a permutation that is known by its number of elements alone.
struct FileRecords {
  std::uint64_t batch = 1;
  std::uint64_t count = 0;           // records of each array
  std::uint64_t record_bytes = 0;    // of any width
  std::string elements;              // as FileProblem's
  std::vector<std::uint64_t> shape;  // of the array at hand
};

/// Errors: ErrorCode::value where they do not fit.
FileRecords file_records_of(const PermuteOptions& options, const io::NpyHeader& header, std::uint64_t count);

/// The shape of an array of other words than those of axes, where they move its axes all the same.
std::optional<NamedAxes> axes_moved(const Permutation& permutation, const std::vector<std::uint64_t>& array);

/// Whether all elements go backwards. Index arrays are not looked at.
bool is_flip(const Permutation& permutation);

}  // namespace faro::cli
