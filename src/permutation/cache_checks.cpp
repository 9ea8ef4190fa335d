#include "permutation/cache_checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "disjoint.hpp"
#include "faro/error.hpp"
#include "permutation/index_rows.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kMostCacheBytes = std::uint64_t{1} << 62;
constexpr std::size_t kCacheAxes = 5;

struct CacheAxes {
  std::uint64_t extents[kCacheAxes] = {};
  std::int64_t strides[kCacheAxes] = {};  // in bytes
};

CacheAxes axes_of(const CacheLayout& layout, const CacheHeads& of) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(layout.number));
  const auto stride = [bytes](std::uint64_t numbers) { return static_cast<std::int64_t>(numbers) * bytes; };
  return {{layout.blocks, layout.block_tokens, of.heads, of.width / layout.part, layout.part},
          {stride(layout.block_stride), stride(layout.token_stride), stride(layout.head_stride),
           stride(layout.part_stride), stride(layout.element_stride)}};
}

void require_layout(const char* which, const CacheLayout& layout, const CacheHeads& of) {
  const auto refuse_layout = [&](const std::string& got, const char* wanted) {
    fail(ErrorCode::value, kMovingCache, std::string("a ") + which + " with " + got, wanted);
  };
  if (layout.block_tokens == 0) refuse_layout("blocks of 0 tokens", "blocks of at least one token");
  if (layout.part > 0 && of.width % layout.part != 0) {
    refuse_layout(
        "heads of " + std::to_string(of.width) + " numbers in parts of " + std::to_string(layout.part),
        "parts that divide a head");
  }
  const CacheLayout whole = whole_layout(layout, of);
  const std::pair<std::uint64_t, std::uint64_t> reached[] = {{whole.blocks, whole.block_stride},
                                                             {whole.block_tokens, whole.token_stride},
                                                             {of.heads, whole.head_stride},
                                                             {of.width / whole.part, whole.part_stride},
                                                             {whole.part, whole.element_stride}};
  std::uint64_t numbers = 1;
  bool fits = true;
  for (const auto& [extent, stride] : reached) {
    std::uint64_t far = 0;
    fits = fits && !__builtin_mul_overflow(extent, stride, &far) && far <= kMostCacheBytes;
    fits = fits && extent <= kMostCacheBytes && !__builtin_add_overflow(numbers, far, &numbers);
  }
  if (!fits || numbers > kMostCacheBytes / bytes_of(layout.number))
    refuse_layout("strides that reach past 2^62 bytes", "arrays of at most 2^62 bytes");
}

bool is_cache_float(Number number) {
  switch (number) {
    case Number::f16:
    case Number::bf16:
    case Number::f32:
    case Number::f8_e4m3fn:
    case Number::f8_e5m2:
    case Number::f8_e4m3fnuz:
    case Number::f8_e5m2fnuz:
      return true;
    default:
      return false;
  }
}

std::string array_words(std::size_t index, std::size_t count) {
  return count == 1 ? std::string() : " of array " + std::to_string(index);
}

// One of the two tables.
struct CacheTable {
  const char* name;
  RowNumbers entries;
  std::uint64_t blocks;
  std::uint64_t block_tokens;
};

std::uint64_t table_columns(const CacheTable& table, std::uint64_t sequences) {
  return sequences == 0 ? 0 : table.entries.count / sequences;
}

void require_table(const CacheTable& table, const CacheTables& tables) {
  const std::uint64_t count = table.entries.count;
  const auto refuse_table = [&](const std::string& got, const std::string& wanted) {
    fail(ErrorCode::value, kMovingCache, got + " in the " + table.name + "'s table", wanted);
  };
  if (!is_entry_width(table.entries.type.bytes))
    refuse_table("entries of " + std::to_string(table.entries.type.bytes) + " bytes", "1, 2, 4 or 8 bytes");
  if (tables.sequences == 0 ? count != 0 : count % tables.sequences != 0) {
    refuse_table(std::to_string(count) + " entries",
                 "as many for each of " + std::to_string(tables.sequences) + " sequences");
  }
  if (count > 0 && table.entries.data == nullptr) refuse_table("a null pointer", "block numbers");
  const std::uint64_t needed = ceil_div(tables.tokens, table.block_tokens);
  if (tables.sequences > 0 && table_columns(table, tables.sequences) < needed) {
    refuse_table(std::to_string(table_columns(table, tables.sequences)) + " blocks of a sequence",
                 std::to_string(needed) + ", for " + std::to_string(tables.tokens) + " tokens in blocks of " +
                     std::to_string(table.block_tokens));
  }
}

std::vector<std::uint64_t> entries_read(const RowNumbers& numbers) {
  std::vector<std::uint64_t> entries(numbers.count);
  const RowReader reader(Take{.from = numbers});
  for (std::uint64_t i = 0; i < numbers.count; ++i) entries[i] = reader.entry(i);
  return entries;
}

std::string table_entry_text(std::uint64_t entry, const RowNumbers& of) {
  return of.type.is_signed ? std::to_string(static_cast<std::int64_t>(entry)) : std::to_string(entry);
}

// Appends the blocks that a sequence's tokens are in.
void read_blocks(const CacheTable& table, std::uint64_t sequence, std::uint64_t columns, std::uint64_t tokens,
                 const std::vector<std::uint64_t>& entries, std::vector<std::uint64_t>& blocks) {
  for (std::uint64_t i = 0; i < ceil_div(tokens, table.block_tokens); ++i) {
    const std::uint64_t position = sequence * columns + i;
    if (entries[position] >= table.blocks) {
      fail(ErrorCode::value, kMovingCache,
           "block " + table_entry_text(entries[position], table.entries) + " at position " +
               std::to_string(position) + " of the " + table.name + "'s table",
           table.blocks == 0 ? "no block: there are none"
                             : "blocks from 0 to " + std::to_string(table.blocks - 1));
    }
    blocks.push_back(entries[position]);
  }
}

