// Table II of the offline permutation paper: five permutations of 1024 elements in shared memory.
#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "reproduce/expectation.hpp"
#include "reproduce/offline_times.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

constexpr double kPaperCopyNs = 102.937;
constexpr std::size_t kShuffle = 3;
constexpr std::uint32_t kManyBlocks = 8;  // of every multiprocessor

// Published, one block: [permutation][D, S, conflict-free].
constexpr std::array<std::array<double, 3>, kOfflinePermutations> kPaperNs{{{135.366, 123.637, 165.180},
                                                                            {246.918, 265.786, 164.544},
                                                                            {876.329, 891.006, 164.851},
                                                                            {136.073, 183.192, 164.773},
                                                                            {876.891, 891.390, 164.764}}};

// The ratios to the copy's time, as printed there; 2.390 is no quotient of the times.
constexpr std::array<std::array<double, 3>, kOfflinePermutations> kPaperRatios{{{1.315, 1.201, 1.605},
                                                                                {2.390, 2.582, 1.598},
                                                                                {8.513, 8.656, 1.601},
                                                                                {1.322, 1.780, 1.601},
                                                                                {8.519, 8.660, 1.601}}};

// The paper prints times only. Turns of D's writes and of S's reads in the model, by hand; random, whose
// place is empty, by its expectation.
constexpr std::array<std::uint64_t, kOfflinePermutations> kModelTurns{1, 0, kOfflineWidth, 2, kOfflineWidth};

constexpr std::array<PermuteWay, 3> kPaperWays{PermuteWay::d_designated, PermuteWay::s_designated,
                                               PermuteWay::conflict_free};
constexpr std::array<PermuteWay, 2> kOurWays{PermuteWay::packed, PermuteWay::held};

using Permutations = std::array<OfflinePermutation, kOfflinePermutations>;

std::string subject_of(PermuteWay way, const OfflinePermutation& permutation) {
  return fmt::format("{}, {}", name_of(way), permutation.name);
}

// --- the model

// The tally of the warps of one permutation.
Tally tally_of(std::span<const std::uint64_t> addresses) {
  Tally tally;
  machine::TurnCounter counter(kOfflineWidth);
  for (std::size_t first = 0; first < addresses.size(); first += kOfflineWidth) {
    tally.add(counter.by_bank(addresses.subspan(first, kOfflineWidth)));
  }
  return tally;
}

// On the paper's GPU, whose banks are 8 bytes wide: words i and i + 32 of an aligned 64 leave a bank together
// (CUDA C++ Programming Guide, devices of compute capability 3.x, 32-bit mode).
Tally tally_of_wide_banks(std::span<const std::uint64_t> addresses) {
  std::vector<std::uint64_t> pairs(addresses.begin(), addresses.end());
  constexpr std::uint64_t kWide = kOfflineWidth;
  for (std::uint64_t& pair : pairs) pair = pair / (2 * kWide) * kWide + pair % kWide;
  return tally_of(pairs);
}

// A warp of a random permutation: 32 different places of 1024, drawn one by one.
Tally random_turns(const std::string& subject, const Options& options) {
  const auto trial = [](const TrialSeeds& seeds, Worker& worker, std::vector<Tally>& tallies) {
    layout::SplitMix64 random{seeds.access};
    std::array<bool, kOfflineElements> taken{};
    for (std::uint64_t& address : worker.addresses) {
      do {
        address = random.below(kOfflineElements);
      } while (taken[address]);
      taken[address] = true;
    }
    tallies[0].add(worker.congestion());
  };
  return run_trials({.count = trials_of(options, kPreciseTrials),
                     .width = kOfflineWidth,
                     .seeds = CellSeeds(options.seed, "offline-table2, " + subject)},
                    1, trial)[0];
}

void add_conventional(Table& table, PermuteWay way, std::size_t p, const OfflinePermutation& permutation,
                      const Options& options) {
  const std::string subject = subject_of(way, permutation);
  const bool writes = way == PermuteWay::d_designated;
  const std::string side = writes ? "write" : "read";
  if (p == kRandomPermutation) {
    table.rows.push_back(predicted_row(subject, fmt::format("mean {} congestion", side), Value(),
                                       mean_turns_of_places(kOfflineWidth, kOfflineElements / kOfflineWidth),
                                       random_turns(subject, options)));
    return;
  }
  const OfflineAccesses accesses = offline_accesses(way, permutation.list);
  table.rows.push_back(of_model(certain_row(subject, side + " congestion", kModelTurns[p],
                                            tally_of(writes ? accesses.writes_b : accesses.reads_a))));
}

