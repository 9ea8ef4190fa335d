// What the library's programs compute: sorted arrays, Walsh-Hadamard and Fourier transforms, from their
// definitions.
// Sanitized: never, the same few lines, tables or texts.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <set>

#include "faro/network/program.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_sort_test {

using Maker = Program (*)(int, const Operator&);

struct Sorter {
  const char* name;
  Maker make;
};
constexpr Sorter kSorters[] = {{"sort", sort}, {"bitonic_sort", bitonic_sort}};

// The zero-one principle: a network of comparators that sorts every array of zeros and ones sorts them all.
TEST(NetworkSort, SortsEveryZeroOneInputOf16) {
  for (const Sorter& sorter : kSorters) {
    const Program program = sorter.make(4, operators::min_max());
    for (std::uint32_t input = 0; input < 1U << 16; ++input) {
      std::vector<std::uint32_t> values(16);
      for (unsigned x = 0; x < 16; ++x) values[x] = (input >> x) & 1U;
      const std::vector<std::uint32_t> result = interpret(program, kU32, values);
      std::sort(values.begin(), values.end());
      ASSERT_EQ(result, values) << "--bits 4 " << sorter.name << ", input " << input;
    }
  }
}

TEST(NetworkSort, MergesEveryZeroOneInputItIsMeantFor) {
  // Even and odd places sorted: k and l zeros. Halves sorted: likewise.
  for (int n = 1; n <= 7; ++n) {
    const std::size_t half = std::size_t{1} << (n - 1);
    for (std::size_t k = 0; k <= half; ++k) {
      for (std::size_t l = 0; l <= half; ++l) {
        std::vector<std::uint32_t> woven(2 * half);
        std::vector<std::uint32_t> joined(2 * half);
        for (std::size_t i = 0; i < half; ++i) {
          woven[2 * i] = joined[i] = i < k ? 0 : 1;
          woven[2 * i + 1] = joined[half + i] = i < l ? 0 : 1;
        }
        const std::vector<std::uint32_t> merged = interpret(merge(n), kU32, woven);
        EXPECT_TRUE(std::is_sorted(merged.begin(), merged.end()))
            << "--bits " << n << " merge " << k << " " << l;
        const std::vector<std::uint32_t> bitonic = interpret(bitonic_merge(n), kU32, joined);
        EXPECT_TRUE(std::is_sorted(bitonic.begin(), bitonic.end()))
            << "--bits " << n << " bitonic_merge " << k << " " << l;
      }
    }
  }
}

TEST(NetworkSort, SortsRandomArraysWithDuplicatesAndInOrder) {
  for (const Sorter& sorter : kSorters) {
    for (int n = 0; n <= 12; ++n) {
      const Program program = sorter.make(n, operators::min_max());
      std::vector<std::uint32_t> values = random_values(n, static_cast<std::uint64_t>(n) + 1);
      for (int kind = 0; kind < 4; ++kind) {
        if (kind == 1) std::for_each(values.begin(), values.end(), [](std::uint32_t& v) { v %= 7; });
        if (kind == 2) std::sort(values.begin(), values.end());
        if (kind == 3) std::reverse(values.begin(), values.end());
        std::vector<std::uint32_t> expected = values;
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(interpret(program, kU32, values), expected)
            << "--bits " << n << " " << sorter.name << " " << kind;
      }
    }
  }
}

TEST(NetworkSort, SortsDownwardsWithTheReversedComparator) {
  for (const Sorter& sorter : kSorters) {
    std::vector<std::uint32_t> values = random_values(9, 4);
    const std::vector<std::uint32_t> result = interpret(sorter.make(9, operators::max_min()), kU32, values);
    std::sort(values.begin(), values.end(), std::greater<>());
    EXPECT_EQ(result, values) << sorter.name;
  }
}

