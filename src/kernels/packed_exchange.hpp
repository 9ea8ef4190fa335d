// What happens to elements of 1, 2 or 4 bits inside 2^q words that a thread has in registers, 2^q elements in
// each: a map M takes (b, i), place b of word i, to (c, j). Words i and j may be numbered by any basis, which
// only changes addresses, so that three steps and what M says of them are enough
// (make_packed_affine_params() chooses them):
//
//     b += P i     places change inside words, which words is in P          only where c does not tell i
//     i += F b     bits of two words change places where a mask says so
//     b <-> i      the square is transposed
//     i += G b     as before; now word i has what belongs to word j = i
//
//     q = 1        b=0 b=1         transposed
//     word 0        a   b              a   c
//     word 1        c   d              b   d
//
// Masks are data, so no code depends on the map; steps whose masks are zero are left out by all threads.
//
// Cost: 8 lane-instructions a word of bits to transpose it, 1 of F or G for each bit of i it adds to, 1 or 4
// of P for each bit of b.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::kernels {

inline constexpr int kMostWordIndexBits = 5;

/// What happens to the 2^q words of a thread.
struct WordExchange {
  std::uint32_t turned[kMostWordIndexBits];  // bit i of [a]: whether word i changes places with bit a in it
  std::uint32_t before[kMostWordIndexBits];  // [t]: bits that words i and i + 2^t exchange, at first
  std::uint32_t after[kMostWordIndexBits];   // the same when the square is transposed
};

/// Which steps of an exchange a kernel by squares has: none but the square's transpose; those whose masks are
/// not zero, asked one by one; or all, the first of which take in what is added to words' numbers, so that no
/// registers are copied where ways meet.
enum class SquareSteps { transpose, asked, all };

namespace detail {

// Bits of a word whose number has bit p clear.
constexpr std::uint32_t bits_without(int p) {
  constexpr std::uint32_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
  return masks[p];
}

template <int p>
constexpr std::uint32_t swapped_halves(std::uint32_t word) {
  if constexpr (p == 4) return device::select_bytes(word, word, 0x1032);
  if constexpr (p == 3) return device::select_bytes(word, word, 0x2301);
  constexpr std::uint32_t mask = bits_without(p);
  return device::select_bits(word >> (1 << p), word << (1 << p), mask);
}

// Bit p of places in two words changes places with the number of the word.
template <int p>
constexpr void transpose_pair(std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t a = low;
  const std::uint32_t b = high;
  if constexpr (p == 4) {
    low = device::select_bytes(a, b, 0x5410);
    high = device::select_bytes(a, b, 0x7632);
  } else if constexpr (p == 3) {
    low = device::select_bytes(a, b, 0x6240);
    high = device::select_bytes(a, b, 0x7351);
  } else {
    constexpr std::uint32_t mask = bits_without(p);
    low = device::select_bits(a, b << (1 << p), mask);
    high = device::select_bits(a >> (1 << p), b, mask);
  }
}

constexpr void exchange_masked(std::uint32_t& low, std::uint32_t& high, std::uint32_t mask) {
  const std::uint32_t a = low;
  low = device::select_bits(high, a, mask);
  high = device::select_bits(a, high, mask);
}

// Applies `step` to pairs of words whose numbers differ in bit t.
template <int q, typename Step>
constexpr void each_pair(std::uint32_t (&words)[1 << q], int t, const Step& step) {
  FARO_UNROLL
  for (int i = 0; i < 1 << q; ++i) {
    if ((i >> t & 1) == 0) step(words[i], words[i | 1 << t]);
  }
}

template <int q, int t = 0>
constexpr void transpose_words(std::uint32_t (&words)[1 << q]) {
  if constexpr (t < q) {
    each_pair<q>(words, t, [](std::uint32_t& low, std::uint32_t& high) {
      transpose_pair<t + kMostWordIndexBits - q>(low, high);
    });
    transpose_words<q, t + 1>(words);
  }
}

// `place`: what is added to places in the words as they will be, which is by how much the words' numbers are
// shifted here.
template <int q, int a = 0>
constexpr void turn_words(std::uint32_t (&words)[1 << q], const WordExchange& exchange, std::uint32_t place) {
  if constexpr (a < q) {
    const std::uint32_t asked = exchange.turned[a];
    if (asked != 0) {
      const std::uint32_t all = 0U - (asked >> place & 1);
      FARO_UNROLL
      for (int i = 0; i < 1 << q; ++i) {
        const std::uint32_t other = swapped_halves<a + kMostWordIndexBits - q>(words[i]);
        words[i] = ((asked ^ all) >> i & 1) != 0 ? other : words[i];
      }
    }
    turn_words<q, a + 1>(words, exchange, place);
  }
}

// `is_asked`: masks of zeros are left out, by all threads; else `place` is XORed onto words' numbers, too.
template <int q, bool is_asked>
constexpr void shear_words(std::uint32_t (&words)[1 << q], const std::uint32_t (&masks)[kMostWordIndexBits],
                           std::uint32_t place) {
  FARO_UNROLL
  for (int t = 0; t < q; ++t) {
    if (is_asked && masks[t] == 0) continue;
    const std::uint32_t mask = is_asked ? masks[t] : masks[t] ^ (0U - (place >> t & 1));
    each_pair<q>(words, t,
                 [&](std::uint32_t& low, std::uint32_t& high) { exchange_masked(low, high, mask); });
  }
}

// Word i goes to i ^ place.
template <int q>
constexpr void renumber_words(std::uint32_t (&words)[1 << q], std::uint32_t place) {
  FARO_UNROLL
  for (int t = 0; t < q; ++t) {
    const bool exchange = (place >> t & 1) != 0;
    each_pair<q>(words, t, [&](std::uint32_t& low, std::uint32_t& high) {
      const std::uint32_t a = low;
      low = exchange ? high : a;
      high = exchange ? a : high;
    });
  }
}

}  // namespace detail

/// Word i holds what is numbered i ^ place, or, where words are renumbered or take all steps, what is
/// numbered as it is.
template <SquareSteps steps, int q>
constexpr void exchange_square(std::uint32_t (&words)[1 << q], const WordExchange& exchange,
                               bool is_renumbered, std::uint32_t place) {
  constexpr bool is_asked = steps == SquareSteps::asked;
  if constexpr (steps != SquareSteps::transpose) {
    if (is_asked && is_renumbered) detail::renumber_words<q>(words, place);
    detail::turn_words<q>(words, exchange, is_asked ? place : 0);
    detail::shear_words<q, is_asked>(words, exchange.before, place);
  }
  detail::transpose_words<q>(words);
  if constexpr (steps != SquareSteps::transpose) detail::shear_words<q, is_asked>(words, exchange.after, 0);
}

/// And back.
template <SquareSteps steps, int q>
constexpr void exchange_square_back(std::uint32_t (&words)[1 << q], const WordExchange& exchange,
                                    bool is_renumbered, std::uint32_t place) {
  constexpr bool is_asked = steps == SquareSteps::asked;
  if constexpr (steps != SquareSteps::transpose) detail::shear_words<q, is_asked>(words, exchange.after, 0);
  detail::transpose_words<q>(words);
  if constexpr (steps != SquareSteps::transpose) {
    detail::shear_words<q, is_asked>(words, exchange.before, place);
    detail::turn_words<q>(words, exchange, is_asked ? place : 0);
    if (is_asked && is_renumbered) detail::renumber_words<q>(words, place);
  }
}

}  // namespace faro::kernels
