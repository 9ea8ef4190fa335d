// Paged caches.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "forward.hpp"
#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using CachePlanHandle = Handle<faro_cache_plan, faro_cache_plan_destroy>;

// A faro_number; blocks; tokens of a block; strides of blocks, tokens and heads; numbers of a part, and
// strides of parts and elements.
using CacheLayoutNumbers = std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                      std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

faro_cache_layout cache_layout_of(const CacheLayoutNumbers& of) {
  faro_cache_layout made{};
  std::uint64_t number = 0;
  int kind = 0;
  std::tie(kind, made.blocks, made.block_tokens, made.block_stride, made.token_stride, made.head_stride,
           made.part, made.part_stride, number) = of;
  made.number = static_cast<faro_number>(kind);
  made.element_stride = number;
  return made;
}

}  // namespace

void bind_caches(nb::module_& module) {
  nb::class_<CachePlanHandle>(module, "CachePlan")
      // Arrays are (input, output, scale of the input, of the output); a negative device is the host.
      .def_static("make",
                  [](std::uint64_t heads, std::uint64_t width, const CacheLayoutNumbers& from,
                     const CacheLayoutNumbers& to,
                     const std::vector<std::tuple<std::uintptr_t, std::uintptr_t, float, float>>& arrays,
                     int device, int threads) {
                    const faro_cache_layout source = cache_layout_of(from);
                    const faro_cache_layout target = cache_layout_of(to);
                    std::vector<faro_cache_arrays> moved;
                    moved.reserve(arrays.size());
                    for (const auto& [in, out, in_scale, out_scale] : arrays) {
                      moved.push_back({reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out),
                                       in_scale, out_scale});
                    }
                    faro_options options{};
                    options.engine = device < 0 ? FARO_CPU : FARO_CUDA;
                    options.device = device + 1;
                    options.threads = threads;
                    return made_unlocked<CachePlanHandle>([&](faro_cache_plan** plan) {
                      return faro_cache_plan_make(heads, width, &source, &target, moved.data(), moved.size(),
                                                  &options, plan);
                    });
                  })
      .def(
          "run",
          [](const CachePlanHandle& self, const Rows& from, const Rows& to, std::uint64_t sequences,
             std::uint64_t tokens, const Rows* lengths, std::uintptr_t stream) {
            const faro_rows* const given = lengths == nullptr ? nullptr : &lengths->value;
            do_unlocked([&] {
              return faro_cache_plan_run(self.plan.get(), &from.value, &to.value, sequences, tokens, given,
                                         reinterpret_cast<void*>(stream));
            });
          },
          nb::arg("source"), nb::arg("target"), nb::arg("sequences"), nb::arg("tokens"),
          nb::arg("lengths").none(), nb::arg("stream"))
      .def("check", runs_unlocked<CachePlanHandle>(faro_cache_plan_check))
      .def("explain", tells<CachePlanHandle>(faro_cache_plan_explain));
}

}  // namespace faro::python
