// Loops over chunks by several threads, each with a number that its scratch goes by.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "faro/threads.hpp"
#include "thread_team.hpp"

namespace faro::schedule {

/// How many threads for so many elements: at most `threads`, or what OpenMP would use for 0, and no more than
/// are worth starting.
inline int thread_count(int threads, std::uint64_t elements) {
  constexpr std::uint64_t kThreadElements = 1 << 14;
  const int most = detail::thread_count(threads);
  return static_cast<int>(std::min(static_cast<std::uint64_t>(most), 1 + elements / kThreadElements));
}

/// Elements of a piece of an array, each of which one thread looks at.
inline constexpr std::uint64_t kPieceElements = 1 << 16;

/// work(chunk, thread) for each chunk, thread below `threads`. Requires: work does not throw.
template <typename Work>
void for_each_chunk(std::uint64_t chunks, int threads, const Work& work) {
  detail::take_turns_at(chunks, threads, 1, [&](std::uint64_t chunk, std::uint64_t thread) {
    work(chunk, static_cast<int>(thread));
  });
}

/// The first chunk of which is_fine(chunk, thread) is false, whatever the number of threads.
/// Requires: is_fine does not throw.
template <typename IsFine>
std::optional<std::uint64_t> first_failing(std::uint64_t chunks, int threads, const IsFine& is_fine) {
  std::atomic<std::uint64_t> first{chunks};
  for_each_chunk(chunks, threads, [&](std::uint64_t chunk, int thread) {
    if (chunk >= first.load(std::memory_order_relaxed) || is_fine(chunk, thread)) return;
    std::uint64_t known = first.load();
    while (chunk < known && !first.compare_exchange_weak(known, chunk)) {
    }
  });
  if (first.load() == chunks) return std::nullopt;
  return first.load();
}

}  // namespace faro::schedule
