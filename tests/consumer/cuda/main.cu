// faro in a CUDA source: every installed header (check.sh lists them), a plan on the host, and a layout in a
// kernel.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "every_header.hpp"

__global__ void place(std::uint32_t* out) {
  const faro::layout::Padded<32> at{};
  out[threadIdx.x] = static_cast<std::uint32_t>(at(threadIdx.x, 1));
}

int main() {
  std::vector<std::uint32_t> in(1 << 10);
  std::vector<std::uint32_t> out(in.size());
  for (std::uint32_t x = 0; x < in.size(); ++x) in[x] = x;
  const faro::Affine map = faro::maps::bit_reversal(10);
  const auto plan = faro::plan({.permutation = map, .element_bytes = sizeof(std::uint32_t)});
  plan.run(std::span<const std::uint32_t>(in), std::span<std::uint32_t>(out));
  for (std::uint32_t x = 0; x < in.size(); ++x) {
    if (out[map(x)] != in[x]) return 1;
  }
  std::puts("cuda consumer: 1024 elements in their places");
  return 0;
}
