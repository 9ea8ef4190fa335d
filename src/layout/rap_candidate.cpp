// RAP under many seeds, and what holds for every seed.
#include <fmt/format.h>

#include <algorithm>

#include "layout/candidates.hpp"
#include "layout/geometry.hpp"

namespace faro::layout {
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
    // Of those, one seed tells all.
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
