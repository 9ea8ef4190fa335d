// Random programs and inputs for the tests of the network language, and what a refusal must say.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"
#include "network/text.hpp"
#include "refusal.hpp"

namespace faro::network {

inline constexpr ElementType kU32{.scalar = Scalar::u32, .with_value = false};

/// Makes two programs that differ in one exchange differ in their results: not symmetric, not idempotent, and
/// it knows the pair's number and the size.
inline Operator witness() {
  const HostFunction function = [](void* a, void* b, std::uint64_t p, int k) {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::memcpy(&x, a, 4);
    std::memcpy(&y, b, 4);
    const std::uint32_t u = x * 5 + y * 3 + static_cast<std::uint32_t>(p) + 7;
    const std::uint32_t v = x * 2 + y * 9 + static_cast<std::uint32_t>(k) * 131 + 1;
    std::memcpy(a, &u, 4);
    std::memcpy(b, &v, 4);
  };
  static const Operator op = operators::user("witness", "", function);
  return op;
}

inline std::vector<std::uint32_t> random_values(int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> values(std::size_t{1} << n);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random());
  return values;
}

/// Equal on random arrays; the failure shows both programs.
inline void expect_same_effect(const Program& f, const Program& g, const std::string& what) {
  ASSERT_EQ(f.bits(), g.bits()) << what;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const std::vector<std::uint32_t> values = random_values(f.bits(), seed);
    EXPECT_EQ(interpret(f, kU32, values), interpret(g, kU32, values))
        << what << "\n  --bits " << f.bits() << " '" << to_text(f) << "'\n  --bits " << g.bits() << " '"
        << to_text(g) << "'";
    if (::testing::Test::HasFailure()) return;
  }
}

/// A random program of n bits, at most `depth` combinators deep; `ops` at its leaves.
inline Program random_program(int n, int depth, const std::vector<Operator>& ops, std::mt19937_64& random) {
  const std::uint64_t choice = random() % (depth > 0 ? 8 : 3);
  const auto inner = [&] { return random_program(n - 1, depth - 1, ops, random); };
  if (n > 0 && choice >= 1 && choice <= 2) return pairs(ops[random() % ops.size()], n);
  if (n > 0 && choice == 3) return two(inner());
  if (n > 0 && (choice == 4 || choice == 5)) {
    const f2::Word mask = random() % f2::low_mask(n) + 1;
    return parm(mask, inner());
  }
  if (choice >= 6) {
    const Program f = random_program(n, depth - 1, ops, random);
    return f * random_program(n, depth - 1, ops, random);
  }
  if (random() % 4 == 0) return identity(n);
  return bmmc(random() % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random()));
}

}  // namespace faro::network
