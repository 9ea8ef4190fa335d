// What else the BMMC paper measures: the transposes of section 2.3, the transposes of every shape of figure
// 12, and what the merging of index bits of appendix A saves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "faro/emit/emit.hpp"
#include "faro/permutation/affine.hpp"
#include "reproduce/ladder.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

using emit::Rung;

constexpr int kExampleBits = 30;  // 2^15 x 2^15
constexpr int kShapesBits = 25;   // of figure 12
constexpr double kExampleBudgetMs = 600;
constexpr double kShapeBudgetMs = 60;

NamedAffine transpose_of(int row_bits, int column_bits) {
  const std::uint64_t rows = std::uint64_t{1} << row_bits;
  const std::uint64_t columns = std::uint64_t{1} << column_bits;
  return {.spec = fmt::format("transpose({}, {})", rows, columns), .map = maps::transpose(rows, columns)};
}

// The bench, or nothing, and the notes that go with it.
std::unique_ptr<LadderBench> bench_of(Table& table, int bits) {
  auto bench = make_bench(table, bits);
  if (bench != nullptr) table.notes.emplace_back(kTimedInTurns);
  return bench;
}

// --- appendix A

using Instructions = emit::AddressInstructions;

double saved_percent(const Instructions& of) {
  return of.one_by_one == 0 ? 0
                            : 100 * (1 - static_cast<double>(of.merged) / static_cast<double>(of.one_by_one));
}

Instructions instructions_of(const Affine& map, Rung rung) {
  return emit::address_instructions(map, {.rung = rung, .element = "uint32_t"});
}

Row counted_row(const std::string& subject, const std::string& quantity, const Value& paper,
                const Value& here, const char* unit, const char* criterion) {
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .here = here,
          .unit = unit,
          .criterion = criterion};
}

void add_mean(Table& table, const std::string& subject, const std::vector<Instructions>& all) {
  Instructions sum;
  double saved = 0;
  for (const Instructions& each : all) {
    sum.one_by_one += each.one_by_one;
    sum.merged += each.merged;
    saved += saved_percent(each);
  }
  const auto count = static_cast<double>(all.size());
  const auto mean = [&](std::uint64_t of) { return static_cast<double>(of) / count; };
  table.rows.push_back(
      counted_row(subject, "bit by bit, mean", {}, mean(sum.one_by_one), "instructions", kNoFigure));
  table.rows.push_back(counted_row(subject, "merged, mean", {}, mean(sum.merged), "instructions", kNoFigure));
  table.rows.push_back(counted_row(subject, "saved, mean", {}, saved / count, "percent", kNoFigure));
}

}  // namespace

Table bmmc_section23(const Options& /*options*/) {
  Table table;
  const auto bench = bench_of(table, kExampleBits);
  std::optional<MapTimes> times;
  if (bench != nullptr) {
    const NamedAffine map = transpose_of(bench->bits() / 2, bench->bits() - bench->bits() / 2);
    times = bench
                ->measure({{.family = Family::transpose,
                            .map = map,
                            .rungs = {Rung::naive, Rung::tile, Rung::one_pass}}},
                          bench->bits(), kExampleBudgetMs)
                .front();
    table.notes.push_back(map.spec);
  }
  const auto add = [&](const std::string& subject, std::optional<Rung> rung, const Value& ms,
                       const Value& percent) {
    std::optional<double> took;
    std::optional<double> share;
    if (times) took = rung ? times->of(*rung).median_ms : times->copy.median_ms;
    if (times) share = 100 * times->copy.median_ms / *took;
    table.rows.push_back(timed_row(subject, "running time", ms, took, "ms"));
    table.rows.push_back(timed_row(subject, "effective bandwidth", percent, share, "percent"));
  };
  add("copy", std::nullopt, 9.3, std::uint64_t{100});
  add("naive transpose", Rung::naive, 26.4, 35.2);
  add("tiled transpose", Rung::tile, 12.2, 76.2);
  add("transpose, one-pass (not the paper's)", Rung::one_pass, {}, {});
  table.notes.emplace_back("matrices of 2^15 x 2^15; the paper's times are an RTX 4090's");
  return table;
}

