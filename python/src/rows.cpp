#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "forward.hpp"
#include "plan_handle.hpp"
#include "row_cycles.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using RoutingHandle = Handle<faro_routing, faro_route_destroy>;
using RowPlanHandle = Handle<faro_row_plan, faro_row_plan_destroy>;
using RoutePlanHandle = Handle<faro_route_plan, faro_route_plan_destroy>;
using CombinePlanHandle = Handle<faro_combine_plan, faro_combine_plan_destroy>;
using DispatchPlanHandle = Handle<faro_dispatch_plan, faro_dispatch_plan_destroy>;
using SegmentsPlanHandle = Handle<faro_segments_plan, faro_segments_plan_destroy>;
using NetworkPlanHandle = Handle<faro_network_plan, faro_network_plan_destroy>;

const void* in_of(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }
void* out_of(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// Options of a plan's device, or with a negative one of the host.
faro_options options_of(int device) {
  faro_options options{};
  options.engine = device < 0 ? FARO_CPU : FARO_CUDA;
  options.device = device + 1;
  return options;
}

faro_device_route device_route(std::uintptr_t places, std::uintptr_t inverse, std::uintptr_t rows,
                               std::uintptr_t offsets, std::uintptr_t counts) {
  const auto list = [](std::uintptr_t address) { return reinterpret_cast<std::int64_t*>(address); };
  return {.places = list(places),
          .inverse = list(inverse),
          .rows = list(rows),
          .offsets = list(offsets),
          .counts = list(counts)};
}

faro_route_options route_options(std::uint64_t buckets, std::uint64_t keys_per_row, std::uint64_t multiple,
                                 std::int64_t capacity, int threads) {
  return {.buckets = buckets,
          .keys_per_row = keys_per_row,
          .multiple = multiple,
          .capacity = capacity,
          .threads = threads,
          .reserved = {}};
}

std::span<const std::int64_t> entries_of(const RoutingHandle& self, int list) {
  const std::int64_t* entries = nullptr;
  std::uint64_t count = 0;
  check(faro_route_get(self.plan.get(), static_cast<faro_route_list>(list), &entries, &count));
  return {entries, count};
}

}  // namespace

