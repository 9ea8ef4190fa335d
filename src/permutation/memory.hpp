// Whether an array fits this machine's memory, asked before it is allocated.
#pragma once

#include <cstdint>
#include <string>

namespace faro::detail {

/// Errors: ErrorCode::value naming `operation`, what `bytes` are for and how many are free, where they are
/// more than that.   Cost: nothing below 64 MiB.
void require_memory(const std::string& operation, const std::string& what, std::uint64_t bytes);

}  // namespace faro::detail
