// Table IV of the RAP paper: congestion of accesses to an array a[i][j][k][l] of w^4 elements, w = 32.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reproduce/monte_carlo.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

using layout::Index;
using layout::SplitMix64;

constexpr Index kSide = 32;

// The last three try to be malicious: they know the layout, but not its random numbers.
enum class Access4 { contiguous, stride1, stride2, stride3, random, same_row_offset, six_orders, diagonal };
constexpr std::size_t kAccessCount = 8;
constexpr std::array kMalicious{Access4::diagonal, Access4::same_row_offset, Access4::six_orders};

constexpr std::string_view name(Access4 access) {
  constexpr std::array<std::string_view, kAccessCount> names{"Contiguous",
                                                             "Stride1",
                                                             "Stride2",
                                                             "Stride3",
                                                             "Random",
                                                             "one (k, l), distinct (i, j)",
                                                             "six orders of disjoint (i, j, k), one l",
                                                             "one (i, j), diagonal (k, l)"};
  return names[static_cast<std::size_t>(access)];
}

struct Place4 {
  Index i = 0;
  Index j = 0;
  Index k = 0;
  Index l = 0;
};

Place4 random_place(SplitMix64& random) {
  const Index i = random.below(kSide);
  const Index j = random.below(kSide);
  const Index k = random.below(kSide);
  return {i, j, k, random.below(kSide)};
}

// What the warp's lane reads; `base` is the same for all its lanes.
Place4 place_of(Access4 access, Index lane, const Place4& base, SplitMix64& random) {
  constexpr std::array<std::array<Index, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  Place4 place = base;
  switch (access) {
    case Access4::contiguous:
      place.l = lane;
      break;
    case Access4::stride1:
      place.k = lane;
      break;
    case Access4::stride2:
      place.j = lane;
      break;
    case Access4::stride3:
      place.i = lane;
      break;
    case Access4::random:
      place = random_place(random);
      break;
    case Access4::same_row_offset:  // distinct in both, so that no single index tells the rows apart
      place.i = (base.i + lane) % kSide;
      place.j = (base.j + lane) % kSide;
      break;
    case Access4::six_orders: {
      const Index first = base.i + lane / Index{orders.size()} * 3;  // 18 numbers, none the same mod w
      const auto& order = orders[lane % orders.size()];
      place = {(first + order[0]) % kSide, (first + order[1]) % kSide, (first + order[2]) % kSide, base.l};
      break;
    }
    case Access4::diagonal:
      place.k = lane;
      place.l = lane;
      break;
  }
  return place;
}

// A fresh layout, and how many random numbers it holds.
template <typename Layout>
Layout fresh(std::uint64_t seed, std::vector<std::uint8_t>& table) {
  if constexpr (Layout::kRandomNumbers == 0) {
    return Layout{};
  } else if constexpr (requires { Layout::random(seed, table); }) {
    return Layout::random(seed, table);
  } else {
    return Layout::random(seed);
  }
}

template <typename Layout>
std::uint64_t random_numbers_of(std::uint64_t seed) {
  std::vector<std::uint8_t> table;
  const auto layout = fresh<Layout>(seed, table);
  std::uint64_t numbers = table.size();
  if constexpr (requires { layout.r; }) numbers += kSide;
  if constexpr (requires { layout.s; }) numbers += kSide;
  if constexpr (requires { layout.t; }) numbers += kSide;
  return numbers;
}

struct Measured {
  std::string layout;
  std::array<Tally, kAccessCount> tallies;
  std::uint64_t random_numbers = 0;

  const Tally& of(Access4 access) const { return tallies[static_cast<std::size_t>(access)]; }
};

// Layouts with w^3 random numbers are costly to make, and give independent congestions at different places:
// several accesses are made to each.
constexpr std::uint64_t kAccessesOfLargeLayout = 32;
constexpr std::uint64_t kLargeLayout = std::uint64_t{kSide} * kSide * kSide;

template <typename Layout>
Measured measure(const Options& options) {
  constexpr std::uint64_t usual_accesses = std::uint64_t{1} << 17;
  constexpr std::uint64_t per_trial = Layout::kRandomNumbers >= kLargeLayout ? kAccessesOfLargeLayout : 1;
  const std::uint64_t accesses = trials_of(options, usual_accesses);
  const CellSeeds seeds(options.seed, std::string("rap-table4, ") + Layout::kName);
  const auto trial = [](const TrialSeeds& of_trial, Worker& worker, std::vector<Tally>& tallies) {
    const auto at = fresh<Layout>(of_trial.layout, worker.table);
    SplitMix64 random{of_trial.access};
    for (std::size_t access = 0; access < kAccessCount; ++access) {
      for (std::uint64_t repeat = 0; repeat < per_trial; ++repeat) {
        const Place4 base = random_place(random);
        for (Index lane = 0; lane < kSide; ++lane) {
          const Place4 place = place_of(static_cast<Access4>(access), lane, base, random);
          worker.addresses[lane] = at(place.i, place.j, place.k, place.l);
        }
        tallies[access].add_access(worker.congestion());
      }
      tallies[access].end_trial();
    }
  };
  const std::vector<Tally> tallies =
      run_trials({.count = std::max<std::uint64_t>(accesses / per_trial, 2), .width = kSide, .seeds = seeds},
                 kAccessCount, trial);
  Measured measured{.layout = Layout::kName, .tallies = {}, .random_numbers = 0};
  std::copy(tallies.begin(), tallies.end(), measured.tallies.begin());
  measured.random_numbers = random_numbers_of<Layout>(seeds.of(0).layout);
  return measured;
}

