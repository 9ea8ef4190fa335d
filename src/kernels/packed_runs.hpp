// Runs of packed elements, forwards or backwards, between any bits: rolls, flips, slices, and axes of
// which the fastest stays.
//
//     input    ....|..aaaa|bbbbbbbb|cccc....|       a word of the output is 32 bits of two words of the input,
//     output   ....|aaaabb|bbbbbbcc|cc......|       turned round where the run goes backwards
//
// Words where a run begins and ends hold bits of others: bits are put in by atomic operations; words that are
// not wholly in the array are left out. A long run has blocks to itself, which find it once; short ones
// follow one another, a word a thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/packed_words.hpp"

namespace faro::kernels {

/// `kAlong`: runs are long.
template <bool kAlong>
struct MovePackedRuns {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kWords = 8;  // of a thread
  static constexpr std::uint32_t kBlockWords = kThreads * kWords;

  PackedArray<const std::byte> in;
  PackedArray<std::byte> out;
  PackedOthers others;        // that number the runs
  std::int64_t in_first = 0;  // bit of the run's first element, from the base
  std::int64_t out_first = 0;
  std::uint64_t run_bits = 0;
  std::uint32_t element_bits = 1;
  bool backwards = false;
  std::uint64_t runs = 1;
  device::Division64 of_run;  // words that threads are given of one

  constexpr std::uint64_t blocks() const { return (runs * of_run.divisor() + kBlockWords - 1) / kBlockWords; }
  constexpr std::uint32_t shared_bytes() const { return 0; }
  static constexpr std::uint64_t words_of_run(std::uint64_t bits) {
    const std::uint64_t words = (bits + kWordBits - 1 + kWordBits - 1) / kWordBits;
    return kAlong ? (words + kBlockWords - 1) / kBlockWords * kBlockWords : words;
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t begin = block.index() * kBlockWords;
    if constexpr (kAlong) {
      move_along(block, begin);
    } else {
      FARO_NO_UNROLL
      for (std::uint32_t done = 0; done < kWords; done += kAhead)
        move_short(block, begin + std::uint64_t{done} * kThreads);
    }
  }

 private:
  struct Run {
    std::int64_t first = 0;  // bit of the input that output word 0 begins with
    std::uint64_t to = 0;    // that word
    std::uint32_t phase = 0;
    std::uint64_t end = 0;  // bits from its begin
  };
  static constexpr std::uint32_t kAhead = 4;  // words of short runs that a thread has on their way
  struct Word {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t into = 0;
    std::uint32_t mask = 0;  // 0: there is none
  };

  constexpr std::int64_t step() const {  // bits of the input from a word to the next
    constexpr auto kWord = static_cast<std::int64_t>(kWordBits);
    return backwards ? -kWord : kWord;
  }
  constexpr Run run_of(std::uint64_t number) const {
    std::int64_t from = in_first;
    std::int64_t to = out_first;
    others.add(static_cast<std::uint32_t>(number), from, to);
    Run run;
    run.to = static_cast<std::uint64_t>(to) / kWordBits;
    run.phase = static_cast<std::uint32_t>(static_cast<std::uint64_t>(to) % kWordBits);
    run.end = run_bits + run.phase;
    run.first = backwards ? from + std::int64_t{element_bits} + run.phase - std::int64_t{kWordBits}
                          : from - run.phase;
    return run;
  }
  static constexpr std::uint32_t into_word(std::int64_t bit) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bit) % kWordBits);
  }
  // Bits of word w that are the run's. Requires: there is such a word.
  static constexpr std::uint32_t mask_of(const Run& run, std::uint64_t w) {
    std::uint32_t mask = w == 0 ? ~std::uint32_t{0} << run.phase : ~std::uint32_t{0};
    if ((w + 1) * kWordBits > run.end) mask &= low_ones(run.end - w * kWordBits);
    return mask;
  }

  // A part of one long run: neighbours move neighbouring words.
  template <typename Block>
  constexpr void move_along(Block& block, std::uint64_t begin) const {
    const Run run = run_of(of_run.divide(begin));
    const std::int64_t one = run.first + static_cast<std::int64_t>(begin) * step();
    const std::int64_t other = one + std::int64_t{kBlockWords} * step();
    const bool inside = in.holds_word(word_at(one < other ? one : other)) &&
                        in.holds_word(word_at(one < other ? other : one) + 1);
    std::uint32_t low[kWords] = {};
    std::uint32_t high[kWords] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kWords; ++k) {
      const std::uint64_t w = begin + std::uint64_t{k} * kThreads + block.thread();
      if (w * kWordBits >= run.end) break;
      const std::uint64_t word = word_at(run.first + static_cast<std::int64_t>(w) * step());
      if (inside) {
        low[k] = *reinterpret_cast<const std::uint32_t*>(in.base + 4 * word);
        high[k] = *reinterpret_cast<const std::uint32_t*>(in.base + 4 * word + 4);
      } else {
        low[k] = load_raw(in, word);
        high[k] = load_raw(in, word + 1);
      }
    }
    const std::uint32_t into = into_word(run.first);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kWords; ++k) {
      const std::uint64_t w = begin + std::uint64_t{k} * kThreads + block.thread();
      if (w * kWordBits >= run.end) break;
      put(block, run.to + w, in_order(low[k], high[k], into), mask_of(run, w));
    }
  }

  // Words of whichever runs.
  template <typename Block>
  constexpr void move_short(Block& block, std::uint64_t begin) const {
    Word words[kAhead];
    std::uint32_t low[kAhead] = {};
    std::uint32_t high[kAhead] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kAhead; ++k) {
      std::uint64_t w = begin + std::uint64_t{k} * kThreads + block.thread();
      const std::uint64_t number = of_run.divide(w);
      if (number >= runs) continue;
      const Run run = run_of(number);
      if (w * kWordBits >= run.end) continue;
      const std::int64_t bit = run.first + static_cast<std::int64_t>(w) * step();
      words[k] = {.from = word_at(bit), .to = run.to + w, .into = into_word(bit), .mask = mask_of(run, w)};
      low[k] = load_raw(in, words[k].from);
      high[k] = load_raw(in, words[k].from + 1);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kAhead; ++k) {
      if (words[k].mask != 0)
        put(block, words[k].to, in_order(low[k], high[k], words[k].into), words[k].mask);
    }
  }

  template <typename Block>
  constexpr void put(Block& block, std::uint64_t at, std::uint32_t value, std::uint32_t mask) const {
    if (out.high_first) {
      value = turned_bytes(value);
      mask = turned_bytes(mask);
    }
    if (mask == ~std::uint32_t{0}) {
      *reinterpret_cast<std::uint32_t*>(out.base + 4 * at) = value;
    } else if (out.holds_word(at)) {
      put_bits(block, out, at, value, mask);
    }
  }

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
