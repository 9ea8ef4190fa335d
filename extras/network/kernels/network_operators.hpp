// The operators of networks, as the tile kernel applies them (network_tile.hpp): one source for the GPU, the
// CPU's tests and the counting memory.
//
// An operator is a type with
//
//     Value                                      what a register holds; as wide as the element
//     decode(Value), encode(Value)               to and from the form that operator() works on
//     kNeedsPairs                                whether it asks for the numbers of pairs
//     start(context, disjoint)                   what a thread prepares for all pairs of a layer
//     operator()(a, b, swapped, start, context, i)   works on registers i and its partner; `swapped`: b is
//                                                the first of them
//
//     compare-exchange    the smaller to the first, the larger to the second
//     Hadamard            (first + second, first - second)
//     Fourier             (first + second, (first - second) w^number), w = exp(-2 pi i / 2^k)
//
// Order of keys: integers as they are; floats by IEEE 754's totalOrder, -NaN < -inf < ... < -0 < +0 < ... <
// +inf < +NaN, compared as integers after an exchange of bits that is its own inverse; a key with a value by
// the key, then by the value's bits as an unsigned integer. So equal inputs give equal outputs on every
// engine.
#pragma once

#include <cstdint>

#include "kernels/network_tile.hpp"

namespace faro::kernels {

/// Signed integers whose order is the total order of the floats with these bits. Its own inverse.
constexpr std::int32_t order_float(std::int32_t bits) { return bits ^ (bits >> 31 & 0x7fffffff); }
constexpr std::int64_t order_float(std::int64_t bits) {
  return bits ^ (bits >> 63 & std::int64_t{0x7fffffffffffffff});
}

/// How the bits of a key are held while they are compared.
template <typename Integer, bool is_float>
struct PlainKey {
  using Value = Integer;
  static constexpr Value decode(Value bits) {
    if constexpr (is_float) return order_float(bits);
    return bits;
  }
  static constexpr Value encode(Value bits) { return decode(bits); }
};

/// The same as an unsigned integer, so that it can be the high half of a wider one.
template <typename Signed, typename Unsigned, bool is_signed, bool is_float>
constexpr Unsigned unsigned_key(Unsigned bits) {
  constexpr Unsigned top = static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(Unsigned) - 1));
  if constexpr (is_float) bits = static_cast<Unsigned>(order_float(static_cast<Signed>(bits)));
  return is_signed || is_float ? bits ^ top : bits;
}
template <typename Signed, typename Unsigned, bool is_signed, bool is_float>
constexpr Unsigned key_bits(Unsigned ordered) {
  constexpr Unsigned top = static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(Unsigned) - 1));
  if constexpr (is_signed || is_float) ordered ^= top;
  if constexpr (is_float) ordered = static_cast<Unsigned>(order_float(static_cast<Signed>(ordered)));
  return ordered;
}

/// A 4-byte key, then a 4-byte value in memory.
template <bool is_signed, bool is_float>
struct KeyValue8 {
  using Value = std::uint64_t;
  static constexpr Value decode(Value memory) {
    const auto key =
        unsigned_key<std::int32_t, std::uint32_t, is_signed, is_float>(static_cast<std::uint32_t>(memory));
    return Value{key} << 32 | memory >> 32;
  }
  static constexpr Value encode(Value ordered) {
    const auto key =
        key_bits<std::int32_t, std::uint32_t, is_signed, is_float>(static_cast<std::uint32_t>(ordered >> 32));
    return ordered << 32 | key;
  }
};

/// An 8-byte key, then an 8-byte value.
struct alignas(16) WideValue {
  std::uint64_t key;
  std::uint64_t value;

