// Checks whether a schedule of any kind is a permutation.
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "schedule/check_places.hpp"
#include "schedule/parallel.hpp"

namespace faro::schedule {
namespace {

void check_size(const std::string& what, std::uint64_t got, std::uint64_t wanted) {
  if (got != wanted)
    fail(ErrorCode::value, "check a schedule", std::to_string(got) + " " + what, std::to_string(wanted));
}

// One bit an index, set by many threads at once.
class Taken {
 public:
  explicit Taken(std::uint64_t count) : words_((count + 63) / 64) {}

  /// Whether it was free.
  bool take(std::uint64_t index) {
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    return (std::atomic_ref(words_[index / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

void check(const DirectSchedule& direct, std::uint64_t count, int) {
  check_size("entries", direct.indexed.count(), count);
}

// Source of an output; the count where it would lie outside.
std::uint64_t source_of(const WindowSchedule& window, std::uint64_t i) {
  const std::uint64_t place = i + window.shift[i];
  return place < window.window ? window.count : std::min(place - window.window, window.count);
}

void check(const WindowSchedule& window, std::uint64_t count, int threads) {
  check_size("elements in the window schedule", window.count, count);
  check_size("shifts", window.shift.size(), count);
  if (window.window > std::numeric_limits<std::int16_t>::max()) {
    fail(ErrorCode::value, "check a schedule", "a window of " + std::to_string(window.window),
         "at most 32767");
  }
  const std::uint64_t pieces = (count + kPieceElements - 1) / kPieceElements;
  const auto end_of = [&](std::uint64_t piece) { return std::min((piece + 1) * kPieceElements, count); };
  const auto is_inside = [&](std::uint64_t i) {
    return window.shift[i] <= 2 * window.window && source_of(window, i) < count;
  };
  Taken taken(count);
  std::atomic<bool> twice{false};
  const auto failing = first_failing(pieces, threads, [&](std::uint64_t piece, int) {
    for (std::uint64_t i = piece * kPieceElements; i < end_of(piece); ++i) {
      if (!is_inside(i)) return false;
      if (!taken.take(source_of(window, i))) twice = true;
    }
    return true;
  });
  if (failing) {
    std::uint64_t i = *failing * kPieceElements;
    while (is_inside(i)) ++i;
    fail(ErrorCode::value, "check a schedule",
         "shift " + std::to_string(window.shift[i]) + " for element " + std::to_string(i),
         "an element at most " + std::to_string(window.window) + " away, in the array");
  }
  if (!twice) return;
  Taken again(count);
  std::uint64_t i = 0;
  while (again.take(source_of(window, i))) ++i;
  fail(ErrorCode::value, "check a schedule",
       "shift " + std::to_string(window.shift[i]) + " for element " + std::to_string(i) + ", whose source " +
           std::to_string(source_of(window, i)) + " was taken before",
       "every element once");
}

void check(const RunsSchedule& runs, std::uint64_t count, int) {
  check_size("elements in the schedule of runs", runs.count, count);
  const std::size_t number = runs.target.size();
  check_size("sources of runs", runs.source.size(), number + 1);
  const auto run_text = [](std::uint64_t r) { return "run " + std::to_string(r); };
  if (runs.source.front() != 0)
    fail(ErrorCode::value, "check a schedule", "run 0 from " + std::to_string(runs.source.front()), "from 0");
  for (std::size_t r = 0; r < number; ++r) {
    if (runs.source[r] >= runs.source[r + 1]) {
      fail(ErrorCode::value, "check a schedule",
           run_text(r) + " from " + std::to_string(runs.source[r]) + " to " +
               std::to_string(runs.source[r + 1]),
           "sources that ascend");
    }
  }
  check_size("elements before the end of the last run", runs.source.back(), count);
  std::vector<std::uint64_t> by_target(number);
  std::iota(by_target.begin(), by_target.end(), std::uint64_t{0});
  std::sort(by_target.begin(), by_target.end(),
            [&](std::uint64_t a, std::uint64_t b) { return runs.target[a] < runs.target[b]; });
  // The lengths sum to the count, so targets without a gap end where the array does.
  std::uint64_t filled = 0;
  for (const std::uint64_t r : by_target) {
    if (runs.target[r] != filled) {
      fail(ErrorCode::value, "check a schedule", run_text(r) + " to " + std::to_string(runs.target[r]),
           "a run to " + std::to_string(filled));
    }
    filled += runs.source[r + 1] - runs.source[r];
  }
}

void check(const PartitionSchedule& partition, std::uint64_t count, int threads) {
  check_size("elements in the partition's shape", partition.shape.count, count);
  check_schedule(partition, threads);
}

void check(const RowColumnSchedule& lists, std::uint64_t count, int threads) {
  constexpr std::uint32_t kMaxSide = 1 << 16;
  if (lists.rows > kMaxSide || lists.columns > kMaxSide) {
    fail(ErrorCode::value, "check a schedule",
         std::to_string(lists.rows) + " rows and " + std::to_string(lists.columns) + " columns",
         "at most " + std::to_string(kMaxSide));
  }
  check_size("elements in rows x columns", std::uint64_t{lists.rows} * lists.columns, count);
  check_size("places of the first step", lists.first.size(), count);
  check_size("places of the middle step", lists.middle.size(), count);
  check_size("places of the last step", lists.last.size(), count);
  if (count == 0) return;
  check_places(lists.first, lists.columns, "first step, row", threads);
  check_places(lists.middle, lists.rows, "middle step, column", threads);
  check_places(lists.last, lists.columns, "last step, row", threads);
}

}  // namespace

void check_schedule(const IndexSchedule& schedule, int threads) {
  const int workers = thread_count(threads, schedule.count);
  std::visit([&](const auto& what) { check(what, schedule.count, workers); }, schedule.what);
}

namespace {

// The first of `places` that is not below their number or has come before; their number if none is.
std::uint64_t first_fault(std::span<const std::uint16_t> places, std::vector<std::uint8_t>& taken) {
  std::fill_n(taken.begin(), places.size(), std::uint8_t{0});
  for (std::uint64_t i = 0; i < places.size(); ++i) {
    const std::uint16_t place = places[i];
    if (place >= places.size() || taken[place] != 0) return i;
    taken[place] = 1;
  }
  return places.size();
}

}  // namespace

void check_places(std::span<const std::uint16_t> places, std::uint64_t group, const std::string& where,
                  int threads) {
  const std::uint64_t groups = (places.size() + group - 1) / group;
  const std::uint64_t largest = std::min<std::uint64_t>(group, places.size());
  std::vector<std::vector<std::uint8_t>> taken(static_cast<std::size_t>(threads),
                                               std::vector<std::uint8_t>(largest));
  const auto members = [&](std::uint64_t g) {
    return places.subspan(g * group, std::min<std::uint64_t>(group, places.size() - g * group));
  };
  const auto is_fine = [&](std::uint64_t g, int thread) {
    return first_fault(members(g), taken[static_cast<std::size_t>(thread)]) == members(g).size();
  };
  const auto failing = first_failing(groups, threads, is_fine);
  if (!failing) return;
  const std::uint64_t i = first_fault(members(*failing), taken.front());
  const std::uint16_t place = members(*failing)[i];
  const std::string size = std::to_string(members(*failing).size());
  fail(ErrorCode::value, "check a schedule",
       where + " " + std::to_string(*failing) + ": place " + std::to_string(place) + " for element " +
           std::to_string(i) + (place < members(*failing).size() ? ", a second time" : ""),
       "each of the " + size + " places once");
}

}  // namespace faro::schedule
