#include <array>
#include <string>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "network/rewrite.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace rules {
namespace {

bool is(const Program& program, ProgramKind kind) { return program.kind() == kind; }
bool has_part(const Program& program) {
  return is(program, ProgramKind::two) || is(program, ProgramKind::parm);
}

/// The two parts of f . g, or nothing.
struct Neighbours {
  const Program& f;
  const Program& g;
};
std::optional<Neighbours> neighbours(const Program& program) {
  if (!is(program, ProgramKind::compose) || program.parts().size() != 2) return {};
  return Neighbours{program.parts()[0], program.parts()[1]};
}

// The same combinator around another part.
Program around(const Program& combinator, const Program& part) {
  return is(combinator, ProgramKind::two) ? two(part) : parm(combinator.mask(), part);
}

// Whether pairs(op) does the same to a pair wherever it is, in an array of whatever size.
bool same_everywhere(const Operator& op) { return !needs_pair_number(op.kind); }

// The product's name, where its factors have names that are shorter than its matrix.
std::string product_text(const Program& f, const Program& g, const Affine& product) {
  if (f.map_text().empty() && g.map_text().empty()) return {};
  std::string text = "compose(" + bmmc_text(f) + ", " + bmmc_text(g) + ")";
  return text.size() < faro::to_text(Permutation(product)).size() ? text : std::string();
}

bool keeps_neighbours(const Affine& map) {
  const f2::Matrix& a = map.matrix();
  if (a.column(0) != 1 || f2::bit(map.complement(), 0)) return false;
  for (int j = 1; j < map.bits(); ++j) {
    if (a.at(0, j)) return false;
  }
  return true;
}

}  // namespace

std::optional<Program> drop_map(const Program& program) {
  if (!is(program, ProgramKind::bmmc) || !program.map().is_identity()) return {};
  return identity(program.bits());
}

std::optional<Program> drop_identity(const Program& program) {
  const std::optional<Neighbours> both = neighbours(program);
  if (!both) return {};
  if (is(both->g, ProgramKind::identity)) return both->f;
  if (is(both->f, ProgramKind::identity)) return both->g;
  return {};
}

std::optional<Program> drop_parts(const Program& program) {
  if (!has_part(program) || !is(program.part(), ProgramKind::identity)) return {};
  return identity(program.bits());
}

std::optional<Program> fuse_bmmc(const Program& program) {
  const std::optional<Neighbours> both = neighbours(program);
  if (!both || !is(both->f, ProgramKind::bmmc) || !is(both->g, ProgramKind::bmmc)) return {};
  const Affine product = compose(both->f.map(), both->g.map());
  return bmmc(product, product_text(both->f, both->g, product));
}

std::optional<Program> cancel_inverses(const Program& program) {
  const std::optional<Neighbours> both = neighbours(program);
  if (!both || !is(both->f, ProgramKind::bmmc) || !is(both->g, ProgramKind::bmmc)) return {};
  if (!(both->f.map() == both->g.map().inverse())) return {};
  return identity(program.bits());
}

std::optional<Program> parm_is_two(const Program& program) {
  if (!is(program, ProgramKind::parm) || program.mask() != f2::unit(program.bits() - 1)) return {};
  return two(program.part());
}

std::optional<Program> parm_to_halves(const Program& program) {
  if (!is(program, ProgramKind::parm)) return {};
  const Affine q = maps::parm(program.bits(), program.mask());
  return composition({bmmc(q.inverse()), two(program.part()), bmmc(q)}, program.bits());
}

std::optional<Program> lift_bmmc(const Program& program) {
  if (!has_part(program) || !is(program.part(), ProgramKind::bmmc)) return {};
  const Affine both = direct_sum(program.part().map(), Affine(1));
  if (is(program, ProgramKind::two)) return bmmc(both);
  const Affine q = maps::parm(program.bits(), program.mask());
  return bmmc(compose(q.inverse(), compose(both, q)));
}

