#include "permutation/index_check.hpp"

#include <string>

#include "faro/error.hpp"

namespace faro::detail {

void fail_entry_out_of_range(std::uint64_t position, const std::string& value, std::uint64_t count) {
  fail(ErrorCode::value, "index array", "entry " + std::to_string(position) + " is " + value,
       "a number below " + std::to_string(count));
}

void fail_entry_twice(std::uint64_t first, std::uint64_t second, std::uint64_t value, std::uint64_t missing,
                      std::uint64_t count) {
  fail(ErrorCode::value, "index array",
       "entry " + std::to_string(second) + " is " + std::to_string(value) + ", as is entry " +
           std::to_string(first) + "; " + std::to_string(missing) + " is missing",
       "each of 0 .. " + std::to_string(count - 1) + " once");
}

}  // namespace faro::detail
