// Paged caches as tests have them: layouts and tables that are drawn, and moved by one loop over all numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "faro/permutation/paged_cache.hpp"
#include "kernels/number_types.hpp"
#include "kernels/small_floats.hpp"

namespace faro::testing {

inline std::uint64_t part_of(const CacheLayout& layout, const CacheHeads& of) {
  return layout.part == 0 ? of.width : layout.part;
}

/// The formula of faro/permutation/paged_cache.hpp.
inline std::uint64_t cache_place(const CacheLayout& layout, const CacheHeads& of, std::uint64_t block,
                                 std::uint64_t token, std::uint64_t head, std::uint64_t w) {
  const std::uint64_t part = part_of(layout, of);
  return block * layout.block_stride + token * layout.token_stride + head * layout.head_stride +
         w / part * layout.part_stride + w % part * layout.element_stride;
}

/// Numbers that an array reaches.
inline std::uint64_t cache_numbers(const CacheLayout& layout, const CacheHeads& of) {
  if (layout.blocks == 0) return 0;
  return cache_place(layout, of, layout.blocks - 1, layout.block_tokens - 1, of.heads - 1, of.width - 1) + 1;
}

/// Dense, cut as vLLM's paged attention has keys, or any order of axes with holes.
inline CacheLayout drawn_layout(Number number, std::uint64_t blocks, std::uint64_t block_tokens,
                                const CacheHeads& of, std::mt19937_64& random) {
  if (random() % 4 == 0) return CacheLayout::nhd(number, blocks, block_tokens, of);
  if (random() % 3 == 0) return CacheLayout::hnd(number, blocks, block_tokens, of);
  CacheLayout layout{.number = number, .blocks = blocks, .block_tokens = block_tokens};
  std::vector<std::uint64_t> parts;
  for (std::uint64_t part = 1; part <= of.width; ++part) {
    if (of.width % part == 0) parts.push_back(part);
  }
  layout.part = parts[random() % parts.size()];
  struct Axis {
    std::uint64_t extent;
    std::uint64_t* stride;
  };
  std::array<Axis, 5> axes{{{blocks, &layout.block_stride},
                            {of.heads, &layout.head_stride},
                            {of.width / layout.part, &layout.part_stride},
                            {block_tokens, &layout.token_stride},
                            {layout.part, &layout.element_stride}}};
  const bool holes = random() % 2 == 0;
  if (holes) std::shuffle(axes.begin(), axes.end(), random);
  std::uint64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    *axes[i].stride = stride;
    stride *= std::max<std::uint64_t>(axes[i].extent, 1);
    if (holes) stride += random() % 3;
  }
  return layout;
}

struct DrawnTables {
  std::uint64_t sequences = 1;
  std::uint64_t tokens = 0;
  std::vector<std::int32_t> from = {};
  std::vector<std::int64_t> to = {};
  std::vector<std::int32_t> lengths = {};

  CacheTables tables() const {
    return {.from = RowNumbers(std::span(from)),
            .to = RowNumbers(std::span(to)),
            .sequences = sequences,
            .tokens = tokens,
            .lengths = RowNumbers(std::span(lengths))};
  }
  std::uint64_t length(std::uint64_t sequence) const {
    return lengths.empty() ? tokens : static_cast<std::uint64_t>(lengths[sequence]);
  }
};

/// Tables with a column more than is needed, of -1, as engines pad theirs. Blocks of the source repeat.
inline DrawnTables drawn_tables(const CacheMove& move, std::uint64_t sequences, std::uint64_t tokens,
                                bool ragged, std::mt19937_64& random) {
  DrawnTables made{.sequences = sequences, .tokens = tokens};
  std::vector<std::int64_t> free(move.to.blocks);
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), random);
  const std::uint64_t from_columns = (tokens + move.from.block_tokens - 1) / move.from.block_tokens + 1;
  const std::uint64_t to_columns = (tokens + move.to.block_tokens - 1) / move.to.block_tokens + 1;
  for (std::uint64_t s = 0; s < sequences; ++s) {
    const std::uint64_t length = ragged ? random() % (tokens + 1) : tokens;
    if (ragged) made.lengths.push_back(static_cast<std::int32_t>(length));
    for (std::uint64_t i = 0; i < from_columns; ++i) {
      const bool needed = i * move.from.block_tokens < length;
      made.from.push_back(needed ? static_cast<std::int32_t>(random() % move.from.blocks) : -1);
    }
    for (std::uint64_t i = 0; i < to_columns; ++i) {
      const bool needed = i * move.to.block_tokens < length;
      made.to.push_back(needed ? free.back() : -1);
      if (needed) free.pop_back();
    }
  }
  return made;
}

