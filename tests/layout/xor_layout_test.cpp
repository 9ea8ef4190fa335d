// The Xor layout: its laws, congestion 1 for every map, width and tile, and predicted congestion = counted
// congestion. The counts here walk the addresses of a phase one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "drawn.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/layout/tile.hpp"

namespace faro::layout {
namespace xor_layout_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;
using machine::log2_exact;
using machine::MemoryGeometry;

// The congestion of the phase shift + span(phase), counted from byte addresses.
int counted_congestion(const Xor& layout, int width_bits, const Subspace& phase, Word shift,
                       const MemoryGeometry& geometry) {
  const auto word_bytes = static_cast<std::uint64_t>(geometry.bank_bytes);
  std::map<std::uint64_t, std::set<std::uint64_t>> words_in_bank;
  for (Word k = 0; k < Word{1} << phase.dimension(); ++k) {
    const Word place = shift ^ f2::combine(phase.basis().data(), k);
    const std::uint64_t first = std::uint64_t{layout(static_cast<std::uint32_t>(place))} << width_bits;
    for (std::uint64_t byte = first; byte < first + (1ULL << width_bits); ++byte) {
      const std::uint64_t word = byte / word_bytes;
      words_in_bank[word % static_cast<std::uint64_t>(geometry.banks)].insert(word);
    }
  }
  std::size_t worst = 0;
  for (const auto& [bank, words] : words_in_bank) worst = std::max(worst, words.size());
  return static_cast<int>(worst);
}

using test::random_invertible;

Matrix random_bit_permutation(int n, std::mt19937_64& random) {
  std::vector<int> to(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) to[static_cast<std::size_t>(i)] = i;
  std::shuffle(to.begin(), to.end(), random);
  Matrix a = Matrix::zero(n, n);
  for (int i = 0; i < n; ++i) a.set_column(i, f2::unit(to[static_cast<std::size_t>(i)]));
  return a;
}

Subspace unit_span(int dimension, int first, int count) {
  Subspace span(dimension);
  for (int i = first; i < std::min(first + count, dimension); ++i) span.insert(f2::unit(i));
  return span;
}

// The phases of a tile whose output place p is read from source place inverse_local p, `vector_bits` elements
// a thread.
XorRequest request_for(const Matrix& inverse_local, int width_bits, int vector_bits,
                       const MemoryGeometry& geometry) {
  const int m = inverse_local.rows();
  const int write_lanes = log2_exact(geometry.lanes_per_phase(1 << (width_bits + vector_bits)));
  const int read_lanes = log2_exact(geometry.lanes_per_phase(1 << width_bits));
  return {m, width_bits, unit_span(m, 0, vector_bits + write_lanes),
          f2::image(inverse_local, unit_span(m, vector_bits, read_lanes)), geometry};
}

void expect_laws(const Xor& layout, const XorRequest& request, std::mt19937_64& random) {
  const int m = request.tile_bits;
  const auto places = static_cast<std::uint32_t>(f2::low_mask(m)) + 1;
  const std::uint32_t in_word =
      request.width_bits >= 2 ? 0U : static_cast<std::uint32_t>(f2::low_mask(2 - request.width_bits));
  for (int trial = 0; trial < 32; ++trial) {
    const std::uint32_t p = static_cast<std::uint32_t>(random()) % places;
    const std::uint32_t q = static_cast<std::uint32_t>(random()) % places;
    ASSERT_EQ(layout(p) ^ layout(q), layout(p ^ q));
    ASSERT_EQ(layout(layout(p)), p);
    ASSERT_EQ(layout(p) >> layout.bank_row_bits, p >> layout.bank_row_bits);
    ASSERT_EQ((layout(p) ^ p) & in_word, 0U) << "elements of one word are torn apart";
  }
  Word by_bits = 0;
  for (int i = 0; i < m; ++i) by_bits |= layout.mask_of_bit(i);
  ASSERT_LT(by_bits, Word{1} << layout.bank_row_bits);
}

TEST(Xor, TransposeOnFourBanksIsTheTextbookSwizzle) {
  const Matrix transpose = Matrix::from_columns(4, std::vector<Word>{4, 8, 1, 2});
  const Xor layout = make_xor(request_for(transpose, 2, 0, {.warp_size = 4, .banks = 4}));
  for (std::uint32_t row = 0; row < 4; ++row) {
    for (std::uint32_t column = 0; column < 4; ++column) {
      EXPECT_EQ(layout(row << 2 | column), row << 2 | (column ^ row));
    }
  }
}

TEST(Xor, NothingToDoForOneBankRow) {
  for (int m = 0; m <= 5; ++m) EXPECT_EQ(make_xor(request_for(f2::reversal(m), 2, 0, {})), (Xor{m, 5, {}}));
}

TEST(Xor, PredictionByHand) {
  const Xor raw{.tile_bits = 10, .bank_row_bits = 5};
  EXPECT_EQ(predicted_congestion(raw, 2, unit_span(10, 0, 5), {}), 1);
  EXPECT_EQ(predicted_congestion(raw, 2, unit_span(10, 5, 5), {}), 32);  // a column
  EXPECT_EQ(predicted_congestion(raw, 2, unit_span(10, 3, 5), {}), 8);
  const Xor bytes{.tile_bits = 10, .bank_row_bits = 7};
  EXPECT_EQ(predicted_congestion(bytes, 0, unit_span(10, 0, 5), {}), 1);  // four bytes a word
}

TEST(Xor, EveryMapOfFourBitsOnFourBanks) {
  const MemoryGeometry geometry{.warp_size = 4, .banks = 4};
  int maps = 0;
  for (Word code = 0; code < Word{1} << 16; ++code) {
    const std::vector<Word> columns = {code & 15, code >> 4 & 15, code >> 8 & 15, code >> 12};
    const Matrix a = Matrix::from_columns(4, columns);
    if (a.rank() < 4) continue;
    ++maps;
    for (int width_bits = 0; width_bits <= 4; ++width_bits) {
      for (int vector_bits = 0; vector_bits <= 4 - width_bits; ++vector_bits) {
        const XorRequest request = request_for(a, width_bits, vector_bits, geometry);
        const Xor layout = make_xor(request);
        for (const Subspace* phase : {&request.write, &request.read}) {
          ASSERT_EQ(counted_congestion(layout, width_bits, *phase, code % 16, geometry), 1)
              << "columns " << code << ", width " << (1 << width_bits) << ", vector " << (1 << vector_bits);
        }
      }
    }
  }
  EXPECT_EQ(maps, 20160);
}

TEST(Xor, EveryWidthVectorAndTile) {
  constexpr std::uint64_t seed = 20261121;
  std::mt19937_64 random(seed);
  int touched_vector_bits = 0;
  for (int width_bits = 0; width_bits <= 4; ++width_bits) {
    for (int vector_bits = 0; vector_bits <= 4 - width_bits; ++vector_bits) {
      for (int m = 1; m <= 16; ++m) {
        for (int trial = 0; trial < 12; ++trial) {
          const Matrix local = trial % 3 == 0   ? random_bit_permutation(m, random)
                               : trial % 3 == 1 ? random_invertible(m, random)
                               : trial == 2     ? Matrix::identity(m)
                                                : f2::reversal(m);
          const XorRequest request = request_for(local, width_bits, vector_bits, {});
          const Xor layout = make_xor(request);
          SCOPED_TRACE("seed " + std::to_string(seed) + ", width_bits " + std::to_string(width_bits) +
                       ", vector_bits " + std::to_string(vector_bits) + ", m " + std::to_string(m) +
                       ", trial " + std::to_string(trial));
          expect_laws(layout, request, random);
          for (const Subspace* phase : {&request.write, &request.read}) {
            ASSERT_EQ(predicted_congestion(layout, width_bits, *phase, {}), 1);
            ASSERT_EQ(counted_congestion(layout, width_bits, *phase, random() & f2::low_mask(m), {}), 1);
          }
          for (int i = 0; i < m; ++i)
            touched_vector_bits += (layout.mask_of_bit(i) & f2::low_mask(vector_bits)) != 0;
        }
      }
    }
  }
  EXPECT_GT(touched_vector_bits, 0) << "no layout moved words inside a vector";
}

TEST(Xor, PredictedIsCountedForAnyLayoutAndPhase) {
  constexpr std::uint64_t seed = 7;
  std::mt19937_64 random(seed);
  std::set<int> seen;
  for (int trial = 0; trial < 4000; ++trial) {
    const int width_bits = trial % 5;
    const int m = 7 + static_cast<int>(random() % 6);
    Xor layout{.tile_bits = m, .bank_row_bits = 7 - width_bits};
    const int in_word = std::max(0, 2 - width_bits);
    for (int i = 0; i < m - layout.bank_row_bits; ++i) {
      // Sparse masks and sparse directions, so that large congestions occur too.
      layout.mask[i] = static_cast<std::uint32_t>(random() & random() & f2::low_mask(7 - width_bits) &
                                                  ~f2::low_mask(in_word));
    }
    Subspace phase(m);
    const int lanes = log2_exact(MemoryGeometry{}.lanes_per_phase(1 << width_bits));
    while (phase.dimension() < lanes)
      phase.insert(f2::unit(static_cast<int>(random() % static_cast<unsigned>(m))) ^
                   (random() & random() & random() & f2::low_mask(m)));
    const int predicted = predicted_congestion(layout, width_bits, phase, {});
    seen.insert(predicted);
    ASSERT_EQ(counted_congestion(layout, width_bits, phase, random() & f2::low_mask(m), {}), predicted)
        << "seed " << seed << ", trial " << trial;
  }
  EXPECT_GE(seen.size(), 4U);
}

}  // namespace xor_layout_test
}  // namespace faro::layout
