// A conversion as CUDA C++: a header with one function, or two, on the registers of a lane.
//
// What differs between lanes is computed first, each once: predicates as bits of the lane, selectors of bytes
// and the lanes that are asked as a constant with a word XORed in for each bit. In a loop the compiler takes
// these out.
#include <fmt/format.h>

#include <map>

#include "exchange/shared_exchange.hpp"
#include "faro/error.hpp"
#include "faro/exchange/conversion.hpp"

namespace faro::exchange {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffff;

std::string hex(std::uint64_t value) { return fmt::format("{:#x}u", value); }

// constant ^ the words of the lane's set bits, which `columns` has
std::string lane_expression(std::uint64_t constant, std::span<const std::uint64_t> columns) {
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " ^ ") + term; };
  // Bits that move together: (lane & mask) << s or >> s.
  std::map<int, std::uint64_t> moved;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (f2::is_power_of_two(columns[j])) {
      moved[f2::trailing_bit(columns[j]) - static_cast<int>(j)] |= f2::unit(static_cast<int>(j));
    } else if (columns[j] != 0) {
      add(fmt::format("((lane >> {} & 1u) * {})", j, hex(columns[j])));
    }
  }
  for (const auto& [shift, mask] : moved) {
    const bool is_all = mask == f2::low_mask(static_cast<int>(columns.size()));
    const std::string bits = is_all ? "lane" : fmt::format("(lane & {})", hex(mask));
    add(shift == 0  ? bits
        : shift > 0 ? fmt::format("{} << {}", bits, shift)
                    : fmt::format("{} >> {}", bits, -shift));
  }
  if (constant != 0 || text.empty()) add(hex(constant));
  return text;
}

class RegisterEmitter {
 public:
  explicit RegisterEmitter(const LaneProgram& program) : program_(program) {}

  std::string body() {
    std::string statements;
    for (std::size_t k = 0; k < program_.instructions.size(); ++k) {
      const Instruction& i = program_.instructions[k];
      if (i.operation == Operation::input) continue;
      statements += fmt::format("  const uint32_t v{} = {};\n", k, expression(i));
    }
    std::string text = heads_ + statements;
    for (std::size_t k = 0; k < program_.outputs.size(); ++k)
      text += fmt::format("  out[{}] = {};\n", k, value(program_.outputs[k]));
    return text;
  }

 private:
  std::string value(int place) const {
    const Instruction& i = program_.instructions[static_cast<std::size_t>(place)];
    return i.operation == Operation::input ? fmt::format("in[{}]", i.a) : fmt::format("v{}", place);
  }

  std::string expression(const Instruction& i) {
    switch (i.operation) {
      case Operation::select:
        return fmt::format("{} ? {} : {}", predicate(i.lane), value(i.b), value(i.a));
      case Operation::permute:
        return fmt::format("__byte_perm({}, {}, {})", value(i.a), value(i.b), of_lane(i.lane, "selector"));
      case Operation::shuffle:
        if (i.lane.is_exclusive_or(program_.lane_bits))
          return fmt::format("__shfl_xor_sync({}, {}, {})", hex(kAllLanes), value(i.a), i.lane.constant);
        return fmt::format("__shfl_sync({}, {}, {})", hex(kAllLanes), value(i.a), of_lane(i.lane, "source"));
      case Operation::input:
        break;
    }
    return value(i.a);
  }

  // Which lanes: a bit of the lane, or the parity of some.
  std::string predicate(const LaneValue& lane) {
    std::uint32_t mask = 0;
    for (std::size_t j = 0; j < lane.bits.size(); ++j)
      if (lane.bits[j] != 0) mask |= 1U << j;
    const std::string test = f2::is_power_of_two(mask)
                                 ? fmt::format("(lane & {}) != 0", hex(mask))
                                 : fmt::format("(__popc(lane & {}) & 1) != 0", hex(mask));
    return named(test, "bool", "p");
  }

  std::string of_lane(const LaneValue& lane, const std::string& name) {
    if (lane.is_constant()) return hex(lane.constant);
    std::vector<std::uint64_t> columns(lane.bits.begin(), lane.bits.begin() + program_.lane_bits);
    return named(lane_expression(lane.constant, columns), "uint32_t", name);
  }

  std::string named(const std::string& expression, const std::string& type, const std::string& name) {
    const auto [found, is_new] = names_.try_emplace(expression, fmt::format("{}{}", name, names_.size()));
    if (is_new) heads_ += fmt::format("  const {} {} = {};\n", type, found->second, expression);
    return found->second;
  }

  const LaneProgram& program_;
  std::string heads_;
  std::map<std::string, std::string> names_;
};

// --- through shared memory

class SharedEmitter {
 public:
  SharedEmitter(const Conversion& conversion, const SharedExchange& shared) : c_(conversion), s_(shared) {}

  std::string body() const {
    const int access_bits = f2::trailing_bit(static_cast<f2::Word>(s_.access_bytes));
    std::string text = lane_address("store_at", s_.store_address);
    text += lane_address("load_at", s_.load_address);
    for (const auto& access : accesses_of(s_.store_address, held(s_.store_address), access_bits))
      text += store(access);
    text += "  __syncwarp();\n";
    if (s_.access_bytes < 4) text += "#pragma unroll\n  for (uint32_t& word : out) word = 0;\n";
    for (const auto& access : accesses_of(s_.load_address, held(s_.load_address), access_bits))
      text += load(access);
    return text + "  __syncwarp();  // before others write there\n";
  }

