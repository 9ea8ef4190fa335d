// Theorem 4's construction: a cycle is the product of two reflections.
//
// A' is the map with some members of a basis of functionals redirected so that each block is a cycle, or a
// multiplication by x that reads the same backwards; then A' = J2 o J1 with involutions J1, J2:
//
//     cycle of m     i -> i + 1            J1 and J2 mirror the positions, at two axes next to each other
//     F2[x]/p        x^i -> x^(i+1)        x^i -> x^-i, then x^i -> x^-(i+1): where p is its own reciprocal
//     p and p*       both at once          the same, from the one block to the other
//
// What was redirected is put back by the first or by the second involution: it moves segments' elements only
// (chains), or costs one dimension (leftover blocks, whose p has no reciprocal). So B1 = J1 o G1 and B2 =
// G2 o J2 are the map's two factors, each an involution modulo a space that it keeps:
//
//     T1 = S + one dimension a leftover block of the first      T2 = S + J2 S + one a block of the second
#pragma once

#include <vector>

#include "layout/cyclic_blocks.hpp"
#include "layout/functionals.hpp"

namespace faro::layout::detail {

/// The image of every member of a growing basis of functionals under four maps: phi -> phi o J1, phi o J2,
/// phi o A', and phi o A'', which is A' but with the blocks of the first factor as the map has them.
class ReflectionTable {
 public:
  explicit ReflectionTable(const Functionals& f) : f_(f) {}

  /// The last member is redirected to the first; J1 fixes it, and with it S.
  void add_chain(const Chain& chain);
  /// Requires: an annihilator that is its own reciprocal.
  void add_palindrome(const CyclicBlock& block);
  /// Requires: annihilators that are each other's reciprocals.
  void add_pair(const CyclicBlock& block, const CyclicBlock& other);
  /// Any block: redirected to a cycle in the first factor, or in the second.
  void add_leftover_to_first(const CyclicBlock& block);
  void add_leftover_to_second(const CyclicBlock& block);

  struct Factor {
    Affine map;
    f2::Subspace space;
  };
  struct Factors {
    Factor first;
    Factor second;
  };
  /// Laws (checked): J1 and J2 are involutions, J2 o J1 = A', the factors' product is the map.
  /// Requires: blocks that were added are together a basis.
  Factors factors() const;

 private:
  enum class Redirected { in_first, in_second };
  void add_cycle(const std::vector<f2::Word>& members, int mirror, Redirected where);
  void add_mirrored(const CyclicBlock& block, f2::Word onto);

  const Functionals& f_;
  std::vector<f2::Word> basis_;
  std::vector<f2::Word> by_j1_;
  std::vector<f2::Word> by_j2_;
  std::vector<f2::Word> by_cycles_;  // A'
  std::vector<f2::Word> by_second_;  // A''
  // Members of basis_ whose dual vectors the factors' spaces take in.
  std::vector<int> redirected_in_first_;
  std::vector<int> redirected_in_second_;
};

}  // namespace faro::layout::detail
