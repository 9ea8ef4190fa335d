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

constexpr AxesPrice kPlanes{.ns = {.reads = 0.593,
                                   .paged_writes = 0.278,
                                   .parts = 0.0426,
                                   .groups = 8.75,
                                   .squares = 0.889,
                                   .blocks_1 = 1.38,
                                   .blocks_2 = 1.25,
                                   .blocks_4 = 1.38,
                                   .blocks_8 = 1.39,
                                   .blocks_16 = 1.4,
                                   .small_squares = 0.529,
                                   .single = 0.61,
                                   .columns_in_sets = 0.293,
                                   .columns_in_full_sets = 5.98,
                                   .box_in_sets = 0.139,
                                   .far_out = 0.982},
                            .lines = {.lines_held = 0.646, .lines_written = 0.368},
                            .power = 2.38};
constexpr AxesPrice kGroups{.ns = {.read_beyond = 2.33,
                                   .reads = 1.33,
                                   .parts = 3.47,
                                   .far_parts = 0.814,
                                   .groups = 18.2,
                                   .squares = 1.39,
                                   .blocks_1 = 2.06,
                                   .blocks_2 = 1.92,
                                   .blocks_4 = 1.89,
                                   .blocks_8 = 2.52,
                                   .blocks_16 = 3.58,
                                   .small_squares = 1.17,
                                   .box_in_full_sets = 1.46,
                                   .box_in_sets_2 = 0.458,
                                   .spilled = 0.494},
                            .lines = {.lines = 0.286,
                                      .lines_held = 0.487,
                                      .written_beyond = 2.35,
                                      .paged_rows = 0.099,
                                      .paged_columns = 0.274},
                            .power = 2.26};
constexpr AxesPrice kStagedPlanes{
    .ns = {.reads = 3.6, .parts = 0.0516, .groups = 20, .small_squares = 0.684, .single = 2.65},
    .lines = {.lines_held = 2.72, .written_beyond = 6.54, .gap_lines = 0.87},
    .power = 5.95};
constexpr AxesPrice kShortElements{.ns = {.lines = 0.373,
                                          .reads = 2.11,
                                          .writes = 12,
                                          .placed = 0.34,
                                          .stepped = 0.54,
                                          .odd_placed = 0.574,
                                          .columns_in_sets = 0.205,
                                          .box_in_sets = 1.6,
                                          .far_in = 0.789},
                                   .lines = {.lines_held = 0.429, .lines_written = 1.97},
                                   .power = 2.7};
constexpr AxesPrice kStreamedShortElements{.ns = {.lines = 1.05,
                                                  .read_beyond = 2.89,
                                                  .reads = 2.29,
                                                  .far_reads = 3.97,
                                                  .writes = 9.17,
                                                  .parts = 2.06,
                                                  .far_parts = 3.72,
                                                  .spread_parts = 8.72,
                                                  .placed = 0.473,
                                                  .stepped = 0.535,
                                                  .odd_placed = 0.383,
                                                  .box_in_sets = 1.18,
                                                  .box_in_full_sets = 6.69},
                                           .lines = {.lines = 1.14, .lines_held = 0.407},
                                           .power = 4.2};
constexpr AxesPrice kVectors{
    .ns = {.lines = 1.04, .writes = 19, .parts = 8.88, .placed = 0.542, .stepped = 0.0301},
    .lines = {.lines = 0.269, .lines_held = 0.269, .written_beyond = 0.00714, .gap_lines = 0.3},
    .power = 3.49};
constexpr AxesPrice kLongElements{.ns = {.lines = 0.395,
                                         .reads = 0.963,
                                         .writes = 9.3,
                                         .paged_writes = 4.56,
                                         .placed = 0.743,
                                         .odd_lines = 1.09,
                                         .box_in_sets = 0.607,
                                         .far_out = 1.14},
                                  .lines = {.lines_held = 1.71, .lines_written = 0.038},
                                  .power = 5.13};
constexpr AxesPrice kStreamedLongElements{
    .ns = {.reads = 1.64,
           .writes = 7.95,
           .paged_writes = 3.73,
           .parts = 0.713,
           .spread_parts = 17,
           .placed = 1.15,
           .odd_lines = 0.263,
           .columns_in_sets = 0.372,
           .box_in_sets = 2.02,
           .spilled = 0.375,
           .cut_elements = 1.55},
    .lines = {.lines = 0.541, .lines_held = 0.376, .written_beyond = 1.32, .gap_lines = 0.254},
    .power = 1.49};
constexpr AxesPrice kOneByOne{
    .ns = {.placed = 3.11},
    .lines = {.lines = 0.678, .lines_held = 0.298, .written_beyond = 0.0383, .gap_lines = 0.11},
    .power = 2.95};
constexpr AxesPrice kTable{.ns = {.reads = 40.5, .placed = 0.667, .far_in = 12.3},
                           .lines = {.lines_held = 1.18, .lines_written = 0.234},
                           .power = 5.95};
constexpr AxesPrice kPieces{.ns = {.placed = 2.62},
                            .lines = {.lines = 0.622, .lines_held = 0.409, .gap_lines = 0.299},
                            .power = 1.02};

// --- end of prices

const AxesPrice& price_of(const CpuAxes& axes) {
  const bool is_long = axes.box.element_bytes >= kLineBytes;
  switch (axes.move) {
    case AxesMove::pieces:
      return kPieces;
    case AxesMove::groups:
      return kGroups;
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
  const double instructions = sum_of(counts, price.ns) / kNsInUs / std::max(1, threads);
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
