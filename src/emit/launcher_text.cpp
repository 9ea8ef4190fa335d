// The host's half of an emitted file: sizes, checks and launches.
#include <fmt/format.h>

#include <algorithm>

#include "emit/text.hpp"

namespace faro::emit {
namespace {

std::string grid_text(const KernelPlan& plan) {
  return plan.warp_bits > 0 ? fmt::format("dim3({}, {})", 1 << plan.thread_bits, 1 << plan.warp_bits)
                            : fmt::format("{}", plan.threads());
}

std::string launch_text(const TextContext& context, const KernelPlan& plan, const std::string& from,
                        const std::string& to, bool fused) {
  const std::string element = context.element_name();
  const bool adds = fused && context.adds();
  const bool dynamic = plan.shared_bytes() > kStaticSharedBytes;
  std::string text;
  if (dynamic) {
    text += fmt::format(
        "  error = cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n"
        "  if (error != cudaSuccess) return error;\n",
        plan.name, plan.shared_bytes());
  }
  text += fmt::format(
      "  {0}<<<{1}, {2}, {3}, stream>>>(\n"
      "      static_cast<const {4}*>({5}), static_cast<{7}*>({6}){8});\n",
      plan.name, std::uint64_t{1} << plan.block_bits, grid_text(plan), dynamic ? plan.shared_bytes() : 0,
      element, from, to, context.result_name(fused),
      adds ? fmt::format(", static_cast<const {}_addend*>(addend)", context.options.name) : "");
  return text + "  error = cudaGetLastError();\n  if (error != cudaSuccess) return error;\n";
}

}  // namespace

std::string launcher_text(const TextContext& context, const std::vector<KernelPlan>& plans) {
  const std::string& name = context.options.name;
  const bool has_workspace = plans.size() > 1;
  const std::uint64_t bytes = static_cast<std::uint64_t>(context.element.bytes) << context.map.bits();
  const std::uint64_t out_bytes = static_cast<std::uint64_t>(plans.back().result_bytes) << context.map.bits();
  std::string text = fmt::format(
      "\n// Whether a and b overlap, or either is null or not aligned.\n"
      "static bool {0}_refuses(const void* a, unsigned long long a_bytes, const void* b,\n"
      "                        unsigned long long b_bytes) {{\n"
      "  const unsigned long long first = reinterpret_cast<unsigned long long>(a);\n"
      "  const unsigned long long second = reinterpret_cast<unsigned long long>(b);\n"
      "  return first == 0 || second == 0 || first % {2} != 0 || second % {2} != 0 ||\n"
      "         (first < second ? second - first < a_bytes : first - second < b_bytes);\n"
      "}}\n\n"
      "extern \"C\" size_t {0}_workspace_bytes() {{ return {3}; }}\n\n"
      "// Enqueues the permutation; `in` and `out` are arrays of the device, aligned to {2} bytes, that do "
      "not "
      "overlap.\n",
      name, bytes, std::max(plans.front().vector_bytes(), plans.back().result_vector_bytes()),
      has_workspace ? fmt::format("{}ull", bytes) : "0");
  text += has_workspace
              ? fmt::format("// So is `workspace`, of {}_workspace_bytes() bytes, and it overlaps neither.\n",
                            name)
              : "// `workspace` is not used and may be null.\n";
  text += fmt::format(
      "extern \"C\" cudaError_t {}_launch(const void* in, void* out, void* workspace, {}cudaStream_t stream) "
      "{{\n",
      name, context.adds() ? "const void* addend, " : "");
  if (has_workspace) {
    text += fmt::format(
        "  if ({0}_refuses(in, {1}ull, workspace, {1}ull) ||\n"
        "      {0}_refuses(workspace, {1}ull, out, {2}ull)) {{\n"
        "    return cudaErrorInvalidValue;\n"
        "  }}\n",
        name, bytes, out_bytes);
  } else {
    text += "  (void)workspace;\n";
  }
  text += fmt::format("  if ({}_refuses(in, {}ull, out, {}ull)) return cudaErrorInvalidValue;\n", name, bytes,
                      out_bytes);
  if (context.adds()) {
    text +=
        fmt::format("  if ({}_refuses(addend, {}ull, out, {}ull)) return cudaErrorInvalidValue;\n", name,
                    static_cast<std::uint64_t>(plans.back().addend_bytes) << context.map.bits(), out_bytes);
  }
  text += "  cudaError_t error = cudaSuccess;\n";
  if (has_workspace) {
    text += launch_text(context, plans[0], "in", "workspace", false) +
            launch_text(context, plans[1], "workspace", "out", true);
  } else {
    text += launch_text(context, plans[0], "in", "out", true);
  }
  return text + "  return error;\n}\n";
}

}  // namespace faro::emit
