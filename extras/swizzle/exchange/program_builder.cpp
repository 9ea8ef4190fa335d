#include "exchange/program_builder.hpp"

#include <algorithm>

namespace faro::exchange {

ProgramBuilder::ProgramBuilder(int lane_bits, int inputs) : lane_bits_(lane_bits), inputs_(inputs) {
  for (int i = 0; i < inputs; ++i) add({.operation = Operation::input, .a = i, .b = 0, .lane = {}});
}

int ProgramBuilder::add(const Instruction& instruction) {
  const auto [found, is_new] = known_.try_emplace(instruction, static_cast<int>(instructions_.size()));
  if (is_new) instructions_.push_back(instruction);
  return found->second;
}

int ProgramBuilder::shuffle(int a, const LaneValue& source) {
  if (source.constant == 0 && source.is_exclusive_or(lane_bits_)) return a;
  return add({.operation = Operation::shuffle, .a = a, .b = 0, .lane = source});
}

int ProgramBuilder::select(const LaneValue& p, int a, int b) {
  if (p.constant != 0) {
    LaneValue opposite = p;
    opposite.constant = 0;
    return select(opposite, b, a);
  }
  if (p.is_constant()) return a;
  const auto side = [&](int value, bool second) {
    const Instruction& i = instructions_[static_cast<std::size_t>(value)];
    if (i.operation != Operation::select || i.lane != p) return value;
    return second ? i.b : i.a;
  };
  a = side(a, false);
  b = side(b, true);
  if (a == b) return a;
  return add({.operation = Operation::select, .a = a, .b = b, .lane = p});
}

namespace {

constexpr std::uint32_t kIdentity = 0x3210;
constexpr std::uint32_t kWhichWord = 0x4444;

// The value's part under a mask.
LaneValue masked(LaneValue value, std::uint32_t mask) {
  value.constant &= mask;
  for (std::uint32_t& b : value.bits) b &= mask;
  return value;
}

// All four bytes of one word, whose choice differs between lanes at most: 0x4444 or nothing, everywhere.
bool chooses_whole_words(const LaneValue& selector) {
  const auto is_whole = [](std::uint32_t part) { return part == 0 || part == kWhichWord; };
  return is_whole(selector.constant & kWhichWord) &&
         std::all_of(selector.bits.begin(), selector.bits.end(),
                     [&](std::uint32_t b) { return is_whole(b & kWhichWord); });
}

}  // namespace

int ProgramBuilder::permute(int a, int b, LaneValue selector) {
  const LaneValue which = masked(selector, kWhichWord);
  const LaneValue bytes = masked(selector, ~kWhichWord);
  if (which.is_constant() && which.constant == 0) b = a;
  if (which.is_constant() && which.constant == kWhichWord) a = b;
  if (a == b) selector = bytes;
  const bool keeps_places = bytes.is_constant() && bytes.constant == kIdentity;
  if (a == b && keeps_places) return a;
  if (keeps_places && chooses_whole_words(which)) return select(masked(which, 4), a, b);
  return add({.operation = Operation::permute, .a = a, .b = b, .lane = selector});
}

namespace {

void add_place(std::uint32_t& selector, f2::Word place, unsigned byte) {
  selector ^= static_cast<std::uint32_t>(place) << 4U * byte;
}

// Nibble i: byte(i, l), and 4 where bit `which` of word(i, l) is set.
LaneValue selector_of(const PlaceFunction& byte, const PlaceFunction& word, int which) {
  const auto nibble = [&](f2::Word byte_part, f2::Word word_part) {
    return (byte_part & 3U) ^ (f2::bit(word_part, which) ? 4U : 0U);
  };
  LaneValue selector;
  for (unsigned i = 0; i < 4; ++i) {
    add_place(selector.constant, nibble(byte.constant, word.constant), i);
    for (unsigned k = 0; k < 2; ++k)
      if ((i >> k & 1U) != 0) add_place(selector.constant, nibble(byte.of_byte[k], word.of_byte[k]), i);
    for (std::size_t j = 0; j < selector.bits.size(); ++j)
      add_place(selector.bits[j], nibble(byte.of_lane[j], word.of_lane[j]), i);
  }
  return selector;
}

f2::Subspace span_of(const PlaceFunction& word) {
  f2::Subspace span(f2::kMaxDimension);
  for (const f2::Word column : word.of_byte) span.insert(column);
  for (const f2::Word column : word.of_lane) span.insert(column);
  return span;
}

// The function with `direction` taken out: bit `pivot` is 0 everywhere.
PlaceFunction projected(PlaceFunction word, f2::Word direction, int pivot) {
  const auto project = [&](f2::Word& w) { w ^= f2::bit(w, pivot) ? direction : 0; };
  project(word.constant);
  for (f2::Word& w : word.of_byte) project(w);
  for (f2::Word& w : word.of_lane) project(w);
  return word;
}

constexpr PlaceFunction kBytesStay{.constant = 0, .of_byte = {1, 2}, .of_lane = {}};

}  // namespace

int ProgramBuilder::make(const std::vector<int>& family, const WantedWord& wanted) {
  const f2::Subspace words = span_of(wanted.word);
  if (words.dimension() == 0) {
    const int word = family[wanted.word.constant];
    return permute(word, word, selector_of(wanted.byte, {}, 0));
  }
  const f2::Word direction = words.basis().back();
  const int pivot = f2::leading_bit(direction);
  WantedWord low{wanted.byte, projected(wanted.word, direction, pivot)};
  WantedWord high = low;
  high.word.constant ^= direction;
  if (words.dimension() == 1)
    return permute(family[low.word.constant], family[high.word.constant],
                   selector_of(wanted.byte, wanted.word, pivot));
  return permute(make(family, low), make(family, high), selector_of(kBytesStay, wanted.word, pivot));
}

LaneProgram ProgramBuilder::finish(const std::vector<int>& outputs) const {
  std::vector<bool> is_needed(instructions_.size(), false);
  for (int i = 0; i < inputs_; ++i) is_needed[static_cast<std::size_t>(i)] = true;
  for (const int output : outputs) is_needed[static_cast<std::size_t>(output)] = true;
  for (std::size_t k = instructions_.size(); k-- > static_cast<std::size_t>(inputs_);) {
    if (!is_needed[k]) continue;
    is_needed[static_cast<std::size_t>(instructions_[k].a)] = true;
    if (instructions_[k].operation != Operation::shuffle)
      is_needed[static_cast<std::size_t>(instructions_[k].b)] = true;
  }
  LaneProgram program{.lane_bits = lane_bits_, .inputs = inputs_, .instructions = {}, .outputs = {}};
  std::vector<int> place(instructions_.size(), 0);
  for (std::size_t k = 0; k < instructions_.size(); ++k) {
    if (!is_needed[k]) continue;
    place[k] = static_cast<int>(program.instructions.size());
    Instruction instruction = instructions_[k];
    if (instruction.operation != Operation::input) {
      instruction.a = place[static_cast<std::size_t>(instruction.a)];
      if (instruction.operation != Operation::shuffle)
        instruction.b = place[static_cast<std::size_t>(instruction.b)];
    }
    program.instructions.push_back(instruction);
  }
  for (const int output : outputs) program.outputs.push_back(place[static_cast<std::size_t>(output)]);
  return program;
}

}  // namespace faro::exchange
