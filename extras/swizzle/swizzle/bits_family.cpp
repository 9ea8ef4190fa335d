// Families of words that are XORed, one for each set bit of the arguments, and families that a sketch lists.
//
//     i = 5 = 101b, k = 1     words of i's bits 1 2 4, of k's bit 3, constant 0:     1 ^ 4 ^ 3 = 6
//
// A function of (i, k) is a row for each k: the words of i, and the XOR of the constant and the words of k.
// So a row is made once for each choice of i's words and each offset.
#include <algorithm>
#include <bit>

#include "swizzle/function_builder.hpp"
#include "swizzle/function_set.hpp"

namespace faro::swizzle::detail {
namespace {

using Words = std::vector<std::int64_t>;

std::size_t bits_of(std::int64_t asked) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(asked - 1)));
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > ~std::uint64_t{0} / b ? ~std::uint64_t{0} : a * b;
}

bool is_moved(const Words& words, std::int64_t first) {
  for (std::size_t b = 0; b < words.size(); ++b)
    if (words[b] != first << b) return false;
  return true;
}

// Scores the expression that is left.
std::int32_t score_of(const Words& words) {
  if (std::ranges::all_of(words, [](std::int64_t w) { return w == 0; })) return 0;
  if (is_moved(words, 1)) return 1;
  if (is_moved(words, words.front())) return 2;
  return static_cast<std::int32_t>(3 * std::ranges::count_if(words, [](std::int64_t w) { return w != 0; }));
}

class BitsFamily final : public Family {
 public:
  BitsFamily(const HoleDeclaration& hole, Space space)
      : n_(static_cast<std::uint64_t>(hole.n)), freedom_(freedom_in(hole, space)) {
    for (const Argument& argument : hole.arguments) bits_.push_back(bits_of(argument.asked));
  }

  /// In how many ways the words of argument j are chosen.
  std::uint64_t ways(std::size_t j) const {
    const auto bits_of_n = static_cast<std::uint64_t>(std::countr_zero(n_));
    if (freedom_ == Freedom::easy) return j == 0 ? 1 : 1 + bits_of_n;
    std::uint64_t count = 1;
    for (std::size_t b = 0; b < bits_[j]; ++b) {
      const bool is_permuted = j == 0 && freedom_ == Freedom::full;
      count = times(count, !is_permuted ? n_ : bits_of_n > b ? bits_of_n - b : 0);
    }
    return count;
  }

