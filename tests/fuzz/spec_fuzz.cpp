// The text grammar of permutations, with and without an array that fixes n (also to what no array has).
#include <cstddef>
#include <cstdint>

#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Index arrays small enough for thousands a second.
  faro::ParseOptions plain;
  plain.most_index_elements = 1000;
  faro::fuzzing::run([&] { return faro::parse_permutation(text, plain); });
  faro::ParseOptions fixed = plain;
  fixed.direction = faro::Direction::gather;
  fixed.bare_bits = static_cast<int>(size % 70) - 2;
  faro::fuzzing::run([&] { return faro::parse_permutation(text, fixed); });
  return 0;
}