// A cell of the paper: 1, w, O~(log w / log log w), or what R1P's own attack costs.
enum class Cell { one, w, growing, attacked };

struct PaperColumn {
  std::array<Cell, 5> cells;  // Contiguous .. Random
  Cell malicious;
  std::uint64_t random_numbers;
};

constexpr std::uint64_t kW = kSide;
constexpr std::array<PaperColumn, 7> kPaper{
    {{{Cell::one, Cell::w, Cell::w, Cell::w, Cell::growing}, Cell::w, 0},  // RAW
     {{Cell::one, Cell::growing, Cell::growing, Cell::growing, Cell::growing}, Cell::growing, kW* kW* kW},
     {{Cell::one, Cell::one, Cell::w, Cell::w, Cell::growing}, Cell::w, kW},                // 1P
     {{Cell::one, Cell::one, Cell::one, Cell::one, Cell::growing}, Cell::attacked, kW},     // R1P
     {{Cell::one, Cell::one, Cell::one, Cell::one, Cell::growing}, Cell::growing, 3 * kW},  // 3P
     {{Cell::one, Cell::one, Cell::growing, Cell::growing, Cell::growing}, Cell::growing, kW* kW* kW},
     {{Cell::one, Cell::one, Cell::growing, Cell::growing, Cell::growing}, Cell::growing, kW* kW + kW}}};

// Where a cell that is O~(log w / log log w) lies at w = 32: Table II has 3.44 to 3.61 there. A warp of
// random requests to w^4 elements hardly ever meets itself, so nothing here is below 3.5.
struct Range {
  double least;
  double most;
};
constexpr Range kGrowingRange{3.5, 3.6};
constexpr Range kAttackedRange{7.8, 8.0};

Row ranged_row(const std::string& subject, const std::string& paper, const Tally& tally, const Range& range) {
  const double mean = tally.mean();
  return {.subject = subject,
          .quantity = "mean congestion",
          .paper = paper,
          .here = mean,
          .unit = kCongestionUnit,
          .agrees = mean >= range.least - kTolerance && mean <= range.most + kTolerance,
          .standard_error = tally.standard_error(),
          .criterion = fmt::format("within 0.02 of {:.1f} to {:.1f}", range.least, range.most)};
}

Row cell_row(const std::string& subject, Cell cell, const Tally& tally) {
  switch (cell) {
    case Cell::one:
      return certain_row(subject, "congestion", 1, tally);
    case Cell::w:
      return certain_row(subject, "congestion", kSide, tally);
    case Cell::attacked:
      return ranged_row(subject, "6 O~(log(w/6) / log log(w/6))", tally, kAttackedRange);
    case Cell::growing:
      break;
  }
  return ranged_row(subject, kExpectedGrowth, tally, kGrowingRange);
}

// The malicious access tried that costs most; of those that differ by chance only, the first.
Access4 worst_of(const Measured& measured) {
  Access4 worst = kMalicious.front();
  for (const Access4 access : kMalicious) {
    if (measured.of(access).mean() > measured.of(worst).mean() + kTolerance) worst = access;
  }
  return worst;
}

void add_column(Table& table, const Measured& measured, const PaperColumn& paper) {
  for (std::size_t access = 0; access < paper.cells.size(); ++access) {
    table.rows.push_back(cell_row(fmt::format("{}, {}", measured.layout, name(static_cast<Access4>(access))),
                                  paper.cells[access], measured.tallies[access]));
  }
  const Access4 worst = worst_of(measured);
  table.rows.push_back(cell_row(fmt::format("{}, Malicious: {}", measured.layout, name(worst)),
                                paper.malicious, measured.of(worst)));
  table.rows.push_back(exact_row(measured.layout, "random numbers used", paper.random_numbers,
                                 measured.random_numbers, "numbers"));
}

// The attack on R1P: its extremes, which are no estimates, and what it does to 3P.
void add_attack(Table& table, const Measured& r1p, const Measured& p3) {
  const Tally& attacked = r1p.of(Access4::six_orders);
  table.notes.push_back(fmt::format("{}, {}: congestion from {} to {} seen; the paper gives no extremes",
                                    r1p.layout, name(Access4::six_orders), attacked.least(),
                                    attacked.most()));
  table.rows.push_back(cell_row(fmt::format("{}, {}", p3.layout, name(Access4::six_orders)), Cell::growing,
                                p3.of(Access4::six_orders)));
}

}  // namespace

Table rap_table4(const Options& options) {
  const std::array<Measured, kPaper.size()> columns{
      measure<layout::Raw4<kSide>>(options),    measure<layout::Ras4<kSide>>(options),
      measure<layout::Rap1P<kSide>>(options),   measure<layout::RapR1P<kSide>>(options),
      measure<layout::Rap3P<kSide>>(options),   measure<layout::RapW2P<kSide>>(options),
      measure<layout::Rap1PW2R<kSide>>(options)};
  Table table;
  for (std::size_t c = 0; c < columns.size(); ++c) add_column(table, columns[c], kPaper[c]);
  add_attack(table, columns[3], columns[4]);
  table.notes = {
      "w = 32; for O~ the paper has no figure: the mean must lie where Table II has its own, 3.5 to 3.6",
      "Malicious: the worst of three attacks that know the layout but not its random numbers"};
  return table;
}

}  // namespace faro::reproduce