 private:
  int held(const std::vector<f2::Word>& columns) const {
    return static_cast<int>(columns.size()) - c_.lane_bits;
  }

  std::string lane_address(const std::string& name, const std::vector<f2::Word>& columns) const {
    const std::vector<std::uint64_t> lanes(columns.begin() + held(columns), columns.end());
    return fmt::format("  const uint32_t {} = {};\n", name, lane_expression(0, lanes));
  }

  std::string type() const {
    switch (s_.access_bytes) {
      case 1:
        return "uint8_t";
      case 2:
        return "uint16_t";
      case 4:
        return "uint32_t";
      case 8:
        return "uint2";
      default:
        return "uint4";
    }
  }

  std::string at(const std::string& lane, const std::vector<f2::Word>& columns, f2::Word place) const {
    return fmt::format("*reinterpret_cast<{}*>(shared + ({} ^ {}))", type(), lane,
                       hex(address_of(columns, place)));
  }

  std::string store(const std::vector<f2::Word>& access) const {
    const std::string to = at("store_at", s_.store_address, access.front());
    const f2::Word word = access.front() >> 2;
    if (s_.access_bytes < 4)
      return fmt::format("  {} = static_cast<{}>(in[{}] >> {});\n", to, type(), word,
                         8 * (access.front() & 3));
    if (s_.access_bytes == 4) return fmt::format("  {} = in[{}];\n", to, word);
    std::string words;
    for (std::size_t i = 0; i < access.size(); i += 4)
      words += fmt::format("{}in[{}]", i == 0 ? "" : ", ", access[i] >> 2);
    return fmt::format("  {} = make_{}({});\n", to, type(), words);
  }

  std::string load(const std::vector<f2::Word>& access) const {
    const std::string from = at("load_at", s_.load_address, access.front());
    const f2::Word word = access.front() >> 2;
    if (s_.access_bytes < 4)
      return fmt::format("  out[{}] |= static_cast<uint32_t>({}) << {};\n", word, from,
                         8 * (access.front() & 3));
    if (s_.access_bytes == 4) return fmt::format("  out[{}] = {};\n", word, from);
    std::string text = fmt::format("  {{\n    const {} v = {};\n", type(), from);
    constexpr const char* kParts = "xyzw";
    for (std::size_t i = 0; i < access.size(); i += 4)
      text += fmt::format("    out[{}] = v.{};\n", access[i] >> 2, kParts[i / 4]);
    return text + "  }\n";
  }

  const Conversion& c_;
  const SharedExchange& s_;
};

std::string comment(const std::string& text) { return "// " + text + "\n"; }

}  // namespace

EmittedConversion emit_conversion(const Conversion& c, const ConversionEmission& emission) {
  if (c.lane_bits != kCudaLaneBits)
    fail(ErrorCode::unsupported, "emit a conversion", fmt::format("{} lanes", 1 << c.lane_bits),
         "warps of 32 lanes, as CUDA has", "the plan and its proof hold all the same");
  if (emission.shared && !c.shared)
    fail(ErrorCode::unsupported, "emit a conversion through shared memory",
         "elements with more than one taker", "layouts that hold each element once", "leave --shared out");
  const InstructionCounts counts = c.program.counts();
  std::string text;
  if (!emission.command.empty()) text += comment(emission.command);
  text += comment(fmt::format("{} -> {}, elements of {} bits", c.from.name, c.to.name, c.element));
  text += comment("from " + to_text(c.from));
  text += comment("to   " + to_text(c.to));
  text += comment(
      "Elements of a lane lie behind one another in its registers, the first in the low bits. Call it with a "
      "whole warp; lane = threadIdx.x % 32.");
  if (emission.shared) {
    text += comment(
        fmt::format("{} bytes of shared memory for each warp, 16-byte aligned; {} stores and {} loads of {} "
                    "bytes, without a bank conflict.",
                    c.shared->bytes, c.shared->stores, c.shared->loads, c.shared->access_bytes));
  } else {
    text += comment(fmt::format("{} shuffles, {} selects, {} permutations of bytes.", counts.shuffles,
                                counts.selects, counts.permutes));
  }
  text += "#pragma once\n\n#include <cstdint>\n\n";
  text += fmt::format(
      "__device__ __forceinline__ void {}(const uint32_t (&in)[{}], uint32_t (&out)[{}], uint32_t lane{}) "
      "{{\n",
      emission.name, c.words_from, c.words_to, emission.shared ? ", char* shared" : "");
  text += emission.shared ? SharedEmitter(c, *c.shared).body() : RegisterEmitter(c.program).body();
  const bool uses_lane = text.find("lane &") != std::string::npos ||
                         text.find("lane >>") != std::string::npos ||
                         text.find("= lane") != std::string::npos || text.find("^ lane") != std::string::npos;
  if (!uses_lane) text += "  (void)lane;\n";
  return {.name = emission.name, .text = text + "}\n"};
}

}  // namespace faro::exchange
