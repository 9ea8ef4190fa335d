// Small files read whole, for those who parse them.
#pragma once

#include <cstddef>
#include <string>

namespace faro::detail {

/// Everything in the file. Reads pipes and devices, too.
/// Errors: ErrorCode::file where it is missing, unreadable or past `largest_bytes`, whole MiB.
std::string read_text_file(const std::string& path, std::size_t largest_bytes);

}  // namespace faro::detail
