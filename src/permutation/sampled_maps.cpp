#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include "faro/permutation/split_mix.hpp"
#include "permutation/axes_search.hpp"

namespace faro::detail {
namespace {

constexpr std::size_t kSamples = 32;

// What more than half of them are.
std::optional<std::uint64_t> majority(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  const std::uint64_t middle = values[values.size() / 2];
  const auto of_middle = std::count(values.begin(), values.end(), middle);
  if (2 * static_cast<std::size_t>(of_middle) <= values.size()) return std::nullopt;
  return middle;
}

std::uint64_t difference(std::uint64_t a, std::uint64_t b, std::uint64_t count) {
  return a >= b ? a - b : a + (count - b);
}

// Finds matrix and complement: each column by what most pairs of entries differ by whose positions differ by
// its bit.
std::optional<Affine> sampled_affine(IndexReader& reader, const std::vector<std::uint64_t>& positions,
                                     const std::vector<std::uint64_t>& entries) {
  const std::uint64_t count = reader.count();
  if (!f2::is_power_of_two(count)) return std::nullopt;
  const int n = f2::trailing_bit(count);
  f2::Matrix matrix = f2::Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) {
    std::vector<std::uint64_t> others(positions);
    for (std::uint64_t& position : others) position ^= std::uint64_t{1} << j;
    std::vector<std::uint64_t> differences = reader.at(others);
    for (std::size_t k = 0; k < differences.size(); ++k) differences[k] ^= entries[k];
    const auto column = majority(std::move(differences));
    if (!column || *column >= count) return std::nullopt;
    matrix.set_column(j, *column);
  }
  if (!matrix.inverse()) return std::nullopt;
  const Affine linear(matrix, 0);
  std::vector<std::uint64_t> complements(entries);
  for (std::size_t k = 0; k < complements.size(); ++k) complements[k] ^= linear(positions[k]);
  const auto complement = majority(std::move(complements));
  if (!complement || *complement >= count) return std::nullopt;
  return Affine(matrix, *complement);
}

std::optional<Modular> sampled_modular(IndexReader& reader, const std::vector<std::uint64_t>& positions,
                                       const std::vector<std::uint64_t>& entries) {
  const std::uint64_t count = reader.count();
  std::vector<std::uint64_t> next(positions);
  for (std::uint64_t& position : next) position = (position + 1) % count;
  std::vector<std::uint64_t> steps = reader.at(next);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] >= count || entries[k] >= count) return std::nullopt;
    steps[k] = difference(steps[k], entries[k], count);
  }
  const auto factor = majority(std::move(steps));
  if (!factor || std::gcd(*factor, count) != 1) return std::nullopt;
  const Modular linear{.count = count, .factor = *factor, .shift = 0};
  std::vector<std::uint64_t> shifts(entries);
  for (std::size_t k = 0; k < shifts.size(); ++k)
    shifts[k] = difference(shifts[k], linear(positions[k]), count);
  const auto shift = majority(std::move(shifts));
  if (!shift) return std::nullopt;
  return Modular{.count = count, .factor = *factor, .shift = *shift};
}

}  // namespace

SampledMaps sample_maps(IndexReader& reader) {
  const std::uint64_t count = reader.count();
  std::vector<std::uint64_t> positions;
  SplitMix64 random(count);
  while (positions.size() < kSamples) positions.push_back(random.next() % count);
  const std::vector<std::uint64_t> entries = reader.at(positions);
  SampledMaps made{.candidates = {}, .why = "32 samples agree on no map"};
  if (const auto map = sampled_affine(reader, positions, entries)) made.candidates.emplace_back(*map);
  if (auto map = sampled_modular(reader, positions, entries)) made.candidates.emplace_back(*map);
  return made;
}

}  // namespace faro::detail
