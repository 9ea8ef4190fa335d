#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "swizzle/arithmetic.hpp"
#include "swizzle/function_builder.hpp"

// Parameters fall into three parts that meet only in rows: the base (gs, df, g, cf, wrap), the rotation
// (cr, dr, c), of which only the sequence R(k) mod M matters, and the shift (ecr, ec). A row is made once for
// each base, R mod M and shift mod gs.
namespace faro::swizzle::detail {
namespace {

// A source: the base's number, then ecr gs + ec, then the rotation's number.
constexpr int kShiftBits = 20;
constexpr int kRotationBits = 24;
constexpr std::uint64_t kShiftMask = (std::uint64_t{1} << kShiftBits) - 1;
constexpr std::uint64_t kRotationMask = (std::uint64_t{1} << kRotationBits) - 1;
constexpr std::int64_t kLargestGroup = 512;

struct Base {
  std::int64_t gs = 1, df = 1, g = 1, cf = 0;
  bool wrap = false;
  std::int64_t modulus() const { return wrap ? g : gs; }
};

struct Rotation {
  std::int64_t cr = 0, dr = 1, c = 0;
  std::int32_t score = 0;
};

struct Shift {
  std::int64_t ecr = 0, ec = 0;
};

struct Rotations {
  std::vector<Rotation> simplest;
  std::vector<std::uint32_t> sequences;  // R(k) mod M, by rotation, then k
};

// Roughly the operations of the formula that is left when what is trivial is left out.
std::int32_t score_of(const Base& base, std::int64_t n) {
  std::int32_t score = 0;
  if (base.gs < n) score += 4;
  if (base.df < base.gs) score += 2;
  if (base.wrap) score += 2;
  if (base.cf > 1) score += 1;
  return score;
}

std::int32_t score_of(const Rotation& r, std::int64_t modulus, std::int64_t m) {
  std::int32_t score = 0;
  if (r.cr != 0) score += r.cr == 1 || r.cr == modulus - 1 ? 1 : 2;
  if (std::abs(r.dr) < m) score += 2;
  if (r.c != 0) score += 1;
  return score;
}

std::int32_t score_of(const Shift& shift) { return (shift.ecr != 0 ? 2 : 0) + (shift.ec != 0 ? 1 : 0); }

std::vector<std::int64_t> group_gcds(std::int64_t gs, std::int64_t df, Freedom freedom) {
  if (freedom < Freedom::gcd) return {gs / df};
  std::vector<std::int64_t> result;
  for (std::int64_t g = 1; g <= gs; ++g) result.push_back(g);
  return result;
}

std::vector<Base> bases_of(const HoleDeclaration& hole, Freedom freedom) {
  std::vector<Base> bases;
  if (freedom == Freedom::easy) {
    for (std::int64_t cf = 0; cf < hole.n; ++cf) bases.push_back({hole.n, hole.n, 1, cf, false});
    return bases;
  }
  for (const std::int64_t gs : divisors(hole.n)) {
    for (const std::int64_t df : divisors(gs)) {
      for (std::int64_t cf = 0; cf < gs; ++cf) {
        // Without wrap, g says only which cf there are.
        if (freedom >= Freedom::gcd || cf % (gs / df) == 0) {
          bases.push_back({gs, df, cf % (gs / df) == 0 ? gs / df : 1, cf, false});
        }
        for (const std::int64_t g : group_gcds(gs, df, freedom)) {
          if (cf % g == 0) bases.push_back({gs, df, g, cf, true});
        }
      }
    }
  }
  return bases;
}

class XformFamily final : public Family {
 public:
  XformFamily(const HoleDeclaration& hole, Freedom freedom)
      : n_(hole.n), m_(hole.m), freedom_(freedom), bases_(bases_of(hole, freedom)) {
    divisors_of_m_ = freedom == Freedom::easy ? std::vector<std::int64_t>{m_} : divisors(m_);
  }

  void build(const HoleDeclaration& hole, FunctionBuilder& builder) {
    for (std::size_t b = 0; b < bases_.size(); ++b) build_base(hole, b, builder);
  }

