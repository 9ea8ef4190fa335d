#include "reproduce/expectation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace faro::reproduce {
namespace {

constexpr double kNegligible = 1e-18;

// log k! for k up to `most`.
std::vector<double> log_factorials(std::size_t most) {
  std::vector<double> logs(most + 1, 0);
  for (std::size_t k = 2; k <= most; ++k) logs[k] = logs[k - 1] + std::log(static_cast<double>(k));
  return logs;
}

// The chance that k of n requests that are left fall into the first of so many banks that are left.
using Chance = std::function<double(std::size_t n, std::size_t k, std::size_t left)>;

// [k] the chance that a bank with k requests is done within the turns in question; 0 behind its end.
using Within = std::vector<double>;

// The chance that all banks are, the first by a rule of its own.
double chance_within(std::size_t requests, std::size_t banks, const Within& first, const Within& others,
                     const Chance& chance) {
  std::vector<double> remaining(requests + 1, 0);
  remaining.back() = 1;
  for (std::size_t left = banks; left >= 1; --left) {
    const Within& within = left == banks ? first : others;
    std::vector<double> next(requests + 1, 0);
    for (std::size_t n = 0; n <= requests; ++n) {
      if (remaining[n] == 0) continue;
      for (std::size_t k = left == 1 ? n : 0; k <= n && k < within.size(); ++k) {
        if (within[k] > 0) next[n - k] += remaining[n] * within[k] * chance(n, k, left);
      }
    }
    remaining = next;
  }
  return remaining[0];
}

// E[max] of what at most `most` turns take with probability `fits(most)`.
double mean_of(std::size_t most_turns, const std::function<double(std::size_t)>& fits) {
  constexpr double kCertain = 1e-13;
  double mean = 0;
  for (std::size_t most = 0; most < most_turns; ++most) {
    const double beyond = 1 - fits(most);
    mean += beyond;
    if (beyond < kCertain) break;
  }
  return mean;
}

Chance binomial(std::size_t requests) {
  return [logs = log_factorials(requests)](std::size_t n, std::size_t k, std::size_t left) {
    if (left == 1) return k == n ? 1.0 : 0.0;
    const auto banks = static_cast<double>(left);
    return std::exp(logs[n] - logs[k] - logs[n - k] - static_cast<double>(k) * std::log(banks) +
                    static_cast<double>(n - k) * std::log1p(-1 / banks));
  };
}

Within at_most(std::size_t most) { return Within(most + 1, 1.0); }

// [k] the chance that k draws of `values` hit at most `most` of them.
Within few_distinct(std::size_t draws, double values, std::size_t most) {
  std::vector<double> hit(draws + 1, 0);  // [d] different ones so far
  hit[0] = 1;
  Within few{1};
  for (std::size_t k = 1; k <= draws; ++k) {
    for (std::size_t d = std::min(k, most); d >= 1; --d) {
      const auto before = static_cast<double>(d - 1);
      hit[d] = hit[d] * static_cast<double>(d) / values + hit[d - 1] * std::max(0.0, 1 - before / values);
    }
    hit[0] = 0;
    const double chance =
        std::accumulate(hit.begin(), hit.begin() + static_cast<std::ptrdiff_t>(most) + 1, 0.0);
    if (chance < kNegligible) break;
    few.push_back(chance);
  }
  return few;
}

// The chance that three entries of a permutation of 0 .. w-1 have the sum modulo w of three others.
double chance_of_equal_sums(std::size_t w) {
  // ways[a][b][s]: so many entries are in the first sum and in the second, and s is their difference so far.
  constexpr std::size_t kTerms = 3;
  std::array<std::array<std::vector<double>, kTerms + 1>, kTerms + 1> ways;
  for (auto& of_first : ways) of_first.fill(std::vector<double>(w, 0));
  ways[0][0][0] = 1;
  for (std::size_t value = 0; value < w; ++value) {
    for (std::size_t a = kTerms + 1; a-- > 0;) {
      for (std::size_t b = kTerms + 1; b-- > 0;) {
        for (std::size_t s = 0; s < w; ++s) {
          if (a > 0) ways[a][b][s] += ways[a - 1][b][(s + w - value) % w];
          if (b > 0) ways[a][b][s] += ways[a][b - 1][(s + value) % w];
        }
      }
    }
  }
  double all = 0;
  for (const double count : ways[kTerms][kTerms]) all += count;
  return ways[kTerms][kTerms][0] / all;
}

}  // namespace

double mean_turns_of_shifts(std::uint64_t w) {
  const Chance chance = binomial(w);
  return mean_of(w,
                 [&](std::size_t most) { return chance_within(w, w, at_most(most), at_most(most), chance); });
}

double mean_turns_of_requests(std::uint64_t w, std::uint64_t rows) {
  const Chance chance = binomial(w);
  return mean_of(w, [&](std::size_t most) {
    const Within few = few_distinct(w, static_cast<double>(rows), most);
    return chance_within(w, w, few, few, chance);
  });
}

double mean_turns_of_places(std::uint64_t w, std::uint64_t rows) {
  const std::vector<double> logs = log_factorials(w * rows);
  const auto choose = [&](std::size_t n, std::size_t k) { return logs[n] - logs[k] - logs[n - k]; };
  const Chance chance = [&](std::size_t n, std::size_t k, std::size_t left) {
    const std::size_t others = (left - 1) * rows;
    if (k > rows || n - k > others) return 0.0;
    return std::exp(choose(rows, k) + choose(others, n - k) - choose(left * rows, n));
  };
  return mean_of(w,
                 [&](std::size_t most) { return chance_within(w, w, at_most(most), at_most(most), chance); });
}

double mean_turns_of_groups(std::uint64_t w, std::uint64_t group, std::uint64_t banks) {
  const std::size_t whole = w / group;
  const std::size_t rest = w % group;  // the last group's; its bank counts as the first
  const Chance chance = binomial(whole);
  return mean_of(w, [&](std::size_t most) {
    if (most < rest) return 0.0;
    return chance_within(whole, banks, at_most((most - rest) / group), at_most(most / group), chance);
  });
}

double mean_turns_of_six_orders(std::uint64_t w) {
  constexpr std::uint64_t group = 6;
  // As many banks as would make two groups meet so often: between w and w + 2.
  const double chance = chance_of_equal_sums(w);
  const double alone = 1 / static_cast<double>(w);
  const double wider = 1 / static_cast<double>(w + 2);
  const double share = (alone - chance) / (alone - wider);
  return (1 - share) * mean_turns_of_groups(w, group, w) + share * mean_turns_of_groups(w, group, w + 2);
}

}  // namespace faro::reproduce
