// Figures 9, 10 and 11 of the BMMC paper: the ladder of kernels on a GPU, beside a copy. The figures are
// drawings without numbers; what the paper says of them in words is in the column `paper`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reproduce/ladder.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

using emit::Rung;

constexpr int kFigureBits = 30;
constexpr int kLeastSizeBits = 20;
constexpr double kElementBytes = 4;
constexpr double kLargeBudgetMs = 600;  // of one map and all its rungs
constexpr double kSmallBudgetMs = 120;

constexpr const char* kAboveOne = "above 1 for every map";

// The rungs that figures 10 and 11 compare.
bool is_an_end(Family family, Rung rung) {
  return rung == Rung::naive || rung == published_rung(family) || rung == Rung::one_pass;
}

void add_method(Table& table, const Options& options) {
  table.notes.push_back(fmt::format(
      "random BPC and random BMMC: 5 maps each, random_bpc(n, s) and random_bmmc(n, s) for s = {} to {}",
      options.seed, options.seed + 4));
  table.notes.emplace_back(kTimedInTurns);
}

std::vector<const MapTimes*> of_family(const std::vector<MapTimes>& all, Family family) {
  std::vector<const MapTimes*> some;
  for (const MapTimes& times : all) {
    if (times.family == family) some.push_back(&times);
  }
  return some;
}

std::vector<const MapTimes*> pointers_to(const std::vector<MapTimes>& all) {
  std::vector<const MapTimes*> pointers;
  pointers.reserve(all.size());
  for (const MapTimes& times : all) pointers.push_back(&times);
  return pointers;
}

struct Spread {
  double least = 0;
  double middle = 0;
  double most = 0;
};

// Nothing of nothing.
std::optional<Spread> spread(const std::vector<const MapTimes*>& maps,
                             const std::function<double(const MapTimes&)>& value) {
  if (maps.empty()) return std::nullopt;
  std::vector<double> values;
  values.reserve(maps.size());
  for (const MapTimes* const times : maps) values.push_back(value(*times));
  return Spread{.least = *std::min_element(values.begin(), values.end()),
                .middle = median(values),
                .most = *std::max_element(values.begin(), values.end())};
}

// A row for the median and, where there are several maps, one for each end.
void add_spread(Table& table, Family family, const std::string& subject, const std::string& quantity,
                const Value& paper, const std::optional<Spread>& here, const char* unit) {
  const auto part = [&](double Spread::*which) {
    return here ? std::optional((*here).*which) : std::nullopt;
  };
  if (family == Family::bit_reversal) {
    table.rows.push_back(timed_row(subject, quantity, paper, part(&Spread::middle), unit));
    return;
  }
  table.rows.push_back(timed_row(subject, quantity + ", median map", paper, part(&Spread::middle), unit));
  table.rows.push_back(timed_row(subject, quantity + ", least", {}, part(&Spread::least), unit));
  table.rows.push_back(timed_row(subject, quantity + ", most", {}, part(&Spread::most), unit));
}

std::string subject_of(Family family, Rung rung) {
  const bool ours = rung == Rung::one_pass || rung == Rung::two_pass;
  const bool twice = family == Family::random_bmmc && (rung == Rung::tile || rung == Rung::banks);
  return fmt::format("{}, {}{}", name(family), emit::name(rung),
                     ours    ? " (not the paper's)"
                     : twice ? ", of both factors"
                             : "");
}

double share_percent(const MapTimes& times, Rung rung) {
  return 100 * times.copy.median_ms / times.of(rung).median_ms;
}

// How much a single map's times scatter, at worst.
void add_scatter(Table& table, const std::vector<MapTimes>& all) {
  double most = 0;
  int samples = 0;
  for (const MapTimes& times : all) {
    for (const auto& [rung, timing] : times.rungs) {
      most = std::max(most, timing.mad_ms / timing.median_ms);
      samples = samples == 0 ? timing.samples : std::min(samples, timing.samples);
    }
  }
  if (all.empty()) return;
  table.notes.push_back(
      fmt::format("at least {} samples each; the median absolute deviation of a map's times was at most "
                  "{:.1f}% of their median",
                  samples, 100 * most));
}

// The rate of the copy that moves as many bytes in each direction.
double gib_per_s(double elements, double ms) {
  constexpr double kGiB = 1 << 30;
  return 2 * kElementBytes * elements / kGiB / (ms / 1000);
}

}  // namespace