void bind_rows(nb::module_& module) {
  nb::class_<Rows>(module, "Rows")
      .def_static("make", [](std::uintptr_t entries, std::uint64_t count, int entry_bytes, bool is_signed,
                             std::uint64_t rows, std::uint64_t outer, std::uint64_t row_bytes, int threads) {
        return Rows{{.entries = in_of(entries),
                     .count = count,
                     .entry_bytes = entry_bytes,
                     .is_signed = is_signed ? 1 : 0,
                     .rows = rows,
                     .outer = outer,
                     .row_bytes = row_bytes,
                     .threads = threads}};
      });
  module.def(
      "take",
      // `fresh`: nobody sees the output where this fails.
      [](const Rows& rows, const nb::object& fill, std::uintptr_t in, std::uintptr_t out, bool fresh) {
        const bool filled = !fill.is_none();
        const nb::bytes bytes = filled ? nb::cast<nb::bytes>(fill) : nb::bytes("", 0);
        const void* const value = filled ? bytes.data() : nullptr;
        const std::uint64_t size = bytes.size();
        const auto take = fresh ? faro_take_new : faro_take;
        do_unlocked([&] { return take(&rows.value, value, size, in_of(in), out_of(out)); });
      },
      nb::arg("rows"), nb::arg("fill").none(), nb::arg("input"), nb::arg("output"), nb::arg("fresh"));
  module.def("put", [](const Rows& rows, std::uintptr_t in, std::uintptr_t out) {
    do_unlocked([&] { return faro_put(&rows.value, in_of(in), out_of(out)); });
  });
  // (address of the sources, rows, arrays, bytes of a row, address of the first)
  module.def("permute_rows_in_place", [](std::uintptr_t sources, std::uint64_t count, std::uint64_t outer,
                                         std::uint64_t row_bytes, std::uintptr_t data) {
    const nb::gil_scoped_release released;
    const ListedSources listed(static_cast<const std::uint64_t*>(in_of(sources)));
    permute_rows({.rows = count, .outer = outer, .row_bytes = row_bytes}, listed,
                 static_cast<std::byte*>(out_of(data)));
  });
  // (columns of a matrix and a complement that give the sources, arrays, bytes of a row, address of the
  // first)
  module.def("permute_affine_rows_in_place", [](const std::vector<std::uint64_t>& columns,
                                                std::uint64_t complement, std::uint64_t outer,
                                                std::uint64_t row_bytes, std::uintptr_t data) {
    const nb::gil_scoped_release released;
    const RowCycles of{.rows = std::uint64_t{1} << columns.size(), .outer = outer, .row_bytes = row_bytes};
    permute_rows(of, AffineSources(columns, complement), static_cast<std::byte*>(out_of(data)));
  });
  module.def("add", [](const Rows& rows, int number, int sums, std::uintptr_t in, std::uintptr_t out) {
    do_unlocked([&] {
      return faro_add(&rows.value, static_cast<faro_number>(number), static_cast<faro_sums>(sums), in_of(in),
                      out_of(out));
    });
  });
  // "take" with a fill or none, "put", or "add" of numbers; on a device, where its entries' address is the
  // first run's, or with a negative one on the host.
  nb::class_<RowPlanHandle>(module, "RowPlan")
      .def_static(
          "make",
          [](const std::string& kind, const Rows& rows, const nb::object& fill, int number, int sums,
             int device, std::uint64_t repeats) {
            faro_options options = options_of(device);
            options.repeats = repeats;
            const bool filled = !fill.is_none();
            const nb::bytes bytes = filled ? nb::cast<nb::bytes>(fill) : nb::bytes("", 0);
            const void* const value = filled ? bytes.data() : nullptr;
            const std::uint64_t size = bytes.size();
            return made_unlocked<RowPlanHandle>([&](faro_row_plan** plan) {
              if (kind == "take") return faro_row_plan_take(&rows.value, value, size, &options, plan);
              if (kind == "put") return faro_row_plan_put(&rows.value, &options, plan);
              return faro_row_plan_add(&rows.value, static_cast<faro_number>(number),
                                       static_cast<faro_sums>(sums), &options, plan);
            });
          },
          nb::arg("kind"), nb::arg("rows"), nb::arg("fill").none(), nb::arg("number"), nb::arg("sums"),
          nb::arg("device"), nb::arg("repeats"))
      .def("run", runs<RowPlanHandle>(faro_row_plan_run))
      .def("run_in_workspace", runs<RowPlanHandle>(faro_row_plan_run_in_workspace))
      // Takes (input, output, bytes of a row). Null entries: the plan's. Null memory: none is lent.
      .def("run_columns",
           [](const RowPlanHandle& self, std::uintptr_t entries,
              const std::vector<std::tuple<std::uintptr_t, std::uintptr_t, std::uint64_t>>& columns,
              std::uintptr_t workspace, std::uint64_t bytes, std::uintptr_t stream) {
             std::vector<faro_row_column> moved;
             moved.reserve(columns.size());
             for (const auto& [in, out, row_bytes] : columns)
               moved.push_back({.in = in_of(in), .out = out_of(out), .row_bytes = row_bytes});
             do_unlocked([&] {
               return faro_row_plan_run_columns(self.plan.get(), in_of(entries), moved.data(), moved.size(),
                                                out_of(workspace), bytes, out_of(stream));
             });
           })
      .def("workspace_bytes", gives<RowPlanHandle>(faro_row_plan_workspace_bytes))
      .def("check", runs_unlocked<RowPlanHandle>(faro_row_plan_check))
      .def("explain", tells<RowPlanHandle>(faro_row_plan_explain));
  nb::class_<RoutePlanHandle>(module, "RoutePlan")
      .def_static(
          "make",
          [](std::uintptr_t keys, std::uint64_t count, int key_bytes, bool is_signed, std::uint64_t buckets,
             std::uint64_t keys_per_row, std::uint64_t multiple, std::int64_t capacity, int device) {
            const faro_route_options options = route_options(buckets, keys_per_row, multiple, capacity, 0);
            return made_unlocked<RoutePlanHandle>([&](faro_route_plan** plan) {
              return faro_route_plan_make(in_of(keys), count, key_bytes, is_signed ? 1 : 0, &options,
                                          device + 1, plan);
            });
          })
      .def("most_places", gives<RoutePlanHandle>(faro_route_plan_most_places))
      .def("run",
           [](const RoutePlanHandle& self, std::uintptr_t places, std::uintptr_t inverse, std::uintptr_t rows,
              std::uintptr_t offsets, std::uintptr_t counts, std::uintptr_t stream) {
             const faro_device_route to = device_route(places, inverse, rows, offsets, counts);
             check(faro_route_plan_run(self.plan.get(), &to, out_of(stream)));
           })
      .def("send",
           [](const RoutePlanHandle& self, std::uintptr_t places, std::uintptr_t inverse, std::uintptr_t rows,
              std::uintptr_t offsets, std::uintptr_t counts, std::uint64_t row_bytes, std::uintptr_t in,
              std::uintptr_t out, std::uintptr_t stream) {
             const faro_device_route to = device_route(places, inverse, rows, offsets, counts);
             check(faro_route_plan_send(self.plan.get(), &to, row_bytes, in_of(in), out_of(out),
                                        out_of(stream)));
           })
      .def("check", runs_unlocked<RoutePlanHandle>(faro_route_plan_check));
  nb::class_<CombinePlanHandle>(module, "CombinePlan")
      .def_static("make",
                  [](const Rows& rows, std::uint64_t keys_per_row, std::uintptr_t weights, int number,
                     int sums, int device) {
                    return made_unlocked<CombinePlanHandle>([&](faro_combine_plan** plan) {
                      return faro_combine_plan_make(
                          &rows.value, keys_per_row, reinterpret_cast<const float*>(weights),
                          static_cast<faro_number>(number), static_cast<faro_sums>(sums), device + 1, plan);
                    });
                  })
      .def("run", runs<CombinePlanHandle>(faro_combine_plan_run))
      .def("check", runs_unlocked<CombinePlanHandle>(faro_combine_plan_check));
  module.def("combine", [](const Rows& rows, std::uint64_t keys_per_row, std::uintptr_t weights, int number,
                           int sums, std::uintptr_t in, std::uintptr_t out) {
    do_unlocked([&] {
      return faro_combine(&rows.value, keys_per_row, reinterpret_cast<const float*>(weights),
                          static_cast<faro_number>(number), static_cast<faro_sums>(sums), in_of(in),
                          out_of(out));
    });
  });
  module.def("dispatch", [](const Rows& places, std::uint64_t keys_per_row, const Rows& taken,
                            std::uintptr_t in, std::uintptr_t out) {
    do_unlocked(
        [&] { return faro_dispatch(&places.value, keys_per_row, &taken.value, in_of(in), out_of(out)); });
  });
  nb::class_<DispatchPlanHandle>(module, "DispatchPlan")
      .def_static("make",
                  [](const Rows& places, std::uint64_t keys_per_row, const Rows& taken, int device) {
                    return made_unlocked<DispatchPlanHandle>([&](faro_dispatch_plan** plan) {
                      return faro_dispatch_plan_make(&places.value, keys_per_row, &taken.value, device + 1,
                                                     plan);
                    });
                  })
      .def("run", runs<DispatchPlanHandle>(faro_dispatch_plan_run))
      .def("check", runs_unlocked<DispatchPlanHandle>(faro_dispatch_plan_check));
  // (n, k, type of numbers, moduli of the first polynomials, and of the next) and (n, k, bytes of an
  // element); a negative device is the host.
  module.def("permute_negacyclic",
             [](std::uint64_t n, std::int64_t k, int number, const std::vector<std::uint64_t>& moduli,
                std::uintptr_t in, std::uintptr_t out, std::uint64_t bytes, int device, int threads,
                std::uintptr_t stream) {
               faro_options options = options_of(device);
               options.threads = threads;
               do_unlocked([&] {
                 return faro_permute_negacyclic_moduli(n, k, static_cast<faro_number>(number), moduli.data(),
                                                       moduli.size(), in_of(in), out_of(out), bytes, &options,
                                                       out_of(stream));
               });
             });
  module.def("permute_evaluations",
             [](std::uint64_t n, std::int64_t k, std::uint64_t element_bytes, std::uintptr_t in,
                std::uintptr_t out, std::uint64_t bytes, int device, int threads, std::uintptr_t stream) {
               faro_options options = options_of(device);
               options.threads = threads;
               do_unlocked([&] {
                 return faro_permute_evaluations(n, k, element_bytes, in_of(in), out_of(out), bytes, &options,
                                                 out_of(stream));
               });
             });
  nb::class_<SegmentsPlanHandle>(module, "SegmentsPlan")
      .def_static("make",
                  [](const Rows& offsets, const Rows& from, std::uint64_t element_bytes, int device) {
                    const faro_options options = options_of(device);
                    return made_unlocked<SegmentsPlanHandle>([&](faro_segments_plan** plan) {
                      return faro_segments_plan_make(&offsets.value, &from.value, element_bytes, &options,
                                                     plan);
                    });
                  })
      .def("elements", gives<SegmentsPlanHandle>(faro_segments_plan_elements))
      .def("offsets", runs<SegmentsPlanHandle>(faro_segments_plan_offsets))
      .def("run",
           [](const SegmentsPlanHandle& self, std::uintptr_t in, std::uint64_t in_bytes, std::uintptr_t out,
              std::uint64_t out_bytes, std::uintptr_t offsets, std::uintptr_t stream) {
             do_unlocked([&] {
               return faro_segments_plan_run(self.plan.get(), in_of(in), in_bytes, out_of(out), out_bytes,
                                             reinterpret_cast<std::int64_t*>(offsets), nullptr, 0,
                                             out_of(stream));
             });
           })
      .def("check", runs_unlocked<SegmentsPlanHandle>(faro_segments_plan_check));
  module.def("network_explain", [](const std::string& program, int bits, const std::string& element) {
    return told(
        [&](char** text) { return faro_network_explain(c_text(program), bits, c_text(element), text); });
  });
  nb::class_<NetworkPlanHandle>(module, "NetworkPlan")
      .def_static("make",
                  [](const std::string& program, int bits, const std::string& element, std::uint64_t batch,
                     int engine, int threads, int device) {
                    faro_options options{};
                    options.engine = static_cast<faro_engine>(engine);
                    options.threads = threads;
                    options.device = device;
                    options.batch = batch;
                    const char* const said = c_text(program);
                    const char* const of = c_text(element);
                    return made_unlocked<NetworkPlanHandle>([&](faro_network_plan** plan) {
                      return faro_network_plan_make(said, bits, of, &options, plan);
                    });
                  })
      .def("run", runs_unlocked<NetworkPlanHandle>(faro_network_plan_run))
      .def("explain", tells<NetworkPlanHandle>(faro_network_plan_explain));

  nb::class_<RoutingHandle>(module, "Routing")
      // Copies a list to an address that has room for it.
      .def("count", [](const RoutingHandle& self,
                       int list) { return static_cast<std::uint64_t>(entries_of(self, list).size()); })
      .def("copy",
           [](const RoutingHandle& self, int list, std::uintptr_t to) {
             const auto entries = entries_of(self, list);
             std::copy(entries.begin(), entries.end(), reinterpret_cast<std::int64_t*>(to));
           })
      .def("lost", [](const RoutingHandle& self) {
        std::uint64_t dropped = 0;
        std::uint64_t absent = 0;
        check(faro_route_lost(self.plan.get(), &dropped, &absent));
        return std::vector<std::uint64_t>{dropped, absent};
      });
  module.def("route", [](std::uintptr_t keys, std::uint64_t count, int key_bytes, bool is_signed,
                         std::uint64_t buckets, std::uint64_t keys_per_row, std::uint64_t multiple,
                         std::int64_t capacity, int threads) {
    const faro_route_options options = route_options(buckets, keys_per_row, multiple, capacity, threads);
    return made_unlocked<RoutingHandle>([&](faro_routing** routing) {
      return faro_route(in_of(keys), count, key_bytes, is_signed ? 1 : 0, &options, routing);
    });
  });
}

}  // namespace faro::python
