// Numbers that are changed by an emitted kernel: the library's own types and conversions, whose headers stand
// in the file without their comments, so that every bit is the engines', and a function of one number.
//
//     NAME_map(v, y, addend)     to( scale f(v) + offset + beta addend ), factors along axes by y
#include <fmt/format.h>

#include <array>
#include <complex>
#include <string_view>

#include "emit/text.hpp"
#include "kernel_texts.hpp"  // made by CMake: kernel_texts()
#include "kernels/number_program.hpp"
#include "kernels/program_text.hpp"

namespace faro::emit {
namespace {

// In the order in which they build on each other.
constexpr std::array<std::string_view, 4> kNumberHeaders{"kernels/small_floats.hpp", "kernels/values.hpp",
                                                         "kernels/value_functions.hpp",
                                                         "kernels/number_program.hpp"};

// A header without what a file of its own has no use for.
std::string without_comments(std::string_view header) {
  std::string text;
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = std::min(header.find('\n', at), header.size());
    std::string_view line = header.substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    const std::string_view words = line.substr(first);
    if (words.starts_with("//") || words.starts_with("#include") || words.starts_with("#pragma once"))
      continue;
    if (const std::size_t comment = line.find("  // "); comment != std::string_view::npos)
      line = line.substr(0, line.find_last_not_of(' ', comment) + 1);
    text += std::string(line) + "\n";
  }
  return text;
}

std::string number_headers() {
  std::string text =
      "#include <bit>\n#include <cmath>\n#include <complex>\n#include <cstdint>\n#include <limits>\n"
      "#include <type_traits>\n\n"
      "#ifndef FARO_NUMBERS\n#define FARO_NUMBERS\n";
  for (const std::string_view wanted : kNumberHeaders) {
    for (const auto& [name, header] : cuda::kernel_texts()) {
      if (name == wanted) text += without_comments(header);
    }
  }
  return text + "#endif\n\n";
}

std::string constant_text(const std::complex<double>& value, Number computed) {
  const auto real = [&](double x) {
    const bool wide = computed == Number::f64 || computed == Number::c128;
    // Rounded here, so that no compiler says that it was.
    const std::string digits = wide ? fmt::format("{:a}", x) : fmt::format("{:a}f", static_cast<float>(x));
    return digits.find("inf") == std::string::npos && digits.find("nan") == std::string::npos
               ? digits
               : fmt::format("static_cast<{}>({}{})", wide ? "double" : "float", x < 0 ? "-" : "",
                             x != x ? "NAN" : "INFINITY");
  };
  if (!is_complex(computed)) return real(value.real());
  return "{" + real(value.real()) + ", " + real(value.imag()) + "}";
}

// The factors of an axis as a table, and the factor of a number.
struct FactorText {
  std::string table;
  std::string value;
};

FactorText factor_text(const TextContext& context, const char* what, const Coefficient& of) {
  const Arithmetic& arithmetic = *context.options.arithmetic;
  const Number computed = computed_in(arithmetic);
  const std::string type = kernels::type_text(computed);
  const std::string name = context.options.name + "_" + what;
  const std::string memory = context.options.language == Language::cuda ? "__device__ " : "";
  std::string values;
  for (const std::complex<double>& value : of.values)
    values += (values.empty() ? "" : ",\n    ") + constant_text(value, computed);
  if (!of.axis)
    return {"", type + "{" + (is_complex(computed) ? values.substr(1, values.size() - 2) : values) + "}"};
  std::uint64_t inner = 1;
  for (std::size_t i = *of.axis + 1; i < arithmetic.shape.size(); ++i) inner *= arithmetic.shape[i];
  return {
      fmt::format("static {}const {} {}[{}] = {{\n    {}}};\n", memory, type, name, of.values.size(), values),
      fmt::format("{}[y / {}{} % {}]", name, inner, context.suffix(), of.values.size())};
}

// A line for each of a program's types that has a name of the library's.
std::string broken(std::string program) {
  constexpr std::string_view kNext = ", faro";
  for (std::size_t at = program.find(kNext); at != std::string::npos; at = program.find(kNext, at))
    program.replace(at, 2, ",\n      ");
  return program;
}

}  // namespace

ElementType number_type(Number number) {
  return {.name = kernels::type_text(number), .bytes = static_cast<int>(bytes_of(number))};
}

std::string arithmetic_text(const TextContext& context) {
  const Arithmetic& of = *context.options.arithmetic;
  const std::string& name = context.options.name;
  const Number computed = computed_in(of);
  std::string text =
      number_headers() + fmt::format("using {0}_element = {1};\nusing {0}_result = {2};\n", name,
                                     kernels::type_text(of.from), kernels::type_text(of.to));
  if (of.addend) text += fmt::format("using {}_addend = {};\n", name, kernels::type_text(of.addend->number));
  std::string body = fmt::format(
      "  using faro::kernels::product;\n  using faro::kernels::sum;\n  using Program = {};\n"
      "  {} number = Program::widened(v);\n",
      broken(kernels::program_text(of)), kernels::type_text(computed));
  const unsigned flags = kernels::program_flags(of);
  if ((flags & kernels::ProgramStep::scale) != 0) {
    const FactorText scale = factor_text(context, "scale", of.scale);
    text += scale.table;
    body += fmt::format("  number = product(number, {});\n", scale.value);
  }
  if ((flags & kernels::ProgramStep::offset) != 0) {
    const FactorText offset = factor_text(context, "offset", of.offset);
    text += offset.table;
    body += fmt::format("  number = sum(number, {});\n", offset.value);
  }
  if (of.addend) {
    const FactorText beta = factor_text(context, "beta", {{of.addend->beta}, {}});
    body += fmt::format("  number = sum(number, product(Program::widened_addend(other), {}));\n", beta.value);
  }
  const bool cpp = context.options.language == Language::cpp;
  text += fmt::format("\nstatic {0} {1}_result {1}_map({1}_element v",
                      cpp ? "inline" : "__device__ __forceinline__", name);
  if (context.function.uses_target) text += fmt::format(", {} y", context.index());
  if (of.addend) text += fmt::format(", {}_addend other", name);
  return text + ") {\n" + body + "  return Program::rounded(number);\n}\n\n";
}

}  // namespace faro::emit
