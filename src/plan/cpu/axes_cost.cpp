// How long permutations of axes take on a CPU: what a pass over boxes does (axes_counts.hpp), each count at
// its price.
//
//     instructions   nanoseconds of a thread          shared out among the threads
//     memory         lines of a copy of as many bytes, by the machine's curve of a copy
//
//     microseconds = the p-th root of the sum of both p-th powers: the longer of both, as far as they hide
//
// A pass that is written through the caches takes the curve's rate at what it holds of both sides; one that
// is written past them the rate of a copy of its bytes. Prices are fitted to drawn shapes on one processor
// (docs/notes/prediction-experiments.md): those of memory go with the machine's copy, instructions do not.
#include <algorithm>
#include <cmath>

#include "plan/cpu/axes_counts.hpp"

namespace faro::detail {
namespace {

struct AxesPrice {
  AxesCounts ns;     // of one of each
  AxesCounts lines;  // of a copy
  double power = 1;
};

// --- prices

constexpr AxesPrice kPlanes{.ns = {.reads = 0.452,
                                   .paged_writes = 1.07,
                                   .parts = 0.0541,
                                   .groups = 7.35,
                                   .squares = 0.924,
                                   .blocks_1 = 1.3,
                                   .blocks_2 = 1.13,
                                   .blocks_4 = 1.37,
                                   .blocks_8 = 1.34,
                                   .blocks_16 = 1.34,
                                   .small_squares = 0.536,
                                   .single = 0.594,
                                   .columns_in_sets = 0.454,
                                   .columns_in_full_sets = 7.01,
                                   .box_in_sets = 0.136,
                                   .far_in = 0.965,
                                   .far_out = 0.354},
                            .lines = {.lines_held = 0.576, .lines_written = 0.446},
                            .power = 2.16};
constexpr AxesPrice kGroups{
    .ns = {.read_beyond = 1.83,
           .written_beyond = 0.705,
           .reads = 1.85,
           .parts = 2.78,
           .groups = 20.2,
           .squares = 1.36,
           .blocks_1 = 1.8,
           .blocks_2 = 1.8,
           .blocks_4 = 2.07,
           .blocks_8 = 2.37,
           .blocks_16 = 3.85,
           .small_squares = 1.07,
           .box_in_sets = 0.451,
           .box_in_full_sets = 0.546,
           .spilled = 0.377},
    .lines = {.lines_held = 0.0828, .gap_lines = 0.324, .paged_rows = 0.0601, .paged_columns = 0.224},
    .power = 1.02};
constexpr AxesPrice kChannels{.ns = {.lines_written = 1.6, .reads = 5},
                              .lines = {.lines_held = 0.55, .lines_written = 0.55},
                              .power = 2};
constexpr AxesPrice kStagedPlanes{.ns = {.lines = 0.3,
                                         .reads = 7.02,
                                         .parts = 0.0595,
                                         .groups = 3.6,
                                         .small_squares = 0.363,
                                         .single = 0.697},
                                  .lines = {.lines = 1.29, .written_beyond = 4.41},
                                  .power = 1.02};
constexpr AxesPrice kShortElements{.ns = {.lines = 0.667,
                                          .reads = 2.78,
                                          .writes = 12.9,
                                          .placed = 0.504,
                                          .stepped = 0.495,
                                          .odd_placed = 0.347,
                                          .box_in_sets = 2.13,
                                          .far_in = 0.341},
                                   .lines = {.lines_held = 0.221, .lines_written = 1.81},
                                   .power = 2.88};
constexpr AxesPrice kStreamedShortElements{.ns = {.lines = 1.45,
                                                  .read_beyond = 1.24,
                                                  .reads = 5.66,
                                                  .far_reads = 1.39,
                                                  .writes = 8.58,
                                                  .parts = 2.84,
                                                  .far_parts = 4.08,
                                                  .spread_parts = 8.9,
                                                  .placed = 0.381,
                                                  .stepped = 0.477,
                                                  .odd_placed = 0.409,
                                                  .box_in_sets = 0.407,
                                                  .box_in_full_sets = 5.32},
                                           .lines = {.lines = 0.853, .lines_held = 0.263, .gap_lines = 0.521},
                                           .power = 5.69};
constexpr AxesPrice kVectors{.ns = {.lines = 1.51, .placed = 0.378},
                             .lines = {.lines_held = 1.17, .written_beyond = 20.1, .gap_lines = 0.085},
                             .power = 2.84};
constexpr AxesPrice kLongElements{.ns = {.lines = 1.53,
                                         .reads = 1.27,
                                         .writes = 11.5,
                                         .placed = 0.0256,
                                         .odd_lines = 0.503,
                                         .box_in_sets = 0.128,
                                         .far_in = 0.546},
                                  .lines = {.lines_written = 1.4},
                                  .power = 5.95};
constexpr AxesPrice kStreamedLongElements{
    .ns = {.lines = 0.82,
           .reads = 0.339,
           .writes = 9.95,
           .paged_writes = 3.52,
           .spread_parts = 8.33,
           .placed = 1.12,
           .odd_lines = 0.409,
           .spilled = 0.873},
    .lines = {.lines = 0.63, .lines_held = 0.398, .written_beyond = 1.9, .gap_lines = 0.639},
    .power = 5.95};
constexpr AxesPrice kOneByOne{
    .ns = {.placed = 4.52},
    .lines = {.lines = 0.946, .lines_held = 0.0245, .written_beyond = 0.0217, .gap_lines = 0.587},
    .power = 5.95};
constexpr AxesPrice kTable{.ns = {.reads = 6.63, .writes = 0.0933, .placed = 0.594, .far_in = 7.72},
                           .lines = {.lines_held = 1.14, .lines_written = 0.0416},
                           .power = 1.07};
constexpr AxesPrice kPieces{.ns = {.placed = 3.36},
                            .lines = {.lines = 0.721, .lines_held = 0.291, .gap_lines = 0.00686},
                            .power = 1.02};

// --- end of prices

const AxesPrice& price_of(const CpuAxes& axes) {
  const bool is_long = axes.box.element_bytes >= kLineBytes;
  switch (axes.move) {
    case AxesMove::pieces:
      return kPieces;
    case AxesMove::groups:
      return kGroups;
    case AxesMove::channels:
      return kChannels;
    case AxesMove::planes:
      return axes.staged ? kStagedPlanes : kPlanes;
    case AxesMove::lines:
      if (axes.one_by_one) return kOneByOne;
      if (is_long) return axes.staged ? kStreamedLongElements : kLongElements;
      if (gathers_in_vectors(axes)) return kVectors;
      return axes.staged ? kStreamedShortElements : kShortElements;
    default:
      return kTable;
  }
}

double sum_of(const AxesCounts& counts, const AxesCounts& prices) {
  double sum = 0;
  for (const NamedCount& each : kAxesCounts) sum += counts.*each.value * prices.*each.value;
  return sum;
}

// Microseconds of copying a line, where so many bytes are copied.
std::optional<double> line_us(const IndexCalibration& curves, double bytes) {
  constexpr std::uint64_t kWidth = 16;
  const auto elements = static_cast<std::uint64_t>(std::max(1.0, std::round(bytes / kWidth)));
  const auto us = curves.predict_us(IndexKernel::copy, kWidth, elements);
  if (!us) return std::nullopt;
  return *us / static_cast<double>(elements * kWidth) * static_cast<double>(kLineBytes);
}

std::optional<double> pass_us(const CpuAxes& axes, int threads, const IndexCalibration& curves) {
  const AxesPrice& price = price_of(axes);
  const AxesCounts counts = count_axes(axes);
  const bool past_caches = axes.staged || axes.move == AxesMove::pieces;
  const double lines = past_caches ? counts.lines : (counts.lines_held + counts.lines_written) / 2;
  const auto line = line_us(curves, lines * static_cast<double>(kLineBytes));
  if (!line) return std::nullopt;
  constexpr double kNsInUs = 1e3;
  constexpr double kShared = 0.9;  // threads share caches and, two of them, a core
  const double instructions =
      sum_of(counts, price.ns) / kNsInUs / std::pow(static_cast<double>(std::max(1, threads)), kShared);
  const double memory = sum_of(counts, price.lines) * *line;
  const double longer = std::max(instructions, memory);
  if (longer <= 0) return longer;
  return longer *
         std::pow(std::pow(instructions / longer, price.power) + std::pow(memory / longer, price.power),
                  1 / price.power);
}

}  // namespace

std::optional<double> axes_us(const std::vector<CpuPass>& passes, const IndexCalibration& curves) {
  double all = 0;
  for (const CpuPass& pass : passes) {
    const auto* const axes = std::get_if<CpuAxes>(&pass.kernel);
    const auto us = axes == nullptr ? std::nullopt : pass_us(*axes, pass.threads, curves);
    if (!us) return std::nullopt;
    all += *us;
  }
  return all;
}

}  // namespace faro::detail
