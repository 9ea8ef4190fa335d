// A paged cache moved by the cores of a CPU: one team over all blocks of all arrays.
//
// A thread has a block of the target, and moves what lies together on both sides at once: a head of a token;
// all heads where they follow each other in both; all tokens of a head, or whole tokens, as far as neither
// block ends. What is converted goes by way of f32 in a buffer, as convert_run() does it.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engines/cpu/rows/cache_sweep.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/values/value_run.hpp"
#include "faro/threads.hpp"
#include "rounding.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kCacheNumbers = 1024;  // that are converted at a time

// A scale that is none of 1, so that each array's own is looked at.
Arithmetic widening(Number from) { return {.from = from, .to = Number::f32, .scale = {{2.0}, {}}}; }
Arithmetic narrowing(Number to) {
  const bool narrow = bytes_of(to) == 1;
  return {.from = Number::f32, .to = to, .saturated = narrow};
}

// Layouts and what follows from them, the same for all blocks.
class CacheRuns {
 public:
  CacheRuns(const CacheMove& move, bool converts)
      : from_(detail::whole_layout(move.from, move.of)),
        to_(detail::whole_layout(move.to, move.of)),
        of_(move.of),
        converts_(converts),
        in_bytes_(bytes_of(from_.number)),
        out_bytes_(bytes_of(to_.number)),
        widen_(widening(from_.number)),
        narrow_(narrowing(to_.number)) {
    dense_ = is_dense(from_) && is_dense(to_);
    const auto all_heads = [&](const CacheLayout& side) {
      return of_.heads == 1 || side.head_stride == of_.width;
    };
    heads_together_ = dense_ && all_heads(from_) && all_heads(to_);
    const std::uint64_t run = of_.width * (heads_together_ ? of_.heads : 1);
    tokens_together_ = dense_ && from_.token_stride == run && to_.token_stride == run;
  }

  const CacheLayout& from() const { return from_; }
  const CacheLayout& to() const { return to_; }

  // Tokens that are in one block of either side; of both from their first number on.
  void move(const CacheArrays& arrays, const std::byte* in, std::byte* out, std::uint64_t tokens) const {
    const std::uint64_t heads = heads_together_ ? 1 : of_.heads;
    const std::uint64_t steps = tokens_together_ ? 1 : tokens;
    const std::uint64_t run = of_.width * (heads_together_ ? of_.heads : 1) * (tokens_together_ ? tokens : 1);
    for (std::uint64_t t = 0; t < steps; ++t) {
      for (std::uint64_t h = 0; h < heads; ++h) {
        const std::byte* const here = in + (t * from_.token_stride + h * from_.head_stride) * in_bytes_;
        std::byte* const there = out + (t * to_.token_stride + h * to_.head_stride) * out_bytes_;
        if (dense_) {
          move_run(arrays, here, there, run);
        } else {
          move_parted(arrays, here, there);
        }
      }
    }
  }

 private:
  bool is_dense(const CacheLayout& side) const {
    return side.element_stride == 1 && (side.part == of_.width || side.part_stride == side.part);
  }

  static std::uint64_t place_of(const CacheLayout& side, std::uint64_t w) {
    return w / side.part * side.part_stride + w % side.part * side.element_stride;
  }

  void move_run(const CacheArrays& arrays, const std::byte* in, std::byte* out, std::uint64_t numbers) const {
    if (!converts_) {
      std::memcpy(out, in, numbers * in_bytes_);
      return;
    }
    for (std::uint64_t i = 0; i < numbers; i += kCacheNumbers) {
      const std::uint64_t some = std::min(kCacheNumbers, numbers - i);
      convert(arrays, in + i * in_bytes_, out + i * out_bytes_, some);
    }
  }