inline float cache_value(Number number, const std::byte* at) {
  float x = 0;
  kernels::with_number(number, [&]<typename Stored>() {
    Stored stored;
    std::memcpy(&stored, at, sizeof(stored));
    if constexpr (kernels::kIsSmallFloat<Stored>) {
      x = kernels::to_float(stored);
    } else if constexpr (std::is_same_v<Stored, float>) {
      x = stored;
    }
  });
  return x;
}

inline void store_cache_value(Number number, float x, std::byte* at) {
  kernels::with_number(number, [&]<typename Stored>() {
    if constexpr (kernels::kIsSmallFloat<Stored>) {
      const auto overflow = sizeof(Stored) == 1 ? kernels::Overflow::saturate : kernels::Overflow::as_type;
      const Stored stored = kernels::rounded_to<Stored>(x, overflow);
      std::memcpy(at, &stored, sizeof(stored));
    } else if constexpr (std::is_same_v<Stored, float>) {
      std::memcpy(at, &x, sizeof(x));
    }
  });
}

/// Numbers of a type, none of them NaN: of floats from tiny ones to such as only wide types have.
inline std::vector<std::byte> drawn_numbers(Number number, std::uint64_t count, std::mt19937_64& random) {
  const std::uint64_t bytes = bytes_of(number);
  std::vector<std::byte> made(count * bytes);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random());
  if (number < Number::f16 || number == Number::f64 || number == Number::boolean) return made;
  std::normal_distribution<float> normal(0, 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const float x = normal(random) * (i % 7 == 0 ? 3000.0F : i % 7 == 1 ? 1e-4F : 1.0F);
    store_cache_value(number, x, made.data() + i * bytes);
  }
  return made;
}

/// What a move makes of the target, one number after another.
inline void move_cache_plainly(const CacheMove& move, const CacheArrays& arrays, const DrawnTables& tables,
                               bool converts) {
  const std::uint64_t in_bytes = bytes_of(move.from.number);
  const std::uint64_t out_bytes = bytes_of(move.to.number);
  const std::uint64_t from_columns = tables.sequences == 0 ? 0 : tables.from.size() / tables.sequences;
  const std::uint64_t to_columns = tables.sequences == 0 ? 0 : tables.to.size() / tables.sequences;
  for (std::uint64_t s = 0; s < tables.sequences; ++s) {
    for (std::uint64_t token = 0; token < tables.length(s); ++token) {
      const auto from_block = tables.from[s * from_columns + token / move.from.block_tokens];
      const auto to_block = tables.to[s * to_columns + token / move.to.block_tokens];
      if (from_block < 0 || static_cast<std::uint64_t>(from_block) >= move.from.blocks) continue;
      if (to_block < 0 || static_cast<std::uint64_t>(to_block) >= move.to.blocks) continue;
      for (std::uint64_t head = 0; head < move.of.heads; ++head) {
        for (std::uint64_t w = 0; w < move.of.width; ++w) {
          const std::byte* const in =
              static_cast<const std::byte*>(arrays.in) +
              in_bytes * cache_place(move.from, move.of, static_cast<std::uint64_t>(from_block),
                                     token % move.from.block_tokens, head, w);
          std::byte* const out =
              static_cast<std::byte*>(arrays.out) +
              out_bytes * cache_place(move.to, move.of, static_cast<std::uint64_t>(to_block),
                                      token % move.to.block_tokens, head, w);
          if (converts) {
            const float x = cache_value(move.from.number, in) * arrays.in_scale / arrays.out_scale;
            store_cache_value(move.to.number, x, out);
          } else {
            std::memcpy(out, in, in_bytes);
          }
        }
      }
    }
  }
}

