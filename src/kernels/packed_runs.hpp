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
    return words < kThreads ? words : (words + kBlockWords - 1) / kBlockWords * kBlockWords;
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t begin = block.index() * kBlockWords;
    if (of_run.divisor() % kBlockWords != 0) {
      move<kWords / 2>(block, [&](std::uint32_t further) {
        std::uint64_t w = begin + further;
        const std::uint64_t run = of_run.divide(w);
        return run < runs ? word_of(run_of(run), w) : Word{};
      });
      return;
    }
    std::uint64_t w = begin;
    const Run run = run_of(of_run.divide(w));
    const std::int64_t one = run.first + static_cast<std::int64_t>(w) * step();
    const std::int64_t other = one + std::int64_t{kBlockWords} * step();
    const bool inside = in.holds_word(word_at(one < other ? one : other)) &&
                        in.holds_word(word_at(one < other ? other : one) + 1);
    move<kWords>(block, [&](std::uint32_t further) {
      Word word = word_of(run, w + further);
      word.inside = inside;
      return word;
    });
  }

 private:
  struct Run {
    std::int64_t first = 0;  // bit of the input that output word 0 begins with
    std::uint64_t to = 0;    // that word
    std::uint32_t phase = 0;
    std::uint64_t end = 0;  // bits from its begin
  };
  struct Word {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t into = 0;
    std::uint32_t mask = 0;  // 0: there is none
    bool inside = false;     // both words that it is made of are whole in the array
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
  constexpr Word word_of(const Run& run, std::uint64_t w) const {
    if (w * kWordBits >= run.end) return {};
    const std::int64_t bit = run.first + static_cast<std::int64_t>(w) * step();
    Word word;
    word.from = word_at(bit);
    word.to = run.to + w;
    word.into = static_cast<std::uint32_t>(static_cast<std::uint64_t>(bit) % kWordBits);
    word.mask = w == 0 ? ~std::uint32_t{0} << run.phase : ~std::uint32_t{0};
    if ((w + 1) * kWordBits > run.end) word.mask &= low_ones(run.end - w * kWordBits);
    return word;
  }

  // word(n): n words behind the block's first one. So many of a thread are on their way.
  template <std::uint32_t ahead, typename Block, typename WordAt>
  constexpr void move(Block& block, const WordAt& word) const {
    FARO_NO_UNROLL
    for (std::uint32_t done = 0; done < kWords; done += ahead) {
      Word words[ahead];
      std::uint32_t low[ahead] = {};
      std::uint32_t high[ahead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < ahead; ++k) {
        words[k] = word((done + k) * kThreads + block.thread());
        if (words[k].mask == 0) continue;
        if (words[k].inside) {
          low[k] = *reinterpret_cast<const std::uint32_t*>(in.base + 4 * words[k].from);
          high[k] = *reinterpret_cast<const std::uint32_t*>(in.base + 4 * words[k].from + 4);
        } else {
          low[k] = load_raw(in, words[k].from);
          high[k] = load_raw(in, words[k].from + 1);
        }
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < ahead; ++k) {
        if (words[k].mask == 0) continue;
        std::uint32_t value = in_order(low[k], high[k], words[k].into);
        std::uint32_t mask = words[k].mask;
        if (out.high_first) {
          value = turned_bytes(value);
          mask = turned_bytes(mask);
        }
        if (mask == ~std::uint32_t{0}) {
          *reinterpret_cast<std::uint32_t*>(out.base + 4 * words[k].to) = value;
        } else if (out.holds_word(words[k].to)) {
          put_bits(block, out, words[k].to, value, mask);
        }
      }
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
