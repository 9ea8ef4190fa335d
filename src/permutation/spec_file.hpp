// `@file` in a permutation's text: a map kept in a file, known by the file's extension.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/affine.hpp"

namespace faro::detail {

/// Reads a .qasm or .json file; what of it was passed over is noted in `notes`.
/// Errors: ErrorCode::file where the file is missing, unreadable or past 64 MiB; ErrorCode::spec for any
///         other extension; and those of the format's reader.
Affine read_spec_file(const std::string& path, std::vector<std::string>& notes);

// Small files read whole, for those who parse them.

/// Everything in the file. Reads pipes and devices, too.
/// Errors: ErrorCode::file where it is missing, unreadable or past `largest_bytes`, whole MiB.
std::string read_text_file(const std::string& path, std::size_t largest_bytes);

}  // namespace faro::detail

// Affine maps as JSON, for matrices that other programs write.
//
//     {"n": 4, "columns": ["0x1", "0x2", "0x4", "0x8"], "complement": "0x0"}
//
// Column j is the image of e_j. Numbers are JSON integers or strings with the text grammar's numbers (JSON's
// own stop being exact at 2^53 in many programs, hence the strings). The complement may be left out and is 0
// then.

namespace faro {

/// The map that `text` describes.
/// Errors: all name `file_name` and the key. ErrorCode::spec for malformed JSON, unknown, repeated or missing
///         keys and values of another type; ErrorCode::value for n outside 0..64, another number of columns,
///         bits at or above n, and a singular matrix.
Affine parse_affine_json(std::string_view text, std::string_view file_name = "matrix.json");

}  // namespace faro
