#include "faro/permutation/cyclic.hpp"

#include <string>

#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"

namespace faro::maps {
namespace {

void require_count(const char* map, std::uint64_t count) {
  if (count <= Indexed::kMaxCount) return;
  fail(ErrorCode::value, map, std::to_string(count) + " elements", "at most 2^40");
}

}  // namespace

Cyclic roll(std::uint64_t count, std::int64_t shift) {
  require_count("roll", count);
  if (count == 0) return {.count = 0, .shift = 0, .reversed = false};
  const auto signed_count = static_cast<std::int64_t>(count);
  const std::int64_t rest = shift % signed_count;
  return {.count = count,
          .shift = static_cast<std::uint64_t>(rest < 0 ? rest + signed_count : rest),
          .reversed = false};
}

Cyclic flip(std::uint64_t count) {
  require_count("flip", count);
  return {.count = count, .shift = count == 0 ? 0 : count - 1, .reversed = true};
}

}  // namespace faro::maps
