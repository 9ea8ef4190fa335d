// Makes lane programs: no value twice, none that is another already.
#pragma once

#include <map>
#include <vector>

#include "faro/exchange/lane_program.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::exchange {

/// An affine function of a byte's place i in a word and of the lane.
struct PlaceFunction {
  f2::Word constant = 0;
  std::array<f2::Word, 2> of_byte{};
  std::array<f2::Word, kMostLaneBits> of_lane{};
};

/// A word to be made of a family of words: its byte i of lane l is byte `byte(i, l)` of member `word(i, l)`.
struct WantedWord {
  PlaceFunction byte;
  PlaceFunction word;
};

class ProgramBuilder {
 public:
  ProgramBuilder(int lane_bits, int inputs);

  int input(int i) const { return i; }
  int shuffle(int a, const LaneValue& source);
  /// Law: select(p, a, b) is b where p(lane), which has one bit, is 1.
  int select(const LaneValue& p, int a, int b);
  int permute(int a, int b, LaneValue selector);
  /// One permutation for each two words in question, and selects between those, that siblings share.
  int make(const std::vector<int>& family, const WantedWord& wanted);

  /// The program without what no output needs.
  LaneProgram finish(const std::vector<int>& outputs) const;

 private:
  int add(const Instruction& instruction);

  int lane_bits_;
  int inputs_;
  std::vector<Instruction> instructions_;
  std::map<Instruction, int> known_;
};

}  // namespace faro::exchange