void require_once(std::vector<std::uint64_t> blocks) {
  std::sort(blocks.begin(), blocks.end());
  const auto twice = std::adjacent_find(blocks.begin(), blocks.end());
  if (twice == blocks.end()) return;
  fail(ErrorCode::value, kMovingCache, "block " + std::to_string(*twice) + " twice in the target's table",
       "each block of the target once");
}

}  // namespace

CacheLayout whole_layout(const CacheLayout& layout, const CacheHeads& of) {
  CacheLayout whole = layout;
  if (whole.part == 0) whole.part = of.width;
  if (whole.part == of.width) whole.part_stride = 0;
  return whole;
}

bool is_converted(const CacheMove& move, std::span<const CacheArrays> arrays) {
  return move.from.number != move.to.number ||
         std::any_of(arrays.begin(), arrays.end(),
                     [](const CacheArrays& each) { return each.in_scale != each.out_scale; });
}

void require_cache_move(const CacheMove& move, std::span<const CacheArrays> arrays) {
  if (move.of.heads == 0 || move.of.width == 0) {
    fail(ErrorCode::value, kMovingCache,
         std::to_string(move.of.heads) + " heads of " + std::to_string(move.of.width) + " numbers",
         "at least one of each");
  }
  require_layout("source", move.from, move.of);
  require_layout("target", move.to, move.of);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const CacheArrays& each = arrays[i];
    if ((each.in == nullptr && move.from.blocks > 0) || (each.out == nullptr && move.to.blocks > 0))
      fail(ErrorCode::value, kMovingCache, "a null pointer" + array_words(i, arrays.size()), "an array");
    for (const float scale : {each.in_scale, each.out_scale}) {
      if (std::isfinite(scale) && scale > 0) continue;
      fail(ErrorCode::value, kMovingCache, "scale " + std::to_string(scale) + array_words(i, arrays.size()),
           "a finite scale above 0");
    }
  }
  if (is_converted(move, arrays) && !(is_cache_float(move.from.number) && is_cache_float(move.to.number))) {
    fail(ErrorCode::unsupported, kMovingCache,
         std::string(name(move.from.number)) + " to " + name(move.to.number) + ", or scaled",
         "f32, f16, bf16 and 8-bit floats, or one type on both sides without scales");
  }
  const CacheAxes in_axes = axes_of(whole_layout(move.from, move.of), move.of);
  const CacheAxes out_axes = axes_of(whole_layout(move.to, move.of), move.of);
  std::vector<RunArray> inputs;
  std::vector<RunArray> outputs;
  for (const CacheArrays& each : arrays) {
    inputs.push_back({"source", {each.in, bytes_of(move.from.number), in_axes.extents, in_axes.strides}});
    outputs.push_back({"target", {each.out, bytes_of(move.to.number), out_axes.extents, out_axes.strides}});
  }
  check_disjoint(kMovingCache, outputs, inputs, "take_blocks() and put_blocks() move blocks within a cache");
}

void require_cache_tables(const CacheMove& move, const CacheTables& tables) {
  require_table({"source", tables.from, move.from.blocks, move.from.block_tokens}, tables);
  require_table({"target", tables.to, move.to.blocks, move.to.block_tokens}, tables);
  const RowNumbers& lengths = tables.lengths;
  if (lengths.count == 0) return;
  if (lengths.count != tables.sequences) {
    fail(ErrorCode::value, kMovingCache, std::to_string(lengths.count) + " numbers of tokens",
         "one for each of " + std::to_string(tables.sequences) + " sequences");
  }
  if (lengths.data == nullptr || !is_entry_width(lengths.type.bytes))
    fail(ErrorCode::value, kMovingCache, "a null pointer or an odd width of numbers of tokens",
         "numbers of 1, 2, 4 or 8 bytes");
}

CacheBlocks read_tables(const CacheMove& move, const CacheTables& tables) {
  require_cache_tables(move, tables);
  const CacheTable source{"source", tables.from, move.from.blocks, move.from.block_tokens};
  const CacheTable target{"target", tables.to, move.to.blocks, move.to.block_tokens};
  const std::vector<std::uint64_t> lengths = entries_read(tables.lengths);
  const std::vector<std::uint64_t> from = entries_read(tables.from);
  const std::vector<std::uint64_t> to = entries_read(tables.to);
  CacheBlocks blocks;
  for (std::uint64_t s = 0; s < tables.sequences; ++s) {
    const std::uint64_t tokens = lengths.empty() ? tables.tokens : lengths[s];
    if (tokens > tables.tokens) {
      fail(ErrorCode::value, kMovingCache,
           table_entry_text(tokens, tables.lengths) + " tokens of sequence " + std::to_string(s),
           "0 to " + std::to_string(tables.tokens));
    }
    blocks.sequences.push_back({.tokens = tokens, .from = blocks.from.size(), .to = blocks.to.size()});
    read_blocks(source, s, table_columns(source, tables.sequences), tokens, from, blocks.from);
    read_blocks(target, s, table_columns(target, tables.sequences), tokens, to, blocks.to);
  }
  require_once(blocks.to);
  return blocks;
}

}  // namespace faro::detail
