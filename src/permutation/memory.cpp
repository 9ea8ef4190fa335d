#include "memory.hpp"

#include "faro/error.hpp"
#include "io/buffer.hpp"

namespace faro::detail {

void require_memory(const std::string& operation, const std::string& what, std::uint64_t bytes) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{64} << 20;
  if (bytes <= kAlwaysThere) return;
  const std::uint64_t available = io::available_memory_bytes();
  if (bytes <= available) return;
  fail(ErrorCode::value, operation, what + ", which needs " + io::size_text(bytes) + " of memory",
       "at most the " + io::size_text(available) + " that are free",
       "on a machine with more memory it would work");
}

}  // namespace faro::detail