  friend constexpr bool operator<(const WideValue& a, const WideValue& b) {
    return a.key < b.key || (a.key == b.key && a.value < b.value);
  }
};
template <bool is_signed, bool is_float>
struct KeyValue16 {
  using Value = WideValue;
  static constexpr Value decode(Value memory) {
    return {unsigned_key<std::int64_t, std::uint64_t, is_signed, is_float>(memory.key), memory.value};
  }
  static constexpr Value encode(Value ordered) {
    return {key_bits<std::int64_t, std::uint64_t, is_signed, is_float>(ordered.key), ordered.value};
  }
};

/// The smaller to the first, the larger to the second.
template <typename Key>
struct CompareExchange : Key {
  using Value = typename Key::Value;
  static constexpr bool kNeedsPairs = false;
  struct Start {
    std::uint32_t one;  // 1, which no compiler knows to be that
  };

  static constexpr Start start(const LayerContext& context, bool /*disjoint*/) { return {context.zero + 1}; }
  constexpr void operator()(Value& a, Value& b, bool swapped, Start start, const LayerContext& /*context*/,
                            int /*i*/) const {
    if constexpr (sizeof(Value) == sizeof(std::uint32_t)) {
      // The larger is the sum less the smaller: two multiplications, for which a multiprocessor of a GPU has
      // other units than for comparisons and all else that a sort does.
      const Value smaller = b < a ? b : a;
      const std::uint32_t sum = static_cast<std::uint32_t>(a) * start.one + static_cast<std::uint32_t>(b);
      const auto larger = static_cast<Value>(static_cast<std::uint32_t>(smaller) * (0 - start.one) + sum);
      a = swapped ? larger : smaller;
      b = swapped ? smaller : larger;
    } else {
      const bool exchange = (b < a) != swapped;
      const Value first = exchange ? b : a;
      b = exchange ? a : b;  // equal elements may change places
      a = first;
    }
  }
};

struct Unencoded {
  template <typename Value>
  static constexpr const Value& decode(const Value& value) {
    return value;
  }
  template <typename Value>
  static constexpr const Value& encode(const Value& value) {
    return value;
  }
};

template <typename Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re;
  Real im;

  friend constexpr Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend constexpr Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend constexpr Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// (first + second, first - second). Integers wrap: use unsigned ones.
template <typename Number>
struct Hadamard : Unencoded {
  using Value = Number;
  static constexpr bool kNeedsPairs = false;

  static constexpr Nothing start(const LayerContext& /*context*/, bool /*disjoint*/) { return {}; }
  constexpr void operator()(Value& a, Value& b, bool swapped, Nothing /*start*/,
                            const LayerContext& /*context*/, int /*i*/) const {
    const Value total = a + b;
    const Value difference = swapped ? b - a : a - b;
    a = swapped ? difference : total;
    b = swapped ? total : difference;
  }
};

/// Bits of a block's number that are looked up at a time.
inline constexpr int kPowerDigitBits = 6;
inline constexpr int kPowerDigits = (kMaxBlockBits + kPowerDigitBits - 1) / kPowerDigitBits;

/// Powers of w, whose exponent's sign is that of the transform. Where shares are disjoint, w^(p ^ q) = w^p
/// w^q, and a power is a product of one for the thread, a few for the block, and one for the register:
///
///     threads[layer << thread_bits | thread]      blocks[layer][digit of the block][its value]
///     roots[layer << kMaxRegisterBits | register]
///
/// A layer of half as many pairs with the same shares has the square.
///
/// In any other layer it is found by the pair's number q, scaled to 2^bits: coarse[q >> fine_bits] * fine[q &
/// low bits].
template <typename Real>
struct Twiddles {
  const Complex<Real>* threads;
  const Complex<Real>* blocks;
  const Complex<Real>* roots;
  const Complex<Real>* coarse;
  const Complex<Real>* fine;
  int thread_bits;
  int bits;
  int fine_bits;