Table bmmc_figure12(const Options& /*options*/) {
  Table table;
  const auto bench = bench_of(table, kShapesBits);
  const int bits = bench == nullptr ? kShapesBits : bench->bits();
  std::vector<MapTimes> all;
  if (bench != nullptr) {
    std::vector<LadderBench::Asked> asked;
    for (int column_bits = 1; column_bits < bits; ++column_bits)
      asked.push_back({.family = Family::transpose,
                       .map = transpose_of(bits - column_bits, column_bits),
                       .rungs = {Rung::banks, Rung::one_pass}});
    all = bench->measure(asked, bits, kShapeBudgetMs);
  }
  for (const Rung rung : {Rung::banks, Rung::one_pass}) {
    const std::string kernel =
        emit::name(rung) + std::string(rung == Rung::one_pass ? " (not the paper's)" : "");
    double least = 0;
    double most = 0;
    for (int column_bits = 1; column_bits < bits; ++column_bits) {
      std::optional<double> here;
      if (!all.empty()) here = all[static_cast<std::size_t>(column_bits - 1)].of(rung).median_ms;
      table.rows.push_back(
          timed_row(fmt::format("2^{} columns, {}", column_bits, kernel), "running time", {}, here, "ms"));
      if (!here) continue;
      least = column_bits == 1 ? *here : std::min(least, *here);
      most = std::max(most, *here);
    }
    table.rows.push_back(timed_row("all shapes, " + kernel, "slowest / fastest", {},
                                   all.empty() ? std::nullopt : std::optional(most / least), "ratio"));
  }
  table.notes.emplace_back(
      "the curves have no numbers; the text says that the time on an AMD GPU depends heavily on the shape, "
      "which this is held against on whatever GPU is here");
  table.notes.emplace_back(
      "the paper's kernel is Futhark's transpose; here the published tile without conflicts");
  return table;
}

Table bmmc_appendix(const Options& options) {
  constexpr std::uint64_t kUsualMaps = 200;
  constexpr int kReversalBits = 15;  // the appendix's own
  const std::uint64_t count = options.trials == 0 ? kUsualMaps : options.trials;
  constexpr std::array kRungs{Rung::naive, Rung::tile, Rung::banks, Rung::iters};
  Table table;
  for (const Rung rung : kRungs) {
    const Instructions of = instructions_of(maps::bit_reversal(kReversalBits), rung);
    const std::string subject = fmt::format("bit_reversal({}), {}", kReversalBits, emit::name(rung));
    table.rows.push_back(counted_row(subject, "bit by bit", {}, of.one_by_one, "instructions", kNoFigure));
    table.rows.push_back(counted_row(subject, "merged", {}, of.merged, "instructions", kNoFigure));
  }
  std::vector<Instructions> everything;
  for (const Rung rung : kRungs) {
    std::vector<Instructions> all;
    for (std::uint64_t i = 0; i < count; ++i)
      all.push_back(instructions_of(maps::random_bpc(kExampleBits, options.seed + i), rung));
    add_mean(table, fmt::format("random BPC, {}", emit::name(rung)), all);
    everything.insert(everything.end(), all.begin(), all.end());
  }
  double saved = 0;
  for (const Instructions& each : everything) saved += saved_percent(each);
  table.rows.push_back(counted_row("random BPC, all four", "saved, mean", std::uint64_t{50},
                                   saved / static_cast<double>(everything.size()), "percent", kOtherMaps));
  table.notes.push_back(fmt::format("random BPC: random_bpc({}, s) for s = {} to {}", kExampleBits,
                                    options.seed, options.seed + count - 1));
  table.notes.emplace_back(
      "counted are the instructions of the addresses: a shift, and a mask and XOR in one; bits that move "
      "equally far move in one step, which is the paper's rule: equal offsets on both sides");
  table.notes.emplace_back("the paper prints the average alone, and not of which kernels");
  return table;
}

}  // namespace faro::reproduce
