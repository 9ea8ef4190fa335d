#include "swizzle/ways.hpp"

#include "swizzle/hash_slots.hpp"

namespace faro::swizzle::detail {

Signature signature(ValueId value) { return Signature{1} << (mixed(value) % 64); }

Ways::Ways(const ChoiceGraph& graph, Domains& domains) : graph_(graph), domains_(domains) { sign_nodes(); }

// Nodes may stand in any order: outcomes are signed before what chooses among them.
void Ways::sign_nodes() {
  signatures_.assign(graph_.nodes.size(), 0);
  holes_of_.assign(graph_.nodes.size(), 0);
  std::vector<bool> is_signed(graph_.nodes.size(), false);
  std::vector<NodeId> open;
  for (NodeId root = 0; root < graph_.nodes.size(); ++root) {
    open.push_back(root);
    while (!open.empty()) {
      const NodeId number = open.back();
      const Node& node = graph_.nodes[number];
      const std::size_t before = open.size();
      Signature bits = node.kind == NodeKind::value ? signature(node.value) : 0;
      HoleMask holes = 0;
      for (const HoleCell& cell : node.decision.cells) holes |= mask_of(cell.hole);
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

void Ways::begin(std::size_t most_steps) {
  path_.clear();
  marks_.clear();
  ways_ = 0;
  steps_ = 0;
  most_steps_ = most_steps;
}

bool Ways::is_open(const HoleCell& cell) const {
  return !domains_.is_decided(cell.hole) && !domains_.is_opaque(cell) &&
         std::ranges::find(path_, domains_.cell_number(cell), &Step::number) == path_.end();
}

void Ways::keep() {
  ++ways_;
  for (const Step& step : path_) {
    auto mark = std::ranges::find(marks_, step.number, &Mark::number);
    if (mark == marks_.end()) {
      // Ways before this one did not ask the cell: it will not be in all of them.
      if (ways_ > 1) continue;
      mark = marks_.insert(mark, {step.cell, step.number, 0, 0});
    }
    mark->values |= ValueMask{1} << step.value;
    ++mark->ways;
  }
}

Verdict Ways::restrict_kept() {
  if (ways_ == 0) return Verdict::contradiction;
  bool changed = false;
  for (const Mark& mark : marks_) {
    if (mark.ways != ways_) continue;
    if (domains_.is_decided(mark.cell.hole)) {
      if ((mark.values >> domains_.value(mark.cell) & 1) == 0) return Verdict::contradiction;
      continue;
    }
    if (!domains_.restrict(mark.cell, mark.values, changed)) return Verdict::contradiction;
  }
  return changed ? Verdict::changed : Verdict::quiet;
}

}  // namespace faro::swizzle::detail
