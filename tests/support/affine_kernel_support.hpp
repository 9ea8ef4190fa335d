// What the tests of the affine kernels share: the oracle, the counting memory's verdict, random maps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "drawn.hpp"
#include "faro/error.hpp"
#include "faro/kernels/affine_tile_index.hpp"
#include "faro/machine/counting_memory.hpp"
#include "faro/permutation/affine.hpp"
#include "refusal.hpp"

namespace faro::kernels {

constexpr std::uint64_t kSeed = 4242;
constexpr std::size_t kGuardBytes = 128;
constexpr std::byte kPoison{0xA5};

// --- refusals

using test::code_of;

// --- the oracle

struct Arrays {
  std::vector<std::byte> in;
  std::vector<std::byte> out;  // between guard zones

  Arrays(std::size_t bytes, std::mt19937_64& random) : in(bytes), out(bytes + 2 * kGuardBytes, kPoison) {
    for (std::byte& b : in) b = static_cast<std::byte>(random());
  }
  std::span<std::byte> output() { return std::span(out).subspan(kGuardBytes, in.size()); }
};

inline void expect_guards(const Arrays& arrays) {
  for (std::size_t i = 0; i < kGuardBytes; ++i) {
    ASSERT_EQ(arrays.out[i], kPoison) << "before the output";
    ASSERT_EQ(arrays.out[arrays.out.size() - 1 - i], kPoison) << "after the output";
  }
}

inline void expect_permuted(const Affine& map, std::size_t element_bytes, Arrays& arrays) {
  const std::size_t array = std::size_t{1} << map.bits();
  for (std::size_t x = 0; x < arrays.in.size() / element_bytes; ++x) {
    const std::size_t y = x / array * array + map(x % array);
    ASSERT_EQ(std::memcmp(&arrays.in[x * element_bytes], &arrays.output()[y * element_bytes], element_bytes),
              0)
        << "element " << x;
  }
  expect_guards(arrays);
}

// --- the verdict

// Congestion 1 in both phases, every byte moved once through each memory, and no sector or line but the
// array's own where a warp's run covers whole ones.
inline void expect_conflict_free_segments(const machine::AccessCounts& counts, const AffineTileShape& shape,
                                          std::uint64_t bytes, const machine::MemoryGeometry& geometry) {
  ASSERT_EQ(counts.shared_stores.max_congestion(), 1);
  ASSERT_EQ(counts.shared_loads.max_congestion(), 1);
  ASSERT_EQ(counts.shared_stores.bytes, bytes);
  ASSERT_EQ(counts.shared_loads.bytes, bytes);
  const int run_bytes = shape.vector_bytes() * std::min(shape.threads(), geometry.warp_size);
  const int whole_bytes = std::min(run_bytes, shape.element_bytes() << shape.segment_bits);
  for (const machine::GlobalCounts* global : {&counts.global_loads, &counts.global_stores}) {
    ASSERT_EQ(global->bytes, bytes);
    if (whole_bytes >= geometry.sector_bytes) {
      ASSERT_EQ(global->sectors, bytes / static_cast<std::uint64_t>(geometry.sector_bytes));
    }
  }
}

inline std::string describe(const AffineTileShape& shape) {
  return "width " + std::to_string(shape.element_bytes()) + ", s " + std::to_string(shape.segment_bits) +
         ", r " + std::to_string(shape.row_bits) + ", v " + std::to_string(shape.vector_bits) + ", threads " +
         std::to_string(shape.threads());
}

inline std::string describe(const Affine& map) {
  std::ostringstream text;
  text << "affine(" << map.bits() << ";" << std::hex;
  for (const f2::Word c : map.matrix().column_span()) text << " 0x" << c;
  text << "; 0x" << map.complement() << ")";
  return text.str();
}

template <AffineTileShape... shapes>
struct Shapes {
  template <typename F>
  static void for_each(F&& f) {
    (f.template operator()<shapes>(), ...);
  }
};

// --- maps

using test::random_affine;

using test::random_bpc;

// A random map that fixes the low k bits' values: the components of input and output vectors nest, in part or
// wholly.
inline Affine fixing_low_bits(int n, int k, std::mt19937_64& random) {
  return direct_sum(Affine(k), random_affine(n - k, random));
}

// A random map whose tile with segments of 2^s elements has exactly 2^r rows: r low bits change place with
// high ones.
inline Affine of_rank(int n, int s, int r, std::mt19937_64& random) {
  f2::Matrix swap = f2::Matrix::identity(n);
  for (int i = 0; i < r; ++i) {
    swap.set_column(i, f2::unit(s + i));
    swap.set_column(s + i, f2::unit(i));
  }
  const auto blocks = [&] { return direct_sum(random_affine(s, random), random_affine(n - s, random)); };
  return compose(blocks(), compose(Affine(swap, 0), blocks()));
}

}  // namespace faro::kernels
