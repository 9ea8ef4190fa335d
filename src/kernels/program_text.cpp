#include "kernels/program_text.hpp"

#include <array>

#include "kernels/number_program.hpp"

namespace faro::kernels {
namespace {

const char* function_text(Function function) {
  constexpr std::array<const char*, kFunctions> kTypes{"Identity",   "Conjugate",  "Negate", "Absolute",
                                                       "Reciprocal", "SquareRoot", "Exp",    "Log",
                                                       "Tanh",       "Sigmoid",    "Relu",   "Gelu"};
  return kTypes[static_cast<std::size_t>(function)];
}

}  // namespace

const char* type_text(Number number) {
  switch (number) {
    case Number::i8:
      return "signed char";
    case Number::u8:
      return "unsigned char";
    case Number::i16:
      return "short";
    case Number::u16:
      return "unsigned short";
    case Number::i32:
      return "int";
    case Number::u32:
      return "unsigned int";
    case Number::i64:
      return "long";
    case Number::u64:
      return "unsigned long";
    case Number::f16:
      return "faro::kernels::Half";
    case Number::bf16:
      return "faro::kernels::BrainHalf";
    case Number::f32:
      return "float";
    case Number::f64:
      return "double";
    case Number::boolean:
      return "faro::kernels::Boolean";
    case Number::c64:
      return "faro::kernels::Complex<float>";
    case Number::c128:
      return "faro::kernels::Complex<double>";
    case Number::f8_e4m3fn:
      return "faro::kernels::Float8E4M3";
    case Number::f8_e5m2:
      return "faro::kernels::Float8E5M2";
    case Number::f8_e4m3fnuz:
      return "faro::kernels::Float8E4M3Fnuz";
    case Number::f8_e5m2fnuz:
      break;
  }
  return "faro::kernels::Float8E5M2Fnuz";
}

unsigned program_flags(const Arithmetic& of) {
  unsigned flags = 0;
  const auto flag = [&](bool is, ProgramStep::Flag which) { flags |= is ? which : 0U; };
  flag(of.scale.axis || of.scale.values.front() != 1.0, ProgramStep::scale);
  flag(of.offset.axis || of.offset.values.front() != 0.0, ProgramStep::offset);
  flag(of.in_swapped, ProgramStep::swap_in);
  flag(of.out_swapped, ProgramStep::swap_out);
  flag(of.addend && of.addend->swapped, ProgramStep::swap_addend);
  flag(of.to_integer == ToInteger::nearest && is_integer(of.to), ProgramStep::to_nearest);
  flag(of.saturated, ProgramStep::saturate);
  return flags;
}

std::string program_text(const ProgramText& of) {
  return std::string("faro::kernels::NumberProgram<") + type_text(of.from) + ", " + type_text(of.to) + ", " +
         type_text(of.computed) + ", faro::kernels::" + function_text(of.function) + ", " +
         std::to_string(of.flags) + "u, " + (of.addend ? type_text(*of.addend) : "faro::kernels::NoAddend") +
         ">";
}

std::string program_text(const Arithmetic& of) {
  return program_text({.from = of.from,
                       .to = of.to,
                       .computed = computed_in(of),
                       .function = of.function,
                       .flags = program_flags(of),
                       .addend = of.addend ? std::optional(of.addend->number) : std::nullopt});
}

}  // namespace faro::kernels
