#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "network/drawing.hpp"
#include "network/text.hpp"

namespace faro::network {
namespace {

using Wires = std::vector<std::uint64_t>;  // which wire each element of a sub-array is on

class WiringWalk {
 public:
  // Draws the program on these wires from `stage` on, and puts them in their new order. Returns the stage
  // after.
  std::size_t run(const Program& program, Wires& wires, std::size_t stage) {
    switch (program.kind()) {
      case ProgramKind::identity:
        return stage;
      case ProgramKind::bmmc: {
        Wires moved(wires.size());
        for (std::uint64_t x = 0; x < wires.size(); ++x) moved[program.map()(x)] = wires[x];
        wires = std::move(moved);
        return stage;
      }
      case ProgramKind::pairs:
        meet(program, wires, stage);
        return stage + 1;
      case ProgramKind::each:
        if (stages_.size() <= stage) stages_.resize(stage + 1);
        for (const std::uint64_t wire : wires) stages_[stage].push_back({wire, wire, program.op(), 0, 0});
        return stage + 1;
      case ProgramKind::two:
      case ProgramKind::parm:
        return sub_arrays(program, wires, stage);
      case ProgramKind::compose:
        for (auto part = program.parts().rbegin(); part != program.parts().rend(); ++part) {
          stage = run(*part, wires, stage);
        }
    }
    return stage;
  }

  std::vector<std::vector<Meeting>> take_stages() { return std::move(stages_); }

 private:
  void meet(const Program& program, const Wires& wires, std::size_t stage) {
    if (stages_.size() <= stage) stages_.resize(stage + 1);
    for (std::uint64_t p = 0; p < wires.size() / 2; ++p) {
      stages_[stage].push_back({wires[2 * p], wires[2 * p + 1], program.op(), p, program.bits()});
    }
  }

  std::size_t sub_arrays(const Program& program, Wires& wires, std::size_t stage) {
    Wires parts[2];
    const auto side = [&](std::uint64_t x) { return f2::parity(x & program.mask()) ? 1 : 0; };
    for (std::uint64_t x = 0; x < wires.size(); ++x) parts[side(x)].push_back(wires[x]);
    std::size_t after = stage;
    for (Wires& part : parts) after = run(program.part(), part, stage);
    std::size_t next[2] = {0, 0};
    for (std::uint64_t x = 0; x < wires.size(); ++x) wires[x] = parts[side(x)][next[side(x)]++];
    return after;
  }

  std::vector<std::vector<Meeting>> stages_;
};

}  // namespace

Wiring wiring(const Program& program) {
  if (program.bits() > kMostDrawnBits) {
    fail(ErrorCode::value, "draw the program `" + short_text(program) + "`",
         "2^" + std::to_string(program.bits()) + " elements", "at most 2^" + std::to_string(kMostDrawnBits),
         "a network of fewer bits looks alike");
  }
  Wires wires(std::size_t{1} << program.bits());
  std::iota(wires.begin(), wires.end(), std::uint64_t{0});
  WiringWalk walk;
  walk.run(program, wires, 0);
  return {.stages = walk.take_stages(), .wire_of = std::move(wires)};
}

}  // namespace faro::network