TEST(NetworkSort, TheBalancedMergerIsFigure13) {
  // 16 wires, four columns: the first compares x with 15 - x, the second each half with its mirror image, ...
  EXPECT_EQ(sort(4).leaves(), 10U);
  EXPECT_EQ(merge(4).leaves(), 4U);
  const auto changes = [](const Program& program, std::uint32_t low, std::uint32_t high) {
    std::vector<std::uint32_t> values(16, 1);
    values[high] = 0;
    return interpret(program, kU32, values)[low] == 0;
  };
  const Program second = parm(8, vcolumn(3));
  const Program third = parm(8, parm(4, vcolumn(2)));
  for (std::uint32_t x = 0; x < 16; ++x) {
    if (x < 8) {
      EXPECT_TRUE(changes(vcolumn(4), x, 15 - x));
    }
    if (x % 8 < 4) {
      EXPECT_TRUE(changes(second, x, x ^ 7));
    }
    if (x % 4 < 2) {
      EXPECT_TRUE(changes(third, x, x ^ 3));
    }
  }
}

TEST(NetworkWht, IsItsDefinition) {
  for (int n = 0; n <= 9; ++n) {
    const std::vector<std::uint32_t> values = random_values(n, 8);
    const std::vector<std::uint32_t> result = interpret(wht(n), kU32, values);
    for (std::uint32_t y = 0; y < values.size(); ++y) {
      std::uint32_t sum = 0;
      for (std::uint32_t x = 0; x < values.size(); ++x) sum += f2::parity(x & y) ? 0U - values[x] : values[x];
      ASSERT_EQ(result[y], sum) << "--bits " << n << " wht, y = " << y;
    }
  }
}

std::vector<std::complex<double>> complex_values(int n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n) + 77);
  std::uniform_real_distribution<double> real(-1, 1);
  std::vector<std::complex<double>> values(std::size_t{1} << n);
  for (auto& value : values) value = {real(random), real(random)};
  return values;
}

// Sums in long double, so that the error seen is the transform's.
std::vector<std::complex<double>> direct_transform(const std::vector<std::complex<double>>& in, int sign) {
  using Long = std::complex<long double>;
  std::vector<std::complex<double>> out(in.size());
  const std::size_t size = in.size();
  for (std::size_t y = 0; y < size; ++y) {
    Long sum = 0;
    for (std::size_t x = 0; x < size; ++x) {
      const long double turn = 2 * std::numbers::pi_v<long double> * static_cast<long double>(x * y % size) /
                               static_cast<long double>(size);
      sum += Long(in[x]) * Long(std::cos(turn), static_cast<long double>(sign) * std::sin(turn));
    }
    out[y] = std::complex<double>(sum);
  }
  return out;
}

double relative_error(const std::vector<std::complex<double>>& got,
                      const std::vector<std::complex<double>>& wanted) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    error += std::norm(got[i] - wanted[i]);
    size += std::norm(wanted[i]);
  }
  return size == 0 ? std::sqrt(error) : std::sqrt(error / size);
}

TEST(NetworkFft, IsTheDirectTransform) {
  const ElementType element{.scalar = Scalar::c128, .with_value = false};
  for (int n = 0; n <= 10; ++n) {
    const auto values = complex_values(n);
    const double bound = 4e-16 * std::max(n, 1);
    const auto forward = interpret(fft(n), element, values);
    EXPECT_LT(relative_error(forward, direct_transform(values, -1)), bound) << "--bits " << n << " fft";
    EXPECT_LT(relative_error(interpret(inverse_fft(n), element, values), direct_transform(values, 1)), bound)
        << "--bits " << n << " inverse_fft";
    auto back = interpret(inverse_fft(n), element, forward);
    for (auto& value : back) value /= static_cast<double>(values.size());
    EXPECT_LT(relative_error(back, values), bound) << "--bits " << n;
  }
}

TEST(NetworkFft, TheReversedVariantsDifferByABitReversalOnly) {
  const ElementType element{.scalar = Scalar::c128, .with_value = false};
  for (int n = 0; n <= 8; ++n) {
    const auto values = complex_values(n);
    const Program reversal = bmmc(maps::bit_reversal(n));
    EXPECT_EQ(interpret(reversal * fft_reversed(n), element, values), interpret(fft(n), element, values));
    EXPECT_EQ(interpret(reversal * inverse_fft_reversed(n), element, values),
              interpret(inverse_fft(n), element, values));
  }
}

TEST(NetworkLibrary, HasDistinctNamesAndFindsThem) {
  std::set<std::string_view> names;
  for (const LibraryEntry& entry : library()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(find_program(entry.name), &entry);
  }
  EXPECT_EQ(find_program("no_such_program"), nullptr);
}

}  // namespace network_sort_test
}  // namespace faro::network
