#include "engines/cuda/host/mapped.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "engines/cuda/runtime/device_arrays.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr std::uint64_t kWidestElement = 16;

std::string operation_of(const ElementMap& map) { return "map `" + map.expression + "`"; }

ElementMap with_element(const ElementMap& map, std::uint64_t element_bytes) {
  if (element_bytes > kWidestElement) {
    fail(ErrorCode::unsupported, operation_of(map), "elements of " + std::to_string(element_bytes) + " bytes",
         "elements of up to 16 bytes, the widest type that a function can take");
  }
  ElementMap complete = map;
  if (complete.element.empty()) {
    constexpr const char* kUnsigned[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint4"};
    complete.element = kUnsigned[std::countr_zero(element_bytes)];
    return complete;
  }
  for (const emit::ElementType& type : emit::element_types()) {
    if (type.name != complete.element || static_cast<std::uint64_t>(type.bytes) == element_bytes) continue;
    fail(ErrorCode::value, operation_of(map),
         "element type `" + complete.element + "` of " + std::to_string(type.bytes) + " bytes",
         "a type of " + std::to_string(element_bytes) + " bytes, as the problem's elements");
  }
  return complete;  // one that there is not, emit refuses by name
}

// The expression for an index of `bits` and of further ones above, which belong to the batch.
std::string within_array(const std::string& expression, int bits) {
  const std::string mask = std::to_string(f2::low_mask(bits)) + (bits < 32 ? "u" : "ull");
  return "[](auto v, auto x, auto y) { return (" + expression + "); }(v, x & " + mask + ", y & " + mask + ")";
}

bool all_aligned_to(const MappedLaunches& launches, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < launches.count; ++i) {
    if (launches.first_byte(i) % bytes != 0) return false;
  }
  return true;
}

}  // namespace

std::uint64_t MappedLaunches::first_byte(std::uint64_t i) const {
  const std::uint64_t arrays = std::uint64_t{1} << folded_bits;  // a launch
  return std::min(i * arrays, batch - arrays) * array_bytes;
}

MappedLaunches make_mapped_launches(const Problem& problem, const ElementMap& map) {
  if (map.expression.empty()) {
    fail(ErrorCode::value, operation_of(map), "no expression", "CUDA C++ over v, x and y",
         "such as `v * 2 + x`");
  }
  const Affine& permutation = affine(problem.permutation, "map");
  MappedLaunches launches{.map = with_element(map, problem.element_bytes),
                          .source = {},
                          .array_bytes = problem.element_bytes << permutation.bits(),
                          .batch = problem.batch};
  emit::Options options{.rung = emit::Rung::naive, .element = launches.map.element, .name = "faro_map"};
  options.map = map.expression;
  static_cast<void>(
      emit::emit(Affine(0), options));  // the expression alone is looked at before it is wrapped
  if (problem.batch == 0) return launches;

  int& folded = launches.folded_bits;
  const auto count = [&] { return ((problem.batch - 1) >> folded) + 1; };
  while (count() > kMostMappedLaunches && permutation.bits() + folded < emit::kMaxIndexBits) ++folded;
  launches.count = count();
  if (folded > 0) options.map = within_array(map.expression, permutation.bits());
  const Affine whole = direct_sum(permutation, Affine(folded));
  const auto emit_rung = [&](emit::Rung rung) {
    options.rung = rung;
    return emit::emit(whole, options);
  };
  launches.source = emit_rung(emit::Rung::one_pass);
  if (!all_aligned_to(launches, launches.source.vector_bytes)) launches.source = emit_rung(emit::Rung::naive);
  return launches;
}

struct MappedExecutor::State {
  int device = 0;
  MappedLaunches launches;
  std::optional<EmittedExecutor> kernel;  // none of an empty batch
};

MappedExecutor::MappedExecutor(const Problem& problem, const ElementMap& map, int device)
    : state_(std::make_unique<State>(State{.device = target(device).device,
                                           .launches = make_mapped_launches(problem, map),
                                           .kernel = std::nullopt})) {
  if (problem.batch == 0) return;
  try {
    state_->kernel.emplace(state_->launches.source, state_->device);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::value) throw;
    ErrorReport report = error.report();
    report.operation = operation_of(map);
    throw Error(report);
  }
}

MappedExecutor::MappedExecutor(MappedExecutor&&) noexcept = default;
MappedExecutor& MappedExecutor::operator=(MappedExecutor&&) noexcept = default;
MappedExecutor::~MappedExecutor() = default;

void MappedExecutor::run(const void* in, void* out, Stream stream) const {
  if (!state_->kernel) return;
  require_accessible(in, "input", state_->device);
  require_accessible(out, "output", state_->device);
  for (std::uint64_t i = 0; i < state_->launches.count; ++i) {
    const std::uint64_t offset = state_->launches.first_byte(i);
    state_->kernel->run(static_cast<const std::byte*>(in) + offset, static_cast<std::byte*>(out) + offset,
                        nullptr, stream);
  }
}

const ElementMap& MappedExecutor::map() const { return state_->launches.map; }
std::uint64_t MappedExecutor::launches() const { return state_->launches.count; }
const emit::Source& MappedExecutor::source() const { return state_->launches.source; }
std::uint64_t MappedExecutor::alignment() const { return std::max<std::uint64_t>(source().vector_bytes, 1); }

KernelResources MappedExecutor::resources() const {
  return state_->kernel ? state_->kernel->resources().front() : KernelResources{};
}

}  // namespace faro::cuda
