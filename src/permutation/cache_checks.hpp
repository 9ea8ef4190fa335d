// What may be wrong with a move of a paged cache, whichever engine carries it out, and its tables as the host
// reads them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/permutation/paged_cache.hpp"

namespace faro::detail {

inline constexpr const char* kMovingCache = "move a cache";

/// The layout with its part and strides filled in.
CacheLayout whole_layout(const CacheLayout& layout, const CacheHeads& of);

/// Whether numbers are changed on their way.
bool is_converted(const CacheMove& move, std::span<const CacheArrays> arrays);

/// Errors: ErrorCode::value for extents of 0, parts that do not divide a head, layouts past 2^62 bytes,
/// scales that are not finite and above 0, null pointers, and outputs that overlap an input, another output
/// or themselves; ErrorCode::unsupported for numbers that are not converted.
void require_cache_move(const CacheMove& move, std::span<const CacheArrays> arrays);

/// Everything but the entries. Errors: ErrorCode::value for tables of no whole rows, or too short for the
/// tokens, and for another number of lengths than of sequences.
void require_cache_tables(const CacheMove& move, const CacheTables& tables);

/// Blocks that tables name of each sequence, as far as it has tokens.
struct CacheBlocks {
  struct Sequence {
    std::uint64_t tokens = 0;
    std::uint64_t from = 0;  // where its blocks begin in the lists
    std::uint64_t to = 0;
  };
  std::vector<Sequence> sequences;
  std::vector<std::uint64_t> from;
  std::vector<std::uint64_t> to;
};

/// Errors: those of require_cache_tables, and ErrorCode::value naming the first length or entry that is
/// wrong, or a block of the target that is named twice.
CacheBlocks read_tables(const CacheMove& move, const CacheTables& tables);

}  // namespace faro::detail
