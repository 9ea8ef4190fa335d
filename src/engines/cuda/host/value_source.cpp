#include <fmt/format.h>

#include <variant>

#include "engines/cuda/value_program.hpp"
#include "kernel_texts.hpp"  // made by CMake: kernel_texts(), the headers below and what they include
#include "kernels/program_text.hpp"

namespace faro::cuda {
namespace {

const char* text_of(kernels::ValueOrder order) {
  switch (order) {
    case kernels::ValueOrder::by_table:
      return "faro::kernels::ValueOrder::by_table";
    case kernels::ValueOrder::by_steps:
      return "faro::kernels::ValueOrder::by_steps";
    case kernels::ValueOrder::along_runs:
      break;
  }
  return "faro::kernels::ValueOrder::along_runs";
}

const char* text_of(kernels::ValueFactorsOf factors) {
  switch (factors) {
    case kernels::ValueFactorsOf::all:
      return "faro::kernels::ValueFactorsOf::all";
    case kernels::ValueFactorsOf::rows:
      return "faro::kernels::ValueFactorsOf::rows";
    case kernels::ValueFactorsOf::runs:
      break;
  }
  return "faro::kernels::ValueFactorsOf::runs";
}

std::string program_text_of(const ValueKernel& kernel) {
  return kernels::program_text({.from = kernel.from,
                                .to = kernel.to,
                                .computed = kernel.computed,
                                .function = kernel.function,
                                .flags = kernel.flags,
                                .addend = kernel.addend});
}

std::string scaled_text(BlockFormat format) {
  if (format == BlockFormat::nvfp4) return "faro::kernels::TwiceScaled";
  constexpr const char* kElements[] = {"Float8E4M3", "Float8E5M2", "Float4E2M1"};
  return std::string("faro::kernels::PowerScaled<faro::kernels::") +
         kElements[static_cast<std::size_t>(format)] + ">";
}

// The step of an index array's kernel (kernels/index_steps.hpp); empty for others.
struct StepText {
  static bool forwards(kernels::Way way) { return way == kernels::Way::forwards; }

  std::string operator()(const faro::detail::LevelKernel& k) const {
    if (k.variant == faro::detail::LevelKernel::kInGlobal)
      return fmt::format("InGlobalStep<{}, true, {}>", k.unit.unit_bytes, forwards(k.way));
    return fmt::format("LevelStep<{}, {}, {}, {}>", k.unit.unit_bytes, k.unit.single, k.variant,
                       forwards(k.way));
  }
  std::string operator()(const faro::detail::ChunkKernel& k) const {
    using faro::detail::ChunkPlace;
    if (k.place == ChunkPlace::in_global)
      return fmt::format("InGlobalStep<{}, false, {}>", k.unit.unit_bytes, forwards(k.way));
    return fmt::format("ChunkStep<{}, {}, {}, {}>", k.unit.unit_bytes, k.unit.single,
                       k.place == ChunkPlace::large, forwards(k.way));
  }
  std::string operator()(const faro::detail::ColumnsKernel& k) const {
    return fmt::format("{}<{}, {}>", k.in_global ? "ColumnsInGlobalStep" : "ColumnsStep", k.unit_bytes,
                       forwards(k.way));
  }
  std::string operator()(const faro::detail::DirectKernel& k) const {
    return fmt::format("DirectStep<{}, {}, {}, static_cast<faro::kernels::DirectKind>({})>", k.unit_bytes,
                       k.index_bytes, !forwards(k.way), static_cast<int>(k.kind));
  }
  std::string operator()(const faro::detail::WindowKernel& k) const {
    return fmt::format("WindowStep<{}, {}, {}, {}>", k.unit_bytes, k.backwards, k.vectors, k.direct);
  }
  std::string operator()(const faro::detail::RunsKernel& k) const {
    return fmt::format("RunsStep<{}>", k.unit_bytes);
  }
  template <typename Other>
  std::string operator()(const Other& /*kernel*/) const {
    return {};
  }
};

std::string changed_text(const char* name, const Arithmetic& of, bool rounds_first,
                         const std::string& moved) {
  return fmt::format("faro::kernels::{}<{}, {}, {}, faro::kernels::{}>", name, kernels::program_text(of),
                     rounds_first, faro::detail::along_axes(of), moved);
}

// What the kernels' headers use of the standard library, which NVRTC has not.
constexpr const char* kBit = R"(#pragma once
namespace std {
template <typename To, typename From>
constexpr To bit_cast(const From& from) { return __builtin_bit_cast(To, from); }
template <typename T>
constexpr int bit_width(T x) { int bits = 0; for (; x != 0; x >>= 1) ++bits; return bits; }
}
)";
constexpr const char* kTypeTraits = R"(#pragma once
namespace std {
template <typename T, T kValue> struct integral_constant { static constexpr T value = kValue; };
template <bool kCondition, typename A, typename B> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };
template <bool kCondition, typename A, typename B> using conditional_t = typename conditional<kCondition, A, B>::type;
template <typename A, typename B> inline constexpr bool is_same_v = false;
template <typename A> inline constexpr bool is_same_v<A, A> = true;
template <typename T> inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <typename T> inline constexpr bool is_signed_v = is_floating_point_v<T> || is_same_v<T, signed char> ||
    is_same_v<T, char> || is_same_v<T, short> || is_same_v<T, int> || is_same_v<T, long> || is_same_v<T, long long>;
template <typename T> inline constexpr bool is_integral_v = (is_signed_v<T> && !is_floating_point_v<T>) ||
    is_same_v<T, bool> || is_same_v<T, unsigned char> || is_same_v<T, unsigned short> || is_same_v<T, unsigned int> ||
    is_same_v<T, unsigned long> || is_same_v<T, unsigned long long>;
}
)";
constexpr const char* kLimits = R"(#pragma once
#include <type_traits>
namespace std {
template <typename T> struct numeric_limits {
  static constexpr int digits = is_same_v<T, double> ? 53 : is_same_v<T, float> ? 24
      : 8 * static_cast<int>(sizeof(T)) - (is_signed_v<T> ? 1 : 0);
  static constexpr T max() { return is_signed_v<T> ? static_cast<T>((1ULL << (8 * sizeof(T) - 1)) - 1) : static_cast<T>(~0ULL); }
  static constexpr T min() { return is_signed_v<T> ? static_cast<T>(1ULL << (8 * sizeof(T) - 1)) : T{0}; }
};
}
)";
constexpr const char* kCmath = R"(#pragma once
namespace std {
#define FARO_REAL(name) \
  inline float name(float x) { return ::name##f(x); } \
  inline double name(double x) { return ::name(x); }
FARO_REAL(fabs) FARO_REAL(sqrt) FARO_REAL(exp) FARO_REAL(log) FARO_REAL(tanh) FARO_REAL(erfc) FARO_REAL(cos)
FARO_REAL(sin) FARO_REAL(tan) FARO_REAL(cosh) FARO_REAL(rint)
#undef FARO_REAL
inline float hypot(float x, float y) { return ::hypotf(x, y); }
inline double hypot(double x, double y) { return ::hypot(x, y); }
inline float atan2(float y, float x) { return ::atan2f(y, x); }
inline double atan2(double y, double x) { return ::atan2(y, x); }
inline float copysign(float x, float y) { return ::copysignf(x, y); }
inline double copysign(double x, double y) { return ::copysign(x, y); }
}
)";
// The concepts of faro/device/memory.hpp, which these kernels do not name.
constexpr const char* kConcepts = R"(#pragma once
#include <type_traits>
namespace std { template <typename A, typename B> concept same_as = is_same_v<A, B>; }
)";

}  // namespace

