// Index arrays from NumPy's files: `@index.npy`, `scatter(@index.npy)`, `gather(@index.npy)`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "faro/permutation/indexed.hpp"
#include "io/npy.hpp"

namespace faro::detail {

/// A file's whole numbers as words of 4 or 8 bytes, little-endian: its own bytes, or converted ones.
struct FileEntries {
  std::span<const std::byte> bytes;
  IndexType type;
  std::vector<std::byte> converted;  // what `bytes` are, of other widths and of the other byte order
};

/// Integers of any width and byte order, and of any shape; narrow ones are extended by their sign.
/// Errors: ErrorCode::value naming the file, for another dtype, saying how to convert it.
FileEntries file_entries(const io::NpyHeader& header, std::span<const std::byte> data,
                         const std::string& path);

/// The array of a file's header and data. Integers of any width and byte order; one axis, or others beside it
/// of extent 1. Errors: all name the file. ErrorCode::value for another dtype or shape, saying how to convert
///         it, and for entries that are no permutation.
Indexed index_array(const io::NpyHeader& header, std::span<const std::byte> data, Direction direction,
                    const std::string& path);

/// The same of a file, labelled with the text that names it. Errors: also ErrorCode::file.
Indexed read_index_file(const std::string& path, Direction direction);

}  // namespace faro::detail
