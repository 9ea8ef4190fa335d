// Networks are a part of libfaro where they were built.
#include <cstdint>
#include <cstdio>
#include <faro/network/network.hpp>
#include <vector>

int main() {
  const std::vector<std::uint32_t> in{3, 1, 2, 0};
  std::vector<std::uint32_t> out(4);
  faro::network::compile({.program = faro::network::sort(2), .element = {faro::network::Scalar::u32}},
                         {.engine = faro::Engine::cpu})
      .run(in.data(), out.data(), 16);
  for (std::uint32_t i = 0; i < 4; ++i)
    if (out[i] != i) return 1;
  std::puts("network_consumer: 4 elements in order");
}