Table bmmc_figure9(const Options& options) {
  Table table;
  const auto bench = make_bench(table, kFigureBits);
  std::vector<MapTimes> all;
  if (bench != nullptr)
    all = bench->measure([](Family, Rung) { return true; }, bench->bits(), options.seed, kLargeBudgetMs);
  const auto copy = spread(pointers_to(all), [](const MapTimes& times) { return times.copy.median_ms; });
  table.rows.push_back(
      timed_row("copy", "time", 9.3, copy ? std::optional(copy->middle) : std::nullopt, "ms"));
  for (const Family family : kFamilies) {
    for (const Rung rung : rungs_of(family)) {
      Value paper;
      if (rung == published_rung(family) && family != Family::bit_reversal)
        paper = std::string(family == Family::random_bpc ? "about a copy's" : "about half");
      add_spread(table, family, subject_of(family, rung), "share of copy's speed", paper,
                 spread(of_family(all, family),
                        [rung](const MapTimes& times) { return share_percent(times, rung); }),
                 "percent");
    }
  }
  table.notes.emplace_back(
      "the bars have no numbers; the text says that BPC with all optimizations is about as fast as a copy, "
      "and "
      "BMMC about half as fast");
  table.notes.emplace_back(
      "a random BMMC is no tiled map: tile and banks run for each of its two factors; two-pass is that in "
      "vectors");
  add_method(table, options);
  add_scatter(table, all);
  return table;
}

Table bmmc_figure10(const Options& options) {
  Table table;
  const auto bench = make_bench(table, kFigureBits);
  std::vector<MapTimes> all;
  if (bench != nullptr) all = bench->measure(is_an_end, bench->bits(), options.seed, kLargeBudgetMs);
  const auto copy = spread(pointers_to(all), [&bench](const MapTimes& times) {
    return gib_per_s(std::ldexp(1.0, bench->bits()), times.copy.median_ms);
  });
  table.rows.push_back(timed_row("copy", "effective bandwidth", std::uint64_t{860},
                                 copy ? std::optional(copy->middle) : std::nullopt, "GiB/s"));
  for (const Family family : {Family::random_bpc, Family::random_bmmc}) {
    for (const Rung rung : {Rung::naive, published_rung(family), Rung::one_pass}) {
      const double sweeps = rung == Rung::banks ? 2 : 1;
      Value paper;
      if (rung == published_rung(family)) paper = std::uint64_t{family == Family::random_bpc ? 92U : 86U};
      add_spread(table, family, subject_of(family, rung), "share of copy's bandwidth", paper,
                 spread(of_family(all, family),
                        [=](const MapTimes& times) { return sweeps * share_percent(times, rung); }),
                 "percent");
    }
  }
  table.notes.emplace_back(
      "bandwidth counts what moves, for BMMC both factors' passes: it looks as good as BPC and takes twice "
      "as long");
  table.notes.emplace_back(
      "the paper's 860 GB/s are GiB: 2 x 2^32 bytes in 9.3 ms; its 1008 GB/s of theory are of 10^9 bytes");
  add_method(table, options);
  add_scatter(table, all);
  return table;
}

Table bmmc_figure11(const Options& options) {
  Table table;
  const auto bench = make_bench(table, kFigureBits);
  const int most_bits = bench == nullptr ? kFigureBits : bench->bits();
  std::vector<MapTimes> everything;
  for (int bits = kLeastSizeBits; bits <= most_bits; ++bits) {
    std::vector<MapTimes> all;
    if (bench != nullptr) all = bench->measure(is_an_end, bits, options.seed, kSmallBudgetMs);
    for (const Family family : kFamilies) {
      for (const Rung rung : {published_rung(family), Rung::one_pass}) {
        const auto here = spread(of_family(all, family), [rung](const MapTimes& times) {
          return times.of(Rung::naive).median_ms / times.of(rung).median_ms;
        });
        add_spread(table, family, fmt::format("2^{}, {}", bits, subject_of(family, rung)), "naive / it", {},
                   here, "ratio");
        if (!here || rung == Rung::one_pass) continue;
        // What the paper says of all: faster than naive.
        const std::size_t added = family == Family::bit_reversal ? 1 : 3;
        Row& row = table.rows[table.rows.size() - added];
        row.agrees = here->least > 1;
        row.criterion = kAboveOne;
      }
    }
    everything.insert(everything.end(), all.begin(), all.end());
  }
  table.notes.emplace_back(
      "the curves have no numbers; the text says that every speed-up over naive is greater than 1, and that "
      "below 2^24 "
      "it is lower for BMMC and bit reversal and higher for random BPC");
  table.notes.emplace_back(
      "arrays that the second-level cache holds stay there between calls, here and in the paper");
  add_method(table, options);
  add_scatter(table, everything);
  return table;
}

}  // namespace faro::reproduce
