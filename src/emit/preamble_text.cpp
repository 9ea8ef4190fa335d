// Includes, the element's type and the fused function.
#include <fmt/format.h>

#include "emit/text.hpp"

namespace faro::emit {
namespace {

// A plain struct for a vector type of CUDA, where there is no CUDA.
std::string plain_struct(const TextContext& context) {
  constexpr std::string_view names = "xyzw";
  std::string members;
  for (int k = 0; k < context.element.components; ++k) {
    members += fmt::format("{}{}", k > 0 ? ", " : "", names[static_cast<std::size_t>(k)]);
  }
  return fmt::format("struct alignas({}) {}_struct {{ {} {}; }};\n", context.element.bytes,
                     context.options.name, context.element.component, members);
}

std::string function_text(const TextContext& context) {
  const MapExpression& f = context.function;
  std::string parameters;
  const auto parameter = [&](bool used, const std::string& text) {
    if (used) parameters += (parameters.empty() ? "" : ", ") + text;
  };
  parameter(true, context.element_name() + (f.uses_value ? " v" : ""));
  parameter(f.uses_source, context.index() + " x");
  parameter(f.uses_target, context.index() + " y");
  const bool cpp = context.options.language == Language::cpp;
  return fmt::format("static {}{} {}_map({}) {{ return {}; }}\n\n",
                     cpp ? "inline " : "__device__ __forceinline__ ", context.element_name(),
                     context.options.name, parameters, f.text);
}

}  // namespace

std::string preamble_text(const TextContext& context) {
  const bool cpp = context.options.language == Language::cpp;
  const bool is_struct = cpp && !context.element.component.empty();
  std::string text = "\n";
  if (cpp) {
    text += "#include <cstddef>\n#include <cstdint>\n";
  } else {
    text += "#ifndef __CUDACC_RTC__\n#include <cstdint>\n";
    if (context.options.launcher) text += "#include <cuda_runtime.h>\n";
    text += "#endif\n";
    if (!context.element.header.empty()) text += fmt::format("#include <{}>\n", context.element.header);
  }
  text += "\n";
  if (is_struct) text += plain_struct(context);
  if (context.options.arithmetic) return text + arithmetic_text(context);
  text += fmt::format("using {} = {};\n\n", context.element_name(),
                      is_struct ? context.options.name + "_struct" : context.options.element);
  if (!context.function.empty()) text += function_text(context);
  return text;
}

}  // namespace faro::emit
