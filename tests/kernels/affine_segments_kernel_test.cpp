// The kernel without a tile on the counting memory: the laws of affine_tile_kernel_test.cpp, and no sector
// touched but the array's own where whole sectors change places.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "affine_kernel_support.hpp"
#include "faro/error.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace affine_segments_kernel_test {

using f2::Matrix;
using f2::Word;
using machine::AccessCounts;
using machine::CountingMemory;

// What the sweeps must have reached.
struct Reached {
  int runs = 0;
  bool blocks_shared = false;  // by several arrays
  bool blocks_idle_in_part = false;
  bool arrays_of_many_blocks = false;
};

// `map` on elements of bytes >> vector_bits bytes.
template <int bytes>
AccessCounts run_vectors(const Affine& map, int vector_bits, std::uint64_t batch, std::mt19937_64& random,
                         Reached& reached) {
  const AffineSegmentsParams params = make_affine_segments_params(map, vector_bits, batch);
  const std::size_t element_bytes = std::size_t{bytes} >> vector_bits;
  Arrays arrays((batch << map.bits()) * element_bytes, random);
  CountingMemory memory({});
  memory.add_input(arrays.in);
  memory.add_output(arrays.output());
  memory.run({.blocks = params.blocks(), .threads = kSegmentsThreads},
             [&](CountingMemory& m, std::uint64_t block, std::uint32_t thread) {
               move_vector<bytes>(m, params, block, thread);
             });
  expect_permuted(map, element_bytes, arrays);
  EXPECT_TRUE(memory.output_complete());
  ++reached.runs;
  reached.blocks_shared |= batch > 1 && params.block_bits == 0;
  reached.blocks_idle_in_part |= params.vectors % kSegmentsThreads != 0;
  reached.arrays_of_many_blocks |= params.block_bits > kBlockDigitBits && batch > 1;
  return memory.counts();
}

// A map of segments of `segment_bytes`, in units of 1 to 16 bytes: nothing but those sectors, each once.
template <int bytes>
void expect_whole_sectors(const Affine& map, int vector_bits, std::uint64_t batch, std::mt19937_64& random,
                          Reached& reached) {
  const AccessCounts counts = run_vectors<bytes>(map, vector_bits, batch, random, reached);
  const std::uint64_t all = (batch << map.bits()) * bytes >> vector_bits;
  for (const machine::GlobalCounts* global : {&counts.global_loads, &counts.global_stores}) {
    EXPECT_EQ(global->bytes, all);
    EXPECT_EQ(global->sectors, all / 32);
    EXPECT_EQ(global->requests, (all / bytes + 31) / 32);
  }
  EXPECT_EQ(counts.shared_loads.requests + counts.shared_stores.requests, 0U);
}

