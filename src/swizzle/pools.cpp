#include "swizzle/pools.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace faro::swizzle::detail {
namespace {

using Term = std::vector<NodeId>;

// Whether what is wanted can come of this sum at all.
bool is_sum_of(const SumSite& site, const ValueTable& values) {
  return site.wanted != kUndefined && !values.is_input(site.wanted) &&
         values.accumulation_of(site.wanted) == site.accumulation;
}

std::size_t representative(std::vector<std::size_t>& parents, std::size_t x) {
  while (parents[x] != x) x = parents[x] = parents[parents[x]];
  return x;
}

// For each supplier its slots in the sum where it has most; over all suppliers.
std::size_t most_supplied(const Pool& pool) {
  std::vector<std::size_t> most(pool.suppliers.size(), 0);
  for (const SumSite& sum : pool.sums) {
    std::vector<std::size_t> slots(most.size(), 0);
    for (const Slot& slot : sum.slots) ++slots[slot.supplier];
    for (std::size_t s = 0; s < most.size(); ++s) most[s] = std::max(most[s], slots[s]);
  }
  return std::accumulate(most.begin(), most.end(), std::size_t{0});
}

std::size_t most_wanted(const Pool& pool, const ValueTable& values) {
  std::map<std::vector<ValueId>, std::size_t> most;
  for (const SumSite& sum : pool.sums) {
    std::map<std::vector<ValueId>, std::size_t> times;
    for (const std::vector<ValueId>& term : values.terms_of(sum.wanted)) ++times[term];
    for (const auto& [term, count] : times) most[term] = std::max(most[term], count);
  }
  return std::accumulate(most.begin(), most.end(), std::size_t{0},
                         [](std::size_t sum, const auto& entry) { return sum + entry.second; });
}

bool is_tight(const Pool& pool, const ValueTable& values) {
  const auto can_be_met = [&](const SumSite& sum) { return is_sum_of(sum, values); };
  return std::ranges::all_of(pool.sums, can_be_met) && most_supplied(pool) == most_wanted(pool, values);
}

}  // namespace

std::vector<Pool> make_pools(std::vector<SumSite> sums_of_lane, const ValueTable& values) {
  std::vector<std::size_t> parents(sums_of_lane.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  std::map<Term, std::size_t> first_sum;
  for (std::size_t s = 0; s < sums_of_lane.size(); ++s) {
    for (const Slot& slot : sums_of_lane[s].slots) {
      const auto [known, fresh] = first_sum.try_emplace(slot.term, s);
      if (fresh) continue;
      const std::size_t a = representative(parents, known->second);
      const std::size_t b = representative(parents, s);
      parents[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<Pool> pools;
  std::map<std::size_t, std::size_t> pool_of;  // by representative
  std::vector<std::map<Term, std::uint32_t>> suppliers;
  for (std::size_t s = 0; s < sums_of_lane.size(); ++s) {
    const auto [known, fresh] = pool_of.try_emplace(representative(parents, s), pools.size());
    if (fresh) {
      pools.emplace_back();
      suppliers.emplace_back();
    }
    Pool& pool = pools[known->second];
    std::map<Term, std::uint32_t>& numbers = suppliers[known->second];
    for (Slot& slot : sums_of_lane[s].slots) {
      const auto next = static_cast<std::uint32_t>(pool.suppliers.size());
      const auto [number, is_new] = numbers.try_emplace(slot.term, next);
      if (is_new) pool.suppliers.push_back(slot.term);
      slot.supplier = number->second;
    }
    pool.sums.push_back(std::move(sums_of_lane[s]));
  }
  for (Pool& pool : pools) pool.tight = is_tight(pool, values);
  return pools;
}

}  // namespace faro::swizzle::detail