  /// The power of a layer's thread and block. Requires: its shares are disjoint.
  constexpr Complex<Real> of_thread(const LayerContext& context) const {
    const std::uint64_t layer = context.layer.number;
    Complex<Real> power = threads[layer << thread_bits | context.thread];
    const Complex<Real>* digit = blocks + (layer * kPowerDigits << kPowerDigitBits);
    // The first digits at once: a product waits for its factors.
    constexpr int together = 3;
    constexpr std::uint32_t values = 1U << kPowerDigitBits;
    Complex<Real> of_digit[together] = {};
    FARO_UNROLL
    for (int d = 0; d < together; ++d) {
      const std::uint64_t rest = context.array_block >> d * kPowerDigitBits;
      if (rest != 0) of_digit[d] = digit[static_cast<std::uint32_t>(d) * values + rest % values];
    }
    FARO_UNROLL
    for (int d = 0; d < together; ++d) {
      if (context.array_block >> d * kPowerDigitBits != 0) power = power * of_digit[d];
    }
    digit += together * values;
    for (std::uint64_t rest = context.array_block >> together * kPowerDigitBits; rest != 0;
         rest >>= kPowerDigitBits) {
      power = power * digit[rest % values];
      digit += values;
    }
    return power;
  }

  /// The power of the pair with this number. Requires: pair_bits <= bits.
  constexpr Complex<Real> of_number(std::uint32_t number, int pair_bits) const {
    const std::uint32_t q = number << (bits - pair_bits);
    return coarse[q >> fine_bits] * fine[q & ((std::uint32_t{1} << fine_bits) - 1)];
  }
};

/// A product whose second factor is often 1 or a quarter turn, and known to the compiler.
template <typename Real>
constexpr Complex<Real> times_root(const Complex<Real>& power, const Complex<Real>& root) {
  if (root.re == 1) return power;
  if (root.re == 0) return {-power.im * root.im, power.re * root.im};
  return power * root;
}

template <typename Real>
constexpr Complex<Real> squared(const Complex<Real>& z) {
  return {z.re * z.re - z.im * z.im, 2 * z.re * z.im};
}

/// Roots that are known when the kernel is compiled: of register i.
template <typename Real, int registers>
struct ConstantRoots {
  Complex<Real> root[registers];
};

/// (first + second, (first - second) w^number): decimation in frequency.
template <typename Real>
struct Fourier : Unencoded {
  using Value = Complex<Real>;
  static constexpr bool kNeedsPairs = true;
  template <typename Constants>
  struct Start {
    bool disjoint;
    std::uint32_t number;  // if not disjoint
    Complex<Real> power;   // if disjoint
    Constants constants;
  };
  Twiddles<Real> twiddles;

  constexpr Start<Nothing> start(const LayerContext& context, bool disjoint) const {
    if (disjoint) return {true, 0, power_of(context), {}};
    return {false, context.number(), {}, {}};
  }
  /// The same of a layer with disjoint shares whose power of thread and block, power_of(), is known.
  template <typename Constants>
  static constexpr Start<Constants> start_from(const Complex<Real>& power, const Constants& constants) {
    return {true, 0, power, constants};
  }
  constexpr Complex<Real> power_of(const LayerContext& context) const { return twiddles.of_thread(context); }
  template <typename Constants>
  constexpr void operator()(Value& a, Value& b, bool swapped, const Start<Constants>& start,
                            const LayerContext& context, int i) const {
    const Value total = a + b;
    const Value difference = (swapped ? b - a : a - b) * power(start, context, i);
    a = swapped ? difference : total;
    b = swapped ? total : difference;
  }

 private:
  template <typename Constants>
  constexpr Complex<Real> power(const Start<Constants>& start, const LayerContext& context, int i) const {
    if (!start.disjoint) {
      return twiddles.of_number(start.number ^ context.pairs->registers[i], context.layer.bits);
    }
    if constexpr (requires { start.constants.root; }) {
      return times_root(start.power, start.constants.root[i]);
    } else {
      return times_root(start.power,
                        twiddles.roots[(std::uint64_t{context.layer.number} << kMaxRegisterBits) +
                                       static_cast<std::uint64_t>(i)]);
    }
  }
};

}  // namespace faro::kernels
