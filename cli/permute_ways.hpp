// The ways that `faro permute` goes beside an array in memory and a file in one sweep (permute_file.hpp).
#pragma once

#include "cli/file_problem.hpp"
#include "cli/permute_options.hpp"
#include "faro/store.hpp"

namespace faro::cli {

/// `faro permute SPEC - -`: standard input and output, whole arrays in their order, where IN, OUT or both are
/// kStream. A result that goes to a file appears whole or not at all. Errors: those of
/// file::permute_stream(); ErrorCode::unsupported for options that need a file.
void permute_stream(const PermuteOptions& options);

/// `faro permute --in-place SPEC FILE.npy`: the file's data takes the place of what it was. Errors: those of
/// planning and running; ErrorCode::value for options that need a second array; ErrorCode::file. Unless the
/// options say --no-backup, the file is then as it was.
void permute_in_place(const PermuteOptions& options);

/// Whether --element-bits was given: elements that are no whole bytes, of .npy files of bytes and of files
/// without a header.
bool is_of_bits(const PermuteOptions& options);
/// Errors: ErrorCode::value for other options than go with it; those of permute_packed_file().
void permute_bits(const PermuteOptions& options);

/// Whether IN or OUT is a store other than .npy, or an option asks for one.
bool is_of_stores(const PermuteOptions& options);
/// The options of a relayout, and SPEC as its map. Errors: ErrorCode::value.
store::Options store_options_without_map(const PermuteOptions& options);
store::ElementMap element_map_of(const FileProblem& asked, const io::NpyHeader& header, int threads);
/// Lays IN out anew as OUT, permuted where `options.spec` is not empty. Errors: those of store::relayout();
/// ErrorCode::value and unsupported for options that stores do not take.
void relayout_stores(const PermuteOptions& options);

}  // namespace faro::cli
