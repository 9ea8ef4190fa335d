// Which kernel a box with arithmetic needs (kernels/value_box.hpp): one is compiled for each combination that
// is asked for, the popular ones with the library, others by NVRTC from the same source.
#pragma once

#include <optional>
#include <string>

#include "faro/arithmetic.hpp"
#include "faro/engines/nvrtc.hpp"
#include "kernels/number_program.hpp"
#include "kernels/value_arrays.hpp"
#include "plan/gpu/value_boxes.hpp"

namespace faro::cuda {

struct ValueKernel {
  Number from = Number::f32;
  Number to = Number::f32;
  Number computed = Number::f32;
  std::optional<Number> addend = {};
  Function function = Function::identity;
  unsigned flags = 0;  // kernels::ProgramStep
  bool direct = false;
  int columns = 0;
  kernels::Interleaved interleaved = kernels::Interleaved::input;
  int in = 1;  // numbers of a vector
  int out = 1;
  kernels::ValueOrder loads = kernels::ValueOrder::by_table;
  kernels::ValueOrder stores = kernels::ValueOrder::by_table;
  bool rounds_first = false;

  friend bool operator==(const ValueKernel&, const ValueKernel&) = default;
};

ValueKernel value_kernel_of(const Arithmetic& arithmetic, const faro::detail::ValueBoxes& boxes);

/// As a type: "faro::kernels::MoveValues<…>".
std::string type_text(const ValueKernel& kernel);

inline constexpr const char* kValueKernelName = "faro_values";

/// A translation unit with that kernel, extern "C" by kValueKernelName; of groups that of
/// kernels/group_values.hpp.
enum class ArraysOfKernel { one, group };
RuntimeSource value_source(const ValueKernel& kernel, ArraysOfKernel arrays = ArraysOfKernel::one);

/// A kernel that the library has, for cudaLaunchKernel; null where it has none. Its one parameter is
/// kernels::ValueArrays.
const void* compiled_value_kernel(const ValueKernel& kernel);

}  // namespace faro::cuda