ValueKernel value_kernel_of(const Arithmetic& of, const faro::detail::ValueBoxes& boxes) {
  using namespace kernels;
  ValueKernel kernel{.from = of.from,
                     .to = of.to,
                     .computed = computed_in(of),
                     .function = of.function,
                     .direct = boxes.direct,
                     .columns = boxes.columns,
                     .interleaved = boxes.interleaved,
                     .in = boxes.in_vector,
                     .out = boxes.out_vector};
  kernel.turned = boxes.turned;
  if (!boxes.direct && !boxes.turned) {
    kernel.loads = boxes.loads;
    kernel.stores = boxes.stores;
    kernel.rounds_first = boxes.rounds_first;
    kernel.copied = boxes.copied;
    if (boxes.copied) kernel.factors = boxes.factors;
    kernel.aligned = boxes.aligned;
  }
  kernel.flags = kernels::program_flags(of);
  if (of.addend) kernel.addend = of.addend->number;
  return kernel;
}

std::string type_text(const ValueKernel& kernel) {
  const std::string program = program_text_of(kernel);
  if (kernel.columns > 0) {
    const bool from = kernel.interleaved == kernels::Interleaved::input;
    return "faro::kernels::MoveValueColumns<" + program + ", " + std::to_string(kernel.columns) + ", " +
           std::to_string(kernel.in) + ", faro::kernels::Interleaved::" + (from ? "input" : "output") + ">";
  }
  if (kernel.direct)
    return "faro::kernels::MoveValueRuns<" + program + ", " + std::to_string(kernel.in) + ">";
  if (kernel.turned) {
    return "faro::kernels::MoveTurnedValues<" + program + ", " + std::to_string(kernel.in) + ", " +
           std::to_string(kernel.out) + ">";
  }
  const std::string shape = std::to_string(kernel.in) + ", " + std::to_string(kernel.out) + ", " +
                            text_of(kernel.loads) + ", " + text_of(kernel.stores);
  if (kernel.copied) {
    return "faro::kernels::MoveCopiedValues<" + program + ", " + shape + ", " + text_of(kernel.factors) +
           (kernel.aligned ? ", true>" : ">");
  }
  return "faro::kernels::MoveValues<" + program + ", faro::kernels::ValueShape<" + shape +
         (kernel.rounds_first ? ", true>>" : ">>");
}

