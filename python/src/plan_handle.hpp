// A plan of the library as a Python object.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "faro/faro.h"

namespace faro::python {

namespace nb = nanobind;

struct PlanDeleter {
  void operator()(faro_plan* plan) const { faro_plan_destroy(plan); }
};

struct RowPlanDeleter {
  void operator()(faro_row_plan* plan) const { faro_row_plan_destroy(plan); }
};

struct MapDeleter {
  void operator()(faro_map* map) const { faro_map_destroy(map); }
};

struct MapHandle {
  std::unique_ptr<faro_map, MapDeleter> map;
};

struct PlanHandle {
  std::unique_ptr<faro_plan, PlanDeleter> plan;

  /// Runs from and to these addresses. The interpreter's lock is released where that pays, from 64 KiB on.
  void run(std::uintptr_t in, std::uintptr_t out, std::uintptr_t stream) const;
  void run_in_place(std::uintptr_t data, std::uintptr_t stream) const;
  std::uint64_t out_bytes() const;
  /// What a run on a GPU takes besides its arrays: lent by whoever made them, which costs less than finding it anew.
  std::uint64_t workspace_bytes() const;
};

/// Longer moves let other Python threads run.
inline constexpr std::uint64_t kBytesWithLock = std::uint64_t{64} << 10;

void bind_maps(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_rows(nb::module_& module);
void bind_shards(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_calls(nb::module_& module);
void bind_xla(nb::module_& module);

}  // namespace faro::python
