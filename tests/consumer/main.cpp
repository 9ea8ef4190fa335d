#include <cstdint>
#include <cstdio>
#include <faro/faro.hpp>
#include <numeric>
#include <span>
#include <vector>

int main() {
  std::vector<std::uint32_t> in(1 << 10);
  std::vector<std::uint32_t> out(in.size());
  std::iota(in.begin(), in.end(), 0U);
  const faro::Affine map = faro::maps::bit_reversal(10);
  const auto plan = faro::plan({.permutation = map, .element_bytes = sizeof(std::uint32_t)});
  plan.run(std::span<const std::uint32_t>(in), std::span<std::uint32_t>(out));
  for (std::uint32_t x = 0; x < in.size(); ++x) {
    if (out[map(x)] != in[x]) {
      std::fprintf(stderr, "element %u is in the wrong place\n", x);
      return 1;
    }
  }
  std::puts("consumer: 1024 elements in their places");
  return 0;
}
