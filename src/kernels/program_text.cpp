#include "kernels/program_text.hpp"

#include <array>

#include "kernels/number_program.hpp"
#include "permutation/coefficients.hpp"

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
  static constexpr const char* kNames[] = {"signed char",
                                           "unsigned char",
                                           "short",
                                           "unsigned short",
                                           "int",
                                           "unsigned int",
                                           "long",
                                           "unsigned long",
                                           "faro::kernels::Half",
                                           "faro::kernels::BrainHalf",
                                           "float",
                                           "double",
                                           "faro::kernels::Boolean",
                                           "faro::kernels::Complex<float>",
                                           "faro::kernels::Complex<double>",
                                           "faro::kernels::Float8E4M3",
                                           "faro::kernels::Float8E5M2",
                                           "faro::kernels::Float8E4M3Fnuz",
                                           "faro::kernels::Float8E5M2Fnuz"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Number::f8_e5m2fnuz) + 1);
  return kNames[static_cast<std::size_t>(number)];
}

unsigned program_flags(const Arithmetic& of) {
  unsigned flags = 0;
  const auto flag = [&](bool is, ProgramStep::Flag which) { flags |= is ? which : 0U; };
  flag(!faro::detail::is_only(of.scale, 1), ProgramStep::scale);
  flag(!faro::detail::is_only(of.offset, 0), ProgramStep::offset);
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
