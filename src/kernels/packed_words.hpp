// Packed elements by the word: a thread an output word, which asks of each of its elements where it comes
// from.
//
//     output word     | pad | x9 x5 x1 | x10 x6 ...         runs of the source are taken at once,
//     from            keep    three places   a run          what is no element stays as it was
//
// It is right for axes of any strides, for index arrays, and for affine maps of small arrays, at any bit and
// of elements of any width.
//
// Bits are numbered in the array's order; words are loaded so that bit i is the i-th of them: of an array
// whose high bits are first, bytes are turned round. Then an element's own bits are the other way round, too,
// which matters only where the other side's order is another one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"

namespace faro::kernels {

inline constexpr std::uint64_t kWordBits = 32;

constexpr std::uint32_t reversed_bits(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return __brev(x);
#else
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return device::select_bytes(x, x, 0x0123);
#endif
}

/// The bits of each byte the other way round.
constexpr std::uint32_t turned_bytes(std::uint32_t x) {
  return device::select_bytes(reversed_bits(x), 0, 0x0123);
}

/// Whether turned_elements() takes the width.
constexpr bool can_turn(std::uint32_t element_bits) {
  return element_bits == 1 || element_bits == 2 || element_bits == 4;
}

/// The bits of each element of 1, 2 or 4 bits the other way round.
constexpr std::uint32_t turned_elements(std::uint32_t x, std::uint32_t element_bits) {
  if (element_bits >= 2) x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  if (element_bits == 4) x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  return x;
}

constexpr std::uint32_t low_ones(std::uint64_t count) {
  return count >= kWordBits ? ~std::uint32_t{0} : (std::uint32_t{1} << count) - 1;
}

/// 32 bits of two words, from bit `into` < 32 of the first on.
constexpr std::uint32_t shifted_out(std::uint32_t low, std::uint32_t high, std::uint32_t into) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, into);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << kWordBits | low) >> into);
#endif
}
/// 32 bits of two words, of which the second gives all but the last `phase` < 32.
constexpr std::uint32_t shifted_in(std::uint32_t low, std::uint32_t high, std::uint32_t phase) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(low, high, phase);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << kWordBits | low) << phase >> kWordBits);
#endif
}

/// An array of bits in words: `base` is aligned to a word, and the array's bytes begin `skew` behind it.
template <typename Byte>
struct PackedArray {
  Byte* base = nullptr;
  std::uint64_t skew = 0;
  std::uint64_t bytes = 0;
  bool high_first = false;

  constexpr bool holds_byte(std::uint64_t byte) const { return byte >= skew && byte - skew < bytes; }
  constexpr bool holds_word(std::uint64_t word) const {
    return holds_byte(4 * word) && holds_byte(4 * word + 3);
  }
  /// Words that the array has a part in.
  constexpr std::uint64_t words() const { return (skew + bytes + 3) / 4; }
};

/// Word `word` as it lies there; bytes outside are zero, and not touched.
template <typename Byte>
constexpr std::uint32_t load_raw(const PackedArray<Byte>& array, std::uint64_t word) {
  std::uint32_t value = 0;
  if (array.holds_word(word)) {
    value = *reinterpret_cast<const std::uint32_t*>(array.base + 4 * word);
  } else {
    for (std::uint64_t k = 0; k < 4; ++k) {
      if (array.holds_byte(4 * word + k))
        value |= static_cast<std::uint32_t>(array.base[4 * word + k]) << 8 * k;
    }
  }
  return value;
}
/// Bit i the i-th in the array's order.
template <typename Byte>
constexpr std::uint32_t load_word(const PackedArray<Byte>& array, std::uint64_t word) {
  const std::uint32_t value = load_raw(array, word);
  return array.high_first ? turned_bytes(value) : value;
}

/// Up to 32 bits from any bit on, the first lowest.
template <typename Byte>
constexpr std::uint32_t load_bits(const PackedArray<Byte>& array, std::uint64_t bit, std::uint64_t count) {
  const std::uint64_t into = bit % kWordBits;
  std::uint32_t value = load_word(array, bit / kWordBits) >> into;
  if (into + count > kWordBits) value |= load_word(array, bit / kWordBits + 1) << (kWordBits - into);
  return value & low_ones(count);
}

/// The bits of `mask`, the others stay. Bytes of none are not touched.
constexpr void store_word(const PackedArray<std::byte>& array, std::uint64_t word, std::uint32_t value,
                          std::uint32_t mask) {
  if (array.high_first) {
    value = turned_bytes(value);
    mask = turned_bytes(mask);
  }
  if (mask == ~std::uint32_t{0} && array.holds_word(word)) {
    *reinterpret_cast<std::uint32_t*>(array.base + 4 * word) = value;
    return;
  }
  for (std::uint64_t k = 0; k < 4; ++k) {
    const auto bits = static_cast<std::byte>(mask >> 8 * k);
    if (bits == std::byte{0} || !array.holds_byte(4 * word + k)) continue;
    std::byte& byte = array.base[4 * word + k];
    byte = (byte & ~bits) | (static_cast<std::byte>(value >> 8 * k) & bits);
  }
}

