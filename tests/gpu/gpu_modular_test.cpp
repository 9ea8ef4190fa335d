// Multiplication modulo a count on a GPU, and values in bit-reversed order, held against the CPU engine.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "gpu/gpu_rows_support.hpp"

namespace faro::testing {
namespace gpu_modular_test {

using namespace gpu_rows;

class GpuModular : public GpuTest {};

TEST_F(GpuModular, MultipliesAsTheCpuDoes) {
  for (const std::uint64_t count : {1U, 2U, 97U, 4096U, 65536U, 100003U, 1U << 20}) {
    for (const std::int64_t factor : {1, 5, -1, 12347, 99991}) {
      const std::uint64_t residue =
          static_cast<std::uint64_t>(factor + 4 * static_cast<std::int64_t>(count)) % count;
      if (std::gcd(residue, count) != 1) continue;
      const Modular map = maps::affine_mod(count, factor, 3);
      for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
        SCOPED_TRACE(std::to_string(factor) + " mod " + std::to_string(count) + ", " + std::to_string(width));
        const Bytes in = random_bytes(3 * count * width, 1);
        Bytes expected(in.size());
        permute(map, width, in, expected);
        const Placed device_in(in);
        const Placed device_out(Bytes(in.size(), std::byte{9}));
        permute(map, width, device_in.span(), device_out.span(), OnDevice{});
        EXPECT_TRUE(device_out.get() == expected);
      }
    }
  }
  const std::vector<std::uint64_t> five{97, 65537, 0, 0x7fffffff, 3};
  std::vector<std::uint64_t> many(130);  // more than one launch's parameters hold
  for (std::uint64_t i = 0; i < many.size(); ++i) many[i] = (std::uint64_t{1} << 60) + 2 * i + 1;
  for (const std::uint64_t n : {1U, 16U, 100U, 32768U}) {
    for (const std::int64_t k : {1, 3, 7, -1, 12347}) {
      if (std::gcd(static_cast<std::uint64_t>(k + 8 * static_cast<std::int64_t>(n)), 2 * n) != 1) continue;
      for (const Negation& negation :
           {Negation{.number = Number::u64, .modulus = 0xffffffff00000001},
            Negation{.number = Number::u32, .moduli = five}, Negation{.number = Number::u64, .moduli = many},
            Negation{.number = Number::f32}, Negation{.number = Number::i16}}) {
        const std::uint64_t polynomials = negation.moduli.empty() ? 5 : 2 * negation.moduli.size();
        Bytes in = random_bytes(polynomials * n * bytes_of(negation.number), 2);
        Bytes expected(in.size());
        permute_negacyclic(n, k, negation, in, expected);
        const Placed device_in(in);
        const Placed device_out(Bytes(in.size(), std::byte{9}));
        permute_negacyclic(n, k, negation, device_in.span(), device_out.span(), OnDevice{});
        EXPECT_TRUE(device_out.get() == expected) << n << ", " << k;
      }
    }
  }
  const Placed odd(Bytes(16));
  EXPECT_NE(refusal([&] {
              permute(maps::multiply(2, 1), 3, odd.span().subspan(0, 6), odd.span().subspan(6, 6),
                      OnDevice{});
            }).find("3 bytes"),
            std::string::npos);
}

TEST_F(GpuModular, MovesValuesInBitReversedOrder) {
  for (const std::uint64_t n : {std::uint64_t{16}, std::uint64_t{1} << 13, std::uint64_t{1} << 16}) {
    for (const std::int64_t k : {std::int64_t{3}, std::int64_t{5}, 2 * static_cast<std::int64_t>(n) - 1}) {
      const Bytes in = random_bytes(n * 8 * 3, n);
      Bytes expected(in.size());
      permute_evaluations(n, k, 8, in, expected);
      const Placed device_in(in);
      const Placed device_out(Bytes(in.size()));
      permute_evaluations(n, k, 8, device_in.span(), device_out.span(), OnDevice{});
      EXPECT_TRUE(device_out.get() == expected) << n << ", " << k;
    }
  }
}

}  // namespace gpu_modular_test
}  // namespace faro::testing