// What the paper says of Shuffle, S slower than D "since the number of bank conflict increases", is not so in
// its model; it is with its GPU's banks.
void add_shuffle(Table& table, const OfflinePermutation& shuffle) {
  for (const PermuteWay way : {PermuteWay::d_designated, PermuteWay::s_designated}) {
    const bool writes = way == PermuteWay::d_designated;
    const OfflineAccesses accesses = offline_accesses(way, shuffle.list);
    const std::string side = writes ? "write" : "read";
    table.rows.push_back(
        of_model(certain_row(subject_of(way, shuffle), side + " congestion, banks of 8 bytes", writes ? 1 : 2,
                             tally_of_wide_banks(writes ? accesses.writes_b : accesses.reads_a))));
  }
}

void add_conflict_free(Table& table, const OfflinePermutation& permutation) {
  const OfflineAccesses accesses = offline_accesses(PermuteWay::conflict_free, permutation.list);
  const std::string subject = subject_of(PermuteWay::conflict_free, permutation);
  table.rows.push_back(certain_row(subject, "read congestion", 1, tally_of(accesses.reads_a)));
  table.rows.push_back(certain_row(subject, "write congestion", 1, tally_of(accesses.writes_b)));
}

// --- the times

// The times of one number of blocks: copy, then for every permutation D, S, conflict-free and ours.
class Times {
 public:
  static Times measure(const Permutations& permutations, std::uint32_t blocks) {
    std::vector<OfflineContestant> contestants{
        {.way = PermuteWay::copy, .permutation = permutations[0].list, .blocks = blocks}};
    for (const OfflinePermutation& permutation : permutations) {
      for (const PermuteWay way : kPaperWays) contestants.push_back({way, permutation.list, blocks});
      for (const PermuteWay way : kOurWays) contestants.push_back({way, permutation.list, blocks});
    }
    Times times;
    times.ns_ = offline_times_ns(contestants);
    return times;
  }

  double copy() const { return ns_[0]; }
  double of(std::size_t permutation, PermuteWay way) const {
    constexpr std::size_t ways = kPaperWays.size() + kOurWays.size();
    return ns_[1 + permutation * ways + static_cast<std::size_t>(way) -
               static_cast<std::size_t>(kPaperWays[0])];
  }
  double slowest(PermuteWay way) const {
    return extreme(way, [](double a, double b) { return a < b; });
  }
  double fastest(PermuteWay way) const {
    return extreme(way, [](double a, double b) { return a > b; });
  }

 private:
  template <typename Less>
  double extreme(PermuteWay way, const Less& less) const {
    double most = of(0, way);
    for (std::size_t p = 1; p < kOfflinePermutations; ++p) {
      if (less(most, of(p, way))) most = of(p, way);
    }
    return most;
  }

  std::vector<double> ns_;
};

Row compared_row(const std::string& subject, const std::string& quantity, const Value& paper,
                 std::optional<double> here, const char* unit) {
  Row row{.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .unit = unit,
          .criterion = here ? kOtherHardware : kNeedsGpu};
  if (here) row.here = *here;
  return row;
}

// What must hold on any GPU, by a bound of ours.
Row judged_row(const std::string& subject, const std::string& quantity, const Value& paper,
               std::optional<double> here, double bound, bool is_most) {
  Row row = compared_row(subject, quantity, paper, here, "ratio");
  if (here) {
    row.agrees = is_most ? *here <= bound : *here >= bound;
    row.criterion = fmt::format("at {} {}", is_most ? "most" : "least", bound);
  }
  return row;
}

