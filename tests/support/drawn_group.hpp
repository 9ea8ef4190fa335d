// Groups drawn for tests: problems of all kinds, some of them many times, and their arrays, each between
// guard zones at any address.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "drawn.hpp"
#include "drawn_views.hpp"
#include "engine_support.hpp"
#include "faro/group.hpp"
#include "faro/permutation/computed.hpp"
#include "faro/permutation/permutation.hpp"
#include "oracle.hpp"

namespace faro::test {

inline std::vector<std::uint64_t> draw_shape(SplitMix64& random, std::uint64_t most) {
  std::vector<std::uint64_t> shape(1 + below(random, 4));
  for (std::uint64_t& extent : shape) {
    extent = 1 + below(random, std::min<std::uint64_t>(most, below(random, 3) == 0 ? 200 : 20));
    if (below(random, 2) == 0 && extent > 8) extent = extent / 8 * 8;
    most = std::max<std::uint64_t>(1, most / extent);
  }
  return shape;
}

inline std::vector<int> draw_order(SplitMix64& random, std::size_t axes) {
  std::vector<int> order(axes);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = axes; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  return order;
}

/// Of at most so many elements, a view of 40000.
inline Problem draw_problem(SplitMix64& random, std::uint64_t most) {
  constexpr std::uint64_t kWidths[] = {1, 2, 4, 8, 16, 2, 4, 3, 6, 12, 24, 32, 48};
  Problem problem{.element_bytes = kWidths[below(random, std::size(kWidths))]};
  const auto power = [&] { return std::uint64_t{1} << below(random, 5); };
  const auto cyclic = [&](std::uint64_t count) {
    return Cyclic{.count = count, .shift = below(random, count), .reversed = below(random, 3) == 0};
  };
  switch (below(random, 10)) {
    case 0:  // of no elements
      problem.permutation = Axes({0}, {0});
      return problem;
    case 1:
      problem.view = draw_view(random);
      return problem;
    case 2:
      problem.permutation = cyclic(1 + below(random, most));
      break;
    case 3: {
      const auto shape = draw_shape(random, most);
      std::vector<Cyclic> moves;
      for (const std::uint64_t extent : shape) moves.push_back(cyclic(extent));
      problem.permutation = CyclicAxes(shape, draw_order(random, shape.size()), moves);
      break;
    }
    case 4: {
      std::mt19937_64 bits(random());
      const int most_bits = static_cast<int>(std::bit_width(most)) - 1;
      const int n = static_cast<int>(below(random, static_cast<std::uint64_t>(most_bits) + 1));
      problem.permutation = below(random, 2) == 0 ? random_affine(n, bits) : random_bpc(n, bits);
      problem.element_bytes = power();
      break;
    }
    case 5: {
      const std::uint64_t count = 1 + below(random, most);
      std::uint64_t factor = 1 + below(random, count);
      while (std::gcd(factor, count) != 1) ++factor;
      problem.permutation = maps::affine_mod(count, static_cast<std::int64_t>(factor), 3);
      problem.element_bytes = power();
      break;
    }
    case 6:
      problem.permutation = Indexed::random(1 + below(random, std::min<std::uint64_t>(most, 500)), random());
      break;
    default: {
      const auto shape = draw_shape(random, most);
      problem.permutation = Axes(shape, draw_order(random, shape.size()));
    }
  }
  if (below(random, 4) == 0) problem.batch = below(random, 4);
  return problem;
}

/// Matrices, and batches of them, with long sides or with few rows or columns.
inline Problem draw_transpose(SplitMix64& random) {
  constexpr std::uint64_t kWidths[] = {1, 2, 4, 8, 16};
  const std::uint64_t width = kWidths[below(random, 5)];
  const auto side = [&]() -> std::uint64_t {
    if (below(random, 3) == 0) return 2 + below(random, 12);
    return (below(random, 2) == 0 ? 16 : 1) * (16 + below(random, 40));
  };
  const std::uint64_t rows = side();
  std::uint64_t columns = side();
  if (rows * columns < 4096) columns *= 16;
  if (below(random, 3) == 0)
    return {.permutation = Axes({2, rows, columns}, {0, 2, 1}), .element_bytes = width};
  if (below(random, 4) == 0)
    return {.permutation = Axes({rows, 3, columns}, {2, 1, 0}), .element_bytes = width};
  return {.permutation = Axes({rows, columns}, {1, 0}), .element_bytes = width};
}

/// Each problem again in a third of the cases.
inline std::vector<Problem> draw_problems(SplitMix64& random, std::size_t count, std::uint64_t most) {
  std::vector<Problem> problems;
  while (problems.size() < count) {
    const bool again = !problems.empty() && below(random, 3) == 0;
    problems.push_back(again ? problems[below(random, problems.size())] : draw_problem(random, most));
  }
  return problems;
}

/// The arrays of one member, poisoned but for the input.
class MemberArrays {
 public:
  /// `alignment`: of both, in bytes, a multiple of which they lie past a line.
  MemberArrays(Problem of, SplitMix64& random, std::uint64_t alignment) : problem(std::move(of)) {
    const bool view = problem.view.has_value();
    const std::uint64_t width = problem.element_bytes;
    in_bytes_ = view ? in_elements(*problem.view) * width : total_bytes(problem);
    out_bytes_ = view ? out_elements(*problem.view) * width : total_bytes(problem);
    in_ = buffer(in_bytes_, in_at_, random, alignment);
    out_ = buffer(out_bytes_, out_at_, random, alignment);
    for (std::uint64_t i = 0; i < in_bytes_; ++i) in()[i] = static_cast<std::byte>(random());
    wanted_ = out_;
    permute_naively(problem, in(), wanted_.data() + out_at_, 1);
    given_ = in_;
  }

  MemberArrays(MemberArrays&&) = default;
  MemberArrays& operator=(MemberArrays&&) = default;

  std::byte* in() { return in_.data() + in_at_; }
  std::byte* out() { return out_.data() + out_at_; }
  std::uint64_t in_bytes() const { return in_bytes_; }
  std::uint64_t out_bytes() const { return out_bytes_; }

  void expect_moved() const {
    EXPECT_TRUE(out_ == wanted_) << to_text(problem) << ", elements of " << problem.element_bytes
                                 << " bytes, batch " << problem.batch;
    EXPECT_TRUE(in_ == given_);
  }
  void expect_untouched() const {
    EXPECT_TRUE(std::all_of(out_.begin(), out_.end(), [](std::byte b) { return b == testing::kPoison; }));
  }
  void poison() { std::fill(out_.begin(), out_.end(), testing::kPoison); }

  Problem problem;

 private:
  static std::vector<std::byte> buffer(std::uint64_t bytes, std::size_t& at, SplitMix64& random,
                                       std::uint64_t alignment) {
    std::vector<std::byte> memory(bytes + 2 * testing::kGuardBytes + 2 * testing::kAlignment,
                                  testing::kPoison);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) + testing::kGuardBytes;
    const std::uint64_t past =
        below(random, std::max<std::uint64_t>(1, testing::kAlignment / alignment)) * alignment;
    at = testing::kGuardBytes + (testing::kAlignment - begin % testing::kAlignment) % testing::kAlignment +
         past;
    return memory;
  }

  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::vector<std::byte> wanted_;
  std::vector<std::byte> given_;
  std::size_t in_at_ = 0;
  std::size_t out_at_ = 0;
  std::uint64_t in_bytes_ = 0;
  std::uint64_t out_bytes_ = 0;
};

}  // namespace faro::test
