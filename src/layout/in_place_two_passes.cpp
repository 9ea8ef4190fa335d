#include <algorithm>
#include <utility>

#include "f2/polynomial.hpp"
#include "faro/error.hpp"
#include "layout/in_place_space.hpp"
#include "layout/reflections.hpp"

namespace faro::layout::detail {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

namespace {

// map = (second) o first, each with its least space, without identities.
std::vector<InPlaceFactor> with_spaces(const Affine& map, const Affine& first, int segment_bits) {
  std::vector<InPlaceFactor> factors;
  for (const Affine& factor : {first, compose(map, first.inverse())}) {
    if (factor.is_identity()) continue;
    factors.push_back(smallest_space(factor, {.segment_bits = segment_bits, .max_orbit_tiles = 2}));
  }
  return factors;
}

}  // namespace

SortedBlocks sort_blocks(std::vector<CyclicBlock> blocks) {
  SortedBlocks sorted;
  for (CyclicBlock& block : blocks) {
    const Word wanted = f2::reciprocal(block.annihilator);
    if (wanted == block.annihilator) {
      sorted.palindromes.push_back(std::move(block));
      continue;
    }
    const auto partner = std::find_if(sorted.leftovers.begin(), sorted.leftovers.end(),
                                      [&](const CyclicBlock& other) { return other.annihilator == wanted; });
    if (partner == sorted.leftovers.end()) {
      sorted.leftovers.push_back(std::move(block));
    } else {
      sorted.pairs.push_back(std::move(*partner));
      sorted.pairs.push_back(std::move(block));
      sorted.leftovers.erase(partner);
    }
  }
  return sorted;
}

int leftovers_of_first(int leftovers, int rank_gamma) {
  return std::min(leftovers, (leftovers + rank_gamma + 1) / 2);
}

Affine segments_only(const Affine& map, int segment_bits) {
  const Word low = f2::low_mask(segment_bits);
  Matrix a = Matrix::zero(map.bits(), map.bits());
  for (int j = 0; j < map.bits(); ++j) {
    FARO_CHECK(j >= segment_bits || (map.matrix().column(j) & ~low) == 0);
    a.set_column(j, (map.matrix().column(j) & ~low) | (f2::unit(j) & low));
  }
  return {a, map.complement() & ~low};
}

std::vector<InPlaceFactor> factor_in_two(const Affine& map, int segment_bits) {
  const Functionals f = functionals_of(map, segment_bits);
  const ChainForm form = chain_form(f);
  const FittingParts parts = fitting_parts(f.alpha, form.rest);
  std::vector<CyclicBlock> blocks = unipotent_blocks(f.alpha, parts.unipotent, f.last());
  for (CyclicBlock& block : frobenius_blocks(f.alpha, parts.rest)) blocks.push_back(std::move(block));
  const SortedBlocks sorted = sort_blocks(std::move(blocks));

  ReflectionTable table(f);
  for (const Chain& chain : form.chains) table.add_chain(chain);
  for (const CyclicBlock& block : sorted.palindromes) table.add_palindrome(block);
  for (std::size_t i = 0; i < sorted.pairs.size(); i += 2)
    table.add_pair(sorted.pairs[i], sorted.pairs[i + 1]);
  const int rank_gamma = map.rank_gamma(segment_bits);
  const auto leftovers = static_cast<int>(sorted.leftovers.size());
  const int of_first = leftovers_of_first(leftovers, rank_gamma);
  for (int i = 0; i < leftovers; ++i) {
    const CyclicBlock& block = sorted.leftovers[static_cast<std::size_t>(i)];
    i < of_first ? table.add_leftover_to_first(block) : table.add_leftover_to_second(block);
  }

  const auto [first, second] = table.factors();
  FARO_CHECK(first.space.dimension() <= segment_bits + of_first);
  FARO_CHECK(second.space.dimension() <= segment_bits + rank_gamma + leftovers - of_first);
  // What a first factor does inside segments that it moves whole, the second can do as well.
  const bool keeps_segments = first.space == Subspace::low(map.bits(), segment_bits);
  const Affine first_map = keeps_segments ? segments_only(first.map, segment_bits) : first.map;
  return with_spaces(map, first_map, segment_bits);
}

}  // namespace faro::layout::detail
