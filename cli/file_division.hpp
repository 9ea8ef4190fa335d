// How the options divide the items of a .npy file (file/npy_division.hpp), and what is said where a
// permutation does not fit that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/permute_options.hpp"
#include "faro/faro.hpp"
#include "file/npy_division.hpp"
#include "io/npy.hpp"

namespace faro::cli {

using file::Division;

/// "permute `x.npy`".
std::string permuting(const PermuteOptions& options);
/// Whether any option says what is permuted.
bool says_division(const PermuteOptions& options);

/// By --axis and --rows, else by --element-bytes and --batch. Errors: ErrorCode::value where the options do
/// not fit one another or the file.
Division division_asked_for(const PermuteOptions& options, const io::NpyHeader& header);
/// Where the whole file is of another length than the permutation: its rows.
std::optional<Division> by_rows(const PermuteOptions& options, const std::vector<std::uint64_t>& shape,
                                std::uint64_t wanted);
/// The same, or the leading axes that the text names.
std::optional<Division> by_lengths(const PermuteOptions& options, const std::vector<std::uint64_t>& shape,
                                   const faro::detail::NotedPermutation& read);
/// Errors: ErrorCode::value where arrays have another number of elements than `wanted`.
void check_count(const PermuteOptions& options, const io::NpyHeader& header, const Division& division,
                 std::uint64_t wanted);

}  // namespace faro::cli
