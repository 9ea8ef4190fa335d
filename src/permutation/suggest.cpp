#include "faro/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace faro {
namespace {

// No name is longer; a longer word is a name of nothing, and the distance costs the product of the lengths.
constexpr std::size_t kLongestWord = 64;

// Shorter beginnings are those of too many names.
constexpr std::size_t kShortestPrefix = 3;

// Lower case, without the separators that people leave out or exchange.
std::string folded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '_' || c == '-') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

bool is_near(std::string_view word, std::string_view candidate, std::size_t distance) {
  const std::size_t longer = std::max(word.size(), candidate.size());
  if (longer > 2) return distance * 3 <= longer;
  const bool are_two = word.size() == 2 && candidate.size() == 2;
  return distance == 0 || (are_two && word[0] == candidate[1] && word[1] == candidate[0]);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: distances from prefixes of a that end two letters back, one back and here.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string wanted = folded(word);
  if (wanted.empty() || wanted.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::string name = folded(candidate);
    std::size_t distance = edit_distance(wanted, name);
    const bool is_beginning = wanted.size() >= kShortestPrefix && name.starts_with(wanted);
    if (is_beginning) distance = std::min<std::size_t>(distance, 1);
    if (!is_beginning && !is_near(wanted, name, distance)) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto name = nearest(word, candidates);
  return name ? "did you mean `" + std::string(*name) + "`?" : std::string();
}

}  // namespace faro
