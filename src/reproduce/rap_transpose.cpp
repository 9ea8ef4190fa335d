// Table III of the RAP paper: transposes of a 32 x 32 matrix in shared memory, by three orders and layouts.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/shared_transpose.hpp"
#include "machine/memory_machine.hpp"
#include "reproduce/address_recorder.hpp"
#include "reproduce/gpu_times.hpp"
#include "reproduce/matrix_access.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

using kernels::TransposeOrder;

constexpr std::uint32_t kTransposeSide = 32;
constexpr std::uint32_t kTransposeThreads = kTransposeSide * kTransposeSide;
constexpr int kTransposeBytes = 4;

struct PaperCell {
  double read = 0;
  double write = 0;
  Value ns;
};

// [order][layout], by layouts RAW, RAS, RAP.
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
template <TransposeOrder order, typename Layout>
Congestion congestion_of(const std::string& subject, const Options& options) {
  const auto trial = [](const TrialSeeds& seeds, Worker& worker, std::vector<Tally>& tallies) {
    Layout layout{};
    if constexpr (Layout::kRandomNumbers != 0) layout = Layout::random(seeds.layout);
    const std::uint32_t warp = layout::SplitMix64{seeds.access}.below(kTransposeSide);
    worker.recorder.clear();
    for (std::uint32_t lane = 0; lane < kTransposeSide; ++lane) {
      kernels::transpose_shared<order, kTransposeSide, kTransposeBytes>(worker.recorder, layout,
                                                                        warp * kTransposeSide + lane);
    }
    tallies[0].add(worker.counter.by_bank(worker.recorder.reads()));
    tallies[1].add(worker.counter.by_bank(worker.recorder.writes()));
  };
  const std::vector<Tally> tallies = run_trials({.count = trials_of(options, kPreciseTrials),
                                                 .width = kTransposeSide,
                                                 .seeds = CellSeeds(options.seed, "rap-table3, " + subject)},
                                                2, trial);
  return {tallies[0], tallies[1]};
}

// Runs all three phases on a DMM; gives how many elements of b are not where its layout has the transpose's.
template <TransposeOrder order, typename Layout>
std::uint64_t misplaced_elements(std::uint64_t seed) {
  std::vector<std::uint32_t> in(kTransposeThreads);
  std::vector<std::uint32_t> out(kTransposeThreads);
  std::iota(in.begin(), in.end(), 1U);
  machine::MemoryMachine machine({.kind = machine::MachineKind::dmm,
                                  .width = kTransposeSide,
                                  .threads = kTransposeThreads,
                                  .word_bytes = kTransposeBytes});
  machine.add_buffer(std::as_writable_bytes(std::span(in)));
  machine.add_buffer(std::as_writable_bytes(std::span(out)));
  const Layout layout = Layout::random(seed);
  machine.run(
      {.blocks = 1,
       .threads = kTransposeThreads,
       .shared_bytes = kernels::transpose_shared_bytes<Layout, kTransposeSide, kTransposeBytes>()},
      [&](auto& memory, std::uint64_t block, std::uint32_t thread) {
        kernels::fill_shared<kTransposeSide, kTransposeBytes>(memory, layout, block, thread);
      },
      [&](auto& memory, std::uint64_t /*block*/, std::uint32_t thread) {
        kernels::transpose_shared<order, kTransposeSide, kTransposeBytes>(memory, layout, thread);
      },
      [&](auto& memory, std::uint64_t block, std::uint32_t thread) {
        kernels::drain_shared<kTransposeSide, kTransposeBytes>(memory, layout, block, thread);
      });
  std::uint64_t misplaced = 0;
  for (std::uint32_t i = 0; i < kTransposeSide; ++i) {
    for (std::uint32_t j = 0; j < kTransposeSide; ++j)
      misplaced += out[kTransposeSide * j + i] != in[kTransposeSide * i + j] ? 1 : 0;
  }
  return misplaced;
}

// 1 and 32 are certain; what has digits behind the point is a mean.
Row congestion_row(const std::string& subject, const std::string& side, double paper, const Tally& tally) {
  const auto whole = static_cast<std::uint64_t>(paper);
  if (static_cast<double>(whole) == paper) return certain_row(subject, side + " congestion", whole, tally);
  return estimated_row(subject, "mean " + side + " congestion", paper, tally);
}

