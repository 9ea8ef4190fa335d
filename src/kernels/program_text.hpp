// A program of numbers (number_program.hpp) as text: what is compiled at run time, or emitted, names it so.
#pragma once

#include <optional>
#include <string>

#include "faro/arithmetic.hpp"

namespace faro::kernels {

/// "unsigned char", "faro::kernels::Half", ….
const char* type_text(Number number);

/// The steps that arithmetic has beside its types and function: ProgramStep's flags.
unsigned program_flags(const Arithmetic& of);

struct ProgramText {
  Number from = Number::f32;
  Number to = Number::f32;
  Number computed = Number::f32;
  Function function = Function::identity;
  unsigned flags = 0;
  std::optional<Number> addend = {};
};

/// "faro::kernels::NumberProgram<…>".
std::string program_text(const ProgramText& of);
std::string program_text(const Arithmetic& of);

}  // namespace faro::kernels
