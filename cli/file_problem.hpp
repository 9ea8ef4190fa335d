// What of a .npy file the options and SPEC permute (file/npy_problem.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_division.hpp"
#include "cli/permute_options.hpp"
#include "faro/faro.hpp"
#include "file/npy_problem.hpp"
#include "io/npy.hpp"

namespace faro::cli {

using file::FileProblem;
using file::Widths;

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

/// Errors: ErrorCode::unsupported, always: that --order F takes another way with `got`.
[[noreturn]] void fail_order(const PermuteOptions& options, const std::string& got);

}  // namespace faro::cli
