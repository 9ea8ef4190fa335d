// Index arrays from NumPy's files: `@index.npy`, `scatter(@index.npy)`, `gather(@index.npy)`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "faro/permutation/indexed.hpp"
#include "io/npy.hpp"

namespace faro::detail {

/// The array of a file's header and data. Integers of any width and byte order; one axis, or others beside it
/// of extent 1. Errors: all name the file. ErrorCode::value for another dtype or shape, saying how to convert
///         it, and for entries that are no permutation.
Indexed index_array(const io::NpyHeader& header, std::span<const std::byte> data, Direction direction,
                    const std::string& path);

/// The same of a file, labelled with the text that names it. Errors: also ErrorCode::file.
Indexed read_index_file(const std::string& path, Direction direction);

}  // namespace faro::detail
