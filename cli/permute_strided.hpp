// faro permute 'strided(...)' IN.npy OUT.npy: a view of the file's items, copied to a new file.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/permute_options.hpp"
#include "cli/progress.hpp"

namespace faro::cli {

/// A view of a file's items as they lie in it, and the file that it makes.
struct FileView {
  Strided view;
  std::vector<std::uint64_t> shape;
  io::MemoryOrder order = io::MemoryOrder::c;
};

/// The result has the view's shape where its elements follow one another in the output, else one axis; items
/// that no element reaches are 0. Errors: ErrorCode::value for a view that leaves the file, and for options
/// that are for permutations. Requires: options.view.
void permute_strided(const PermuteOptions& options);

/// Runs a view of the input's data and writes the result. Errors: those of a plan and of files.
void permute_view(const PermuteOptions& options, const FileView& wanted, const io::NpyInput& input,
                  Progress& progress);

/// Whether options.view is a permutation of all items of a file in C order, which may then be permuted in
/// place. Errors: ErrorCode::value for other options with such a view.
bool permutes_file(const PermuteOptions& options);

/// options.view, of a file's items. Errors: ErrorCode::value for other options with a view, and for
/// a file that its strides leave.
Strided view_of(const PermuteOptions& options, const io::NpyHeader& header);
/// The same with the result's shape, whose axes --order F puts in Fortran order.
FileView file_view_of(const PermuteOptions& options, const io::NpyHeader& header);

/// As the extents say, where the output is that array or has no elements; else the elements one after
/// another.
std::vector<std::uint64_t> shape_of_view(const Strided& view);

}  // namespace faro::cli
