// Table III of the RAP paper: transposes of a 32 x 32 matrix in shared memory, by three orders and layouts.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cuda/shared_transpose.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/machine/memory_machine.hpp"
#include "kernels/shared_transpose.hpp"
#include "reproduce/address_recorder.hpp"
#include "reproduce/expectation.hpp"
#include "reproduce/matrix_access.hpp"
#include "reproduce/monte_carlo.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

using kernels::TransposeOrder;

// --- the one thing of this table that needs a GPU: how long the transposes take

constexpr std::array kTransposeOrders{kernels::TransposeOrder::crsw, kernels::TransposeOrder::srcw,
                                      kernels::TransposeOrder::drdw,
                                      kernels::TransposeOrder::crsw_as_printed};

// One transpose of a 32 x 32 matrix of 4-byte elements in shared memory, by one block of 1024 threads.
struct SharedTransposeTimes {
  std::string device;
  std::array<std::array<double, kLayouts2.size()>, kTransposeOrders.size()> ns = {};  // [order][layout]
};

constexpr std::array kSharedLayouts{cuda::SharedLayout::raw, cuda::SharedLayout::ras,
                                    cuda::SharedLayout::rap};
static_assert(kSharedLayouts.size() == kLayouts2.size());

// A time depends on the congestion of the layout's own random numbers: as in the table, the mean over some.
constexpr std::uint64_t kLayoutsTimed = 8;

double mean_ns(const cuda::SharedTranspose& transpose, const CellSeeds& seeds) {
  const std::uint64_t layouts = transpose.layout == cuda::SharedLayout::raw ? 1 : kLayoutsTimed;
  double sum = 0;
  for (std::uint64_t i = 0; i < layouts; ++i) {
    cuda::SharedTranspose timed = transpose;
    timed.seed = seeds.of(i).layout;
    sum += cuda::time_ns(timed);
  }
  return sum / static_cast<double>(layouts);
}

// Nothing where there is no GPU to measure on. `seed`: of the layouts' random numbers, several for a time.
// Errors: ErrorCode::device for a GPU that is there and fails.   Cost: a few seconds.
std::optional<SharedTransposeTimes> measure_shared_transposes(std::uint64_t seed) {
  if (!cuda::status().available) return std::nullopt;
  const CellSeeds seeds(seed, "rap-table3, times");
  SharedTransposeTimes times{.device = cuda::target().name, .ns = {}};
  for (std::size_t order = 0; order < kTransposeOrders.size(); ++order) {
    for (std::size_t layout = 0; layout < kSharedLayouts.size(); ++layout) {
      times.ns[order][layout] = mean_ns(
          {.order = kTransposeOrders[order], .layout = kSharedLayouts[layout], .element_bytes = 4, .seed = 0},
          seeds);
    }
  }
  return times;
}

// --- the table

constexpr std::uint32_t kTransposeSide = 32;  // the paper's
constexpr int kTransposeBytes = 4;

struct PaperCell {
  double read = 0;
  double write = 0;
  Value ns;
};

// [order][layout], by layouts RAW, RAS, RAP. 1 and 32, the side, are certain; what has digits behind the
// point is a mean.
const std::array<std::array<PaperCell, 3>, 3>& paper_cells() {
  static const std::array<std::array<PaperCell, 3>, 3> cells{{
      {{{1, 32, std::uint64_t{1595}}, {1, 3.53, 303.6}, {1, 1, 154.5}}},  // CRSW
      {{{32, 1, std::uint64_t{1596}}, {3.53, 1, 297.1}, {1, 1, 159.1}}},  // SRCW
      {{{1, 1, 158.4}, {3.53, 3.53, 427.4}, {3.61, 3.61, 433.3}}},        // DRDW
  }};
  return cells;
}

constexpr std::string_view name(TransposeOrder order) {
  constexpr std::array<std::string_view, kTransposeOrders.size()> names{"CRSW", "SRCW", "DRDW",
                                                                        "CRSW as printed"};
  return names[static_cast<std::size_t>(order)];
}

std::string subject_of(Layout2 layout, TransposeOrder order) {
  return fmt::format("{}, {}", name(layout), name(order));
}

struct Congestion {
  Tally read;
  Tally write;
};

// The kernel's transpose phase, one warp of it a trial, each with a fresh layout.
template <std::uint32_t w, TransposeOrder order, typename Layout>
Congestion congestion_of(const std::string& subject, const Options& options) {
  const auto trial = [](const TrialSeeds& seeds, Worker& worker, std::vector<Tally>& tallies) {
    Layout layout{};
    if constexpr (Layout::kRandomNumbers != 0) layout = Layout::random(seeds.layout);
    const std::uint32_t warp = layout::SplitMix64{seeds.access}.below(w);
    worker.recorder.clear();
    for (std::uint32_t lane = 0; lane < w; ++lane) {
      kernels::transpose_shared<order, w, kTransposeBytes>(worker.recorder, layout, warp * w + lane);
    }
    tallies[0].add(worker.counter.by_bank(worker.recorder.reads()));
    tallies[1].add(worker.counter.by_bank(worker.recorder.writes()));
  };
  const std::vector<Tally> tallies = run_trials({.count = trials_of(options, kPreciseTrials),
                                                 .width = w,
                                                 .seeds = CellSeeds(options.seed, "rap-table3, " + subject)},
                                                2, trial);
  return {tallies[0], tallies[1]};
}

