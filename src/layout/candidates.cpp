#include "layout/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "faro/error.hpp"
#include "layout/geometry.hpp"
#include "machine/congestion.hpp"

namespace faro::layout {
namespace {

Candidate counted(const AdviceRequest& request, Placement placement) {
  Candidate candidate{.placement = std::move(placement)};
  for (const AccessSet& set : request.accesses) {
    candidate.costs.push_back(count_cost(set, candidate.placement));
  }
  candidate.extra_bytes =
      std::uint64_t{candidate.placement.size() - request.array.elements()} * request.array.element_bytes;
  return candidate;
}

bool fits(const Placement& placement) {
  return std::uint64_t{placement.size()} * placement.array.element_bytes <= kMaxSharedBytes;
}

// Ranks have to agree with the count.
bool prove_by_ranks(const std::vector<WordPhases>& sets, const Candidate& candidate) {
  if (candidate.worst() > 1) return false;
  bool all_linear = true;
  for (const WordPhases& set : sets) {
    all_linear = all_linear && set.linear;
    FARO_CHECK(!set.linear || ranks_prove_conflict_free(set, candidate.placement));
  }
  return all_linear;
}

}  // namespace

AccessCost count_cost(const AccessSet& set, const Placement& placement) {
  const SharedArray& array = placement.array;
  const Index lane_bytes = set.vector_elements * array.element_bytes;
  const auto word_bytes = static_cast<std::uint64_t>(kGeometry.bank_bytes);
  const auto lanes = static_cast<std::size_t>(kGeometry.lanes_per_phase(static_cast<int>(lane_bytes)));
  machine::TurnCounter counter(static_cast<std::uint64_t>(kGeometry.banks));
  std::vector<std::uint64_t> words;
  AccessCost cost;
  std::uint64_t turns = 0;
  std::uint64_t phases = 0;
  for (const std::vector<Index>& warp : set.warps) {
    for (std::size_t first = 0; first < warp.size(); first += lanes) {
      words.clear();
      for (std::size_t lane = first; lane < std::min(first + lanes, warp.size()); ++lane) {
        if (warp[lane] == AccessSet::kIdle) continue;
        const Index i = warp[lane] / array.columns;
        const Index j = warp[lane] % array.columns;
        const Index address = placement(i, j);
        const Index last = set.vector_elements - 1;
        FARO_CHECK(address % set.vector_elements == 0 && placement(i, j + last) == address + last);
        const std::uint64_t byte = std::uint64_t{address} * array.element_bytes;
        for (std::uint64_t word = byte / word_bytes; word <= (byte + lane_bytes - 1) / word_bytes; ++word) {
          words.push_back(word);
        }
      }
      if (words.empty()) continue;
      const std::uint32_t congestion = counter.by_bank(words);
      cost.worst = std::max(cost.worst, congestion);
      turns += congestion;
      ++phases;
    }
  }
  cost.mean = phases == 0 ? 0 : static_cast<double>(turns) / static_cast<double>(phases);
  cost.wavefronts =
      set.warps.empty() ? 0 : static_cast<double>(turns) / static_cast<double>(set.warps.size());
  return cost;
}

std::uint32_t Candidate::worst() const {
  std::uint32_t worst = 0;
  for (const AccessCost& cost : costs) worst = std::max(worst, cost.worst);
  return worst;
}

double Candidate::wavefronts() const {
  double sum = 0;
  for (const AccessCost& cost : costs) sum += cost.wavefronts;
  return sum;
}

bool is_better(const Candidate& a, const Candidate& b) {
  constexpr double kClearly = 0.95;
  return a.worst() < b.worst() || (a.worst() == b.worst() && a.wavefronts() < kClearly * b.wavefronts());
}

Index widest_vector(const AdviceRequest& request) {
  Index widest = 1;
  for (const AccessSet& set : request.accesses) widest = std::max(widest, set.vector_elements);
  return widest;
}

Candidate natural_candidate(const AdviceRequest& request) {
  return counted(request, {.kind = PlacementKind::raw, .array = request.array});
}

LinearCandidates linear_candidates(const AdviceRequest& request, const Candidate& natural) {
  LinearCandidates result;
  if (natural.worst() <= 1) return result;
  std::vector<WordPhases> sets;
  for (const AccessSet& set : request.accesses) sets.push_back(phases_up_to_shift(request.array, set));
  const Index vector_elements = widest_vector(request);
  if (const auto cute = search_cute(request.array, sets, vector_elements)) {
    Candidate candidate =
        counted(request, {.kind = PlacementKind::cute, .array = request.array, .cute = cute->swizzle});
    FARO_CHECK(candidate.worst() == cute->cost.worst);
    candidate.proven_by_ranks = prove_by_ranks(sets, candidate);
    if (fits(candidate.placement) && is_better(candidate, natural)) result.cute = std::move(candidate);
  }
  if (result.cute && result.cute->worst() == 1) return result;
  const XorSearch search = search_xor(request.array, sets, vector_elements);
  result.verdict = search.verdict;
  Candidate candidate = counted(
      request, {.kind = PlacementKind::exclusive_or, .array = request.array, .exclusive_or = search.layout});
  FARO_CHECK(candidate.worst() == search.cost.worst);
  candidate.proven_by_ranks = prove_by_ranks(sets, candidate);
  if (fits(candidate.placement) && is_better(candidate, result.cute ? *result.cute : natural)) {
    result.exclusive_or = std::move(candidate);
  }
  return result;
}

std::optional<Candidate> padded_candidate(const AdviceRequest& request, const Candidate& natural) {
  std::optional<Candidate> best;
  if (natural.worst() <= 1) return best;
  const Index step = widest_vector(request);
  const Index bank_row = static_cast<Index>(kGeometry.bank_row_bytes()) / request.array.element_bytes;
  for (Index pad = step; pad < bank_row; pad += step) {  // a pad of a bank row changes no bank
    const Placement placement{.kind = PlacementKind::padded, .array = request.array, .pad = pad};
    if (!fits(placement)) break;
    Candidate candidate = counted(request, placement);
    if (is_better(candidate, best ? *best : natural)) best = std::move(candidate);
    if (best && best->worst() == 1) break;
  }
  return best;
}

}  // namespace faro::layout
