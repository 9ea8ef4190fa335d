// The index expressions of a statement, one after another; those of a loop's body are not among them.
#pragma once

#include <variant>

#include "faro/swizzle/program.hpp"

namespace faro::swizzle {

/// Calls each(index) for every expression of the statement itself.
template <typename Each>
void each_expression(const Statement& statement, const Each& each) {
  if (const auto* load = std::get_if<LoadStatement>(&statement)) {
    each(load->to.index);
    each(load->address);
    each(load->when);
  } else if (const auto* store = std::get_if<StoreStatement>(&statement)) {
    each(store->from.index);
    each(store->address);
    each(store->when);
  } else if (const auto* shuffle = std::get_if<ShuffleStatement>(&statement)) {
    each(shuffle->to.index);
    each(shuffle->from.index);
    each(shuffle->lane);
  } else if (const auto* permute = std::get_if<PermuteStatement>(&statement)) {
    each(permute->source);
  } else if (const auto* move = std::get_if<MoveStatement>(&statement)) {
    each(move->to.index);
    each(move->from.index);
  } else if (const auto* accumulate = std::get_if<AccumulateStatement>(&statement)) {
    for (const Register& value : accumulate->term) each(value.index);
    each(accumulate->when);
  } else if (const auto* evaluate = std::get_if<EvaluateStatement>(&statement)) {
    each(evaluate->to.index);
  } else if (const auto* present = std::get_if<PresentStatement>(&statement)) {
    each(present->address);
    each(present->when);
  }
}

/// Whether the tree has a node of this kind.
inline bool contains(const Index& index, IndexKind kind) {
  if (index.kind() == kind) return true;
  for (const Index& operand : index.operands())
    if (contains(operand, kind)) return true;
  return false;
}

}  // namespace faro::swizzle
