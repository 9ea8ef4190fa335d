#include "bench/gpu_swizzle/polynomials.hpp"

#include <utility>

#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"
#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/program.hpp"

namespace faro::bench::gpu {
namespace {

using swizzle::Comparison;
using swizzle::ConditionParameters;
using swizzle::PartParameters;
using swizzle::Valuation;

/// Argument t of a hole's (t, i), compared with i or -t.
ConditionParameters lane_is(Comparison comparison) {
  return {.literal = {}, .v1 = 0, .v2 = 1, .comparison = comparison};
}

ConditionParameters always(bool value) { return {.literal = value}; }

/// A worse solution of the same search, ten live accumulates: lane 0 alone sends the first word of b as b1
/// and the second as b2, all others the other way round.
Valuation ten(const Valuation& eight) {
  Valuation found = eight;
  const ConditionParameters is_first{
      .literal = {}, .v1 = 0, .v2 = 0, .comparison = Comparison::equal, .constant = 0, .sign = -1};
  const ConditionParameters is_later{
      .literal = {}, .v1 = 0, .v2 = 0, .comparison = Comparison::greater, .constant = 0, .sign = -1};
  found.set("part_b1", PartParameters{.conditions = {is_first}});
  found.set("part_b2", PartParameters{.conditions = {is_later}});
  const auto equal = lane_is(Comparison::equal), more = lane_is(Comparison::greater),
             less = lane_is(Comparison::less), at_most = lane_is(Comparison::less_equal);
  // By sum, of a1 b1, a1 b2, a2 b1, a2 b2.
  const ConditionParameters uses[4][4] = {{equal, more, always(false), always(false)},
                                          {more, at_most, equal, more},
                                          {less, always(false), more, at_most},
                                          {always(false), always(false), less, always(false)}};
  for (int sum = 1; sum <= 4; ++sum)
    for (int a = 1; a <= 2; ++a)
      for (int b = 1; b <= 2; ++b)
        found.set("use" + std::to_string(sum) + "_a" + std::to_string(a) + "b" + std::to_string(b),
                  uses[sum - 1][2 * (a - 1) + b - 1]);
  return found;
}

}  // namespace

std::vector<ProductKernel> product_kernels(std::uint32_t batch) {
  const swizzle::Example example = swizzle::make_example("poly-64", {});
  const Valuation& eight = example.known.at(1).valuation;
  const std::vector<std::pair<std::string, Valuation>> solutions{
      {"best", example.known.at(0).valuation}, {"as by hand", eight}, {"worst", ten(eight)}};
  std::vector<ProductKernel> kernels;
  for (const auto& [name, valuation] : solutions) {
    if (swizzle::first_mismatch(example.specification, example.sketch, valuation))
      fail(ErrorCode::verification, "gpu_swizzle_bench", "poly-64, `" + name + "`: no solution", "one");
    kernels.push_back({.emitted = swizzle::emit(example.sketch, valuation,
                                                {.name = "poly_64_" + std::to_string(kernels.size()),
                                                 .element_type = "uint32_t",
                                                 .title = "poly-64, " + name,
                                                 .batch = batch}),
                       .solution = name});
  }
  return kernels;
}

struct ProductModule::State {
  std::vector<ProductKernel> kernels;
  std::vector<cuda::RuntimeKernel> compiled;
};

ProductModule::ProductModule(std::vector<ProductKernel> kernels) : state_(std::make_unique<State>()) {
  std::string text;
  for (const ProductKernel& kernel : kernels) text += kernel.emitted.text + "\n";
  const auto module = cuda::compile({.text = text}, cuda::kCurrentDevice);
  for (const ProductKernel& kernel : kernels)
    state_->compiled.push_back(module->kernel(kernel.emitted.name, false));
  state_->kernels = std::move(kernels);
}

ProductModule::ProductModule(ProductModule&&) noexcept = default;
ProductModule& ProductModule::operator=(ProductModule&&) noexcept = default;
ProductModule::~ProductModule() = default;

const std::vector<ProductKernel>& ProductModule::kernels() const { return state_->kernels; }
int ProductModule::registers(std::size_t kernel) const { return state_->compiled[kernel].registers(); }
std::uint64_t ProductModule::local_bytes(std::size_t kernel) const {
  return state_->compiled[kernel].local_bytes();
}

void ProductModule::queue(std::size_t kernel, const void* a, const void* b, void* c, std::uint32_t products,
                          Stream stream) const {
  const swizzle::EmittedKernel& emitted = state_->kernels[kernel].emitted;
  const std::uint64_t blocks =
      std::uint64_t{emitted.blocks} * ((products + emitted.batch - 1) / emitted.batch);
  void* arguments[] = {&a, &b, &c, &products};
  state_->compiled[kernel].launch(blocks, static_cast<int>(emitted.threads), 1, 0, arguments, stream);
}

}  // namespace faro::bench::gpu
