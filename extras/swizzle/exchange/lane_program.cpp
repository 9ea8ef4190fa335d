#include "faro/exchange/lane_program.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::exchange {

std::uint32_t LaneValue::operator()(std::uint32_t lane) const {
  std::uint32_t value = constant;
  for (std::size_t j = 0; j < bits.size(); ++j)
    if ((lane >> j & 1U) != 0) value ^= bits[j];
  return value;
}

bool LaneValue::is_constant() const {
  return std::all_of(bits.begin(), bits.end(), [](std::uint32_t b) { return b == 0; });
}

bool LaneValue::is_exclusive_or(int lane_bits) const {
  for (int j = 0; j < lane_bits; ++j)
    if (bits[static_cast<std::size_t>(j)] != 1U << static_cast<unsigned>(j)) return false;
  return true;
}

InstructionCounts LaneProgram::counts() const {
  InstructionCounts counts;
  for (const Instruction& i : instructions) {
    counts.shuffles += i.operation == Operation::shuffle ? 1 : 0;
    counts.selects += i.operation == Operation::select ? 1 : 0;
    counts.permutes += i.operation == Operation::permute ? 1 : 0;
  }
  return counts;
}

namespace {

std::uint32_t permuted_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32U | a;
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i)
    word |= static_cast<std::uint32_t>(both >> 8U * (selector >> 4U * i & 7U) & 0xffU) << 8U * i;
  return word;
}

}  // namespace

std::vector<std::uint32_t> LaneProgram::run(std::span<const std::uint32_t> registers) const {
  const auto lanes = std::size_t{1} << static_cast<unsigned>(lane_bits);
  FARO_CHECK(registers.size() == lanes * static_cast<std::size_t>(inputs));
  std::vector<std::vector<std::uint32_t>> values(instructions.size(), std::vector<std::uint32_t>(lanes));
  for (std::size_t k = 0; k < instructions.size(); ++k) {
    const Instruction& i = instructions[k];
    const auto a = static_cast<std::size_t>(i.a);
    const auto b = static_cast<std::size_t>(i.b);
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::uint32_t lane_value = i.lane(static_cast<std::uint32_t>(l));
      switch (i.operation) {
        case Operation::input:
          values[k][l] = registers[l * static_cast<std::size_t>(inputs) + a];
          break;
        case Operation::select:
          values[k][l] = values[lane_value != 0 ? b : a][l];
          break;
        case Operation::permute:
          values[k][l] = permuted_bytes(values[a][l], values[b][l], lane_value);
          break;
        case Operation::shuffle:
          values[k][l] = values[a][lane_value];
          break;
      }
    }
  }
  std::vector<std::uint32_t> result;
  result.reserve(lanes * outputs.size());
  for (std::size_t l = 0; l < lanes; ++l)
    for (const int output : outputs) result.push_back(values[static_cast<std::size_t>(output)][l]);
  return result;
}

}  // namespace faro::exchange
