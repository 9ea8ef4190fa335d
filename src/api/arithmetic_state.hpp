// What all plans with arithmetic have, and those of dense arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/array_checks.hpp"
#include "disjoint.hpp"
#include "engines/cpu/values/value_side.hpp"
#include "faro/arithmetic.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/strided.hpp"
#include "permutation/axis_map.hpp"
#include "plan/value_plan.hpp"

namespace faro {

// What all plans have: a view, or else arrays that are dense.
struct ExecutableArithmetic::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;

  bool adds = false;
  bool on_device = false;
  int device = cuda::kCurrentDevice;
  bool in_place = false;
  bool keeps = false;  // elements of the output, of dense arrays
  std::uint64_t in_count = 0;
  std::uint64_t out_count = 0;
  std::uint64_t addend_count = 0;

  virtual std::uint64_t moved_bytes() const = 0;
  virtual std::string explain() const = 0;
  virtual const Arithmetic& changes() const = 0;
  /// What arrays of the host can be cut by: none where they travel whole.
  virtual std::vector<const detail::ValuePlan*> views() const { return {}; }
  /// Refuses arrays that overlap, and entries that a run reads: those of the plan, or as many `by`. Requires:
  /// arrays of so many numbers, an addend where there is one (unchecked).
  virtual void check(const void* in, const void* addend, const void* out, const void* by) const = 0;
  /// Takes arrays that were checked, of the device where on_device.
  virtual void run(const cpu::ValueArrays& arrays, Stream stream) const = 0;
  /// Of rows: by entries elsewhere, and what was found of them on a device.
  virtual void run_by(const void* /*entries*/, const cpu::ValueArrays& /*arrays*/, Stream /*stream*/) const {
    fail(ErrorCode::unsupported, "run", "other entries", "a plan of rows");
  }
  virtual void check_entries(Stream /*stream*/) const {}
};

namespace detail {

inline constexpr const char* kAsOutput = "it may be the output itself, number by number";

/// Permutations and rows.
struct DenseState : ExecutableArithmetic::State {
  Arithmetic arithmetic;
  LaidArray entries = {};  // that a run reads

  void set_counts(const Arithmetic& of, std::uint64_t in, std::uint64_t out) {
    arithmetic = of;
    in_count = in;
    out_count = out;
    adds = of.addend.has_value();
    addend_count = adds ? out : 0;
  }

  const Arithmetic& changes() const override { return arithmetic; }

  void check(const void* in, const void* added, const void* out, const void* by) const override {
    LaidArray read = entries;
    if (by != nullptr) read.address = by;
    const LaidArray to{out, out_count * bytes_of(arithmetic.to)};
    const RunArray output{"output", to};
    if (in_place && in != out) {
      fail(ErrorCode::value, "run", "two arrays, and a plan in place",
           "one array, as the input and the output", "a plan that is not in place takes two");
    }
    if (!in_place) {
      check_disjoint("run", output,
                     {{"input", {in, in_count * bytes_of(arithmetic.from)}}, {"entries", read}});
    }
    if (!adds) return;
    const LaidArray other{added, addend_count * bytes_of(arithmetic.addend->number)};
    const bool accumulates = !in_place && added == out && other.element_bytes == to.element_bytes;
    if (!accumulates) check_disjoint("run", output, {{"added array", other}}, kAsOutput);
  }
};

/// Numbers in order, with factors along the axes of arithmetic.shape.
inline Strided in_order(const Arithmetic& arithmetic, std::uint64_t numbers) {
  const std::vector<std::uint64_t> shape =
      arithmetic.shape.empty() ? std::vector<std::uint64_t>{numbers} : arithmetic.shape;
  const std::vector<std::int64_t> strides = dense_strides(shape);
  Strided view;
  view.extents = shape;
  view.in_strides = view.out_strides = strides;
  return view;
}

}  // namespace detail
}  // namespace faro
