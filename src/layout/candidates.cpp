#include "layout/candidates.hpp"

#include <algorithm>

#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "layout/shared_geometry.hpp"

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

// RAP under many seeds, and what holds for every seed.

namespace {

constexpr std::uint64_t kMostSeeds = 256;
constexpr std::uint64_t kMostWords = 50'000'000;  // looked at, for one access set

// Where natural words lie in a bank row, and whose turn they follow.
class WordTurns {
 public:
  WordTurns(const SharedArray& array, const RapTurns& turns) : turns_(turns) {
    const auto word_bytes = static_cast<Index>(kGeometry.bank_bytes);
    words_of_unit_ = turns.unit_elements * array.element_bytes / word_bytes;
    words_of_row_ =
        turns.by_row ? array.columns * array.element_bytes / word_bytes : static_cast<Index>(kGeometry.banks);
  }
  Index row(Index word) const { return word / words_of_row_; }
  Index position(Index word) const { return word / words_of_unit_ % turns_.width; }

  // The bank of every word, with a turn for each row.
  std::vector<std::uint8_t> banks(const RapTurns& turns, std::size_t words) const {
    std::vector<std::uint8_t> banks(words);
    Index turn = 0;
    for (Index word = 0; word < words; ++word) {
      if (word % words_of_row_ == 0) turn = turns.turn(row(word));
      banks[word] = static_cast<std::uint8_t>((position(word) + turn) % turns.width * words_of_unit_ +
                                              word % words_of_unit_);
    }
    return banks;
  }

  // Whether two words of an access are in different banks for every seed: they lie at different places of
  // rows with one turn, or at one place of rows whose numbers differ in exactly one digit.
  bool always_apart(Index a, Index b) const {
    if (a % words_of_unit_ != b % words_of_unit_) return true;
    int digits = 0;
    for (Index ra = row(a), rb = row(b); ra != rb; ra /= turns_.width, rb /= turns_.width) {
      digits += ra % turns_.width != rb % turns_.width ? 1 : 0;
    }
    const bool same_position = position(a) == position(b);
    return same_position ? digits == 1 : digits == 0;
  }

 private:
  const RapTurns& turns_;
  Index words_of_unit_ = 1;
  Index words_of_row_ = 1;
};

bool free_for_every_seed(const WordPhases& set, const WordTurns& turns) {
  std::size_t begin = 0;
  for (const std::size_t end : set.ends) {
    for (std::size_t a = begin; a < end; ++a) {
      for (std::size_t b = begin; b < a; ++b) {
        if (!turns.always_apart(set.words[a], set.words[b])) return false;
      }
    }
    begin = end;
  }
  return true;
}

}  // namespace

Candidate rap_candidate(const AdviceRequest& request) {
  const Index vector_elements = widest_vector(request);
  Candidate candidate{.placement = {.kind = PlacementKind::rap,
                                    .array = request.array,
                                    .turns = random_turns(request.array, vector_elements, request.seed)}};
  candidate.extra_bytes =
      std::uint64_t{candidate.placement.size() - request.array.elements()} * request.array.element_bytes;
  const std::size_t all_words = std::uint64_t{candidate.placement.size()} * request.array.element_bytes /
                                static_cast<std::uint64_t>(kGeometry.bank_bytes);
  const WordTurns word_turns(request.array, candidate.placement.turns);
  for (const AccessSet& access : request.accesses) {
    const WordPhases set = all_phases(request.array, access);
    AccessCost cost;
    cost.holds_always = free_for_every_seed(set, word_turns);
    // One seed of those tells all.
    const std::uint64_t affordable = kMostWords / std::max<std::uint64_t>(1, set.words.size() + all_words);
    const std::uint64_t seeds = cost.holds_always ? 1 : std::clamp<std::uint64_t>(affordable, 16, kMostSeeds);
    std::uint64_t turns = 0;
    for (std::uint64_t k = 0; k < seeds; ++k) {
      const RapTurns drawn = random_turns(request.array, vector_elements, request.seed + k);
      const BankCost bank_cost = cost_of(std::span(&set, 1), word_turns.banks(drawn, all_words));
      cost.worst = std::max(cost.worst, bank_cost.worst);
      turns += bank_cost.turns;
    }
    const auto per = [&](std::size_t count) {
      return count == 0 ? 0 : static_cast<double>(turns) / static_cast<double>(seeds * count);
    };
    cost.mean = per(set.ends.size());
    cost.wavefronts = per(access.warps.size());
    candidate.costs.push_back(cost);
  }
  return candidate;
}

}  // namespace faro::layout