std::optional<Program> fuse_parts(const Program& program) {
  const std::optional<Neighbours> both = neighbours(program);
  if (!both || !has_part(both->f) || both->f.kind() != both->g.kind()) return {};
  if (both->f.mask() != both->g.mask()) return {};
  return around(both->f, compose(both->f.part(), both->g.part()));
}

std::optional<Program> split_parts(const Program& program) {
  if (!has_part(program) || !is(program.part(), ProgramKind::compose)) return {};
  std::vector<Program> parts;
  for (const Program& part : program.part().parts()) parts.push_back(around(program, part));
  return composition(parts, program.bits());
}

std::optional<Program> widen_pairs(const Program& program) {
  if (!has_part(program) || !is(program.part(), ProgramKind::pairs)) return {};
  if (f2::bit(program.mask(), 0) || !same_everywhere(program.part().op())) return {};
  return pairs(program.part().op(), program.bits());
}

std::optional<Program> lift_each(const Program& program) {
  if (!has_part(program) || !is(program.part(), ProgramKind::each)) return {};
  return each(program.part().op(), program.bits());
}

std::optional<Program> hoist_bmmc(const Program& program) {
  const std::optional<Neighbours> both = neighbours(program);
  if (!both || !is(both->g, ProgramKind::bmmc)) return {};
  if (is(both->f, ProgramKind::each)) return compose(both->g, both->f);
  if (!is(both->f, ProgramKind::pairs)) return {};
  if (!same_everywhere(both->f.op()) || !keeps_neighbours(both->g.map())) return {};
  return compose(both->g, both->f);
}

std::optional<Program> exchange_parm(const Program& program) {
  if (!is(program, ProgramKind::parm) || !is(program.part(), ProgramKind::parm)) return {};
  const f2::Word outer = program.mask();
  const f2::Word inner = program.part().mask();
  if (!f2::is_power_of_two(outer) || !f2::is_power_of_two(inner) || outer > inner) return {};
  return parm(inner << 1, parm(outer, program.part().part()));
}

}  // namespace rules

std::span<const Rule> rewrite_rules() {
  static constexpr std::array kRules{
      Rule{"drop-map", "bmmc(identity) = id", rules::drop_map},
      Rule{"drop-identity", "f . id = f, id . f = f", rules::drop_identity},
      Rule{"drop-parts", "two(id) = id, parm(m; id) = id", rules::drop_parts},
      Rule{"fuse-bmmc", "bmmc(A, c) . bmmc(B, d) = bmmc(A B, A d ^ c)", rules::fuse_bmmc},
      Rule{"cancel-inverses", "bmmc(A) . bmmc(A^-1) = id", rules::cancel_inverses},
      Rule{"parm-is-two", "parm(2^(n-1); f) = two(f)", rules::parm_is_two},
      Rule{"parm-to-halves", "parm(m; f) = bmmc(Q^-1) . two(f) . bmmc(Q)", rules::parm_to_halves},
      Rule{"lift-bmmc", "parm(m; bmmc(A, c)) = bmmc(Q^-1 diag(A, 1) Q, Q^-1 (c, 0))", rules::lift_bmmc},
      Rule{"fuse-parts", "parm(m; f) . parm(m; g) = parm(m; f . g)", rules::fuse_parts},
      Rule{"split-parts", "parm(m; f . g) = parm(m; f) . parm(m; g)", rules::split_parts},
      Rule{"widen-pairs", "parm(m; pairs(op)) = pairs(op), m even", rules::widen_pairs},
      Rule{"lift-each", "parm(m; each(f)) = each(f)", rules::lift_each},
      Rule{"hoist-bmmc",
           "pairs(op) . bmmc(A) = bmmc(A) . pairs(op), A keeps neighbours; each(f) likewise, any A",
           rules::hoist_bmmc},
      Rule{"exchange-parm", "parm(2^i; parm(2^j; f)) = parm(2^(j+1); parm(2^i; f)), i <= j",
           rules::exchange_parm}};
  return kRules;
}

}  // namespace faro::network