  Parameters parameters(std::uint64_t source) const override {
    const Base& base = bases_[source >> (kShiftBits + kRotationBits)];
    const Rotation& rotation = rotations_.at(base.modulus()).simplest[source & kRotationMask];
    const std::uint64_t shift = (source >> kRotationBits) & kShiftMask;
    const auto gs = static_cast<std::uint64_t>(base.gs);
    XformParameters p;
    p.n = n_;
    p.cf = base.cf;
    p.df = base.df;
    p.gs = base.gs;
    p.g = base.g;
    p.wrap = base.wrap;
    p.cr = rotation.cr;
    p.dr = rotation.dr;
    p.c = rotation.c;
    p.ecr = static_cast<std::int64_t>(shift / gs);
    p.ec = static_cast<std::int64_t>(shift % gs);
    return p;
  }

 private:
  // The distinct sequences for a modulus, each with the simplest parameters: those that come first.
  const Rotations& rotations(std::int64_t modulus, std::size_t columns) {
    const auto [place, fresh] = rotations_.try_emplace(modulus);
    Rotations& result = place->second;
    if (!fresh) return result;
    std::vector<Rotation> all;
    for (std::int64_t cr = 0; cr < modulus; ++cr) {
      for (std::int64_t c = 0; c < modulus; ++c) {
        for (auto d = divisors_of_m_.rbegin(); d != divisors_of_m_.rend(); ++d) {
          for (const std::int64_t dr : {*d, -*d}) {
            if (freedom_ == Freedom::easy && dr < 0) continue;
            all.push_back({cr, dr, c, 0});
            all.back().score = score_of(all.back(), modulus, m_);
          }
        }
      }
    }
    std::ranges::stable_sort(all, {}, &Rotation::score);
    HashSlots slots;
    std::vector<std::uint32_t> sequence(columns);
    const auto hash = [](std::span<const std::uint32_t> values) {
      std::uint64_t h = 0;
      for (std::size_t k = 0; k < values.size(); ++k) h += hash_part(k, values[k]);
      return h;
    };
    const auto at = [&](std::uint32_t s) {
      return std::span<const std::uint32_t>(result.sequences).subspan(s * columns, columns);
    };
    for (const Rotation& rotation : all) {
      for (std::size_t k = 0; k < columns; ++k) {
        const auto x = static_cast<std::int64_t>(k);
        sequence[k] = static_cast<std::uint32_t>(
            floor_remainder(rotation.cr * x + x / rotation.dr + rotation.c, modulus));
      }
      const std::uint64_t h = hash(sequence);
      if (slots.find(h, [&](std::uint32_t s) { return std::ranges::equal(at(s), sequence); }) !=
          HashSlots::kEmpty) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(result.simplest.size());
      result.simplest.push_back(rotation);
      result.sequences.insert(result.sequences.end(), sequence.begin(), sequence.end());
      slots.insert(h, number, [&](std::uint32_t s) { return hash(at(s)); });
    }
    return result;
  }

  // The row's number, or kEmpty if it is not one-to-one where it must be.
  std::uint32_t row(const HoleDeclaration& hole, const Base& base, std::int64_t rotation, std::int64_t shift,
                    RowTable& rows) {
    values_.resize(static_cast<std::size_t>(n_));
    seen_.assign(static_cast<std::size_t>(n_), false);
    for (std::int64_t i = 0; i < n_; ++i) {
      const std::int64_t inner = (i % base.gs + shift) % base.gs;
      std::int64_t offset = inner / base.df + rotation;
      if (base.wrap) offset %= base.g;
      const std::int64_t value = base.gs * (i / base.gs) + (base.cf * inner + offset) % base.gs;
      if (hole.one_to_one && seen_[static_cast<std::size_t>(value)]) return HashSlots::kEmpty;
      seen_[static_cast<std::size_t>(value)] = true;
      values_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(value);
    }
    return rows.number(std::span(values_).first(rows.length()));
  }

