#include <algorithm>
#include <bit>

#include "faro/error.hpp"
#include "faro/machine/access_counts.hpp"
#include "layout/bank_search.hpp"
#include "layout/candidates.hpp"
#include "layout/shared_geometry.hpp"

namespace faro::layout {
namespace {

constexpr std::uint32_t kBanks = 1U << kBankBits;

constexpr std::uint64_t kMostProofSteps = 200'000'000;    // differences looked at
constexpr std::uint64_t kMostDescentSteps = 500'000'000;  // words looked at
constexpr int kBeginnings = 12;

Index word_count(const SharedArray& array) {
  const auto row = static_cast<std::uint64_t>(kGeometry.bank_row_bytes());
  return static_cast<Index>((array.bytes() + row - 1) / row * kBanks);
}

// High bits of a word's number; also place bits above a bank row.
int high_bits(const SharedArray& array) {
  const Index rows = word_count(array) / kBanks;
  return static_cast<int>(std::bit_width(rows - 1));
}

// log2 of the words that must stay together and in order.
int unit_bits(const SharedArray& array, Index vector_elements) {
  const Index bytes =
      std::max(vector_elements * array.element_bytes, static_cast<Index>(kGeometry.bank_bytes));
  return std::countr_zero(bytes) - machine::log2_exact(kGeometry.bank_bytes);
}

using Columns = std::vector<std::uint32_t>;  // X e_i, in words

// The columns of X by inequalities, one for each difference of two words of a phase.
class ConflictFree {
 public:
  ConflictFree(std::span<const WordPhases> sets, int high_bits, int unit_bits)
      : high_bits_(high_bits),
        step_(1U << unit_bits),
        by_top_(static_cast<std::size_t>(high_bits)),
        columns_(static_cast<std::size_t>(high_bits)),
        image_(std::size_t{1} << high_bits) {
    std::vector<bool> seen(std::size_t{kBanks} << high_bits);
    for (const WordPhases& set : sets) {
      std::size_t begin = 0;
      for (const std::size_t end : set.ends) {
        for (std::size_t a = begin; a < end; ++a) {
          for (std::size_t b = begin; b < a; ++b) seen[set.words[a] ^ set.words[b]] = true;
        }
        begin = end;
      }
    }
    for (std::uint32_t d = kBanks; d < seen.size(); ++d) {
      if (seen[d]) by_top_[static_cast<std::size_t>(std::bit_width(d) - 1 - kBankBits)].push_back(d);
    }
  }

  XorVerdict solve() {
    if (choose(0)) return XorVerdict::found;
    return steps_ >= kMostProofSteps ? XorVerdict::cut_short : XorVerdict::impossible;
  }
  const Columns& columns() const { return columns_; }

 private:
  // Chooses the column of high bit i and all after it. Small values first: the simplest layout is found.
  bool choose(int i) {
    if (i == high_bits_) return true;
    const std::uint32_t bit = 1U << i;
    std::uint32_t forbidden = 0;  // a set of values
    const std::vector<std::uint32_t>& differences = by_top_[static_cast<std::size_t>(i)];
    steps_ += differences.size() + bit;
    if (steps_ >= kMostProofSteps) return false;
    for (const std::uint32_t d : differences) {
      forbidden |= 1U << ((d % kBanks) ^ image_[(d >> kBankBits) ^ bit]);
    }
    for (std::uint32_t value = 0; value < kBanks; value += step_) {
      if ((forbidden >> value & 1) != 0) continue;
      columns_[static_cast<std::size_t>(i)] = value;
      for (std::uint32_t low = 0; low < bit; ++low) image_[low | bit] = image_[low] ^ value;
      if (choose(i + 1)) return true;
      if (steps_ >= kMostProofSteps) return false;
    }
    return false;
  }

  int high_bits_;
  std::uint32_t step_;
  std::vector<std::vector<std::uint32_t>> by_top_;  // differences by their top bit
  Columns columns_;
  std::vector<std::uint32_t> image_;  // X high, for all high below the current bit
  std::uint64_t steps_ = 0;
};

std::vector<std::uint8_t> banks_of(const Columns& columns) {
  std::vector<std::uint32_t> image(std::size_t{1} << columns.size());
  std::vector<std::uint8_t> banks(image.size() * kBanks);
  for (std::size_t high = 0; high < image.size(); ++high) {
    if (high != 0) {
      const auto top = static_cast<std::size_t>(std::bit_width(high) - 1);
      image[high] = image[high ^ (std::size_t{1} << top)] ^ columns[top];
    }
    for (std::uint32_t bank = 0; bank < kBanks; ++bank) {
      banks[high * kBanks + bank] = static_cast<std::uint8_t>(bank ^ image[high]);
    }
  }
  return banks;
}

// Changes one column at a time for the better until none helps.
class Descent {
 public:
  Descent(std::span<const WordPhases> sets, int unit_bits) : sets_(sets), step_(1U << unit_bits) {
    for (const WordPhases& set : sets) words_ += set.words.size();
  }