  // A head whose numbers are not in a row on both sides.
  void move_parted(const CacheArrays& arrays, const std::byte* in, std::byte* out) const {
    std::array<std::byte, kCacheNumbers * 16> gathered;
    std::array<std::byte, kCacheNumbers * 16> made;
    for (std::uint64_t first = 0; first < of_.width; first += kCacheNumbers) {
      const std::uint64_t some = std::min(kCacheNumbers, of_.width - first);
      for (std::uint64_t i = 0; i < some; ++i) {
        std::memcpy(gathered.data() + i * in_bytes_, in + place_of(from_, first + i) * in_bytes_, in_bytes_);
      }
      move_run(arrays, gathered.data(), made.data(), some);
      for (std::uint64_t i = 0; i < some; ++i) {
        std::memcpy(out + place_of(to_, first + i) * out_bytes_, made.data() + i * out_bytes_, out_bytes_);
      }
    }
  }

  void convert(const CacheArrays& arrays, const std::byte* in, std::byte* out, std::uint64_t numbers) const {
    std::array<float, kCacheNumbers> wide;
    auto* const bytes = reinterpret_cast<std::byte*>(wide.data());
    convert_run(widen_, {.from = in,
                         .to = bytes,
                         .count = numbers,
                         .scale = {.data = reinterpret_cast<const std::byte*>(&arrays.in_scale)}});
    if (arrays.out_scale != 1) {
      for (std::uint64_t i = 0; i < numbers; ++i) wide[i] /= arrays.out_scale;
    }
    convert_run(narrow_, {.from = bytes, .to = out, .count = numbers});
  }

  CacheLayout from_;
  CacheLayout to_;
  CacheHeads of_;
  bool converts_;
  bool dense_ = false;
  bool heads_together_ = false;
  bool tokens_together_ = false;
  std::uint64_t in_bytes_;
  std::uint64_t out_bytes_;
  ValueProgram widen_;
  ValueProgram narrow_;
};

// A block of the target of one sequence.
struct CacheBlock {
  std::uint64_t sequence = 0;
  std::uint64_t block = 0;  // of the sequence
};

void move_cache_block(const CacheRuns& runs, const CacheArrays& arrays, const detail::CacheBlocks& blocks,
                      const CacheBlock& of) {
  const detail::CacheBlocks::Sequence& sequence = blocks.sequences[of.sequence];
  const CacheLayout& from = runs.from();
  const CacheLayout& to = runs.to();
  const std::uint64_t first = of.block * to.block_tokens;
  const std::uint64_t end = std::min(first + to.block_tokens, sequence.tokens);
  for (std::uint64_t token = first; token < end;) {
    const std::uint64_t slot = token % from.block_tokens;
    const std::uint64_t some = std::min(end - token, from.block_tokens - slot);
    const std::uint64_t in_block = blocks.from[sequence.from + token / from.block_tokens];
    const std::uint64_t in_first = in_block * from.block_stride + slot * from.token_stride;
    const std::uint64_t out_first =
        blocks.to[sequence.to + of.block] * to.block_stride + (token - first) * to.token_stride;
    runs.move(arrays, static_cast<const std::byte*>(arrays.in) + in_first * bytes_of(from.number),
              static_cast<std::byte*>(arrays.out) + out_first * bytes_of(to.number), some);
    token += some;
  }
}

}  // namespace

void move_cache(const CacheMove& move, std::span<const CacheArrays> arrays, const CacheTables& tables,
                int threads) {
  const detail::CacheBlocks blocks = detail::read_tables(move, tables);
  const CacheRuns runs(move, detail::is_converted(move, arrays));
  std::vector<CacheBlock> work;
  std::uint64_t tokens = 0;
  for (std::uint64_t s = 0; s < blocks.sequences.size(); ++s) {
    tokens += blocks.sequences[s].tokens;
    const std::uint64_t count = detail::ceil_div(blocks.sequences[s].tokens, move.to.block_tokens);
    for (std::uint64_t b = 0; b < count; ++b) work.push_back({.sequence = s, .block = b});
  }
  constexpr std::uint64_t kAloneNumbers = 32768;
  const bool few = tokens * move.of.heads * move.of.width * arrays.size() < kAloneNumbers;
  share_out(work.size() * arrays.size(), few ? 1 : detail::thread_count(threads),
            [&](std::uint64_t begin, std::uint64_t end) {
              for (std::uint64_t i = begin; i < end; ++i)
                move_cache_block(runs, arrays[i / work.size()], blocks, work[i % work.size()]);
            });
}

}  // namespace faro::cpu
