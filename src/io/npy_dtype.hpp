// The item size of a parsed dtype, shared by the header's reader and npy_item_bytes.
#pragma once

#include <cstdint>
#include <string>

#include "io/python_literal.hpp"

namespace faro::io {

/// Errors: ErrorCode::file, with `name` the file for the message.
std::uint64_t dtype_item_bytes(const PythonLiteral& descr, const std::string& name);

/// At most 200 bytes of `text`, on one line, for a message.
std::string excerpt(std::string_view text);

}  // namespace faro::io