// Runs all three phases on a DMM; gives how many elements of b are not where its layout has the transpose's.
template <std::uint32_t w, TransposeOrder order, typename Layout>
std::uint64_t misplaced_elements(std::uint64_t seed) {
  constexpr std::uint32_t threads = w * w;
  std::vector<std::uint32_t> in(threads);
  std::vector<std::uint32_t> out(threads);
  std::iota(in.begin(), in.end(), 1U);
  machine::MemoryMachine machine(
      {.kind = machine::MachineKind::dmm, .width = w, .threads = threads, .word_bytes = kTransposeBytes});
  machine.add_buffer(std::as_writable_bytes(std::span(in)));
  machine.add_buffer(std::as_writable_bytes(std::span(out)));
  const Layout layout = Layout::random(seed);
  machine.run(
      {.blocks = 1,
       .threads = threads,
       .shared_bytes = kernels::transpose_shared_bytes<Layout, w, kTransposeBytes>()},
      [&](auto& memory, std::uint64_t block, std::uint32_t thread) {
        kernels::fill_shared<w, kTransposeBytes>(memory, layout, block, thread);
      },
      [&](auto& memory, std::uint64_t /*block*/, std::uint32_t thread) {
        kernels::transpose_shared<order, w, kTransposeBytes>(memory, layout, thread);
      },
      [&](auto& memory, std::uint64_t block, std::uint32_t thread) {
        kernels::drain_shared<w, kTransposeBytes>(memory, layout, block, thread);
      });
  std::uint64_t misplaced = 0;
  for (std::uint32_t i = 0; i < w; ++i) {
    for (std::uint32_t j = 0; j < w; ++j) misplaced += out[w * j + i] != in[w * i + j] ? 1 : 0;
  }
  return misplaced;
}

// For another side than the paper's the model is ours, but that the means of RAP are Table II's own.
Row congestion_row(Layout2 layout, std::uint32_t w, const std::string& subject, const std::string& side,
                   double paper, const Tally& tally) {
  const auto whole = static_cast<std::uint64_t>(paper);
  const bool is_certain = static_cast<double>(whole) == paper;
  const std::string quantity = (is_certain ? "" : "mean ") + side + " congestion";
  if (w == kTransposeSide) {
    return is_certain ? certain_row(subject, quantity, whole, tally)
                      : estimated_row(subject, quantity, paper, tally);
  }
  if (is_certain) return of_model(certain_row(subject, quantity, whole == kTransposeSide ? w : whole, tally));
  if (layout == Layout2::ras) {
    return predicted_row(subject, quantity, Value(), mean_turns_of_shifts(w), tally, 0,
                         "within 5 standard errors of the exact expectation");
  }
  return predicted_row(subject, quantity, Value(), table2_mean({Layout2::rap, Access::diagonal, w}), tally,
                       kRounding,
                       "model: Table II's own figure for the diagonal; " + std::string(kWithinRounding));
}

Row time_row(const std::string& subject, const Value& paper, std::optional<double> ns) {
  return {.subject = subject,
          .quantity = "time",
          .paper = paper,
          .here = ns ? Value(*ns) : Value(),
          .unit = "ns",
          .criterion = ns ? kOtherHardware : kNeedsGpu};
}

template <std::uint32_t w, TransposeOrder order, typename Layout>
void add_cell(Table& table, Layout2 layout, const Options& options,
              const std::optional<SharedTransposeTimes>& times) {
  const std::string subject = subject_of(layout, order);
  const PaperCell& paper = paper_cells()[static_cast<std::size_t>(order)][static_cast<std::size_t>(layout)];
  const Congestion congestion = congestion_of<w, order, Layout>(subject, options);
  table.rows.push_back(congestion_row(layout, w, subject, "read", paper.read, congestion.read));
  table.rows.push_back(congestion_row(layout, w, subject, "write", paper.write, congestion.write));
  if (w != kTransposeSide) return;
  std::optional<double> ns;
  if (times) ns = times->ns[static_cast<std::size_t>(order)][static_cast<std::size_t>(layout)];
  table.rows.push_back(time_row(subject, paper.ns, ns));
}

