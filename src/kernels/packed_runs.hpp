// Long runs of packed elements, forwards or backwards, between any bits: rolls, flips, slices, and axes of
// which the fastest stays.
//
//     input    ....|..aaaa|bbbbbbbb|cccc....|       a word of the output is 32 bits of two words of the input,
//     output   ....|aaaabb|bbbbbbcc|cc......|       turned round where the run goes backwards
//
// Words where a run begins and ends hold bits of others: bits are put in by atomic operations; words that are
// not wholly in the array are left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/packed_words.hpp"

namespace faro::kernels {

struct MovePackedRuns {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kWords = 8;  // of a thread

  PackedArray<const std::byte> in;
  PackedArray<std::byte> out;
  PackedOthers others;        // that number the runs
  std::int64_t in_first = 0;  // bit of the run's first element, from the base
  std::int64_t out_first = 0;
  std::uint64_t run_bits = 0;
  std::uint32_t element_bits = 1;
  bool backwards = false;
  std::uint64_t runs = 1;
  device::Division64 of_run;  // blocks

  constexpr std::uint64_t blocks() const { return runs * of_run.divisor(); }
  constexpr std::uint32_t shared_bytes() const { return 0; }
  static constexpr std::uint64_t blocks_of_run(std::uint64_t bits) {
    constexpr std::uint64_t block_bits = std::uint64_t{kThreads} * kWords * kWordBits;
    return (bits + kWordBits - 1 + block_bits - 1) / block_bits;
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    std::uint64_t chunk = block.index();
    const std::uint64_t run = of_run.divide(chunk);
    std::int64_t from = in_first;
    std::int64_t to = out_first;
    others.add(static_cast<std::uint32_t>(run), from, to);
    const auto phase = static_cast<std::int64_t>(static_cast<std::uint64_t>(to) % kWordBits);
    const std::uint64_t end = run_bits + static_cast<std::uint64_t>(phase);  // from the first word's begin
    const std::uint64_t words = (end + kWordBits - 1) / kWordBits;
    // Bit of the input's of output word w: first + w step.
    constexpr auto kWord = static_cast<std::int64_t>(kWordBits);
    const std::int64_t step = backwards ? -kWord : kWord;
    const std::int64_t first =
        backwards ? from + static_cast<std::int64_t>(element_bits) + phase - kWord : from - phase;
    const std::uint64_t begin = chunk * kThreads * kWords;
    const std::int64_t one = first + static_cast<std::int64_t>(begin) * step;
    const std::int64_t other = one + static_cast<std::int64_t>(kThreads * kWords) * step;
    const bool inside = in.holds_word(word_at(one < other ? one : other)) &&
                        in.holds_word(word_at(one < other ? other : one) + 1);

    std::uint32_t low[kWords] = {};
    std::uint32_t high[kWords] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kWords; ++k) {
      const std::uint64_t w = begin + static_cast<std::uint64_t>(k * kThreads) + block.thread();
      if (w >= words) break;
      const std::uint64_t word = word_at(first + static_cast<std::int64_t>(w) * step);
      if (inside) {
        low[k] = *reinterpret_cast<const std::uint32_t*>(in.base + 4 * word);
        high[k] = *reinterpret_cast<const std::uint32_t*>(in.base + 4 * word + 4);
      } else {
        low[k] = load_raw(in, word);
        high[k] = load_raw(in, word + 1);
      }
    }
    const auto into = static_cast<std::uint32_t>(static_cast<std::uint64_t>(first) % kWordBits);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kWords; ++k) {
      const std::uint64_t w = begin + static_cast<std::uint64_t>(k * kThreads) + block.thread();
      if (w >= words) break;
      std::uint32_t value = in_order(low[k], high[k], into);
      std::uint32_t mask = ~std::uint32_t{0};
      if (w == 0) mask <<= phase;
      if (w + 1 == words) mask &= low_ones(end - w * kWordBits);
      if (out.high_first) {
        value = turned_bytes(value);
        mask = turned_bytes(mask);
      }
      const std::uint64_t at = static_cast<std::uint64_t>(to) / kWordBits + w;
      if (mask == ~std::uint32_t{0}) {
        *reinterpret_cast<std::uint32_t*>(out.base + 4 * at) = value;
      } else if (out.holds_word(at)) {
        put_bits(block, out, at, value, mask);
      }
    }
  }

 private:
  static constexpr std::uint64_t word_at(std::int64_t bit) {
    constexpr int kShift = 5;
    return static_cast<std::uint64_t>(bit >> kShift);  // downwards, too, before the array
  }
  constexpr std::uint32_t in_order(std::uint32_t low, std::uint32_t high, std::uint32_t into) const {
    if (in.high_first) {
      low = turned_bytes(low);
      high = turned_bytes(high);
    }
    std::uint32_t value = shifted_out(low, high, into);
    if (backwards) value = reversed_bits(value);
    return (in.high_first != out.high_first) != backwards ? turned_elements(value, element_bits) : value;
  }
};

}  // namespace faro::kernels
