// Kernels of vectors as text: one-pass, and both of two-pass.
#include <fmt/format.h>

#include "emit/bit_moves.hpp"
#include "emit/text.hpp"

namespace faro::emit {
namespace {

// The indices of the vectors of such elements.
Form in_vectors(Form form, int vector_bits) {
  for (auto* const columns : {&form.block, &form.thread, &form.iteration}) {
    for (f2::Word& column : *columns) column >>= vector_bits;
  }
  form.constant >>= vector_bits;
  return form;
}

std::string read_text(const TextContext& context, const KernelPlan& plan) {
  const std::string vector = context.vector_name();
  const std::string& name = context.options.name;
  const Form source = in_vectors(plan.source, plan.vector_bits);
  std::string text = form_text(context, "source", source);
  text += fmt::format(
      "  const {0}* const in_vectors = reinterpret_cast<const {0}*>(in);\n"
      "  const unsigned long long in_policy = {1}_policy(in);\n"
      "  {0} vectors[{2}];\n",
      vector, name, plan.iterations());
  text += loop_text(context, plan,
                    later_text(context, "from", "source", {{"i", source.iteration}}) +
                        fmt::format("  vectors[i] = {}_read(in_vectors + from, in_policy);\n", name));
  text += form_text(context, "stored", plan.stored);
  std::string put = later_text(context, "to", "stored", {{"i", plan.stored.iteration}});
  if (exchanged_bits(plan) != 0) {
    put +=
        fmt::format("  *reinterpret_cast<{0}*>(tile + (to & ~{1})) = {2}_exchange(vectors[i], to & {1});\n",
                    vector, hex(f2::low_mask(plan.vector_bits), context.suffix()), name);
  } else {
    put += fmt::format("  *reinterpret_cast<{}*>(tile + to) = vectors[i];\n", vector);
  }
  return text + loop_text(context, plan, put);
}

std::string gather_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  std::string text;
  for (int k = 0; k < plan.element_count(); ++k) {
    Place place;
    place.component = static_cast<f2::Word>(k);
    const auto at = [&](const std::string& base, const Form& form) {
      const f2::Word offset = form(place) ^ form.constant;
      return offset == 0 ? base : fmt::format("{} ^ {}", base, hex(offset, context.suffix()));
    };
    const std::string element = fmt::format("tile[{}]", at("from", plan.loaded));
    text += fmt::format(
        "  vector.at[{}] = {};\n", k,
        fused ? call_text(context, element, at("x", plan.origin), at("y", plan.target)) : element);
  }
  return text;
}

std::string write_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  const std::string vector = context.vector_name();
  const std::string& name = context.options.name;
  const Form target = in_vectors(plan.target, plan.vector_bits);
  const bool origin = fused && context.function.uses_source;
  const std::string results = context.results_name(fused);
  std::string text = form_text(context, "loaded", plan.loaded) + form_text(context, "target", target);
  if (origin) text += form_text(context, "origin", plan.origin);
  text += fmt::format(
      "  {0}* const out_vectors = reinterpret_cast<{0}*>(out);\n"
      "{1}",
      results,
      results == vector ? fmt::format("  const unsigned long long out_policy = {}_policy(out);\n", name)
                        : "");

  std::string body = later_text(context, "from", "loaded", {{"i", plan.loaded.iteration}});
  body += later_text(context, "to", "target", {{"i", target.iteration}});
  if (origin) body += later_text(context, "x", "origin", {{"i", plan.origin.iteration}});
  if (fused && (context.function.uses_target || context.adds())) {
    body += fmt::format("  const {} y = to{};\n", context.index(),
                        plan.vector_bits > 0 ? fmt::format(" << {}", plan.vector_bits) : "");
  }
  body += fmt::format("  {} vector;\n", results) + gather_text(context, plan, fused);
  body += results == vector ? fmt::format("  {}_write(out_vectors + to, vector, out_policy);\n", name)
                            : "  out_vectors[to] = vector;\n";
  return text + loop_text(context, plan, body);
}

}  // namespace

std::string vector_kernel_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  const int rows = 1 << (plan.tile_bits - plan.column_bits);
  return head_text(context, plan, fused) + shared_text(context, plan) + numbers_text(context, plan) +
         fmt::format("\n  // Read {} rows of {} elements; all vectors of a thread are under way at once.\n",
                     rows, 1 << plan.column_bits) +
         read_text(context, plan) +
         "\n  __syncthreads();\n\n  // Write as many rows of the output, element by element from the "
         "tile.\n" +
         write_text(context, plan, fused) + "}\n";
}

}  // namespace faro::emit
