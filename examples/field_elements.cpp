// Elements of a 256-bit prime field, as a number-theoretic transform (NTT) holds them, in bit-reversed order.
// To faro an element is 32 bytes that stay together; every power of two from 1 to 4096 bytes will do.
#include <array>
#include <cstdint>
#include <cstdio>
#include <faro/faro.hpp>
#include <vector>

namespace {

constexpr int kBits = 16;
constexpr std::uint64_t kSize = std::uint64_t{1} << kBits;

struct FieldElement {
  std::array<std::uint64_t, 4> limbs;  // least significant first
  bool operator==(const FieldElement&) const = default;
};
static_assert(sizeof(FieldElement) == 32);

// An element that no other index has, different in every limb.
FieldElement element_at(std::uint64_t index) {
  const std::uint64_t mixed = (index + 1) * 0x9e3779b97f4a7c15;
  return {.limbs = {index, mixed, ~mixed, index ^ mixed}};
}

}  // namespace

int main() {
  std::vector<FieldElement> coefficients(kSize);
  std::vector<FieldElement> reversed(kSize);
  for (std::uint64_t i = 0; i < kSize; ++i) coefficients[i] = element_at(i);

  const auto plan =
      faro::plan({.permutation = faro::maps::bit_reversal(kBits), .element_bytes = sizeof(FieldElement)});
  plan.run<FieldElement>(coefficients, reversed);

  // Counting up in reversed bits: adding one carries from the top bit downwards.
  std::uint64_t target = 0;
  for (std::uint64_t source = 0; source < kSize; ++source) {
    if (reversed[target] != element_at(source)) {
      std::fprintf(stderr, "coefficient %llu is in the wrong place\n",
                   static_cast<unsigned long long>(source));
      return 1;
    }
    std::uint64_t bit = kSize / 2;
    for (; (target & bit) != 0; bit /= 2) target ^= bit;
    target ^= bit;
  }
  std::printf("%llu field elements of %zu bytes in bit-reversed order\n",
              static_cast<unsigned long long>(kSize), sizeof(FieldElement));
  return 0;
}
