// What the tests of packed elements share: the loop over bits, drawn layouts.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/packed.hpp"

namespace faro::packed_support {

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::uint64_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline bool bit_of(const Bytes& bytes, std::uint64_t i, BitOrder order) {
  return (static_cast<unsigned>(bytes[i / 8]) >> (order == BitOrder::low_first ? i % 8 : 7 - i % 8) & 1) != 0;
}

inline void set_bit(Bytes& bytes, std::uint64_t i, BitOrder order, bool value) {
  const auto mask = static_cast<std::byte>(1U << (order == BitOrder::low_first ? i % 8 : 7 - i % 8));
  bytes[i / 8] = value ? bytes[i / 8] | mask : bytes[i / 8] & ~mask;
}

inline std::uint64_t bit_place(const PackedLayout& layout, std::uint32_t bits, std::uint64_t x) {
  if (layout.row_elements == 0) return layout.first_bit + x * bits;
  const std::uint64_t pitch = layout.pitch_bits == 0 ? layout.row_elements * bits : layout.pitch_bits;
  return layout.first_bit + x / layout.row_elements * pitch + x % layout.row_elements * bits;
}

// What the output has to be, bit by bit; nothing here is the library's but the permutation's own formula.
inline Bytes expected(const PackedProblem& problem, const Bytes& in, Bytes out) {
  const std::uint64_t count = element_count(problem.permutation);
  std::vector<bool> is_element(out.size() * 8);
  for (std::uint64_t b = 0; b < problem.batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x) {
      const std::uint64_t y = faro::apply(problem.permutation, x);
      for (std::uint32_t w = 0; w < problem.element_bits; ++w) {
        // The weight w lies at the element's other end where high bits are first.
        const auto at = [&](const PackedLayout& layout, std::uint64_t element) {
          const std::uint64_t first = bit_place(layout, problem.element_bits, b * count + element);
          return layout.order == BitOrder::low_first ? first + w : first + problem.element_bits - 1 - w;
        };
        set_bit(out, at(problem.out, y), problem.out.order, bit_of(in, at(problem.in, x), problem.in.order));
        is_element[at(problem.out, y)] = true;
      }
    }
  }
  if (problem.pads == PadBits::zero) {
    for (std::uint64_t i = 0; i < is_element.size(); ++i) {
      if (!is_element[i]) set_bit(out, i, problem.out.order, false);
    }
  }
  return out;
}

inline std::string text(const PackedProblem& problem, const PackedPlan& plan) {
  const auto side = [](const PackedLayout& layout) {
    return " rows " + std::to_string(layout.row_elements) + " pitch " + std::to_string(layout.pitch_bits) +
           " first " + std::to_string(layout.first_bit) +
           (layout.order == BitOrder::low_first ? " low" : " high");
  };
  return to_text(problem.permutation) + ", bits " + std::to_string(problem.element_bits) + ", batch " +
         std::to_string(problem.batch) + side(problem.in) + ";" + side(problem.out) + "; " + plan.explain();
}

inline std::uint32_t small_bits(std::mt19937_64& random) { return 1U << (random() % 3); }
inline BitOrder an_order(std::mt19937_64& random) {
  return random() % 2 == 0 ? BitOrder::low_first : BitOrder::high_first;
}

inline PackedLayout a_layout(std::uint64_t row, std::uint32_t bits, std::mt19937_64& random) {
  PackedLayout layout{.order = an_order(random)};
  switch (random() % 5) {
    case 0:
      layout.first_bit = random() % 40;
      break;
    case 1:
      layout.row_elements = row;
      layout.pitch_bits = (row * bits + 7) / 8 * 8;  // rows of bytes
      break;
    case 2:
      layout.row_elements = row;
      layout.pitch_bits = (row * bits + 31) / 32 * 32;
      layout.first_bit = 8 * (random() % 3);
      break;
    case 3:
      layout.row_elements = row;
      layout.pitch_bits = row * bits + random() % 70;  // anything
      layout.first_bit = random() % 9;
      break;
    default:
      break;
  }
  return layout;
}

// Axes of `shape` in an order, half of the times rolled or flipped.
struct DrawnAxes {
  Permutation permutation;
  std::uint64_t row_before = 1;
  std::uint64_t row_after = 1;
};

inline DrawnAxes drawn_axes(const std::vector<std::uint64_t>& shape, std::mt19937_64& random) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Cyclic> moves;
  for (const std::uint64_t extent : shape) {
    Cyclic& move =
        moves.emplace_back(Cyclic{.count = extent, .shift = random() % 2 == 0 ? 0 : random() % extent});
    if (random() % 4 == 0) move = {.count = extent, .shift = random() % extent, .reversed = true};
  }
  std::shuffle(order.begin(), order.end(), random);
  const bool moved = random() % 2 == 0;
  return {
      .permutation = moved ? Permutation(CyclicAxes(shape, order, moves)) : Permutation(Axes(shape, order)),
      .row_before = shape.back(),
      .row_after = shape[static_cast<std::size_t>(order.back())]};
}

}  // namespace faro::packed_support
