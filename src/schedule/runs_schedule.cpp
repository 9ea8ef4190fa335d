#include <algorithm>
#include <string>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "schedule/host_entries.hpp"
#include "schedule/parallel.hpp"

namespace faro::schedule {
namespace {

// begins(i) for each element i of the piece that a run begins with.
template <typename Entry, typename Begins>
void each_run(std::span<const Entry> entries, std::uint64_t piece, const Begins& begins) {
  const std::uint64_t end = std::min<std::uint64_t>((piece + 1) * kPieceElements, entries.size());
  for (std::uint64_t i = piece * kPieceElements; i < end; ++i) {
    // Not entries[i - 1] + 1, which is 0 after the largest entry of 32 bits.
    if (i == 0 || entries[i] == 0 || entries[i] - 1 != entries[i - 1]) begins(i);
  }
}

template <typename Entry>
RunsSchedule runs_of(std::span<const Entry> entries) {
  const std::uint64_t pieces = (entries.size() + kPieceElements - 1) / kPieceElements;
  const int threads = thread_count(0, entries.size());
  std::vector<std::uint64_t> first(pieces + 1);  // run of every piece
  for_each_chunk(pieces, threads, [&](std::uint64_t piece, int) {
    std::uint64_t runs = 0;
    each_run(entries, piece, [&](std::uint64_t) { ++runs; });
    first[piece + 1] = runs;
  });
  for (std::uint64_t piece = 0; piece < pieces; ++piece) first[piece + 1] += first[piece];
  RunsSchedule made{.count = entries.size(),
                    .source = std::vector<std::uint64_t>(first.back() + 1),
                    .target = std::vector<std::uint64_t>(first.back())};
  for_each_chunk(pieces, threads, [&](std::uint64_t piece, int) {
    std::uint64_t run = first[piece];
    each_run(entries, piece, [&](std::uint64_t i) {
      made.source[run] = i;
      made.target[run++] = entries[i];
    });
  });
  made.source.back() = entries.size();
  return made;
}

}  // namespace

IndexSchedule runs_schedule(const Indexed& indexed) {
  require_host(indexed, "make a schedule of runs");
  return {.what = with_entries(indexed, [](auto entries) { return runs_of(entries); }),
          .count = indexed.count(),
          .applied = indexed.direction(),
          .fingerprint = fingerprint(indexed)};
}

namespace {

constexpr std::uint32_t kMaxWindow = 32767;
constexpr const char* kWindow = "make a window schedule";

template <typename Entry>
bool moves_too_far(Entry entry, std::uint64_t i, std::uint32_t window) {
  return (entry < i ? i - entry : entry - i) > window;
}

// Returns the first element that moves too far; the number of elements if none does.
template <typename Entry>
std::uint64_t shifts(std::span<const Entry> entries, WindowSchedule& made, int threads) {
  const std::uint64_t pieces = (entries.size() + kPieceElements - 1) / kPieceElements;
  const auto first_in_piece = [&](std::uint64_t piece) {
    const std::uint64_t end = std::min<std::uint64_t>((piece + 1) * kPieceElements, entries.size());
    for (std::uint64_t i = piece * kPieceElements; i < end; ++i) {
      if (moves_too_far(entries[i], i, made.window)) return i;
      made.shift[entries[i]] = static_cast<std::uint16_t>(i + made.window - entries[i]);
    }
    return std::uint64_t{entries.size()};
  };
  const auto is_fine = [&](std::uint64_t piece, int) { return first_in_piece(piece) == entries.size(); };
  const auto failing = first_failing(pieces, threads, is_fine);
  return failing ? first_in_piece(*failing) : entries.size();
}

}  // namespace

IndexSchedule window_schedule(const Indexed& indexed, std::uint32_t window, int threads) {
  require_host(indexed, kWindow);
  if (window > kMaxWindow) {
    fail(ErrorCode::value, kWindow, "a window of " + std::to_string(window),
         "at most " + std::to_string(kMaxWindow));
  }
  WindowSchedule made{
      .count = indexed.count(), .window = window, .shift = std::vector<std::uint16_t>(indexed.count())};
  const std::uint64_t far = with_entries(
      indexed, [&](auto entries) { return shifts(entries, made, thread_count(threads, entries.size())); });
  if (far < indexed.count()) {
    fail(ErrorCode::value, kWindow,
         "entry " + std::to_string(far) + " = " + std::to_string(indexed.entry(far)),
         "nothing farther than " + std::to_string(window) + " from its own place");
  }
  return {.what = std::move(made),
          .count = indexed.count(),
          .applied = indexed.direction(),
          .fingerprint = fingerprint(indexed)};
}

}  // namespace faro::schedule
