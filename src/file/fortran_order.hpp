// Permutations of a .npy file whose data lies in Fortran order, or is to lie so in the result.
#pragma once

#include <optional>

#include "file/npy_problem.hpp"

namespace faro::file {

/// What carries the problem out on a file's data as it lies in Fortran order: that of an array of the
/// reversed shape, its axes reversed first. Nothing where the permutation does not go together with that, or
/// makes an affine map of elements that `widths` leaves out.
std::optional<Permutation> on_fortran_data(const io::NpyHeader& header, const FileProblem& asked,
                                           Widths widths = Widths::of_kernels);

/// The problem that leaves the data in Fortran order, and its shape as it is. Nothing where none is known.
std::optional<Problem> within_fortran_data(const io::NpyHeader& header, const FileProblem& asked);

/// The same with the result's first axis the fastest, in one permutation: of axes, or an affine map of
/// extents that are powers of two. Nothing for all others.
std::optional<FileProblem> in_fortran_order(const io::NpyHeader& header, FileProblem made,
                                            Widths widths = Widths::of_kernels);

/// The flip of one axis or of all as a view of the file's items, which lie in the order that the header says;
/// the result's lie in `order`. Nothing where the problem is no flip, or of a part that has no axes.
std::optional<FileProblem> flipped_view(const io::NpyHeader& header, const FileProblem& asked,
                                        io::MemoryOrder order);

/// What brings a result of this shape from C order into Fortran order.
Problem into_fortran_order(const std::vector<std::uint64_t>& shape, std::uint64_t item_bytes);

}  // namespace faro::file