std::string tile_type_text(const Arithmetic& of, const faro::detail::ValueTiles& tiles) {
  const kernels::AffineTileShape& shape = tiles.shape;
  return "faro::kernels::MoveValueTiles<" + kernels::program_text(of) +
         (tiles.rounds_first ? ", true, " : ", false, ") + std::to_string(shape.segment_bits) + ", " +
         std::to_string(shape.row_bits) + ", " + std::to_string(shape.vector_bits) + ", " +
         std::to_string(shape.thread_bits) + (faro::detail::along_axes(of) ? ", true>" : ">");
}

std::optional<std::string> step_type_text(const Arithmetic& of, bool rounds_first,
                                          const faro::detail::GpuKernel& kernel) {
  const std::string step = std::visit(StepText{}, kernel.id);
  if (step.empty()) return std::nullopt;
  return changed_text("MoveChanged", of, rounds_first, step);
}

std::string map_type_text(const Arithmetic& of, bool rounds_first, const std::string& map) {
  return changed_text("MoveChangedMap", of, rounds_first, map);
}

std::string group_type_text(const ValueKernel& kernel) {
  return "faro::kernels::MoveGroupValues<" + type_text(kernel) + ">";
}

std::string type_text(const BlockKernel& kernel) {
  return std::string("faro::kernels::") + (kernel.back ? "DequantizeBoxes<" : "QuantizeBoxes<") +
         kernels::type_text(kernel.wide) + ", " + scaled_text(kernel.format) +
         ", faro::kernels::ValueShape<" + std::to_string(kernel.in) + ", " + std::to_string(kernel.out) +
         ", " + text_of(kernel.loads) + ", " + text_of(kernel.stores) + ", false, " +
         (kernel.back && bits_of(kernel.format) == 4 ? "true>>" : "false>>");
}

std::string type_text(const BlockTileKernel& kernel) {
  return std::string("faro::kernels::") + (kernel.back ? "DequantizeTiles<" : "QuantizeTiles<") +
         kernels::type_text(kernel.wide) + ", " + scaled_text(kernel.format) + ", " +
         (kernel.back ? std::to_string(kernel.part) + ", " : "") + std::to_string(kernel.vector) +
         (kernel.wide_along ? ", true" : ", false") + (kernel.data_along ? ", true>" : ", false>");
}

RowValueKernel row_value_kernel_of(const faro::detail::RowValues& of, const faro::detail::ValueRows& rows) {
  const bool elements = rows.pass.kernel == RowKernel::move_elements;
  return {.program = kernels::program_text(of.arithmetic),
          .takes = std::holds_alternative<Take>(of.move),
          .numbers = rows.numbers,
          .along_axes = faro::detail::along_axes(of.arithmetic),
          .arrays = elements ? rows.pass.arrays : 0};
}

std::string type_text(const RowValueKernel& kernel) {
  return std::string("faro::kernels::") + (kernel.arrays > 0 ? "MoveElements<" : "VectorRows<") +
         "faro::kernels::RowDirection::" + (kernel.takes ? "take" : "put") +
         ", faro::kernels::ChangedVectors<" + kernel.program + ", " + std::to_string(kernel.numbers) +
         (kernel.along_axes ? ", true>" : ">") +
         (kernel.arrays > 0 ? ", " + std::to_string(kernel.arrays) + ">" : ">");
}

RuntimeSource kernel_source(const std::string& type) {
  RuntimeSource source;
  source.text = R"(#include "kernels/computed_parts.hpp"
#include "kernels/computed_tile.hpp"
#include "kernels/group_values.hpp"
#include "kernels/index_steps.hpp"
#include "kernels/modular_tile.hpp"
#include "kernels/quantize_tile.hpp"
#include "kernels/row_elements.hpp"
#include "kernels/row_values.hpp"
#include "kernels/row_walk.hpp"
#include "kernels/sum_rows.hpp"
#include "kernels/value_registers.hpp"
#include "kernels/value_tile.hpp"
#include "kernels/value_turned.hpp"
struct ValueBlock {
  std::byte* memory;
  std::uint64_t index() const { return blockIdx.x; }
  std::uint32_t thread() const { return threadIdx.x; }
  std::byte* shared() const { return memory; }
  void barrier() const { __syncthreads(); }
  std::uint64_t read(const std::uint64_t* word) const { return *static_cast<const volatile std::uint64_t*>(word); }
  void atomic_min(std::uint64_t* word, std::uint64_t value) const {
    atomicMin(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
  }
};
using Kernel = )" +
                type +
                R"(;
extern "C" __global__ void __launch_bounds__(Kernel::kThreads, Kernel::kMinBlocks)
)" + kValueKernelName +
                R"((const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(16) std::byte shared[];
  ValueBlock block{shared};
  kernel(block);
}
)";
  source.file_name = "faro_values.cu";
  source.headers = {{"bit", kBit},
                    {"type_traits", kTypeTraits},
                    {"limits", kLimits},
                    {"cmath", kCmath},
                    {"concepts", kConcepts}};
  for (const auto& [name, text] : kernel_texts()) source.headers.emplace_back(name, text);
  // Products are rounded before they are added to, as on a CPU.
  source.options = {"--fmad=false", "--device-as-default-execution-space"};
  return source;
}

}  // namespace faro::cuda