// What the paper claims of its times, for one block and, where it has no figures, for many.
void add_claims(Table& table, const Permutations& permutations, const std::optional<Times>& times,
                bool one_block) {
  constexpr double most_spread = 1.03;
  constexpr double least_gain = 2;
  const std::string place = one_block ? "one block" : "many blocks";
  const auto only_one_block = [=](const char* paper) {
    return one_block ? Value(std::string(paper)) : Value();
  };
  const auto ratio = [&](const auto& of) { return times ? std::optional<double>(of(*times)) : std::nullopt; };
  table.rows.push_back(judged_row("conflict-free, " + place, "slowest of the five / fastest",
                                  only_one_block("almost constant"), ratio([](const Times& t) {
                                    return t.slowest(PermuteWay::conflict_free) /
                                           t.fastest(PermuteWay::conflict_free);
                                  }),
                                  most_spread, true));
  for (const std::size_t p : {std::size_t{2}, std::size_t{4}}) {
    for (const std::size_t w : {std::size_t{0}, std::size_t{1}}) {
      table.rows.push_back(judged_row(
          fmt::format("{}, {}", subject_of(kPaperWays[w], permutations[p]), place), "time / conflict-free's",
          only_one_block("more than 5"),
          ratio([=](const Times& t) { return t.of(p, kPaperWays[w]) / t.of(p, PermuteWay::conflict_free); }),
          least_gain, false));
    }
  }
}

void add_times(Table& table, const Permutations& permutations, const std::optional<Times>& times,
               bool one_block) {
  const std::string place = one_block ? "time" : "time, many blocks";
  const auto only_one_block = [=](double paper) { return one_block ? Value(paper) : Value(); };
  const auto of = [&](const auto& what) {
    return times ? std::optional<double>(what(*times)) : std::nullopt;
  };
  const auto copy = of([](const Times& t) { return t.copy(); });
  table.rows.push_back(compared_row("copy", place, only_one_block(kPaperCopyNs), copy, "ns"));
  for (std::size_t p = 0; p < kOfflinePermutations; ++p) {
    for (std::size_t w = 0; w < kPaperWays.size(); ++w) {
      const std::string subject = subject_of(kPaperWays[w], permutations[p]);
      const auto ns = of([=](const Times& t) { return t.of(p, kPaperWays[w]); });
      table.rows.push_back(compared_row(subject, place, only_one_block(kPaperNs[p][w]), ns, "ns"));
      if (!one_block) continue;
      table.rows.push_back(compared_row(subject, "time / copy's", kPaperRatios[p][w],
                                        ns ? std::optional(*ns / *copy) : std::nullopt, "ratio"));
    }
  }
  for (const PermuteWay way : kOurWays) {
    table.rows.push_back(compared_row(fmt::format("{} (not the paper's)", name_of(way)),
                                      place + ", slowest of the five", {},
                                      of([=](const Times& t) { return t.slowest(way); }), "ns"));
  }
}

}  // namespace

Table offline_table2(const Options& options) {
  Table table;
  const Permutations permutations = offline_permutations(options.seed);
  for (std::size_t p = 0; p < permutations.size(); ++p) {
    add_conventional(table, PermuteWay::d_designated, p, permutations[p], options);
    add_conventional(table, PermuteWay::s_designated, p, permutations[p], options);
    add_conflict_free(table, permutations[p]);
  }
  add_shuffle(table, permutations[kShuffle]);
  const std::optional<OfflineDevice> device = offline_device();
  std::optional<Times> one;
  std::optional<Times> many;
  if (device) {
    one = Times::measure(permutations, 1);
    many = Times::measure(permutations, kManyBlocks * device->multiprocessors);
  }
  add_times(table, permutations, one, true);
  add_claims(table, permutations, one, true);
  add_times(table, permutations, many, false);
  add_claims(table, permutations, many, false);
  table.notes = {
      "n = 1024 elements of 4 bytes, a thread each; p, q, s and d are 32-bit numbers in shared memory",
      "the paper prints no congestion but that of its own algorithm, which it proves to be 1",
      "random: the mean over permutations; a warp's targets are 32 different places of 1024",
      "Shuffle: the paper says that S takes longer than D since bank conflicts increase",
      "Shuffle: in the paper's model both have 2 turns in every warp",
      "Shuffle: on banks of 8 bytes, such as a GTX 680's, D has 1 turn and S has 2",
      "the paper prints 2.390 for D on random; its times divide to 2.399",
      "many blocks: 8 for every multiprocessor, each with an array of its own",
      device ? fmt::format("times: here {}, verified, then medians of contestants that take turns; in the "
                           "paper a GeForce GTX 680",
                           device->name)
             : std::string("times: the paper's are of a GeForce GTX 680; here is no GPU to measure on")};
  return table;
}

}  // namespace faro::reproduce
