// Packed elements from file to file where memory holds neither array and they are no matrix.
//
//     axes          boxes of them: rows that lie end to end are read into memory, moved as axes with strides of
//                   their own (bit_axes.hpp), and written; a byte that rows share is read and written again
//     affine maps   the tiles of the one-pass theorem, whose segments are what is read and written: as long as
//                   the memory allows
//
// Each element is read and written once.
#pragma once

#include <cstdint>

#include "faro/packed.hpp"
#include "io/output_file.hpp"
#include "packed/input_file.hpp"

namespace faro::packed {

struct FileTiles {
  std::uint64_t header_bytes = 0;  // of the output
  std::uint64_t memory_bytes = 0;  // for a tile on both sides
  int threads = 1;
  bool verify = false;
};

/// Returns whether there is such a way within the memory; nothing is written otherwise. Requires: an output
/// of zeros that is as long as it will be. Errors: ErrorCode::file, ErrorCode::verification.
bool permute_file_by_tiles(const PackedProblem& problem, const InputFile& in, io::OutputFile& out,
                           const FileTiles& options);

}  // namespace faro::packed