/// Memory of several arrays, each between guards, some bytes past an address that is aligned to 64.
class CacheMemory {
 public:
  CacheMemory(const std::vector<std::byte>& bytes, std::uint64_t offset) : size_(bytes.size()) {
    memory_.assign(bytes.size() + offset + 2 * kAround, std::byte{0xa5});
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = kAround - address % kAround + offset;
    std::copy(bytes.begin(), bytes.end(), data());
  }
  CacheMemory(CacheMemory&&) noexcept = default;
  CacheMemory& operator=(CacheMemory&&) = delete;
  ~CacheMemory() = default;

  std::byte* data() { return memory_.data() + begin_; }
  std::vector<std::byte> bytes() const {
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return {begin, begin + static_cast<std::ptrdiff_t>(size_)};
  }
  bool whole_around() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((i < begin_ || i >= begin_ + size_) && memory_[i] != std::byte{0xa5}) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kAround = 64;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> memory_;
};

/// A move with its memory, and what it has to become.
struct DrawnCache {
  CacheMove move;
  bool converts = false;
  DrawnTables tables;
  std::vector<CacheMemory> in;
  std::vector<CacheMemory> out;
  std::vector<CacheArrays> arrays;
  std::vector<std::vector<std::byte>> expected;
  std::string text;
};

struct CacheSizes {
  CacheHeads of{.heads = 2, .width = 16};
  std::uint64_t from_tokens = 4;  // of a block
  std::uint64_t to_tokens = 8;
  std::uint64_t sequences = 2;
  std::uint64_t tokens = 13;
  bool ragged = true;
  std::uint64_t arrays = 3;
  Number from = Number::bf16;
  Number to = Number::bf16;
  bool scaled = false;
  std::uint64_t in_offset = 0;  // in numbers
  std::uint64_t out_offset = 0;
};

inline DrawnCache drawn_cache(const CacheSizes& sizes, std::mt19937_64& random) {
  DrawnCache made;
  const std::uint64_t to_blocks =
      (sizes.tokens + sizes.to_tokens - 1) / sizes.to_tokens * sizes.sequences + 1 + random() % 3;
  made.move = {.of = sizes.of,
               .from = drawn_layout(sizes.from, 1 + random() % 9, sizes.from_tokens, sizes.of, random),
               .to = drawn_layout(sizes.to, to_blocks, sizes.to_tokens, sizes.of, random)};
  made.converts = sizes.from != sizes.to || sizes.scaled;
  made.tables = drawn_tables(made.move, sizes.sequences, sizes.tokens, sizes.ragged, random);
  made.in.reserve(sizes.arrays);
  made.out.reserve(sizes.arrays);
  for (std::uint64_t a = 0; a < sizes.arrays; ++a) {
    const std::uint64_t in_offset = sizes.in_offset * bytes_of(sizes.from);
    const std::uint64_t out_offset = sizes.out_offset * bytes_of(sizes.to);
    made.in.emplace_back(drawn_numbers(sizes.from, cache_numbers(made.move.from, sizes.of), random),
                         in_offset);
    made.out.emplace_back(drawn_numbers(sizes.to, cache_numbers(made.move.to, sizes.of), random), out_offset);
    CacheArrays each{.in = made.in.back().data(), .out = made.out.back().data()};
    if (sizes.scaled) {
      each.in_scale = std::array{1.0F, 0.03F, 2.5F}[random() % 3];
      each.out_scale = std::array{1.5F, 0.007F, 40.0F}[random() % 3];
    }
    made.arrays.push_back(each);
    std::vector<std::byte> expected = made.out.back().bytes();
    CacheArrays plain = each;
    plain.out = expected.data();
    move_cache_plainly(made.move, plain, made.tables, made.converts);
    made.expected.push_back(std::move(expected));
  }
  made.text = std::to_string(sizes.of.heads) + " heads of " + std::to_string(sizes.of.width) +
              ", blocks of " + std::to_string(sizes.from_tokens) + " to " + std::to_string(sizes.to_tokens) +
              ", " + std::to_string(sizes.sequences) + " x " + std::to_string(sizes.tokens) + " tokens, " +
              name(sizes.from) + " to " + name(sizes.to) + (sizes.scaled ? ", scaled" : "");
  return made;
}

}  // namespace faro::testing
