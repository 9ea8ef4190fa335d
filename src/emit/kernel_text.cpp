// Kernels of single elements as text: naive, tile, banks and iters.
#include <fmt/format.h>

#include "emit/bit_moves.hpp"
#include "emit/text.hpp"

namespace faro::emit {
namespace {

// Iterations whose elements a thread holds at once; more than that go through registers one by one.
constexpr int kMaxUnrolled = 16;

std::string naive_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  std::string text = head_text(context, plan, fused);
  const std::string x =
      plan.block_bits == 0 ? "threadIdx.x"
                           : fmt::format("blockIdx.x * {}{} + threadIdx.x", plan.threads(), context.suffix());
  text += fmt::format("  const {} x = {};\n\n", context.index(), x);
  const auto columns = plan.map.matrix().column_span();
  text += value_text(context, "y", plan.map.complement(), {{"x", {columns.begin(), columns.end()}}});
  return text + fmt::format("  out[y] = {};\n}}\n", fused ? call_text(context, "in[x]", "x", "y") : "in[x]");
}

// The address of an element of the tile: its place, or rotated within its row.
std::string turned_text(const TextContext& context, const KernelPlan& plan, const std::string& name,
                        const Form& place) {
  std::vector<f2::Word> shift_of_thread;
  std::vector<f2::Word> shift_of_warp;
  f2::Word any = 0;
  for (const f2::Word column : place.thread) any |= shift_of_thread.emplace_back(plan.shift_of(column));
  for (const f2::Word column : place.warp) any |= shift_of_warp.emplace_back(plan.shift_of(column));
  if (any == 0) return form_text(context, name, place);

  const std::string columns = hex(f2::low_mask(plan.turn_bits), context.suffix());
  return form_text(context, name + "_place", place) +
         value_text(context, name + "_shift", 0, {{"thread", shift_of_thread}, {"warp", shift_of_warp}}) +
         fmt::format("  const {0} {1} = ({1}_place & ~{2}) + (({1}_place + {1}_shift) & {2});\n",
                     context.index(), name, columns);
}

std::string read_tile_text(const TextContext& context, const KernelPlan& plan) {
  std::string text = form_text(context, "source", plan.source);
  text += turned_text(context, plan, "stored", plan.stored);
  if (plan.iteration_bits == 0) return text + "  tile[stored] = in[source];\n";

  if (plan.iterations() > kMaxUnrolled) {
    return text + loop_text(context, plan,
                            later_text(context, "x", "source", {{"i", plan.source.iteration}}) +
                                later_text(context, "at", "stored", {{"i", plan.stored.iteration}}) +
                                "  tile[at] = in[x];\n");
  }
  text += fmt::format("  {} element[{}];\n", context.element_name(), plan.iterations());
  text += loop_text(
      context, plan,
      later_text(context, "x", "source", {{"i", plan.source.iteration}}) + "  element[i] = in[x];\n");
  return text + loop_text(context, plan,
                          later_text(context, "at", "stored", {{"i", plan.stored.iteration}}) +
                              "  tile[at] = element[i];\n");
}

std::string write_tile_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  const bool origin = fused && context.function.uses_source;
  const bool loops = plan.iteration_bits > 0;
  std::string text = turned_text(context, plan, "loaded", plan.loaded);
  if (origin) text += form_text(context, "origin", plan.origin);
  text += form_text(context, "target", plan.target);
  if (!loops) {
    const std::string element = "tile[loaded]";
    return text + fmt::format("  out[target] = {};\n",
                              fused ? call_text(context, element, "origin", "target") : element);
  }
  const std::string element = "tile[at]";
  std::string body = later_text(context, "at", "loaded", {{"i", plan.loaded.iteration}});
  if (origin) body += later_text(context, "x", "origin", {{"i", plan.origin.iteration}});
  body += later_text(context, "y", "target", {{"i", plan.target.iteration}});
  body += fmt::format("  out[y] = {};\n", fused ? call_text(context, element, "x", "y") : element);
  return text + loop_text(context, plan, body);
}

std::string tile_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  const std::string tiles = plan.iteration_bits > 0 ? fmt::format("{} tiles", plan.iterations()) : "the tile";
  std::string text =
      head_text(context, plan, fused) + shared_text(context, plan) + numbers_text(context, plan);
  text += fmt::format("\n  // Read {}: {} x {} elements, along the rows of the input.\n", tiles,
                      1 << plan.warp_bits, 1 << plan.thread_bits);
  text += read_tile_text(context, plan);
  text += fmt::format("\n  __syncthreads();\n\n  // Write {}, along the rows of the output.\n", tiles);
  return text + write_tile_text(context, plan, fused) + "}\n";
}

}  // namespace

std::string head_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  const std::string bounds = plan.min_blocks > 0 ? fmt::format("{}, {}", plan.threads(), plan.min_blocks)
                                                 : fmt::format("{}", plan.threads());
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__({0})\n"
      "{1}(const {2}* __restrict__ in, {3}* __restrict__ out{4}) {{\n",
      bounds, plan.name, context.element_name(), context.result_name(fused),
      fused ? context.addend_parameter() : "");
}

std::string shared_text(const TextContext& context, const KernelPlan& plan) {
  const std::uint64_t elements = std::uint64_t{1} << plan.shared_bits();
  if (plan.shared_bytes() <= kStaticSharedBytes) {
    return fmt::format("  __shared__ __align__(128) {} tile[{}];\n", context.element_name(), elements);
  }
  return fmt::format(
      "  extern __shared__ __align__(128) {0} {1}_tile[];  // {2} elements\n"
      "  {0}* const tile = {1}_tile;\n",
      context.element_name(), plan.name, elements);
}

std::string numbers_text(const TextContext& context, const KernelPlan& plan) {
  std::string text;
  const auto number = [&](int bits, const char* name, const char* from) {
    if (bits > 0) text += fmt::format("  const {} {} = {};\n", context.index(), name, from);
  };
  number(plan.block_bits, "block", "blockIdx.x");
  number(plan.warp_bits, "warp", "threadIdx.y");
  number(plan.thread_bits, "thread", "threadIdx.x");
  return text;
}

std::string form_text(const TextContext& context, const std::string& name, const Form& form) {
  return value_text(context, name, form.constant,
                    {{"thread", form.thread}, {"warp", form.warp}, {"block", form.block}});
}

std::string loop_text(const TextContext& context, const KernelPlan& plan, const std::string& body) {
  const bool whole = plan.iterations() <= kMaxUnrolled;
  return fmt::format("#pragma unroll{}\n  for ({} i = 0; i < {}; ++i) {{\n{}  }}\n",
                     whole ? "" : fmt::format(" {}", kMaxUnrolled), context.index(), plan.iterations(),
                     indented(body));
}

std::string call_text(const TextContext& context, const std::string& element, const std::string& origin,
                      const std::string& target) {
  const MapExpression& f = context.function;
  std::string arguments;
  const auto argument = [&](bool used, const std::string& text) {
    if (used) arguments += (arguments.empty() ? "" : ", ") + text;
  };
  argument(true, element);
  argument(f.uses_source, origin);
  argument(f.uses_target, target);
  argument(context.adds(), "addend[" + target + "]");
  return fmt::format("{}_map({})", context.options.name, arguments);
}

std::string kernel_text(const TextContext& context, const KernelPlan& plan, bool fused) {
  if (!plan.has_tile) return naive_text(context, plan, fused);
  return plan.tile_an_iteration ? tile_text(context, plan, fused) : vector_kernel_text(context, plan, fused);
}

}  // namespace faro::emit