inline constexpr int kMostOtherAxes = 16;

/// Axes that number matrices or rows, the fastest first.
struct PackedOthers {
  struct Axis {
    device::Division32 extent;  // there are fewer of them than blocks
    std::int64_t in = 0;        // bits
    std::int64_t out = 0;
  };
  Axis axes[kMostOtherAxes] = {};
  std::int32_t count = 0;

  /// Adds where number `index` begins.
  constexpr void add(std::uint32_t index, std::int64_t& in, std::int64_t& out) const {
    for (int a = 0; a < count; ++a) {
      const std::uint32_t rest = axes[a].extent.quotient(index);
      const std::int64_t j = index - rest * axes[a].extent.divisor();
      in += j * axes[a].in;
      out += j * axes[a].out;
      index = rest;
    }
  }
};

/// The bits of `mask` in a word that others write at the same time.
template <typename Block>
constexpr void put_bits(Block& block, const PackedArray<std::byte>& array, std::uint64_t word,
                        std::uint32_t value, std::uint32_t mask) {
  auto* const to = reinterpret_cast<std::uint32_t*>(array.base + 4 * word);
  block.atomic_and(to, value | ~mask);
  block.atomic_or(to, value & mask);
}

/// Where an output bit comes from: an element of the input, into how many bits of it, and how many elements
/// from it on lie one behind another on both sides.
struct PackedSpot {
  bool found = false;
  std::uint64_t in = 0;  // bit of the element
  std::uint32_t into = 0;
  std::uint64_t along = 1;  // elements
  int direction = 0;        // of the input's: 1, -1, or 0 for an element alone
};

inline constexpr int kMostPackedAxes = 32;

struct PackedAxis {
  device::Division64 out;  // bits
  std::uint64_t extent = 1;
  std::int64_t in = 0;  // bits
};

/// Axes whose strides are bits, the output's slowest first. Requires: each output stride is longer than all
/// that the axes after it reach.
struct PackedAxes {
  PackedAxis axes[kMostPackedAxes];
  std::int32_t count = 0;
  std::uint32_t element_bits = 1;
  std::uint64_t in_first = 0;  // bits
  std::uint64_t out_first = 0;

  constexpr PackedSpot spot(std::uint64_t bit) const {
    PackedSpot made;
    if (bit < out_first) return made;
    bit -= out_first;
    auto in = static_cast<std::int64_t>(in_first);
    for (int k = 0; k < count; ++k) {
      const PackedAxis& axis = axes[k];
      const std::uint64_t j = axis.out.divide(bit);
      if (j >= axis.extent) return made;
      in += static_cast<std::int64_t>(j) * axis.in;
      made.along = axis.extent - j;
    }
    if (bit >= element_bits) return made;
    made.found = true;
    made.in = static_cast<std::uint64_t>(in);
    made.into = static_cast<std::uint32_t>(bit);
    if (count == 0) return made;
    const PackedAxis& last = axes[count - 1];
    const auto element = static_cast<std::int64_t>(element_bits);
    if (last.out.divisor() == element_bits)
      made.direction = last.in == element ? 1 : last.in == -element && can_turn(element_bits) ? -1 : 0;
    return made;
  }
};

inline constexpr int kMostPackedIndexBits = 48;

/// Elements in rows, dense or not, on both sides.
struct PackedRowPlaces {
  std::uint64_t batch = 1;
  std::uint64_t in_first = 0;  // bits
  std::uint64_t out_first = 0;
  device::Division64 in_row;   // elements
  std::uint64_t in_pitch = 0;  // bits
  std::uint64_t out_row = 0;
  device::Division64 out_pitch;
  std::uint32_t element_bits = 1;

  /// Whether output bit `bit` is an element's: of `element`, and `bit` becomes which of its own.
  constexpr bool element_of(std::uint64_t& bit, std::uint64_t& element) const {
    if (bit < out_first) return false;
    bit -= out_first;
    const std::uint64_t of_row = out_pitch.divide(bit);
    const std::uint64_t in_row_number = bit / element_bits;
    if (in_row_number >= out_row) return false;
    element = of_row * out_row + in_row_number;
    bit -= in_row_number * element_bits;
    return true;
  }
  /// Of element x of the input.
  constexpr PackedSpot spot_of(std::uint64_t x, std::uint64_t into) const {
    PackedSpot made;
    made.found = true;
    const std::uint64_t row = in_row.divide(x);
    made.in = in_first + row * in_pitch + x * element_bits;
    made.into = static_cast<std::uint32_t>(into);
    return made;
  }
};

/// Arrays of 2^n elements by a map's inverse.
struct PackedPlaces : PackedRowPlaces {
  std::uint64_t columns[kMostPackedIndexBits];  // of the inverse
  std::uint64_t complement = 0;                 // of the map
  std::uint32_t index_bits = 0;

  constexpr PackedSpot spot(std::uint64_t bit) const {
    std::uint64_t element = 0;
    if (!element_of(bit, element)) return {};
    const std::uint64_t array = element >> index_bits;
    if (array >= batch) return {};
    std::uint64_t y = (element ^ array << index_bits) ^ complement;
    std::uint64_t x = array << index_bits;
    for (std::uint32_t j = 0; j < index_bits; ++j, y >>= 1) x ^= (y & 1) != 0 ? columns[j] : 0;
    return spot_of(x, bit);
  }
};

