// The vector type of an emitted file, and how vectors are read, written and exchanged.
#include <fmt/format.h>

#include "emit/text.hpp"

namespace faro::emit {
namespace {

constexpr const char* kGuard = "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n";

// All is read once and written once: L2 may drop it first. Half sectors are left alone, since they would be
// dropped before their other half comes (docs/notes/cuda-experiments.md, cache policies).
std::string policy_text(const std::string& name) {
  return fmt::format(
             "// All is read once and written once: where whole sectors are, the L2 cache may drop them "
             "first.\n"
             "static __device__ __forceinline__ unsigned long long {}_policy(const void* array) {{\n"
             "  unsigned long long policy = 0;\n",
             name) +
         kGuard +
         "  asm(\"createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\" : \"=l\"(policy));\n"
         "  if (reinterpret_cast<unsigned long long>(array) % 32 != 0) {\n"
         "    asm(\"createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;\" : \"=l\"(policy));\n"
         "  }\n"
         "#else\n"
         "  (void)array;\n"
         "#endif\n"
         "  return policy;\n"
         "}\n\n";
}

std::string read_text(const std::string& name, const std::string& vector, bool hinted) {
  std::string text = fmt::format(
      "static __device__ __forceinline__ {0} {1}_read(\n"
      "    const {0}* from, unsigned long long policy) {{\n",
      vector, name);
  const std::string plain = "  (void)policy;\n  return *from;\n";
  if (!hinted) return text + plain + "}\n\n";
  text += kGuard;
  text +=
      "  uint4 words;\n"
      "  asm volatile(\"ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;\"\n"
      "               : \"=r\"(words.x), \"=r\"(words.y), \"=r\"(words.z), \"=r\"(words.w)\n"
      "               : \"l\"(from), \"l\"(policy));\n";
  text += fmt::format("  {} vector;\n  memcpy(&vector, &words, sizeof(vector));\n  return vector;\n", vector);
  return text + "#else\n" + plain + "#endif\n}\n\n";
}

std::string write_text(const std::string& name, const std::string& vector, bool hinted) {
  std::string text = fmt::format(
      "static __device__ __forceinline__ void {1}_write(\n"
      "    {0}* to, const {0}& vector, unsigned long long policy) {{\n",
      vector, name);
  const std::string plain = "  (void)policy;\n  *to = vector;\n";
  if (!hinted) return text + plain + "}\n\n";
  text += kGuard;
  text +=
      "  uint4 words;\n"
      "  memcpy(&words, &vector, sizeof(words));\n"
      "  asm volatile(\"st.global.L1::no_allocate.L2::cache_hint.v4.u32 [%4], {%0, %1, %2, %3}, %5;\"\n"
      "               :\n"
      "               : \"r\"(words.x), \"r\"(words.y), \"r\"(words.z), \"r\"(words.w), \"l\"(to), "
      "\"l\"(policy)\n"
      "               : \"memory\");\n";
  return text + "#else\n" + plain + "#endif\n}\n\n";
}

std::string exchange_text(const std::string& name, const std::string& vector, int elements, f2::Word bits) {
  return fmt::format(
      "// Element k of the result is element k ^ by: selects, since registers cannot be indexed.\n"
      "static __device__ __forceinline__ {0} {1}_exchange({0} vector, unsigned by) {{\n"
      "#pragma unroll\n"
      "  for (unsigned stride = {3}; stride < {2}; stride *= 2) {{\n"
      "    const {0} old = vector;\n"
      "#pragma unroll\n"
      "    for (unsigned k = 0; k < {2}; ++k) vector.at[k] = (by & stride) != 0 ? old.at[k ^ stride] : "
      "old.at[k];\n"
      "  }}\n"
      "  return vector;\n"
      "}}\n\n",
      vector, name, elements, f2::unit(f2::trailing_bit(bits)));
}

}  // namespace

f2::Word exchanged_bits(const KernelPlan& plan) {
  f2::Word any = plan.stored.constant;
  for (const f2::Word column : plan.stored.thread) any |= column;
  for (const f2::Word column : plan.stored.iteration) any |= column;
  return any & f2::low_mask(plan.vector_bits);
}

std::string vector_text(const TextContext& context, const std::vector<KernelPlan>& plans) {
  const KernelPlan& plan = plans.front();
  f2::Word bits = 0;
  for (const KernelPlan& each : plans) bits |= exchanged_bits(each);
  const std::string& name = context.options.name;
  const std::string vector = context.vector_name();
  const bool hinted = plan.vector_bytes() == 16;
  std::string text = fmt::format(
      "// What a thread moves at once.\n"
      "struct alignas({}) {} {{ {} at[{}]; }};\n\n",
      plan.vector_bytes(), vector, context.element_name(), plan.element_count());
  if (context.options.arithmetic) {
    text += fmt::format("struct alignas({}) {}_results {{ {}_result at[{}]; }};\n\n",
                        plans.back().result_vector_bytes(), name, name, plan.element_count());
  }
  text += policy_text(name) + read_text(name, vector, hinted);
  // The last kernel writes other vectors where numbers are changed.
  if (!context.options.arithmetic || plans.size() > 1) text += write_text(name, vector, hinted);
  if (bits != 0) text += exchange_text(name, vector, plan.element_count(), bits);
  return text;
}

}  // namespace faro::emit
