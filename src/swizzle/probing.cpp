#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <vector>

#include "faro/error.hpp"
#include "swizzle/search.hpp"

namespace faro::swizzle::detail {
namespace {

// Of every hole, to see which are likely; then of large families, and of those that are listed quickly
// anyway.
constexpr std::size_t kFewSamples = 4;
constexpr std::size_t kSamples = 64;
constexpr std::size_t kSamplesOfSmall = 12;
constexpr std::size_t kLikely = 4;
// log2 of combinations that can be walked.
constexpr double kFewBits = 24;

// log2 of the combinations of functions that are left of all other holes.
double combinations_left(const Domains& domains, int hole) {
  double bits = 0;
  for (int h = 0; h < domains.holes(); ++h) {
    if (h != hole) bits += std::log2(static_cast<double>(domains.size(h)));
  }
  return bits;
}

double estimate(Propagation& propagation, Domains& domains, int hole, std::size_t most_samples) {
  const std::vector<std::uint32_t> candidates = domains.candidates(hole);
  const std::size_t samples = std::min(most_samples, candidates.size());
  // Without survivors half a one is assumed: of two holes whose samples all die, the smaller family is taken.
  double left = 0.5;
  for (std::size_t s = 0; s < samples; ++s) {
    domains.push();
    domains.assign(hole, candidates[s * candidates.size() / samples]);
    if (propagation.from(hole)) left += std::exp2(std::min(combinations_left(domains, hole), 900.0));
    domains.pop();
  }
  const auto count = static_cast<double>(candidates.size());
  return std::log2(count) + std::log2(left / static_cast<double>(samples));
}

struct Estimated {
  double left = 0;
  int hole = 0;
  // Rounding must not decide.
  bool operator<(const Estimated& other) const {
    return std::tuple(std::llround(left * 1e6), hole) <
           std::tuple(std::llround(other.left * 1e6), other.hole);
  }
};

// Holes to choose from: guards follow from terms, so that they wait where the terms' holes can be walked.
std::vector<int> choices(const Propagation& propagation, const Domains& domains) {
  std::vector<int> all, of_nodes;
  double bits = 0;
  for (int h = 0; h < domains.holes(); ++h) {
    if (domains.is_decided(h)) continue;
    all.push_back(h);
    if (!propagation.decides_nodes(h)) continue;
    of_nodes.push_back(h);
    bits += std::log2(static_cast<double>(domains.size(h)));
  }
  return !of_nodes.empty() && bits <= kFewBits ? of_nodes : all;
}

}  // namespace

int probe(Propagation& propagation, Domains& domains) {
  std::vector<Estimated> holes;
  for (const int h : choices(propagation, domains)) {
    holes.push_back({estimate(propagation, domains, h, kFewSamples), h});
  }
  FARO_CHECK(!holes.empty());
  std::ranges::sort(holes, std::less<>());
  if (holes.size() > kLikely) holes.resize(kLikely);
  if (holes.size() > 1) {
    for (Estimated& hole : holes) {
      hole.left = estimate(propagation, domains, hole.hole,
                           domains.size(hole.hole) > kSamples ? kSamples : kSamplesOfSmall);
    }
  }
  return std::ranges::min(holes, std::less<>()).hole;
}

}  // namespace faro::swizzle::detail
