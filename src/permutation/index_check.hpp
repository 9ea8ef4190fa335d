// Whether entries are a permutation, and if not, where that shows first.
//
// One parallel sweep marks each entry in a bit array. It only finds out that something is wrong; a second
// one, in order, then finds the positions to name, which are the same however many threads there were.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "thread_team.hpp"

namespace faro::detail {

/// Below this many elements, threads cost more than they give.
inline constexpr std::uint64_t kParallelElements = std::uint64_t{1} << 15;

inline int threads_for(std::uint64_t elements, int threads = 0) {
  if (elements < kParallelElements) return 1;
  return thread_count(threads);
}

/// Calls body(i) for i in 0..count-1 with all threads, each with a stretch of its own. It must not throw.
template <typename Body>
void for_each_index(std::uint64_t count, const Body& body, int threads = 0) {
  const int used = threads_for(count, threads);
  share_out_evenly(count, used, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) body(i);
  });
}

/// The errors of an index array: `value` as its type has it, negative ones too.
[[noreturn]] void fail_entry_out_of_range(std::uint64_t position, const std::string& value,
                                          std::uint64_t count);
[[noreturn]] void fail_entry_twice(std::uint64_t first, std::uint64_t second, std::uint64_t value,
                                   std::uint64_t missing, std::uint64_t count);

/// A bit for each index.
class Marks {
 public:
  explicit Marks(std::uint64_t count) : words_((count + 63) / 64) {}

  /// Whether the bit was set already; sets it. By many threads at once, or by one alone.
  bool mark_shared(std::uint64_t i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    return (std::atomic_ref(words_[i / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
  }
  bool mark_alone(std::uint64_t i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    const bool was_set = (words_[i / 64] & bit) != 0;
    words_[i / 64] |= bit;
    return was_set;
  }

  void clear() { std::fill(words_.begin(), words_.end(), std::uint64_t{0}); }

  /// Requires: there is one (unchecked).
  std::uint64_t first_unset() const {
    std::uint64_t word = 0;
    while (words_[word] == ~std::uint64_t{0}) ++word;
    return word * 64 + static_cast<std::uint64_t>(std::countr_one(words_[word]));
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Keeps the smallest of what many threads give it.
inline void keep_smallest(std::atomic<std::uint64_t>& smallest, std::uint64_t value) {
  std::uint64_t seen = smallest.load(std::memory_order_relaxed);
  while (value < seen && !smallest.compare_exchange_weak(seen, value)) {
  }
}

/// Throws unless entries[0] .. entries[count - 1] are 0 .. count - 1 in some order.
/// Errors: ErrorCode::value.   Cost: one sweep, and a bit an element of memory.
template <typename Word>
void check_permutation(const Word* entries, std::uint64_t count) {
  require_memory("index array", "a check of " + std::to_string(count) + " entries", count / 8);
  Marks marks(count);
  const int threads = threads_for(count);
  std::atomic<std::uint64_t> out_of_range{count};
  std::atomic<bool> twice{false};
  share_out_evenly(count, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t value = entries[i];
      if (value >= count) {
        keep_smallest(out_of_range, i);
      } else if (threads > 1 ? marks.mark_shared(value) : marks.mark_alone(value)) {
        twice.store(true, std::memory_order_relaxed);
      }
    }
  });
  if (const std::uint64_t i = out_of_range.load(); i < count) {
    fail_entry_out_of_range(i, std::to_string(entries[i]), count);
  }
  if (!twice.load()) return;
  const std::uint64_t missing = marks.first_unset();
  marks.clear();
  std::uint64_t second = 0;
  while (!marks.mark_alone(entries[second])) ++second;
  std::uint64_t first = 0;
  while (entries[first] != entries[second]) ++first;
  fail_entry_twice(first, second, entries[second], missing, count);
}

}  // namespace faro::detail

// How long an index array may be to be written out as `indices(2 0 1)`: what is longer has a label, or a text
// that only says how many elements it has.

namespace faro {

inline constexpr std::uint64_t kLongestIndexLiteral = 64;

}  // namespace faro
