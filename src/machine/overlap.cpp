#include "faro/machine/overlap.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace faro::machine {
namespace {

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

struct Warp {
  std::size_t next;  // access
  std::size_t end;
  std::uint64_t stages_left;  // of the next access
};

// A memory admits the stages of its foremost waiting warp until that access has entered or another warp,
// waiting from then on, goes before it.
struct Memory {
  MinHeap<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> waiting;  // round, ready at, warp
  std::uint64_t since = 0;  // the foremost has been admitted since this time

  std::size_t foremost() const { return std::get<2>(waiting.top()); }
};

}  // namespace

std::uint64_t overlap_time(std::span<const OverlapAccess> accesses, std::span<const std::size_t> first_access,
                           const OverlapMachine& machine) {
  std::vector<Warp> warps;
  std::vector<Memory> memories(machine.memories);
  // What happens next: at a time, before the unit that follows it: a memory's foremost access has entered, or
  // a warp becomes ready. Entries of a memory that a newcomer made void are told by their time.
  MinHeap<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> events;  // time, memory or `ready`, warp
  const std::uint64_t ready = machine.memories;

  const auto expect_entry = [&](std::uint64_t memory) {
    const Memory& m = memories[memory];
    if (m.waiting.empty()) return;
    const std::size_t warp = m.foremost();
    events.emplace(m.since + warps[warp].stages_left, memory, warp);
  };

  for (std::size_t i = 0; i < first_access.size(); ++i) {
    const std::size_t end = i + 1 < first_access.size() ? first_access[i + 1] : accesses.size();
    warps.push_back({first_access[i], end, 0});
    if (first_access[i] < end) events.emplace(0, ready, i);
  }

  std::uint64_t last = 0;
  while (!events.empty()) {
    const auto [time, memory, warp] = events.top();
    events.pop();
    Warp& w = warps[warp];
    if (memory == ready) {
      const OverlapAccess& access = accesses[w.next];
      w.stages_left = access.stages;
      Memory& m = memories[access.memory];
      const std::size_t before = m.waiting.empty() ? warps.size() : m.foremost();
      m.waiting.emplace(access.round, time, warp);
      if (m.foremost() == warp) {
        if (before != warps.size()) warps[before].stages_left -= time - m.since;
        m.since = time;
        expect_entry(access.memory);
      }
      continue;
    }
    Memory& m = memories[memory];
    const bool is_void = m.waiting.empty() || m.foremost() != warp || m.since + w.stages_left != time;
    if (is_void) continue;
    m.waiting.pop();
    m.since = time;
    expect_entry(memory);
    // The last stage entered in unit `time` (units count from 1) and completes l - 1 units later.
    const std::uint64_t done = time + (memory == 0 ? machine.latency : machine.shared_latency) - 1;
    last = std::max(last, done);
    if (++w.next < w.end) events.emplace(done, ready, warp);
  }
  return last;
}

}  // namespace faro::machine