  std::uint64_t count() const {
    std::uint64_t all = n_;
    for (std::size_t j = 0; j < bits_.size(); ++j) all = times(all, ways(j));
    return all;
  }

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) const {
    constexpr std::uint64_t kMostWays = std::uint64_t{1} << 32;
    if (count() > kMostWays)
      builder.cut_off(Limit::size, "are written in more than 2^32 ways", "at most 2^32 ways");
    std::vector<std::uint32_t> rows(n_);
    for (std::uint64_t first = 0; first < ways(0); ++first) {
      builder.check_limits();
      const Words words = words_of(0, first);
      if (!make_rows(hole, words, builder, rows)) continue;
      add_functions(hole, builder, rows, first, score_of(words));
    }
  }

  Parameters parameters(std::uint64_t source) const override {
    BitsParameters p;
    p.constant = static_cast<std::int64_t>(source % n_);
    source /= n_;
    for (std::size_t j = bits_.size(); j-- > 0;) {
      p.columns.insert(p.columns.begin(), words_of(j, source % ways(j)));
      source /= ways(j);
    }
    return p;
  }

 private:
  Words words_of(std::size_t j, std::uint64_t way) const {
    Words words(bits_[j]);
    if (freedom_ == Freedom::easy) {
      // The argument's own bits, or shifted by way - 1, or nothing.
      for (std::size_t b = 0; b < words.size(); ++b)
        if (j == 0 || way > 0)
          words[b] = static_cast<std::int64_t>((std::uint64_t{1} << b << (j == 0 ? 0 : way - 1)) & (n_ - 1));
      return words;
    }
    if (j > 0 || freedom_ != Freedom::full) {
      for (std::int64_t& word : words) {
        word = static_cast<std::int64_t>(way % n_);
        way /= n_;
      }
      return words;
    }
    std::vector<std::int64_t> left;
    for (std::uint64_t bit = 1; bit < n_; bit *= 2) left.push_back(static_cast<std::int64_t>(bit));
    for (std::int64_t& word : words) {
      const auto at = left.begin() + static_cast<std::ptrdiff_t>(way % left.size());
      way /= left.size();
      word = *at;
      left.erase(at);
    }
    return words;
  }

  // By offset. Nothing is made of words that are not one-to-one where they must be.
  static bool make_rows(const HoleDeclaration& hole, const Words& words, FunctionBuilder& builder,
                        std::vector<std::uint32_t>& rows) {
    std::vector<std::int32_t> plain(builder.rows().length());
    for (std::size_t i = 0; i < plain.size(); ++i)
      for (std::size_t b = 0; b < words.size(); ++b)
        if ((i >> b & 1) != 0) plain[i] ^= static_cast<std::int32_t>(words[b]);
    if (hole.one_to_one) {
      std::vector<std::int32_t> sorted = plain;
      std::ranges::sort(sorted);
      if (std::ranges::adjacent_find(sorted) != sorted.end()) return false;
    }
    std::vector<std::int32_t> row(plain.size());
    for (std::size_t offset = 0; offset < rows.size(); ++offset) {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = plain[i] ^ static_cast<std::int32_t>(offset);
      rows[offset] = builder.rows().number(row);
    }
    return true;
  }

  void add_functions(const HoleDeclaration& hole, FunctionBuilder& builder,
                     const std::vector<std::uint32_t>& rows, std::uint64_t first, std::int32_t score) const {
    std::uint64_t others = 1;
    for (std::size_t j = 1; j < bits_.size(); ++j) others *= ways(j);
    std::vector<std::uint64_t> offsets(builder.columns());
    std::vector<std::uint32_t> function(builder.columns());
    for (std::uint64_t other = 0; other < others; ++other) {
      const std::uint64_t source = first * others + other;
      const auto p = std::get<BitsParameters>(parameters(source * n_));
      std::int32_t all = score;
      for (std::size_t j = 1; j < p.columns.size(); ++j) all += score_of(p.columns[j]);
      std::vector<std::int64_t> arguments(hole.arguments.size(), 0);
      for (std::uint64_t& offset : offsets) {
        offset = static_cast<std::uint64_t>(value_of(Parameters(p), arguments));
        for (std::size_t j = 1; j < arguments.size() && ++arguments[j] == hole.arguments[j].asked; ++j)
          arguments[j] = 0;
      }
      for (std::uint64_t constant = 0; constant < n_; ++constant) {
        std::uint64_t hash = 0;
        for (std::size_t k = 0; k < function.size(); ++k) {
          function[k] = rows[offsets[k] ^ constant];
          hash += hash_part(k, function[k]);
        }
        builder.add(function, hash, all + (constant != 0 ? 1 : 0), source * n_ + constant);
      }
    }
  }

  std::uint64_t n_;
  Freedom freedom_;
  std::vector<std::size_t> bits_;  // of each argument
};

class FormulaFamily final : public Family {
 public:
  explicit FormulaFamily(std::vector<Index> formulas) : formulas_(std::move(formulas)) {}

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) const {
    std::vector<std::int32_t> table(static_cast<std::size_t>(cells(hole)));
    for (std::size_t f = 0; f < formulas_.size(); ++f) {
      builder.check_limits();
      for_each_cell(hole, [&](std::size_t cell, std::span<const std::int64_t> arguments) {
        table[cell] = static_cast<std::int32_t>(evaluate(formulas_[f], arguments));
      });
      builder.add_table(table, operations(as_index(parameters(f), hole)), f);
    }
  }

  Parameters parameters(std::uint64_t source) const override {
    return FormulaParameters{formulas_[static_cast<std::size_t>(source)]};
  }

 private:
  std::vector<Index> formulas_;
};

}  // namespace

std::shared_ptr<const Family> build_bits(const HoleDeclaration& hole, Space space, FunctionBuilder& builder) {
  auto family = std::make_shared<BitsFamily>(hole, space);
  family->build(hole, builder);
  return family;
}

std::uint64_t count_bits(const HoleDeclaration& hole, Space space) { return BitsFamily(hole, space).count(); }

std::shared_ptr<const Family> build_formulas(const HoleDeclaration& hole, FunctionBuilder& builder) {
  auto family = std::make_shared<FormulaFamily>(hole.formulas);
  family->build(hole, builder);
  return family;
}

}  // namespace faro::swizzle::detail