template <std::uint32_t w, TransposeOrder order>
void add_order(Table& table, const Options& options, const std::optional<SharedTransposeTimes>& times) {
  add_cell<w, order, layout::Raw<w>>(table, Layout2::raw, options, times);
  add_cell<w, order, layout::Ras<w>>(table, Layout2::ras, options, times);
  add_cell<w, order, layout::Rap<w>>(table, Layout2::rap, options, times);
}

// How much faster RAP runs what is slow in RAW. The paper's GPU had 8-byte banks, and 8-byte elements.
void add_speedups(Table& table, const std::optional<SharedTransposeTimes>& times) {
  constexpr double least = 5;
  for (const TransposeOrder order : {TransposeOrder::crsw, TransposeOrder::srcw}) {
    Row row{.subject = fmt::format("RAP, {}", name(order)),
            .quantity = "time of RAW / time of RAP",
            .paper = std::string("about 10"),
            .unit = "ratio",
            .criterion = kNeedsGpu};
    if (times) {
      const auto& ns = times->ns[static_cast<std::size_t>(order)];
      const double ratio = ns[0] / ns[2];
      row.here = ratio;
      row.agrees = ratio >= least;
      row.criterion = "at least 5";
    }
    table.rows.push_back(row);
  }
}

Row without_paper(const std::string& subject, const std::string& quantity, const Value& here,
                  const std::string& unit) {
  return {.subject = subject,
          .quantity = quantity,
          .here = here,
          .unit = unit,
          .criterion = "the paper gives no figure"};
}

// The kernel as the paper prints it, and what shows that the other is the one its figures belong to.
template <std::uint32_t w>
void add_printed_kernel(Table& table, const Options& options,
                        const std::optional<SharedTransposeTimes>& times) {
  using Rap = layout::Rap<w>;
  const std::uint64_t seed = CellSeeds(options.seed, "rap-table3, result").of(0).layout;
  Row moved = exact_row(subject_of(Layout2::rap, TransposeOrder::crsw), "elements in a wrong place", 0,
                        misplaced_elements<w, TransposeOrder::crsw, Rap>(seed), "elements");
  table.rows.push_back(w == kTransposeSide ? moved : of_model(moved));
  constexpr TransposeOrder printed = TransposeOrder::crsw_as_printed;
  const std::string subject = subject_of(Layout2::rap, printed);
  const Congestion congestion = congestion_of<w, printed, Rap>(subject, options);
  table.rows.push_back(
      without_paper(subject, "read congestion", certain_value(congestion.read), kCongestionUnit));
  table.rows.push_back(
      without_paper(subject, "write congestion", certain_value(congestion.write), kCongestionUnit));
  table.rows.push_back(without_paper(subject, "elements in a wrong place",
                                     misplaced_elements<w, printed, Rap>(seed), "elements"));
  if (w != kTransposeSide) return;
  std::optional<double> ns;
  if (times) ns = times->ns[static_cast<std::size_t>(printed)][static_cast<std::size_t>(Layout2::rap)];
  table.rows.push_back(time_row(subject, Value(), ns));
}

template <std::uint32_t w>
Table table_of_side(const Options& options, const std::optional<SharedTransposeTimes>& times) {
  Table table;
  add_order<w, TransposeOrder::crsw>(table, options, times);
  add_order<w, TransposeOrder::srcw>(table, options, times);
  add_order<w, TransposeOrder::drdw>(table, options, times);
  if (w == kTransposeSide) add_speedups(table, times);
  add_printed_kernel<w>(table, options, times);
  return table;
}

}  // namespace

Table rap_table3(const Options& options) {
  if (options.width != 0 && options.width != kTransposeSide) {
    constexpr std::uint32_t narrow = 16;
    constexpr std::uint32_t wide = 64;
    Table table =
        options.width == narrow ? table_of_side<narrow>(options, {}) : table_of_side<wide>(options, {});
    table.notes = {fmt::format("{} x {}: the paper's table is of 32 x 32", options.width, options.width)};
    return table;
  }
  const std::optional<SharedTransposeTimes> times = measure_shared_transposes(options.seed);
  Table table = table_of_side<kTransposeSide>(options, times);
  table.notes = {
      "the RAP CRSW kernel as printed, b[(j+r_i)&31][i] = a[i][(j+r_i)&31], has 32 turns and a wrong result",
      "Table III's RAP CRSW is b[j][(i+r_j)&31] = a[i][(j+r_i)&31]: one turn, and the transpose",
      "section VI calls RAP's DRDW 2.5 times slower than RAW's; its own times divide to 2.7",
      "the third row of Figure 7, in the copy read, names r_12 twice; it holds r_17 .. r_12",
      times ? "times: here " + times->device +
                  ", 4-byte elements; in the paper a GeForce GTX TITAN, 8-byte "
                  "elements on 8-byte banks"
            : std::string("times: the paper's are of a GeForce GTX TITAN; here is no GPU to measure on")};
  return table;
}

}  // namespace faro::reproduce
