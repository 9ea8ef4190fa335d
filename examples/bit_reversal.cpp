// Bit reversal, the reordering at either end of a radix-2 FFT: the element at index x goes to the index whose
// bits are those of x read backwards.
#include <cstdint>
#include <cstdio>
#include <faro/faro.hpp>
#include <numeric>
#include <vector>

namespace {

constexpr int kBits = 20;

// The textbook definition, one bit at a time.
std::uint32_t reversed(std::uint32_t index) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < kBits; ++bit) result |= (index >> bit & 1) << (kBits - 1 - bit);
  return result;
}

}  // namespace

int main() {
  std::vector<std::uint32_t> in(std::size_t{1} << kBits);
  std::vector<std::uint32_t> out(in.size());
  std::iota(in.begin(), in.end(), 0U);

  // A plan is made once and may run any number of times, on any arrays of its size, from any number of
  // threads.
  const auto plan =
      faro::plan({.permutation = faro::maps::bit_reversal(kBits), .element_bytes = sizeof(in[0])});
  plan.run<std::uint32_t>(in, out);  // out[pi(x)] = in[x]

  for (std::uint32_t x = 0; x < in.size(); ++x) {
    if (out[reversed(x)] != in[x]) {
      std::fprintf(stderr, "element %u is not at %u\n", x, reversed(x));
      return 1;
    }
  }

  // Reading bits backwards twice changes nothing, so a second run undoes the first.
  std::vector<std::uint32_t> back(in.size());
  plan.run<std::uint32_t>(out, back);
  if (back != in) {
    std::fprintf(stderr, "two bit reversals are not the identity\n");
    return 1;
  }
  std::printf("bit reversal: %zu elements in their places, and back\n", in.size());
  return 0;
}