  void build_base(const HoleDeclaration& hole, std::size_t b, FunctionBuilder& builder) {
    const Base& base = bases_[b];
    builder.check_limits();
    const std::int64_t modulus = base.modulus();
    const std::int64_t shifts = freedom_ == Freedom::extra ? base.gs : 1;
    const std::size_t columns = builder.columns();
    std::vector<std::uint32_t> numbers;  // by shift, then rotation
    numbers.reserve(static_cast<std::size_t>(shifts * modulus));
    for (std::int64_t shift = 0; shift < shifts; ++shift) {
      for (std::int64_t rotation = 0; rotation < modulus; ++rotation) {
        numbers.push_back(row(hole, base, rotation, shift, builder.rows()));
      }
    }
    if (std::ranges::all_of(numbers, [](std::uint32_t r) { return r == HashSlots::kEmpty; })) return;
    const Rotations& sequences = rotations(modulus, columns);
    const std::int32_t base_score = score_of(base, n_);
    std::vector<std::uint32_t> function(columns);
    for (std::int64_t s = 0; s < shifts * shifts; ++s) {
      const Shift shift{s / shifts, s % shifts};
      for (std::size_t r = 0; r < sequences.simplest.size(); ++r) {
        const std::uint32_t* sequence = sequences.sequences.data() + r * columns;
        std::uint64_t hash = 0;
        bool is_function = true;
        std::int64_t moved = shift.ec;
        for (std::size_t k = 0; k < columns; ++k) {
          const std::uint32_t number = numbers[static_cast<std::size_t>(moved * modulus) + sequence[k]];
          if (number == HashSlots::kEmpty) {
            is_function = false;
            break;
          }
          function[k] = number;
          hash += hash_part(k, number);
          moved += shift.ecr;
          if (moved >= base.gs) moved -= base.gs;
        }
        if (!is_function) continue;
        builder.add(
            function, hash, base_score + sequences.simplest[r].score + score_of(shift),
            (((std::uint64_t{b} << kShiftBits) | static_cast<std::uint64_t>(s)) << kRotationBits) | r);
      }
    }
  }

  std::int64_t n_, m_;
  Freedom freedom_;
  std::vector<Base> bases_;
  std::vector<std::int64_t> divisors_of_m_;
  std::map<std::int64_t, Rotations> rotations_;  // by modulus
  std::vector<std::int32_t> values_;
  std::vector<bool> seen_;
};

}  // namespace

std::int64_t value_of(const XformParameters& p, std::int64_t i, std::int64_t k) {
  const std::int64_t inner = floor_remainder(floor_remainder(i, p.gs) + p.ecr * k + p.ec, p.gs);
  const std::int64_t rotation = p.cr * k + k / p.dr + p.c;
  std::int64_t offset = floor_divided(inner, p.df) + rotation;
  if (p.wrap) offset = floor_remainder(offset, p.g);
  return p.gs * floor_divided(i, p.gs) + floor_remainder(p.cf * inner + offset, p.gs);
}

std::shared_ptr<const Family> build_xforms(const HoleDeclaration& hole, Space space,
                                           FunctionBuilder& builder) {
  if (hole.n > kLargestGroup)
    builder.cut_off(Limit::size, "are of an n of more than " + std::to_string(kLargestGroup),
                    "n of at most " + std::to_string(kLargestGroup));
  auto family = std::make_shared<XformFamily>(hole, freedom_in(hole, space));
  family->build(hole, builder);
  return family;
}

std::uint64_t count_xforms(const HoleDeclaration& hole, Space space) {
  const Freedom freedom = freedom_in(hole, space);
  const auto n = static_cast<std::uint64_t>(hole.n);
  if (freedom == Freedom::easy) return n * n * n;
  std::uint64_t count = 0;
  for (const std::int64_t gs : divisors(hole.n)) {
    std::uint64_t fans = 0;
    for (const std::int64_t df : divisors(gs)) {
      for (const std::int64_t g : group_gcds(gs, df, freedom)) {
        fans += static_cast<std::uint64_t>((gs + g - 1) / g);
      }
    }
    const auto size = static_cast<std::uint64_t>(gs);
    const std::uint64_t rotations = size * size * 2 * divisors(hole.m).size();
    count += fans * 2 * rotations * (freedom == Freedom::extra ? size * size : 1);
  }
  return count;
}

}  // namespace faro::swizzle::detail
