// Division by a product and a shift, held against the machine's own.
// Sanitized: never, the same few lines, tables or texts.
#include "faro/device/division.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace faro::device {
namespace division_test {

static_assert(Division32(3).quotient(10) == 3);
static_assert(Division64(1).quotient((std::uint64_t{1} << 63) - 1) == (std::uint64_t{1} << 63) - 1);

// Numbers where a wrong rounding would show: around multiples of the divisor, and the largest.
template <typename Word>
void expect_exact(Word divisor, std::mt19937_64& random) {
  constexpr Word end = Word{1} << (sizeof(Word) * 8 - 1);
  const Division<Word> division(divisor);
  ASSERT_EQ(division.divisor(), divisor);
  const Word multiples = static_cast<Word>((end - 1) / divisor);
  std::vector<Word> numbers = {0, 1, static_cast<Word>(end - 1), static_cast<Word>(end - 2)};
  for (int i = 0; i < 64; ++i) {
    const auto k = static_cast<Word>(i < 8 ? multiples - static_cast<Word>(i % 8) % (multiples + 1)
                                           : random() % (std::uint64_t{multiples} + 1));
    const auto x = static_cast<Word>(k * divisor);
    numbers.push_back(x);
    if (x > 0) numbers.push_back(static_cast<Word>(x - 1));
    if (x < end - 1) numbers.push_back(static_cast<Word>(x + 1));
  }
  for (const Word number : numbers) {
    Word x = number;
    ASSERT_EQ(division.quotient(x), number / divisor) << number << " / " << divisor;
    ASSERT_EQ(division.divide(x), number / divisor);
    ASSERT_EQ(x, number % divisor) << number << " % " << divisor;
  }
}

template <typename Word>
void sweep() {
  std::mt19937_64 random(11);
  constexpr int bits = sizeof(Word) * 8 - 1;
  for (Word divisor = 1; divisor <= 1000; ++divisor) expect_exact(divisor, random);
  for (int bit = 1; bit < bits; ++bit) {
    for (const int more : {-1, 0, 1}) {
      const auto divisor = static_cast<Word>((Word{1} << bit) + static_cast<Word>(more));
      expect_exact(divisor, random);
    }
    for (int i = 0; i < 20; ++i) {
      expect_exact(static_cast<Word>((random() & ((Word{1} << bit) - 1)) | Word{1} << (bit - 1)), random);
    }
  }
  expect_exact(static_cast<Word>((Word{1} << bits) - 1), random);
}

TEST(Division, Of32Bits) { sweep<std::uint32_t>(); }
TEST(Division, Of64Bits) { sweep<std::uint64_t>(); }

}  // namespace division_test
}  // namespace faro::device
