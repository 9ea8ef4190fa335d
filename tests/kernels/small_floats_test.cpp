// Floats of 16 and 8 bits against a search among all their values, by arithmetic of binary64.
#include "kernels/small_floats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "engine_support.hpp"

namespace faro::small_floats_test {

using kernels::Overflow;
using kernels::Specials;

template <typename Small>
class SmallFloats : public ::testing::Test {};
using Types = ::testing::Types<kernels::Half, kernels::BrainHalf, kernels::Float8E5M2, kernels::Float8E4M3,
                               kernels::Float8E5M2Fnuz, kernels::Float8E4M3Fnuz>;
TYPED_TEST_SUITE(SmallFloats, Types);

// The finite numbers of no sign, ascending: their bits are 0, 1, 2, ….
template <typename Small>
std::vector<double> finite_values() {
  std::vector<double> values;
  for (std::uint32_t bits = 0; bits <= Small::kLargest; ++bits)
    values.push_back(kernels::to_float(Small{static_cast<typename Small::Bits>(bits)}));
  return values;
}

// What the magnitude rounds to; nothing beyond the middle between the largest number and the next step.
template <typename Small>
std::optional<std::uint32_t> nearest_bits(const std::vector<double>& values, double magnitude) {
  const std::size_t last = values.size() - 1;
  const double next = values[last] + (values[last] - values[last - 1]);
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const auto low = static_cast<std::uint32_t>(above - values.begin() - 1);
  const double high_value = low == last ? next : values[low + 1];
  const double below = magnitude - values[low];
  const double beyond = high_value - magnitude;
  const bool up = below > beyond || (below == beyond && low % 2 == 1);
  if (low == last && up) return std::nullopt;
  return up ? low + 1 : low;
}

template <typename Small>
void expect_rounded(const std::vector<double>& values, double x) {
  const std::optional<std::uint32_t> nearest = nearest_bits<Small>(values, std::abs(x));
  const std::uint32_t beyond = Small::kSpecials == Specials::ieee ? Small::kInfinity : Small::kNan;
  for (const Overflow overflow : {Overflow::as_type, Overflow::saturate}) {
    std::uint32_t wanted = nearest.value_or(overflow == Overflow::saturate ? Small::kLargest : beyond);
    const bool unsigned_zero =
        Small::kSpecials == Specials::sign_is_nan && (wanted == 0 || wanted == Small::kNan);
    if (std::signbit(x) && !unsigned_zero) wanted |= Small::kSign;
    ASSERT_EQ(kernels::rounded_to<Small>(x, overflow).bits, wanted) << std::hexfloat << x;
    const auto single = static_cast<float>(x);
    if (static_cast<double>(single) == x) {
      ASSERT_EQ(kernels::rounded_to<Small>(single, overflow).bits, wanted) << std::hexfloat << x;
    }
  }
}

TYPED_TEST(SmallFloats, RoundToNearestAndTiesToEven) {
  const std::vector<double> values = finite_values<TypeParam>();
  constexpr double kLarge = 1e300;
  const auto expect_around = [&](double x) {
    for (const double near : {x, std::nextafter(x, kLarge), std::nextafter(x, -kLarge)}) {
      expect_rounded<TypeParam>(values, near);
      expect_rounded<TypeParam>(values, -near);
    }
    expect_rounded<TypeParam>(values,
                              std::nextafter(static_cast<float>(x), std::numeric_limits<float>::max()));
    expect_rounded<TypeParam>(values, std::nextafter(static_cast<float>(x), -1.0F));
  };
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    ASSERT_LT(values[i], values[i + 1]);
    expect_around(values[i]);
    expect_around((values[i] + values[i + 1]) / 2);
  }
  const double last = values.back();
  expect_around(last);
  expect_around(last + (last - values[values.size() - 2]) / 2);
  for (const double x : {1e-300, 1e-46, 3.5e38, 1e39, 1e300}) expect_around(x);
  testing::SplitMix64 random{5};
  for (int i = 0; i < 200000; ++i) {
    const auto scaled = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 90) - 110);
    expect_rounded<TypeParam>(values, i % 2 == 0 ? scaled : -scaled);
  }
}

TYPED_TEST(SmallFloats, KeepWhatIsNoFiniteNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using Small = TypeParam;
  EXPECT_TRUE(std::isnan(kernels::to_float(kernels::rounded_to<Small>(nan))));
  EXPECT_TRUE(std::isnan(kernels::to_float(kernels::rounded_to<Small>(nan, Overflow::saturate))));
  const float widened = kernels::to_float(kernels::rounded_to<Small>(-kInfinity));
  if (Small::kSpecials == Specials::ieee) {
    EXPECT_EQ(widened, -std::numeric_limits<float>::infinity());
  } else {
    EXPECT_TRUE(std::isnan(widened));
  }
  EXPECT_EQ(kernels::to_float(kernels::rounded_to<Small>(-kInfinity, Overflow::saturate)),
            -finite_values<Small>().back());
}

// Every number of the type comes back, and those known from the formats' definitions are what they are.
TYPED_TEST(SmallFloats, ComeBackFromWiderNumbers) {
  for (std::uint32_t bits = 0; bits < 2 * TypeParam::kSign; ++bits) {
    const TypeParam x{static_cast<typename TypeParam::Bits>(bits)};
    const float wide = kernels::to_float(x);
    if (!std::isnan(wide)) {
      ASSERT_EQ(kernels::rounded_to<TypeParam>(wide).bits, x.bits);
    }
  }
}

TEST(SmallFloatValues, AreThoseOfTheFormats) {
  EXPECT_EQ(finite_values<kernels::Half>().back(), 65504);
  EXPECT_EQ(finite_values<kernels::Float8E5M2>().back(), 57344);
  EXPECT_EQ(finite_values<kernels::Float8E4M3>().back(), 448);
  EXPECT_EQ(finite_values<kernels::Float8E5M2Fnuz>().back(), 57344);
  EXPECT_EQ(finite_values<kernels::Float8E4M3Fnuz>().back(), 240);
  EXPECT_EQ(kernels::to_float(kernels::BrainHalf{0x3f80}), 1);
  EXPECT_EQ(kernels::to_float(kernels::Half{0x0001}), 0x1p-24F);
  EXPECT_EQ(kernels::to_float(kernels::Float8E4M3{0x01}), 0x1p-9F);
  EXPECT_EQ(kernels::to_float(kernels::Float8E4M3Fnuz{0x08}), 0x1p-7F);
}

}  // namespace faro::small_floats_test
