// normal_form(): one walk over the program in the order in which it runs, carrying the map from an element's
// index in the input to the index it has by now, within the part of the array that is being looked at:
//
//     bmmc(A)       the index goes through A
//     pairs         a layer, whose frame is the index as it is now
//     each          a layer in whatever frame the one before has
//     two(f)        f sees the low n - 1 bits; the high bit says which half
//     parm(m; f)    the index goes through the map of m, which makes it two(f); and back
#include <utility>

#include "faro/network/plan.hpp"

namespace faro::network {
namespace {

using f2::Matrix;
using f2::Word;

// The sub-array of x becomes the high bit, the place in it the low bits: y_i = x_i below the mask's lowest
// bit l, x_{i+1} from there on, parity(x & mask) on top.
Affine parm_map(Word mask, int n) {
  const int low = f2::trailing_bit(mask);
  Matrix a = Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) {
    const Word place = j < low ? f2::unit(j) : (j == low ? 0 : f2::unit(j - 1));
    a.set_column(j, place ^ (f2::bit(mask, j) ? f2::unit(n - 1) : 0));
  }
  return {a, 0};
}

class Walk {
 public:
  explicit Walk(int n) : index_(n) {}

  void visit(const Program& program) {
    switch (program.kind()) {
      case ProgramKind::identity:
        return;
      case ProgramKind::bmmc:
        return move(program.map(), program.map_text());
      case ProgramKind::pairs:
        layers_.push_back({.op = program.op(), .frame = index_, .bits = program.bits()});
        return;
      case ProgramKind::each:
        layers_.push_back({.op = program.op(),
                           .frame = layers_.empty() ? Affine(index_.bits()) : layers_.back().frame,
                           .bits = 1});
        return;
      case ProgramKind::two:
        return visit(program.part());
      case ProgramKind::parm: {
        const Affine map = parm_map(program.mask(), program.bits());
        move(map);
        visit(program.part());
        return move(map.inverse());
      }
      case ProgramKind::compose:
        for (auto part = program.parts().rbegin(); part != program.parts().rend(); ++part) visit(*part);
        return;
    }
  }

  NormalForm take() && {
    const int bits = index_.bits();
    return {.bits = bits, .layers = std::move(layers_), .final_map = index_, .final_text = std::move(text_)};
  }

 private:
  // `map` may be of a part: the bits above it say which part, and stay.
  void move(const Affine& map, const std::string& text = {}) {
    text_ = index_.is_identity() && map.bits() == index_.bits() ? text : std::string();
    index_ = compose(direct_sum(map, Affine(index_.bits() - map.bits())), index_);
  }

  Affine index_;
  std::string text_;  // the index's name, where one of the program's maps made it
  std::vector<Layer> layers_;
};

}  // namespace

NormalForm normal_form(const Program& program) {
  Walk walk(program.bits());
  walk.visit(program);
  return std::move(walk).take();
}

}  // namespace faro::network
