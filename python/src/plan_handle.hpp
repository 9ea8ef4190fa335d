// A plan of the library as a Python object.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

#include "faro/faro.h"
#include "status.hpp"

namespace faro::python {

namespace nb = nanobind;

/// Destroys what the library made, by the function of faro.h for it.
template <auto kDestroy>
struct Destroyer {
  template <typename Object>
  void operator()(Object* object) const {
    kDestroy(object);
  }
};
using PlanDeleter = Destroyer<faro_plan_destroy>;
using RowPlanDeleter = Destroyer<faro_row_plan_destroy>;

/// A plan of another kind, or what else of the library Python keeps.
template <typename Object, auto kDestroy>
struct Handle {
  std::unique_ptr<Object, Destroyer<kDestroy>> plan;
};

using ArithmeticHandle = Handle<faro_arithmetic_plan, faro_arithmetic_plan_destroy>;

/// faro.h's options as a Python object.
struct Options {
  faro_options value{};
};

struct MapHandle {
  std::unique_ptr<faro_map, Destroyer<faro_map_destroy>> map;
};

struct PlanHandle {
  std::unique_ptr<faro_plan, PlanDeleter> plan;

  /// Runs from and to these addresses. The interpreter's lock is released where that pays, from 64 KiB on.
  void run(std::uintptr_t in, std::uintptr_t out, std::uintptr_t stream) const;
  void run_in_place(std::uintptr_t data, std::uintptr_t stream) const;
  std::uint64_t out_bytes() const;
  /// What a run on a GPU takes besides its arrays: lent by whoever made them, which costs less than finding
  /// it anew.
  std::uint64_t workspace_bytes() const;
};

struct Rows {
  faro_rows value{};
};

/// What a function of faro.h gives through its last argument, made without the interpreter's lock. Throws its
/// failure.
template <typename OfHandle, typename Make>
OfHandle made_unlocked(const Make& make) {
  OfHandle handle;
  typename decltype(handle.plan)::pointer plan = nullptr;
  do_unlocked([&] { return make(&plan); });
  handle.plan.reset(plan);
  return handle;
}

/// Longer moves let other Python threads run.
inline constexpr std::uint64_t kBytesWithLock = std::uint64_t{64} << 10;

void bind_maps(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_rows(nb::module_& module);
void bind_shards(nb::module_& module);
void bind_stores(nb::module_& module);
void bind_packed(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_arithmetic(nb::module_& module);
void bind_blocks(nb::module_& module);
void bind_caches(nb::module_& module);
void bind_groups(nb::module_& module);
void bind_families(nb::module_& module);
void bind_calls(nb::module_& module);
void bind_xla(nb::module_& module);

}  // namespace faro::python