/// Arrays by an index array, out[y] = in[Q[y]]. Requires: entries below `count` (unchecked).
template <typename Entry>
struct PackedEntries : PackedRowPlaces {
  const Entry* entries = nullptr;
  device::Division64 count;

  constexpr PackedSpot spot(std::uint64_t bit) const {
    std::uint64_t element = 0;
    if (!element_of(bit, element)) return {};
    const std::uint64_t array = count.divide(element);
    if (array >= batch) return {};
    return spot_of(array * count.divisor() + entries[element], bit);
  }
};

/// What a word's elements are, and which bits they are of.
struct PackedWord {
  std::uint32_t value = 0;
  std::uint32_t mask = 0;
};

template <typename Source>
constexpr PackedWord gather_word(const Source& source, const PackedArray<const std::byte>& in, bool turned,
                                 std::uint64_t word) {
  PackedWord made;
  const std::uint32_t element_bits = source.element_bits;
  for (std::uint64_t at = 0; at < kWordBits;) {
    const PackedSpot spot = source.spot(word * kWordBits + at);
    if (!spot.found) {
      ++at;
      continue;
    }
    const std::uint64_t left = kWordBits - at;
    std::uint32_t bits = 0;
    std::uint64_t count = 0;
    const std::uint64_t whole = left / element_bits < spot.along ? left / element_bits : spot.along;
    if (spot.direction != 0 && spot.into == 0 && whole > 1) {
      count = whole * element_bits;
      const std::uint64_t first = spot.direction > 0 ? spot.in : spot.in + element_bits - count;
      bits = load_bits(in, first, count);
      if (spot.direction < 0) bits = reversed_bits(bits) >> (kWordBits - count);
      if (turned != (spot.direction < 0)) bits = turned_elements(bits, element_bits);
    } else {
      count = element_bits - spot.into < left ? element_bits - spot.into : left;
      if (turned) {
        bits = turned_elements(load_bits(in, spot.in, element_bits), element_bits) >> spot.into;
        bits &= low_ones(count);
      } else {
        bits = load_bits(in, spot.in + spot.into, count);
      }
    }
    made.value |= bits << at;
    made.mask |= low_ones(count) << at;
    at += count;
  }
  return made;
}

/// What the kernels have in common: a thread a word, nothing in shared memory.
struct PackedWordsKernel {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 2;

  static constexpr std::uint64_t blocks_of(std::uint64_t threads) {
    return (threads + kThreads - 1) / kThreads;
  }
  template <typename Block>
  static constexpr std::uint64_t thread_of(Block& block) {
    return block.index() * kThreads + block.thread();
  }
  constexpr std::uint32_t shared_bytes() const { return 0; }
};

/// Words first .. of the output.
template <typename Source>
struct MovePackedWords : PackedWordsKernel {
  Source source;
  PackedArray<const std::byte> in;
  PackedArray<std::byte> out;
  std::uint64_t first = 0;
  std::uint64_t number = 0;

  constexpr std::uint64_t blocks() const { return blocks_of(number); }
  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t i = thread_of(block);
    if (i >= number) return;
    const PackedWord word = gather_word(source, in, in.high_first != out.high_first, first + i);
    if (word.mask != 0) store_word(out, first + i, word.value, word.mask);
  }
};

/// Zeros where the output's layout has no element.
struct ClearPackedPads : PackedWordsKernel {
  PackedArray<std::byte> out;
  device::Division64 pitch;  // bits, from row to row
  std::uint64_t row_bits = 0;
  std::uint64_t first = 0;   // bit, from the base
  std::uint64_t rows = 0;    // that are full,
  std::uint64_t more = 0;    // and bits of one more
  std::uint64_t inside = 0;  // first of so many words that the first row fills, which nobody looks at
  std::uint64_t inside_words = 0;

  constexpr std::uint64_t words() const { return out.words() - inside_words; }
  constexpr std::uint64_t blocks() const { return blocks_of(words()); }
  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t i = thread_of(block);
    if (i >= words()) return;
    const std::uint64_t word = i < inside ? i : i + inside_words;
    std::uint32_t pads = 0;
    for (std::uint64_t at = 0; at < kWordBits;) {
      const std::uint64_t bit = word * kWordBits + at;
      if (bit < first) {
        pads |= std::uint32_t{1} << at++;
        continue;
      }
      std::uint64_t into = bit - first;
      const std::uint64_t row = pitch.divide(into);
      const std::uint64_t held = row < rows ? row_bits : row == rows ? more : 0;
      const bool is_pad = into >= held;
      const std::uint64_t left = (is_pad ? pitch.divisor() : held) - into;
      const std::uint64_t count = left < kWordBits - at ? left : kWordBits - at;
      if (is_pad) pads |= low_ones(count) << at;
      at += count;
    }
    if (pads != 0) store_word(out, word, 0, pads);
  }
};

}  // namespace faro::kernels
