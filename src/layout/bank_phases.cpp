#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "faro/f2/matrix.hpp"
#include "layout/bank_search.hpp"
#include "layout/candidates.hpp"
#include "layout/shared_geometry.hpp"

namespace faro::layout {
namespace {

// Calls visit(words) for every phase that asks for anything, with the distinct words in ascending order.
template <typename Visit>
void for_each_phase(const SharedArray& array, const AccessSet& set, Visit visit) {
  const Index lane_bytes = set.vector_elements * array.element_bytes;
  const auto word_bytes = static_cast<Index>(kGeometry.bank_bytes);
  const auto lanes = static_cast<std::size_t>(kGeometry.lanes_per_phase(static_cast<int>(lane_bytes)));
  std::vector<std::uint32_t> words;
  for (const std::vector<Index>& warp : set.warps) {
    for (std::size_t first = 0; first < warp.size(); first += lanes) {
      words.clear();
      for (std::size_t lane = first; lane < std::min(first + lanes, warp.size()); ++lane) {
        if (warp[lane] == AccessSet::kIdle) continue;
        const Index byte = warp[lane] * array.element_bytes;
        for (Index word = byte / word_bytes; word <= (byte + lane_bytes - 1) / word_bytes; ++word) {
          words.push_back(word);
        }
      }
      std::sort(words.begin(), words.end());
      words.erase(std::unique(words.begin(), words.end()), words.end());
      if (!words.empty()) visit(words);
    }
  }
}

// Whether words ^ words[0], given in any order, are all sums of some vectors.
bool is_subspace(const std::vector<std::uint32_t>& differences) {
  if (!std::has_single_bit(differences.size())) return false;
  f2::Subspace space(32);
  for (const std::uint32_t d : differences) space.insert(d);
  return std::size_t{1} << space.dimension() == differences.size();
}

std::vector<std::uint32_t> differences_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> differences(words);
  for (std::uint32_t& d : differences) d ^= words.front();
  std::sort(differences.begin(), differences.end());
  return differences;
}

void append(WordPhases& phases, const std::vector<std::uint32_t>& words, std::uint64_t repetitions) {
  phases.words.insert(phases.words.end(), words.begin(), words.end());
  phases.ends.push_back(phases.words.size());
  phases.repetitions.push_back(repetitions);
}

}  // namespace

WordPhases phases_up_to_shift(const SharedArray& array, const AccessSet& set) {
  std::map<std::vector<std::uint32_t>, std::uint64_t> patterns;
  for_each_phase(array, set, [&](const auto& words) { ++patterns[differences_of(words)]; });
  WordPhases phases;
  for (const auto& [differences, repetitions] : patterns) {
    append(phases, differences, repetitions);
    phases.linear = phases.linear && is_subspace(differences);
  }
  return phases;
}

WordPhases all_phases(const SharedArray& array, const AccessSet& set) {
  WordPhases phases;
  for_each_phase(array, set, [&](const auto& words) { append(phases, words, 1); });
  return phases;
}

BankCost cost_of(std::span<const WordPhases> sets, std::span<const std::uint8_t> banks,
                 std::uint32_t worst_allowed) {
  BankCost cost;
  std::array<std::uint32_t, std::size_t{1} << kBankBits> words_in_bank{};
  for (const WordPhases& set : sets) {
    std::size_t begin = 0;
    for (std::size_t phase = 0; phase < set.ends.size(); ++phase) {
      words_in_bank.fill(0);
      std::uint32_t congestion = 0;
      for (std::size_t k = begin; k < set.ends[phase]; ++k) {
        congestion = std::max(congestion, ++words_in_bank[banks[set.words[k]]]);
      }
      begin = set.ends[phase];
      cost.worst = std::max(cost.worst, congestion);
      cost.turns += congestion * set.repetitions[phase];
      if (cost.worst > worst_allowed) return cost;
    }
  }
  return cost;
}

bool ranks_prove_conflict_free(const WordPhases& set, const Placement& placement) {
  if (!set.linear) return false;
  const auto bank_of = [&](std::uint32_t word) {
    const Index byte = word * static_cast<Index>(kGeometry.bank_bytes);
    const Index element_bytes = placement.array.element_bytes;
    const Index columns = placement.array.columns;
    const Index x = byte / element_bytes;
    const Index address = placement(x / columns, x % columns) * element_bytes + byte % element_bytes;
    return address % static_cast<Index>(kGeometry.bank_row_bytes()) /
           static_cast<Index>(kGeometry.bank_bytes);
  };
  std::size_t begin = 0;
  for (const std::size_t end : set.ends) {
    f2::Subspace words(32);
    f2::Subspace banks(kBankBits);
    for (std::size_t k = begin; k < end; ++k) {
      // The phase stands for its cosets, too: what counts is where a direction leads from word 0.
      const std::uint32_t direction = set.words[k] ^ set.words[begin];
      words.insert(direction);
      banks.insert(bank_of(direction));
    }
    begin = end;
    if (words.dimension() != banks.dimension()) return false;
  }
  return true;
}

}  // namespace faro::layout
