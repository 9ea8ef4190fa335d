// Arrays whose element and byte counts pass 2^31 and 2^32, as a user runs them.
//
// Element x is a hash of x, so that what belongs at place y is known from the inverse map alone: every byte
// of the output is checked in order of memory, and 2^22 places at random with the map itself. Needs up to 8
// GiB, and skips without them. In place there is one array, and its definition is the check.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "engine_support.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "io/buffer.hpp"

namespace faro::testing {
namespace large_arrays_test {

constexpr std::uint64_t kChunk = std::uint64_t{1} << 16;  // elements that a thread takes at once
constexpr std::uint64_t kSamples = std::uint64_t{1} << 22;

// Every bit of x reaches the top byte, which is all that an element of one byte has of it.
std::uint64_t hash(std::uint64_t x) { return (x + 0x2545f4914f6cdd1dU) * 0x9e3779b97f4a7c15U; }

// One byte, or words of eight.
template <std::uint64_t kWidth>
void put_element(std::uint64_t x, std::byte* to) {
  if constexpr (kWidth == 1) {
    *to = static_cast<std::byte>(hash(x) >> 56);
  } else {
    for (std::uint64_t at = 0; at < kWidth; at += 8) {
      const std::uint64_t word = hash(x * kWidth + at);
      std::memcpy(to + at, &word, 8);
    }
  }
}

template <typename Body>
void for_each_below(std::uint64_t count, Body body) {
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(count); ++k) body(static_cast<std::uint64_t>(k));
}

template <typename Body>
void for_each_chunk(std::uint64_t elements, Body body) {
  for_each_below(elements / kChunk, [&](std::uint64_t chunk) { body(chunk * kChunk); });
}

// Both arrays for all tests of the program: a fresh page costs as much as several sweeps over it.
struct Memory {
  explicit Memory(std::uint64_t bytes) : in(bytes), out(bytes) {}
  io::Buffer in;
  io::Buffer out;
};

constexpr std::uint64_t kSpareBytes = std::uint64_t{512} << 20;

class LargeArrays : public ::testing::Test {
 protected:
  static void TearDownTestSuite() { release(); }
  static void release() { memory_.reset(); }

  // False where the machine has not that much memory; the test is then skipped.
  static bool have(std::uint64_t bytes) {
    if (memory_ != nullptr && memory_->in.size() >= bytes) return true;
    memory_.reset();
    if (io::available_memory_bytes() < 2 * bytes + kSpareBytes) return false;
    memory_ = std::make_unique<Memory>(bytes);
    return true;
  }

  template <std::uint64_t kWidth>
  static void run(const Affine& map, std::uint64_t batch) {
    const Problem problem{.permutation = map, .element_bytes = kWidth, .batch = batch};
    const std::uint64_t bytes = total_bytes(problem);
    const std::uint64_t elements = bytes / kWidth;
    const std::uint64_t in_array = f2::low_mask(map.bits());
    std::byte* const in = memory_->in.data();
    std::byte* const out = memory_->out.data();
    for_each_chunk(elements, [&](std::uint64_t first) {
      for (std::uint64_t x = first; x < first + kChunk; ++x) put_element<kWidth>(x, in + x * kWidth);
      std::memset(out + first * kWidth, 0xa5, kChunk * kWidth);
    });

    plan(problem).run(in, out, bytes);

    // pi^-1(y ^ low) = pi^-1(y) ^ (A^-1 low), low being the bits of a chunk's places.
    const f2::Matrix& inverse = map.inverse_matrix();
    std::vector<std::uint64_t> low(kChunk);
    for (std::uint64_t k = 0; k < kChunk; ++k) low[k] = inverse * k;
    std::atomic<std::uint64_t> wrong{elements};
    for_each_chunk(elements, [&](std::uint64_t first) {
      const std::uint64_t array = first & ~in_array;
      const std::uint64_t source = inverse * ((first & in_array) ^ map.complement());
      for (std::uint64_t k = 0; k < kChunk; ++k) {
        std::array<std::byte, kWidth> expected;
        put_element<kWidth>(array | (source ^ low[k]), expected.data());
        if (std::memcmp(out + (first + k) * kWidth, expected.data(), kWidth) != 0) {
          wrong = first + k;
          return;
        }
      }
    });
    ASSERT_EQ(wrong.load(), elements)
        << "the element at out[" << wrong.load() << "] does not belong there\n  " << describe(problem);

    SplitMix64 random{bytes};
    for (std::uint64_t k = 0; k < kSamples; ++k) {
      const std::uint64_t x = random() % elements;
      const std::uint64_t y = (x & ~in_array) | map(x & in_array);
      ASSERT_EQ(std::memcmp(in + x * kWidth, out + y * kWidth, kWidth), 0)
          << "in[" << x << "] is not at out[" << y << "]\n  " << describe(problem);
    }
  }

