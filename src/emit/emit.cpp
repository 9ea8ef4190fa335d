#include "faro/emit/emit.hpp"

#include <algorithm>

#include "emit/kernel_plan.hpp"
#include "emit/text.hpp"

namespace faro::emit {
namespace {

Kernel kernel_of(const KernelPlan& plan) {
  const std::uint64_t shared = plan.shared_bytes();
  return {.name = plan.name,
          .map = plan.map,
          .blocks = std::uint64_t{1} << plan.block_bits,
          .threads_x = 1 << plan.thread_bits,
          .threads_y = 1 << plan.warp_bits,
          .shared_bytes = shared,
          .dynamic_shared_bytes = shared > kStaticSharedBytes ? shared : 0,
          .predicted = predict(plan)};
}

std::uint64_t result_bytes(const TextContext& context) {
  return context.options.arithmetic ? bytes_of(context.options.arithmetic->to)
                                    : static_cast<std::uint64_t>(context.element.bytes);
}

Source emit_cpp(const TextContext& context) {
  const std::string body = cpp_text(context);
  return {.text = comment_text(context, {}, {}) + preamble_text(context) + body,
          .kernels = {},
          .element = std::string(context.element.name),
          .element_bytes = static_cast<std::uint64_t>(context.element.bytes),
          .result_bytes = result_bytes(context),
          .vector_bytes = static_cast<std::uint64_t>(context.element.bytes),
          .workspace_bytes = 0};
}

Source emit_cuda(const TextContext& context) {
  const std::vector<KernelPlan> plans = plan_kernels(context.map, context.element, context.options);
  Source source;
  for (const KernelPlan& plan : plans) source.kernels.push_back(kernel_of(plan));
  source.text = comment_text(context, plans, source.kernels) + preamble_text(context);
  const bool has_vectors = plans.front().has_tile && !plans.front().tile_an_iteration;
  if (has_vectors) source.text += vector_text(context, plans);
  for (const KernelPlan& plan : plans) {
    if (&plan != &plans.front()) source.text += "\n";
    source.text += kernel_text(context, plan, &plan == &plans.back() && context.changes());
  }
  if (context.options.launcher) source.text += launcher_text(context, plans);
  source.element = context.element.name;
  source.element_bytes = static_cast<std::uint64_t>(context.element.bytes);
  source.result_bytes = result_bytes(context);
  source.vector_bytes =
      static_cast<std::uint64_t>(std::max(plans.front().vector_bytes(), plans.back().result_vector_bytes()));
  source.workspace_bytes = plans.size() > 1 ? source.element_bytes << context.map.bits() : 0;
  return source;
}

}  // namespace

namespace {

MapExpression function_of(const Options& options) {
  if (!options.arithmetic) return options.map.empty() ? MapExpression{} : parse_map(options.map);
  const Arithmetic& of = *options.arithmetic;
  return {.text = "", .uses_value = true, .uses_target = of.scale.axis || of.offset.axis};
}

}  // namespace

Source emit(const Affine& map, const Options& options) {
  const ElementType element =
      options.arithmetic ? number_type(options.arithmetic->from) : find_element(options);
  require_language(element, options);
  if (options.arithmetic) require_arithmetic(map, options);
  require_name(options);
  require_sizes(map.bits(), options);
  require_factors(options);
  const TextContext context{
      .map = map, .options = options, .element = element, .function = function_of(options)};
  return options.language == Language::cpp ? emit_cpp(context) : emit_cuda(context);
}

}  // namespace faro::emit
