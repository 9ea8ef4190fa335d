// Permutations of a .npy file whose data lies in Fortran order, or is to lie so in the result.
#pragma once

#include <optional>

#include "cli/file_problem.hpp"

namespace faro::cli {

/// What carries the problem out on a file's data as it lies in Fortran order: that of an array of the
/// reversed shape, its axes reversed first. Nothing where the permutation does not go together with that.
std::optional<Permutation> on_fortran_data(const io::NpyHeader& header, const FileProblem& asked);

/// The problem that leaves the data in Fortran order, and its shape as it is. Nothing where none is known.
std::optional<Problem> within_fortran_data(const io::NpyHeader& header, const FileProblem& asked);

/// The same with the result's first axis the fastest, all in one permutation of axes. Errors:
/// ErrorCode::unsupported where the permutation is none of axes.
FileProblem in_fortran_order(const PermuteOptions& options, const io::NpyHeader& header, FileProblem made);

}  // namespace faro::cli
