#include "swizzle/supports.hpp"

#include "swizzle/hash_slots.hpp"

namespace faro::swizzle::detail {

Signature signature(ValueId value) { return Signature{1} << (mixed(value) % 64); }

Supports::Supports(const ConstraintModel& model, Domains& domains) : model_(model), domains_(domains) {
  sign_nodes();
}

// Nodes may stand in any order: outcomes are signed before what chooses among them.
void Supports::sign_nodes() {
  signatures_.assign(model_.nodes.size(), 0);
  holes_of_.assign(model_.nodes.size(), 0);
  std::vector<bool> is_signed(model_.nodes.size(), false);
  std::vector<NodeId> open;
  for (NodeId root = 0; root < model_.nodes.size(); ++root) {
    open.push_back(root);
    while (!open.empty()) {
      const NodeId number = open.back();
      const Node& node = model_.nodes[number];
      const std::size_t before = open.size();
      Signature bits = node.kind == NodeKind::value ? signature(node.value) : 0;
      HoleMask holes = 0;
      for (const Variable& cell : node.scope.variables) holes |= mask_of(cell.hole);
      for (const NodeId outcome : node.outcomes) {
        if (outcome != kNoNode) holes |= holes_of_[outcome];
        if (outcome != kNoNode && !is_signed[outcome]) open.push_back(outcome);
        bits |= outcome == kNoNode ? signature(kUndefined) : signatures_[outcome];
      }
      if (open.size() != before) continue;
      signatures_[number] = bits;
      holes_of_[number] = holes;
      is_signed[number] = true;
      open.pop_back();
    }
  }
}

void Supports::begin(std::size_t most_steps) {
  path_.clear();
  marks_.clear();
  kept_ = 0;
  steps_ = 0;
  most_steps_ = most_steps;
}

bool Supports::is_open(const Variable& cell) const {
  return !domains_.is_fixed(cell.hole) && !domains_.is_opaque(cell) &&
         std::ranges::find(path_, domains_.cell_number(cell), &Step::number) == path_.end();
}

void Supports::keep() {
  ++kept_;
  for (const Step& step : path_) {
    auto mark = std::ranges::find(marks_, step.number, &Mark::number);
    if (mark == marks_.end()) {
      // Supports before this one did not ask the cell: it will not be in all of them.
      if (kept_ > 1) continue;
      mark = marks_.insert(mark, {step.cell, step.number, 0, 0});
    }
    mark->values |= ValueMask{1} << step.value;
    ++mark->ways;
  }
}

Filtering Supports::restrict_kept() {
  if (kept_ == 0) return Filtering::contradiction;
  bool changed = false;
  for (const Mark& mark : marks_) {
    if (mark.ways != kept_) continue;
    if (domains_.is_fixed(mark.cell.hole)) {
      if ((mark.values >> domains_.value(mark.cell) & 1) == 0) return Filtering::contradiction;
      continue;
    }
    if (!domains_.restrict(mark.cell, mark.values, changed)) return Filtering::contradiction;
  }
  return changed ? Filtering::pruned : Filtering::unchanged;
}

}  // namespace faro::swizzle::detail
