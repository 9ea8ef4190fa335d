// What the benchmarks' command lines have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faro::bench {

/// Throws ErrorCode::usage.
[[noreturn]] void refuse_option(const std::string& option, std::string_view got, const std::string& wanted);

// Errors of all: ErrorCode::usage, naming the option.

std::uint64_t parse_count(const std::string& option, std::string_view text);

/// "256MiB", "1GiB", "2^30" or bytes: a power of two, `least` to 2^40.
std::uint64_t parse_bytes(const std::string& option, std::string_view text, std::uint64_t least);

/// "1,4,16": widths of elements that are one unit.
std::vector<std::uint64_t> parse_widths(const std::string& option, std::string_view text);

/// The parts between commas.
std::vector<std::string_view> split(std::string_view text);

/// "4 KiB", "64 MiB", "4 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace faro::bench
