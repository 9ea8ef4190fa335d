// `@file` in a permutation's text: a map kept in a file, told by the file's extension.
#pragma once

#include <string>

#include "faro/permutation/affine.hpp"

namespace faro::detail {

/// Reads a .qasm or .json file.
/// Errors: ErrorCode::file where the file is missing, unreadable or past 64 MiB; ErrorCode::spec for any
///         other extension; and those of the format's reader.
Affine read_spec_file(const std::string& path);

}  // namespace faro::detail
