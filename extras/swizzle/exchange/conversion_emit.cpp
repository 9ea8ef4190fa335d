// A conversion as CUDA C++: a header with one function, or two, on the registers of a lane.
//
// What differs between lanes is computed first, each once: predicates as bits of the lane, selectors of bytes
// and the lanes that are asked as a constant with a word XORed in for each bit. In a loop the compiler takes
// these out.
#include <algorithm>
#include <cctype>
#include <map>

#include "exchange/emitted_text.hpp"
#include "faro/error.hpp"
#include "faro/exchange/conversion.hpp"

namespace faro::exchange {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffff;

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
    return named(lane_expression("lane", lane.constant, columns), "uint32_t", name);
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

std::string transposed_body(const Conversion& c) {
  std::string text;
  for (std::size_t k = 0; k < c.transposed.size(); ++k)
    text += fmt::format(
        "  asm volatile(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\" : \"=r\"(out[{}]) : "
        "\"r\"(in[{}]));\n",
        k, c.transposed[k]);
  return text;
}

std::string comment(const std::string& text) { return "// " + text + "\n"; }

std::string costs_text(const Conversion& c, bool is_shared) {
  if (!is_shared && !c.transposed.empty())
    return fmt::format("{} movmatrix, from compute capability 7.5 on.", c.transposed.size());
  if (!is_shared) {
    const InstructionCounts counts = c.program.counts();
    return fmt::format("{} shuffles, {} selects, {} permutations of bytes.", counts.shuffles, counts.selects,
                       counts.permutes);
  }
  const SharedExchange& s = *c.shared;
  std::string text;
  if (c.is_load() || c.is_store()) {
    text = fmt::format("The layout takes {} bytes; where it begins, the address is a multiple of {}.",
                       s.bytes, std::min(s.bytes, 1024));
  } else {
    text = fmt::format("{} bytes of shared memory{}, 16-byte aligned.", s.bytes,
                       c.warp_bits > 0 ? "" : " for each warp");
  }
  if (s.store.kind != AccessKind::none) text += " " + s.store.text(true) + ".";
  if (s.load.kind != AccessKind::none) text += " " + s.load.text(false) + ".";
  return text + fmt::format(" Wavefronts of a warp: {}{}.", s.store.wavefronts + s.load.wavefronts,
                            s.is_free_of_conflicts() ? ", without a bank conflict" : "");
}

// The function's parameters.
std::string parameters_text(const Conversion& c, bool is_shared) {
  std::string text =
      c.is_load() ? "const char* shared" : fmt::format("const uint32_t (&in)[{}]", c.words_from);
  text += c.is_store() ? ", char* shared" : fmt::format(", uint32_t (&out)[{}]", c.words_to);
  text += c.warp_bits > 0 ? ", uint32_t thread" : ", uint32_t lane";
  return text + (is_shared && !c.is_load() && !c.is_store() ? ", char* shared" : "");
}

void require_emittable(const Conversion& c, Way way) {
  if (c.lane_bits != kCudaLaneBits)
    fail(ErrorCode::unsupported, "emit a conversion", fmt::format("{} lanes", 1 << c.lane_bits),
         "warps of 32 lanes, as CUDA has", "the plan and its proof hold all the same");
  if (way == Way::shared && !c.shared)
    fail(ErrorCode::unsupported, "emit a conversion through shared memory",
         "registers of a lane that take one element twice", "layouts whose registers differ",
         "leave --shared out");
  constexpr int kMostSharedBytes = 227 << 10;
  constexpr int kMostWarpBits = 5;
  if (!c.has_program() && (c.shared->bytes > kMostSharedBytes || c.warp_bits > kMostWarpBits))
    fail(ErrorCode::unsupported, "emit a conversion",
         fmt::format("{} bytes of shared memory, {} warps", c.shared->bytes, 1 << c.warp_bits),
         "at most 232448 bytes and 32 warps", "convert a part of the tile at a time");
}

}  // namespace

std::string function_name(const std::string& name) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto fits = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !is_letter(name.front()) || !std::all_of(name.begin(), name.end(), fits))
    fail(ErrorCode::value, "name a function", "`" + name + "`", "a name of C++: letters, digits and _");
  return name;
}

EmittedConversion emit_conversion(const Conversion& c, const ConversionEmission& emission) {
  require_emittable(c, emission.way);
  const bool is_shared = !c.has_program() || emission.way == Way::shared ||
                         (emission.way == Way::cheapest && c.is_shared_cheaper());
  std::string text;
  if (!emission.command.empty()) text += comment(emission.command);
  text += comment(fmt::format("{} -> {}, elements of {} bits", c.from.name, c.to.name, c.element));
  text += comment("from " + to_text(c.from));
  text += comment("to   " + to_text(c.to));
  text += comment(fmt::format(
      "Elements of a lane lie behind one another in its registers, the first in the low bits. Call it with "
      "{}",
      c.warp_bits == 0 ? "a whole warp; lane = threadIdx.x % 32."
                       : fmt::format("a block of {} warps; thread = threadIdx.x.", 1 << c.warp_bits)));
  text += comment(costs_text(c, is_shared));
  text += "#pragma once\n\n#include <cstdint>\n\n";
  text += fmt::format("__device__ __forceinline__ void {}({}) {{\n", emission.name,
                      parameters_text(c, is_shared));
  const std::string body = is_shared              ? shared_body(c)
                           : c.transposed.empty() ? RegisterEmitter(c.program).body()
                                                  : transposed_body(c);
  text += body;
  const std::string index = c.warp_bits > 0 ? "thread" : "lane";
  const auto uses = [&](const char* before, const char* after) {
    return body.find(before + index + after) != std::string::npos;
  };
  if (!uses("", " &") && !uses("", " >>") && !uses("", " <<") && !uses("= ", "") && !uses("^ ", ""))
    text += fmt::format("  (void){};\n", index);
  return {.name = emission.name, .text = text + "}\n", .is_shared = is_shared};
}

}  // namespace faro::exchange
