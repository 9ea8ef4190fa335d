// network::normal_form: layers and a final map do what the program does, on every element, with an operator
// that notices a wrong order, a wrong pair number and a wrong side.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <string>
#include <vector>

#include "network_plan_support.hpp"

namespace faro::network {
namespace network_normal_form_test {

using namespace testing_support;

constexpr std::uint64_t kSeed = 61;

std::string pasteable(const Program& program) {
  return "faro network explain '" + to_text(program) + "' --bits " + std::to_string(program.bits()) +
         ", seed " + std::to_string(kSeed);
}

void expect_law(const Program& program, std::mt19937_64& random) {
  SCOPED_TRACE(pasteable(program));
  const NormalForm form = normal_form(program);
  ASSERT_EQ(form.bits, program.bits());
  ASSERT_EQ(form.final_map.bits(), program.bits());
  for (const Layer& layer : form.layers) {
    ASSERT_EQ(layer.frame.bits(), program.bits());
    ASSERT_EQ(layer.frame(layer.direction()) ^ layer.frame(0), 1U);
  }
  const Values in = random_values(program.bits(), random);
  ASSERT_EQ(run_normal_form(form, in), interpret(program, kWords, in));
}

// vcolumn(2) = parm(3; pairs): 0 meets 3 and 1 meets 2, and each of the two parts has one pair, number 0.
TEST(NormalForm, VcolumnOfFourByHand) {
  const NormalForm form = normal_form(vcolumn(2));
  ASSERT_EQ(form.layers.size(), 1U);
  const Layer& layer = form.layers.front();
  EXPECT_EQ(layer.bits, 1);
  EXPECT_EQ(layer.direction(), 0b11U);
  EXPECT_EQ(layer.frame(0), 0U);
  EXPECT_EQ(layer.frame(3), 1U);
  EXPECT_EQ(layer.frame(1), 2U);
  EXPECT_EQ(layer.frame(2), 3U);
  EXPECT_TRUE(form.final_map.is_identity());
}

// sort = merge . parm(1; sort): the elements at even and at odd places are sorted, then the mirror images
// meet.
TEST(NormalForm, SortOfEightByHand) {
  const NormalForm form = normal_form(sort(3));
  std::vector<Word> directions;
  for (const Layer& layer : form.layers) directions.push_back(layer.direction());
  // vcolumn(n) pairs x with x ^ (2^n - 1); parm(1; f) takes f to the bits above the lowest; parm(2^(n-1); f)
  // to the low ones.
  EXPECT_EQ(directions, (std::vector<Word>{0b100, 0b110, 0b010, 0b111, 0b011, 0b001}));
  EXPECT_TRUE(form.final_map.is_identity());
}

TEST(NormalForm, FftOfEightByHand) {
  const NormalForm form = normal_form(fft(3));
  ASSERT_EQ(form.layers.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const Layer& layer = form.layers[static_cast<std::size_t>(i)];
    EXPECT_EQ(layer.direction(), Word{1} << (2 - i));
    // A butterfly of 2^k elements in natural order multiplies by exp(-2 pi i p / 2^k), k = 3, 2, 1.
    EXPECT_EQ(layer.bits, 3 - i);
    for (Word x = 0; x < 8; ++x) {
      const Word y = layer.frame(x);
      EXPECT_EQ(y & 1, (x >> (2 - i)) & 1);
      EXPECT_EQ((y >> 1) & f2::low_mask(layer.bits - 1), x & f2::low_mask(2 - i))
          << "layer " << i << ", x " << x;
    }
  }
  EXPECT_EQ(form.final_map, Affine(f2::reversal(3), 0));
}

TEST(NormalForm, PermutationsAreAllThatIsLeftOfAProgramWithoutPairs) {
  std::mt19937_64 random(kSeed);
  const Affine a = test::random_affine(4, random);
  const Affine b = test::random_affine(5, random);
  const NormalForm form = normal_form(bmmc(b) * two(bmmc(a)) * identity(5));
  EXPECT_TRUE(form.layers.empty());
  EXPECT_EQ(form.final_map, compose(b, direct_sum(a, Affine(1))));
}

TEST(NormalForm, LawForEveryMask) {
  std::mt19937_64 random(kSeed);
  for (int n = 2; n <= 6; ++n) {
    for (Word mask = 1; mask <= f2::low_mask(n); ++mask) {
      expect_law(parm(mask, pairs(mixer(), n - 1)), random);
      expect_law(parm(mask, bmmc(test::random_affine(n - 1, random))), random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(NormalForm, LawForTheLibrary) {
  std::mt19937_64 random(kSeed);
  for (int n = 1; n <= 8; ++n) {
    for (const Program& program :
         {sort(n, mixer()), merge(n, mixer()), vcolumn(n, mixer()), bitonic_sort(n, mixer()),
          bitonic_merge(n, mixer()), butterfly(n, mixer())}) {
      expect_law(program, random);
      if (HasFatalFailure()) return;
    }
  }
}

// With the operators of the library, integers and complex numbers, bit for bit: the arithmetic is the same.
TEST(NormalForm, LawForTheLibrarysOwnOperators) {
  std::mt19937_64 random(kSeed);
  for (const LibraryEntry& entry : library()) {
    for (int n = 1; n <= 7; ++n) {
      const Program program = entry.make(n);
      SCOPED_TRACE(pasteable(program));
      const NormalForm form = normal_form(program);
      const bool transform = entry.name.find("fft") != std::string_view::npos;
      const ElementType element{.scalar = transform ? Scalar::c64 : Scalar::u64};
      Values values = random_values(n, random);
      if (transform) {
        for (std::uint64_t& value : values) {
          const std::complex<float> z(static_cast<float>(random() % 1000),
                                      static_cast<float>(random() % 1000));
          std::memcpy(&value, &z, sizeof value);
        }
      }
      const Values wanted = interpret(program, element, values);
      for (const Layer& layer : form.layers) {
        for (Word x = 0; x < values.size(); ++x) {
          const Word y = layer.frame(x);
          if ((y & 1) != 0) continue;
          apply(layer.op, element, &values[x], &values[x ^ layer.direction()],
                (y >> 1) & f2::low_mask(layer.bits - 1), layer.bits);
        }
      }
      for (Word x = 0; x < values.size(); ++x) ASSERT_EQ(values[x], wanted[form.final_map(x)]);
    }
  }
}

TEST(NormalForm, LawForRandomPrograms) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 600; ++trial) {
    const int n = static_cast<int>(random() % 9);
    expect_law(random_program(n, 1 + static_cast<int>(random() % 12), random), random);
    if (HasFatalFailure()) return;
  }
}

}  // namespace network_normal_form_test
}  // namespace faro::network
