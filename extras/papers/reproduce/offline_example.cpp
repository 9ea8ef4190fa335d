// The worked example and Table I of the offline permutation paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "faro/machine/congestion.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "reproduce/offline_kernel.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

using schedule::ConflictFreeSchedule;
using List = std::vector<std::uint32_t>;

constexpr std::uint32_t kWidth = 4;
constexpr std::uint32_t kPrintedWarp = 1;  // the warp whose accesses the paper prints

// The 4 x 4 transpose.
const List& example() {
  static const List list{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return list;
}

Row list_row(const std::string& subject, const std::string& quantity, const std::string& paper,
             std::span<const std::uint32_t> here, const std::string& unit) {
  const std::string text = fmt::format("{}", fmt::join(here.begin(), here.end(), " "));
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .here = text,
          .unit = unit,
          .agrees = paper == text,
          .criterion = "equal"};
}

List banks_of(std::span<const std::uint32_t> addresses) {
  List banks(addresses.begin(), addresses.end());
  for (std::uint32_t& bank : banks) bank %= kWidth;
  return banks;
}

List inverse_of(std::span<const std::uint32_t> list) {
  List inverse(list.size());
  for (std::uint32_t i = 0; i < list.size(); ++i) inverse[list[i]] = i;
  return inverse;
}

std::uint64_t most_turns(std::span<const std::uint32_t> addresses) {
  machine::TurnCounter counter(kWidth);
  std::uint64_t most = 0;
  for (std::size_t first = 0; first < addresses.size(); first += kWidth) {
    const auto warp = addresses.subspan(first, kWidth);
    const std::vector<std::uint64_t> wide(warp.begin(), warp.end());
    most = std::max(most, std::uint64_t{counter.by_bank(wide)});
  }
  return most;
}

void add_turns(Table& table, const std::string& subject, const ConflictFreeSchedule& lists, bool is_ours) {
  for (const Row& row :
       {exact_row(subject, "read congestion", 1, most_turns(lists.source), kCongestionUnit),
        exact_row(subject, "write congestion", 1, most_turns(lists.target), kCongestionUnit)}) {
    table.rows.push_back(is_ours ? of_model(row) : row);
  }
}

std::uint64_t differences(const List& a, const List& b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

}  // namespace

Table offline_example(const Options& /*options: nothing is left to chance*/) {
  const ConflictFreeSchedule lists = schedule::matched_conflict_free_schedule(example(), kWidth);
  const List inverse = inverse_of(lists.source);
  const std::span source(lists.source);
  const std::span target(lists.target);
  const auto reads = source.subspan(std::size_t{kPrintedWarp} * kWidth, kWidth);
  const auto writes = target.subspan(std::size_t{kPrintedWarp} * kWidth, kWidth);
  List composed(example().size());
  for (std::size_t i = 0; i < composed.size(); ++i) composed[i] = lists.target[inverse[i]];
  List swapped(example().size());
  const List& s_inverse = inverse;
  for (std::size_t i = 0; i < swapped.size(); ++i) swapped[i] = s_inverse[lists.target[i]];

  Table table;
  table.rows = {
      list_row("S", "list", "0 5 10 15 1 6 11 12 2 7 8 13 3 4 9 14", source, "numbers"),
      list_row("D", "list", "0 5 10 15 4 9 14 3 8 13 2 7 12 1 6 11", target, "numbers"),
      list_row("S^-1", "list", "0 4 8 12 13 1 5 9 10 14 2 6 7 11 15 3", inverse, "numbers"),
      list_row("warp 1, reads of a", "elements", "1 6 11 12", reads, "numbers"),
      list_row("warp 1, reads of a", "banks", "1 2 3 0", banks_of(reads), "numbers"),
      list_row("warp 1, writes of b", "elements", "4 9 14 3", writes, "numbers"),
      list_row("warp 1, writes of b", "banks", "0 1 2 3", banks_of(writes), "numbers"),
      of_model(exact_row("D(S^-1(i))", "numbers that are not P(i)", 0, differences(composed, example()),
                         "numbers")),
  };
  add_turns(table, "every warp, by S and D", lists, false);
  add_turns(table, "every warp, by this library's own schedule",
            schedule::conflict_free_schedule(example(), kWidth), true);
  table.rows.push_back({.subject = "every warp, b[p[i]] = a[i]",
                        .quantity = "write congestion",
                        .here = most_turns(example()),
                        .unit = kCongestionUnit,
                        .criterion = kNoFigure});
  table.notes = {
      "P is the transpose of a 4 x 4 matrix, on 4 banks; S and D by the paper's construction, one matching "
      "after another",
      fmt::format("the text has S^-1(D(i)) = P(i), which fails at {} of the 16; D(S^-1(i)) = P(i) is meant",
                  differences(swapped, example()))};
  return table;
}

Table offline_table1(const Options& options) {
  constexpr std::uint64_t n = kOfflineElements;
  struct Entry {
    PermuteWay way;
    std::uint64_t list_reads;
    const char* lists;
  };
  constexpr std::array<Entry, 4> entries{{{PermuteWay::copy, 0, "lists"},
                                          {PermuteWay::d_designated, n, "p"},
                                          {PermuteWay::s_designated, n, "q"},
                                          {PermuteWay::conflict_free, 2 * n, "s and d"}}};
  constexpr const char* unit = "accesses";
  const auto permutations = offline_permutations(options.seed);
  const List& permutation = permutations[kRandomPermutation].list;
  Table table;
  std::array<std::uint64_t, entries.size()> totals{};
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const OfflineAccesses accesses = offline_accesses(entries[e].way, permutation);
    const std::string subject(name_of(entries[e].way));
    const std::uint64_t reads = accesses.reads_a.size() + accesses.reads_lists.size();
    totals[e] = reads + accesses.writes_b.size();
    table.rows.push_back(exact_row(subject, "reads of a", n, accesses.reads_a.size(), unit));
    table.rows.push_back(exact_row(subject, fmt::format("reads of {}", entries[e].lists),
                                   entries[e].list_reads, accesses.reads_lists.size(), unit));
    table.rows.push_back(exact_row(subject, "reads", n + entries[e].list_reads, reads, unit));
    table.rows.push_back(exact_row(subject, "writes", n, accesses.writes_b.size(), unit));
    table.rows.push_back(
        of_model(exact_row(subject, "elements in a wrong place", 0, accesses.misplaced, "elements")));
  }
  const double ratio = static_cast<double>(totals[3]) / static_cast<double>(totals[1]);
  table.rows.push_back({.subject = "conflict-free / D",
                        .quantity = "accesses",
                        .paper = std::string("4/3"),
                        .here = ratio,
                        .unit = "ratio",
                        .agrees = ratio == 4.0 / 3,
                        .criterion = "equal"});
  for (const PermuteWay way : {PermuteWay::packed, PermuteWay::held}) {
    const OfflineAccesses accesses = offline_accesses(way, permutation);
    table.rows.push_back({.subject = std::string(name_of(way)),
                          .quantity = "reads",
                          .here = std::uint64_t{accesses.reads_a.size() + accesses.reads_lists.size()},
                          .unit = unit,
                          .criterion = kNoFigure});
  }
  table.notes = {fmt::format("n = {}, one thread an element; the paper has n, 2n and 3n reads, n writes", n),
                 "counted on the counting memory, by array, while the kernel runs on a random permutation"};
  return table;
}

}  // namespace faro::reproduce