Row time_row(const std::string& subject, const Value& paper, std::optional<double> ns) {
  return {.subject = subject,
          .quantity = "time",
          .paper = paper,
          .here = ns ? Value(*ns) : Value(),
          .unit = "ns",
          .agrees = {},
          .standard_error = {},
          .criterion = ns ? kOtherHardware : kNeedsGpu};
}

template <TransposeOrder order, typename Layout>
void add_cell(Table& table, Layout2 layout, const Options& options,
              const std::optional<SharedTransposeTimes>& times) {
  const std::string subject = subject_of(layout, order);
  const PaperCell& paper = paper_cells()[static_cast<std::size_t>(order)][static_cast<std::size_t>(layout)];
  const Congestion congestion = congestion_of<order, Layout>(subject, options);
  table.rows.push_back(congestion_row(subject, "read", paper.read, congestion.read));
  table.rows.push_back(congestion_row(subject, "write", paper.write, congestion.write));
  std::optional<double> ns;
  if (times) ns = times->ns[static_cast<std::size_t>(order)][static_cast<std::size_t>(layout)];
  table.rows.push_back(time_row(subject, paper.ns, ns));
}

template <TransposeOrder order>
void add_order(Table& table, const Options& options, const std::optional<SharedTransposeTimes>& times) {
  add_cell<order, layout::Raw<kTransposeSide>>(table, Layout2::raw, options, times);
  add_cell<order, layout::Ras<kTransposeSide>>(table, Layout2::ras, options, times);
  add_cell<order, layout::Rap<kTransposeSide>>(table, Layout2::rap, options, times);
}

// How much faster RAP runs what is slow in RAW. The paper's GPU had 8-byte banks, and 8-byte elements.
void add_speedups(Table& table, const std::optional<SharedTransposeTimes>& times) {
  constexpr double least = 5;
  for (const TransposeOrder order : {TransposeOrder::crsw, TransposeOrder::srcw}) {
    Row row{.subject = fmt::format("RAP, {}", name(order)),
            .quantity = "time of RAW / time of RAP",
            .paper = std::string("about 10"),
            .here = {},
            .unit = "ratio",
            .agrees = {},
            .standard_error = {},
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
          .paper = {},
          .here = here,
          .unit = unit,
          .agrees = {},
          .standard_error = {},
          .criterion = "the paper gives no figure"};
}

// The kernel as the paper prints it, and what shows that the other is the one its figures belong to.
void add_printed_kernel(Table& table, const Options& options,
                        const std::optional<SharedTransposeTimes>& times) {
  using Rap = layout::Rap<kTransposeSide>;
  const std::uint64_t seed = CellSeeds(options.seed, "rap-table3, result").of(0).layout;
  table.rows.push_back(exact_row(subject_of(Layout2::rap, TransposeOrder::crsw), "elements in a wrong place",
                                 0, misplaced_elements<TransposeOrder::crsw, Rap>(seed), "elements"));
  constexpr TransposeOrder printed = TransposeOrder::crsw_as_printed;
  const std::string subject = subject_of(Layout2::rap, printed);
  const Congestion congestion = congestion_of<printed, Rap>(subject, options);
  table.rows.push_back(
      without_paper(subject, "read congestion", certain_value(congestion.read), kCongestionUnit));
  table.rows.push_back(
      without_paper(subject, "write congestion", certain_value(congestion.write), kCongestionUnit));
  table.rows.push_back(without_paper(subject, "elements in a wrong place",
                                     misplaced_elements<printed, Rap>(seed), "elements"));
  std::optional<double> ns;
  if (times) ns = times->ns[static_cast<std::size_t>(printed)][static_cast<std::size_t>(Layout2::rap)];
  table.rows.push_back(time_row(subject, Value(), ns));
}

}  // namespace

Table rap_table3(const Options& options) {
  const std::optional<SharedTransposeTimes> times = measure_shared_transposes(options.seed);
  Table table;
  add_order<TransposeOrder::crsw>(table, options, times);
  add_order<TransposeOrder::srcw>(table, options, times);
  add_order<TransposeOrder::drdw>(table, options, times);
  add_speedups(table, times);
  add_printed_kernel(table, options, times);
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