template <int bytes>
void run_every_way(const Affine& map, std::mt19937_64& random, Reached& reached) {
  const int of_a_sector = 5 - std::countr_zero(unsigned{bytes});  // vectors
  for (const std::uint64_t batch : {1U, 3U, 37U}) {
    if (batch << map.bits() > 16384) break;
    SCOPED_TRACE(describe(map) + ", vectors of " + std::to_string(bytes) + " bytes, batch " +
                 std::to_string(batch));
    run_vectors<bytes>(map, 0, batch, random, reached);
    for (int vector_bits = 0; 1 << vector_bits <= bytes; ++vector_bits) {
      const Affine segments = direct_sum(Affine(of_a_sector + vector_bits), map);
      expect_whole_sectors<bytes>(segments, vector_bits, batch, random, reached);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(AffineSegmentsKernel, EveryVectorMapAndBatch) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  for (const int n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 13}) {
    for (const Affine& map : {random_affine(n, random), random_bpc(n, random)}) {
      run_every_way<1>(map, random, reached);
      run_every_way<2>(map, random, reached);
      run_every_way<4>(map, random, reached);
      run_every_way<8>(map, random, reached);
      run_every_way<16>(map, random, reached);
      if (HasFailure()) FAIL() << "seed " << kSeed;
    }
  }
  EXPECT_TRUE(reached.blocks_shared && reached.blocks_idle_in_part && reached.arrays_of_many_blocks);
}

// Every affine map of 3 bits above every number of bits that stay, and every map of 4 bits.
TEST(AffineSegmentsKernel, EverySmallMap) {
  std::mt19937_64 random(kSeed);
  Reached reached;
  int maps = 0;
  for (int n : {3, 4}) {
    const Word mask = f2::low_mask(n);
    for (Word code = 0; code < Word{1} << n * n; ++code) {
      std::vector<Word> columns;
      for (int j = 0; j < n; ++j) columns.push_back(code >> n * j & mask);
      const Matrix a = Matrix::from_columns(n, columns);
      if (a.rank() < n) continue;
      for (Word complement = 0; complement <= mask; ++complement) {
        const Affine map(a, complement);
        ++maps;
        if (n == 4) {
          run_vectors<4>(map, 0, 1, random, reached);
          continue;
        }
        for (int fixed = 0; fixed <= 4; ++fixed) {
          run_vectors<16>(direct_sum(Affine(fixed), map), fixed, 1 + complement, random, reached);
          run_vectors<1>(direct_sum(Affine(fixed), map), 0, 1 + complement, random, reached);
        }
        if (HasFailure()) FAIL() << describe(map);
      }
    }
  }
  EXPECT_EQ(maps, 168 * 8 + 20160 * 16);
}

// Addresses beyond 32 bits: the index function alone, against the map.
TEST(AffineSegmentsKernel, AddressesOfFortyEightBits) {
  std::mt19937_64 random(kSeed);
  for (const int n : {40, 48}) {
    const Affine map = random_affine(n, random);
    const AffineSegmentsParams params = make_affine_segments_params(map, 0, 5);
    EXPECT_EQ(params.blocks(), std::uint64_t{5} << (n - kSegmentsThreadBits));
    for (int sample = 0; sample < 2000; ++sample) {
      const std::uint64_t block = random() % params.blocks();
      const auto thread = static_cast<std::uint32_t>(random() % kSegmentsThreads);
      const Word x = block << kSegmentsThreadBits | thread;
      const Word y = segments_block_target(params, block) ^
                     select_xor<kSegmentsThreadBits>(params.thread_target, thread);
      ASSERT_EQ(y >> n, x >> n);
      ASSERT_EQ(y & f2::low_mask(n), map(x & f2::low_mask(n)));
    }
  }
}

TEST(AffineSegmentsKernel, KeepsLowBits) {
  EXPECT_TRUE(keeps_low_bits(Affine(4), 4));
  EXPECT_FALSE(keeps_low_bits(Affine(4), 5));
  EXPECT_TRUE(keeps_low_bits(Affine(f2::reversal(4), 0), 0));
  EXPECT_FALSE(keeps_low_bits(Affine(f2::reversal(4), 0), 1));
  EXPECT_FALSE(keeps_low_bits(Affine(Matrix::identity(4), 1), 1));
  EXPECT_TRUE(keeps_low_bits(Affine(Matrix::identity(4), 4), 2));
  EXPECT_FALSE(keeps_low_bits(Affine(Matrix::identity(4), 4), 3));
  // gray: bit 1 of x is summed into bit 0 of y
  const std::vector<Word> columns{1, 3, 4};
  EXPECT_FALSE(keeps_low_bits(Affine(Matrix::from_columns(3, columns), 0), 1));
}

TEST(AffineSegmentsKernel, RefusesWhatDoesNotFit) {
  std::mt19937_64 random(kSeed);
  const Affine map(f2::reversal(8), 0);
  EXPECT_EQ(code_of([&] { make_affine_segments_params(map, 1, 1); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { make_affine_segments_params(map, 0, 0); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { make_affine_segments_params(map, 0, 1ULL << 56); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { make_affine_segments_params(random_affine(49, random), 0, 1); }),
            ErrorCode::unsupported);
}

}  // namespace affine_segments_kernel_test
}  // namespace faro::kernels
