// Sizes and counts in words, for a reader: the one way that errors, explanations and reports write them.
#pragma once

#include <cstdint>
#include <string>

namespace faro {

/// Three digits: "1 byte", "512 bytes", "1.5 GiB", "186 GiB", "1000 KiB".
std::string size_text(std::uint64_t bytes);

/// "12", "1000003", "2^20": a large power of two by its exponent.
std::string count_text(std::uint64_t count);

/// "1 array", "2^20 arrays".
std::string count_text(std::uint64_t count, const std::string& noun);

}  // namespace faro