 private:
  static std::unique_ptr<Memory> memory_;
};

std::unique_ptr<Memory> LargeArrays::memory_;

// Largest first: the others use its memory again.
#define FARO_NEED(bytes)                                                          \
  if (kInstrumented) GTEST_SKIP() << "an instrumented build takes too long";      \
  if (!have(bytes)) {                                                             \
    GTEST_SKIP() << "needs " << ((bytes) >> 29) << " GiB of memory, "             \
                 << (io::available_memory_bytes() >> 30) << " GiB are available"; \
  }                                                                               \
  static_assert(true, "a semicolon follows")

TEST_F(LargeArrays, FourGiElementsOfOneByte) {
  FARO_NEED(std::uint64_t{1} << 32);
  run<1>(maps::random_bmmc(32, 1), 1);
}

TEST_F(LargeArrays, WideElements) {
  FARO_NEED(std::uint64_t{1} << 32);
  run<64>(maps::bit_reversal(26), 1);
}

TEST_F(LargeArrays, ThreeArraysOfOneGiElements) {
  FARO_NEED(std::uint64_t{3} << 30);
  run<1>(maps::bit_reversal(30), 3);
}

TEST_F(LargeArrays, TwoGiElementsOfOneByte) {
  FARO_NEED(std::uint64_t{1} << 31);
  run<1>(maps::transpose(std::uint64_t{1} << 15, std::uint64_t{1} << 16), 1);
}

// Transposes rows x columns elements of one byte, more than 2^31; every one is held to the definition.
void expect_transposed_in_place(std::uint64_t rows, std::uint64_t columns) {
  const Problem problem{.permutation = maps::transpose_any(rows, columns),
                        .element_bytes = 1,
                        .placement = Placement::in_place};
  const ExecutablePlan transpose = plan(problem);
  const std::uint64_t bytes = rows * columns;
  ASSERT_GT(bytes, std::uint64_t{1} << 31);
  if (io::available_memory_bytes() < bytes + transpose.workspace_bytes() + kSpareBytes) {
    GTEST_SKIP() << "needs " << (bytes >> 30) << " GiB of memory, " << (io::available_memory_bytes() >> 30)
                 << " GiB are available";
  }
  const io::Buffer data(bytes);
  for_each_below(rows, [&](std::uint64_t i) {
    std::byte* const row = data.data() + i * columns;
    for (std::uint64_t j = 0; j < columns; ++j) put_element<1>(i * columns + j, row + j);
  });

  transpose.run(data.data(), bytes);

  std::atomic<std::uint64_t> wrong{bytes};
  for_each_below(columns, [&](std::uint64_t j) {
    const std::byte* const row = data.data() + j * rows;
    for (std::uint64_t i = 0; i < rows; ++i) {
      std::byte expected;
      put_element<1>(i * columns + j, &expected);
      if (row[i] != expected) wrong = j * rows + i;
    }
  });
  EXPECT_EQ(wrong.load(), bytes) << "the element at " << wrong.load() << " does not belong there\n  "
                                 << describe(problem);
}

TEST_F(LargeArrays, TransposedInPlace) {
  if (kInstrumented) GTEST_SKIP() << "an instrumented build takes too long";
  release();
  expect_transposed_in_place(46349, 46351);
}

// side x side x side elements of one byte, axes reversed, every one held to the definition.
void expect_axes_reversed(std::uint64_t side, std::uint64_t past) {
  const std::uint64_t bytes = side * side * side;
  ASSERT_GT(bytes, past);
  if (io::available_memory_bytes() < 2 * bytes + kSpareBytes) {
    GTEST_SKIP() << "needs " << (bytes >> 29) << " GiB of memory, " << (io::available_memory_bytes() >> 30)
                 << " GiB are available";
  }
  const Problem problem{.permutation = Axes({side, side, side}, {2, 1, 0}), .element_bytes = 1};
  const ExecutablePlan reverse = plan(problem);
  const io::Buffer in(bytes);
  const io::Buffer out(bytes);
  for_each_below(side * side, [&](std::uint64_t row) {
    for (std::uint64_t k = 0; k < side; ++k) put_element<1>(row * side + k, in.data() + row * side + k);
  });

  reverse.run(in.data(), out.data(), bytes);

  std::atomic<std::uint64_t> wrong{bytes};
  for_each_below(side * side, [&](std::uint64_t row) {  // of the output: k, then j
    const std::uint64_t k = row / side;
    const std::uint64_t j = row % side;
    for (std::uint64_t i = 0; i < side; ++i) {
      std::byte expected;
      put_element<1>((i * side + j) * side + k, &expected);
      if (out.data()[row * side + i] != expected) wrong = row * side + i;
    }
  });
  EXPECT_EQ(wrong.load(), bytes) << "the element at " << wrong.load() << " does not belong there\n  "
                                 << describe(problem);
}

TEST_F(LargeArrays, AxesOfMoreThanTwoGiElements) {
  if (kInstrumented) GTEST_SKIP() << "an instrumented build takes too long";
  release();
  expect_axes_reversed(1291, std::uint64_t{1} << 31);
}

TEST_F(LargeArrays, AxesOfMoreThanFourGiElements) {
  if (kInstrumented) GTEST_SKIP() << "an instrumented build takes too long";
  release();
  expect_axes_reversed(1627, std::uint64_t{1} << 32);
}

// Few rows, with a common divisor.
TEST_F(LargeArrays, SkinnyTransposedInPlace) {
  if (kInstrumented) GTEST_SKIP() << "an instrumented build takes too long";
  release();
  expect_transposed_in_place(178956996, 12);
}

}  // namespace large_arrays_test
}  // namespace faro::testing