  bool spent() const { return steps_ >= kMostDescentSteps; }

  BankCost improve(Columns& columns) {
    BankCost best = cost(columns, ~std::uint32_t{0});
    for (bool better = true; better && !spent();) {
      better = false;
      for (std::size_t i = 0; i < columns.size() && !spent(); ++i) {
        const std::uint32_t before = columns[i];
        std::uint32_t choice = before;
        for (std::uint32_t value = 0; value < kBanks; value += step_) {
          if (value == before) continue;
          columns[i] = value;
          const BankCost candidate = cost(columns, best.worst);
          if (candidate >= best) continue;
          best = candidate;
          choice = value;
          better = true;
        }
        columns[i] = choice;
      }
    }
    return best;
  }

 private:
  BankCost cost(const Columns& columns, std::uint32_t worst_allowed) {
    steps_ += words_ + (std::size_t{kBanks} << columns.size());
    return cost_of(sets_, banks_of(columns), worst_allowed);
  }

  std::span<const WordPhases> sets_;
  std::uint32_t step_;
  std::uint64_t words_ = 0;
  std::uint64_t steps_ = 0;
};

Xor layout_of(const SharedArray& array, const Columns& columns) {
  const int word_bits = machine::log2_exact(kGeometry.bank_bytes);
  const int width_bits = std::countr_zero(array.element_bytes);
  Xor layout;
  layout.bank_row_bits = kBankBits + word_bits - width_bits;
  layout.tile_bits = layout.bank_row_bits + static_cast<int>(columns.size());
  FARO_CHECK(layout.tile_bits <= kMaxTileBits);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    layout.mask[i] = width_bits < word_bits ? columns[i] << (word_bits - width_bits)
                                            : columns[i] >> (width_bits - word_bits);
  }
  return layout;
}

}  // namespace

XorSearch search_xor(const SharedArray& array, std::span<const WordPhases> sets, Index vector_elements) {
  const int high = high_bits(array);
  const int unit = unit_bits(array, vector_elements);
  ConflictFree inequalities(sets, high, unit);
  const XorVerdict verdict = inequalities.solve();
  if (verdict == XorVerdict::found) {
    const Columns& columns = inequalities.columns();
    return {
        .layout = layout_of(array, columns), .cost = cost_of(sets, banks_of(columns)), .verdict = verdict};
  }
  Descent descent(sets, unit);
  Columns best(static_cast<std::size_t>(high));
  BankCost best_cost = descent.improve(best);
  SplitMix64 random{1};
  for (int beginning = 1; beginning < kBeginnings && !descent.spent(); ++beginning) {
    Columns columns(best.size());
    for (std::uint32_t& column : columns) column = random.below(kBanks >> unit) << unit;
    const BankCost cost = descent.improve(columns);
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = columns;
  }
  return {.layout = layout_of(array, best), .cost = best_cost, .verdict = verdict};
}

std::optional<CuteSearch> search_cute(const SharedArray& array, std::span<const WordPhases> sets,
                                      Index vector_elements) {
  const int unit = unit_bits(array, vector_elements);
  const int total_bits = kBankBits + high_bits(array);
  // From words to elements: an element may be several words, or a word several elements.
  const int to_elements = machine::log2_exact(kGeometry.bank_bytes) - std::countr_zero(array.element_bytes);
  std::optional<CuteSearch> best;
  std::vector<std::uint8_t> banks(std::size_t{1} << total_bits);
  for (int bits = 1; bits <= kBankBits - unit; ++bits) {
    for (int base = kBankBits - bits; base >= unit; --base) {
      for (int shift = bits; base + shift + bits <= total_bits; ++shift) {
        const CuteSwizzle in_words{.bits = bits, .base = base, .shift = shift};
        for (std::uint32_t word = 0; word < banks.size(); ++word) {
          banks[word] = static_cast<std::uint8_t>(in_words(word) % kBanks);
        }
        const BankCost cost = cost_of(sets, banks, best ? best->cost.worst : ~std::uint32_t{0});
        if (best && cost >= best->cost) continue;
        best = {.swizzle = {.bits = bits, .base = base + to_elements, .shift = shift}, .cost = cost};
      }
    }
  }
  return best;
}

}  // namespace faro::layout
