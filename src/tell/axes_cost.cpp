// How long permutations of axes take on a CPU: what a pass over boxes does (axes_counts.hpp), each count at
// its price.
//
//     instructions   nanoseconds of a thread          shared out among the threads
//                    what misses the first level less, where a copy of as many bytes is faster
//     memory         lines of a copy of as many bytes, by the machine's curve of a copy
//
//     microseconds = the p-th root of the sum of both p-th powers: the longer of both, as far as they hide
//
// A pass that is written through the caches takes the curve's rate at what it holds of both sides; one that
// is written past them the rate of a copy of its bytes. Prices are fitted to drawn shapes on one processor
// (docs/notes/prediction-experiments.md): those of memory go with the machine's copy, instructions do not.
#include "tell/axes_cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tell/axes_counts.hpp"

namespace faro::detail {
namespace {

struct AxesPrice {
  std::string_view kind;
  AxesCounts ns;     // of one of each
  AxesCounts lines;  // of a copy
  double power = 1;
};

// --- prices

constexpr AxesPrice kPlanes{
    .kind = "planes",
    .ns = {.reads = 0.452,
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
    .lines = {.lines_held = 0.576, .lines_written = 0.446, .reads = 0.16, .spilled = 0.03},
    .power = 2.16};
constexpr AxesPrice kGroups{.kind = "groups",
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
                            .lines = {.lines_held = 0.0828,
                                      .gap_lines = 0.324,
                                      .small_squares = 0.05,
                                      .far_in = 0.06,
                                      .paged_rows = 0.0601,
                                      .paged_columns = 0.224},
                            .power = 1.02};
constexpr AxesPrice kChannels{.kind = "channels",
                              .ns = {.lines_written = 1.6, .reads = 5},
                              .lines = {.lines_held = 0.55, .lines_written = 0.55},
                              .power = 2};
constexpr AxesPrice kStagedPlanes{.kind = "staged planes",
                                  .ns = {.lines = 0.3,
                                         .reads = 7.02,
                                         .parts = 0.0595,
                                         .groups = 3.6,
                                         .small_squares = 0.363,
                                         .single = 0.697},
                                  .lines = {.lines = 1.29, .written_beyond = 4.41},
                                  .power = 1.02};
constexpr AxesPrice kShortElements{.kind = "short elements",
                                   .ns = {.lines = 0.667,
                                          .reads = 2.78,
                                          .writes = 12.9,
                                          .placed = 0.504,
                                          .stepped = 0.495,
                                          .odd_placed = 0.347,
                                          .box_in_sets = 2.13,
                                          .far_in = 0.341},
                                   .lines = {.lines_held = 0.221, .lines_written = 1.81, .read_beyond = 0.08},
                                   .power = 2.88};
constexpr AxesPrice kStreamedShortElements{.kind = "streamed short elements",
                                           .ns = {.lines = 1.45,
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
constexpr AxesPrice kVectors{.kind = "vectors",
                             .ns = {.lines = 1.51, .placed = 0.378},
                             .lines = {.lines_held = 1.17, .written_beyond = 20.1, .gap_lines = 0.085},
                             .power = 2.84};
constexpr AxesPrice kLongElements{.kind = "long elements",
                                  .ns = {.lines = 1.53,
                                         .reads = 1.27,
                                         .writes = 11.5,
                                         .placed = 0.0256,
                                         .odd_lines = 0.503,
                                         .box_in_sets = 0.128,
                                         .far_in = 0.546},
                                  .lines = {.lines_held = 0.08, .lines_written = 1.4, .gap_lines = 0.05},
                                  .power = 5.95};
constexpr AxesPrice kStreamedLongElements{.kind = "streamed long elements",
                                          .ns = {.lines = 0.82,
                                                 .reads = 0.339,
                                                 .writes = 9.95,
                                                 .paged_writes = 3.52,
                                                 .far_parts = 4,
                                                 .spread_parts = 8.33,
                                                 .placed = 1.12,
                                                 .odd_lines = 0.409,
                                                 .spilled = 0.873},
                                          .lines = {.lines = 0.63,
                                                    .lines_held = 0.398,
                                                    .written_beyond = 1.9,
                                                    .gap_lines = 0.639,
                                                    .odd_lines = 0.07},
                                          .power = 5.95};
constexpr AxesPrice kOneByOne{
    .kind = "one by one",
    .ns = {.placed = 4.52},
    .lines = {.lines = 0.946, .lines_held = 0.0245, .written_beyond = 0.0217, .gap_lines = 0.587},
    .power = 5.95};
constexpr AxesPrice kTable{.kind = "table",
                           .ns = {.reads = 6.63, .writes = 0.0933, .placed = 0.594, .far_in = 7.72},
                           .lines = {.lines_held = 1.14, .lines_written = 0.0416},
                           .power = 1.07};
constexpr AxesPrice kPieces{.kind = "pieces",
                            .ns = {.lines = 0.1, .gap_lines = 0.2, .placed = 3.36},
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

// One of a kind's prices that are not 0.
struct NamedPrice {
  std::string name;  // "ns reads", "lines lines_held"
  bool of_memory = false;
  double AxesCounts::*count = nullptr;
  bool misses = false;

  double& in(AxesPrice& price) const {
    AxesCounts& counts = of_memory ? price.lines : price.ns;
    return counts.*count;
  }
};

std::vector<NamedPrice> prices_of(AxesPrice price) {
  std::vector<NamedPrice> all;
  for (const bool of_memory : {false, true}) {
    for (const NamedCount& each : kAxesCounts) {
      NamedPrice named{.name = (of_memory ? "lines " : "ns ") + std::string(each.name),
                       .of_memory = of_memory,
                       .count = each.value,
                       .misses = each.misses};
      if (named.in(price) > 0) all.push_back(std::move(named));
    }
  }
  return all;
}

AxesPrice price_on(const IndexCalibration& curves, const CpuAxes& axes) {
  AxesPrice price = price_of(axes);
  const bool is_priced = std::any_of(curves.axes.begin(), curves.axes.end(),
                                     [&](const PriceFactor& each) { return each.kind == price.kind; });
  if (!is_priced) return price;
  for (const NamedPrice& named : prices_of(price)) {
    for (const PriceFactor& each : curves.axes)
      if (each.kind == price.kind && each.count == named.name) named.in(price) *= each.factor;
  }
  return price;
}

// Microseconds of copying a line, where so many bytes are copied.
std::optional<double> line_us(const IndexCalibration& curves, double bytes) {
  constexpr std::uint64_t kWidth = 16;
  const auto elements = static_cast<std::uint64_t>(std::max(1.0, std::round(bytes / kWidth)));
  const auto us = curves.predict_us(IndexKernel::copy, kWidth, elements);
  if (!us) return std::nullopt;
  return *us / static_cast<double>(elements * kWidth) * static_cast<double>(kLineBytes);
}

// What a pass takes of a thread, and of memory.
struct PassTimes {
  double instructions = 0;
  double memory = 0;

  // The longer of both, as far as they hide.
  double together(double power) const {
    const double longer = std::max(instructions, memory);
    if (longer <= 0) return longer;
    return longer *
           std::pow(std::pow(instructions / longer, power) + std::pow(memory / longer, power), 1 / power);
  }
};

// Microseconds of one of each of a pass's prices, in their order.
std::optional<std::vector<double>> priced_us(const CpuAxes& axes, AxesPrice price,
                                             const IndexCalibration& curves) {
  const AxesCounts counts = count_axes(axes);
  const bool past_caches = axes.staged || axes.move == AxesMove::pieces;
  const double lines = past_caches ? counts.lines : (counts.lines_held + counts.lines_written) / 2;
  const auto line = line_us(curves, lines * static_cast<double>(kLineBytes));
  if (!line) return std::nullopt;
  constexpr double kUsOfNs = 1e-3;
  // What misses the first level is nearer where the second holds the arrays, as a copy of so many bytes
  // tells.
  constexpr double kBeyondSecondLevel = 8 << 20;
  const double near = std::min(1.0, *line / line_us(curves, kBeyondSecondLevel).value_or(*line));
  std::vector<double> us;
  for (const NamedPrice& each : prices_of(price))
    us.push_back(counts.*each.count * each.in(price) *
                 (each.of_memory ? *line : kUsOfNs * (each.misses ? near : 1)));
  return us;
}

std::optional<double> pass_us(const CpuAxes& axes, int threads, const IndexCalibration& curves) {
  const AxesPrice price = price_on(curves, axes);
  const auto priced = priced_us(axes, price, curves);
  if (!priced) return std::nullopt;
  PassTimes times;
  const std::vector<NamedPrice> prices = prices_of(price);
  for (std::size_t i = 0; i < prices.size(); ++i)
    (prices[i].of_memory ? times.memory : times.instructions) += (*priced)[i];
  constexpr double kShared = 0.9;  // threads share caches and, two of them, a core
  times.instructions /= std::pow(static_cast<double>(std::max(1, threads)), kShared);
  return times.together(price.power);
}

// --- prices of a machine

// The factors of one kind's prices, found one after another again and again: each a step towards where the
// squares of what is told too much or too little, in logarithms, are least. Passes that are far off count
// less; a factor that is no 1 costs as much as a few passes.
class PriceFit {
 public:
  PriceFit(const AxesPrice& price, std::vector<std::vector<double>> priced, std::vector<double> measured)
      : price_(price),
        prices_(prices_of(price)),
        priced_(std::move(priced)),
        measured_(std::move(measured)),
        logs_(prices_.size() + 2, 0) {}

  std::vector<PriceFactor> factors() {
    constexpr int kTurns = 60;
    for (int turn = 0; turn < kTurns; ++turn) {
      for (std::size_t i = 0; i < logs_.size(); ++i) step(i);
    }
    std::vector<PriceFactor> made;
    for (std::size_t i = 0; i < prices_.size(); ++i)
      made.push_back({.kind = std::string(price_.kind), .count = prices_[i].name, .factor = factor(i)});
    return made;
  }

 private:
  // The last two are what all prices of a thread have in common, and all of memory.
  std::size_t common_of(std::size_t i) const { return prices_.size() + (prices_[i].of_memory ? 1 : 0); }
  double factor(std::size_t i) const { return std::exp(logs_[i] + logs_[common_of(i)]); }

  void step(std::size_t which) {
    constexpr double kHeld = 0.02;        // of a price
    constexpr double kHeldCommon = 0.01;  // of what they have in common
    constexpr double kFar = 9;
    constexpr double kMostStep = 0.5;
    constexpr double kMostLog = 2;
    std::vector<double> factors(prices_.size());
    for (std::size_t i = 0; i < prices_.size(); ++i) factors[i] = factor(i);
    const double held = which < prices_.size() ? kHeld : kHeldCommon;
    double slope = held * logs_[which];
    double curvature = held;
    for (std::size_t k = 0; k < priced_.size(); ++k) {
      PassTimes times;
      PassTimes moved;  // of these, what goes by this factor
      for (std::size_t i = 0; i < prices_.size(); ++i) {
        const double us = priced_[k][i] * factors[i];
        (prices_[i].of_memory ? times.memory : times.instructions) += us;
        if (i == which || common_of(i) == which)
          (prices_[i].of_memory ? moved.memory : moved.instructions) += us;
      }
      const double us = times.together(price_.power);
      if (us <= 0) continue;
      const double off = std::log(us / measured_[k]);
      const auto part = [&](double all, double of) {
        return all <= 0 ? 0 : std::pow(all / us, price_.power) * of / all;
      };
      const double along = part(times.instructions, moved.instructions) + part(times.memory, moved.memory);
      const double weight = 1 / (1 + kFar * off * off);
      slope += weight * off * along;
      curvature += weight * along * along;
    }
    logs_[which] =
        std::clamp(logs_[which] - std::clamp(slope / curvature, -kMostStep, kMostStep), -kMostLog, kMostLog);
  }

  AxesPrice price_;
  std::vector<NamedPrice> prices_;
  std::vector<std::vector<double>> priced_;  // microseconds by price, of each pass
  std::vector<double> measured_;
  std::vector<double> logs_;
};

}  // namespace

std::vector<PriceFactor> fitted_prices(const std::vector<TimedAxes>& timed, const IndexCalibration& curves) {
  constexpr std::size_t kLeast = 10;
  std::map<std::string_view, std::vector<const TimedAxes*>> by_kind;
  for (const TimedAxes& each : timed) by_kind[price_of(each.axes).kind].push_back(&each);
  std::vector<PriceFactor> made;
  for (const auto& [kind, of_kind] : by_kind) {
    if (of_kind.size() < kLeast) continue;
    const AxesPrice& price = price_of(of_kind.front()->axes);
    std::vector<std::vector<double>> priced;
    std::vector<double> measured;
    for (const TimedAxes* each : of_kind) {
      auto us = priced_us(each->axes, price, curves);
      if (!us) return {};
      priced.push_back(*std::move(us));
      measured.push_back(each->us);
    }
    for (PriceFactor& each : PriceFit(price, std::move(priced), std::move(measured)).factors())
      made.push_back(std::move(each));
  }
  return made;
}

std::optional<double> axes_us(const CpuPass& pass, const IndexCalibration& curves) {
  const auto* const axes = std::get_if<CpuAxes>(&pass.kernel);
  return axes == nullptr ? std::nullopt : pass_us(*axes, pass.threads, curves);
}

}  // namespace faro::detail
