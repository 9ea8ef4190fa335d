// Numbers that are changed while they are moved.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "forward.hpp"
#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using Extents = std::vector<std::uint64_t>;
using Steps = std::vector<std::int64_t>;
using Values = std::vector<std::complex<double>>;

// The bytes of complex numbers.
Values values_of(const nb::bytes& bytes) {
  Values values(bytes.size() / sizeof(Values::value_type));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Values::value_type));
  return values;
}

// Values, and the axis that several are along.
using GivenCoefficient = std::optional<std::pair<nb::bytes, int>>;
using Coefficient = std::optional<std::pair<Values, int>>;

Coefficient values_of(const GivenCoefficient& given) {
  if (!given) return std::nullopt;
  return std::pair(values_of(given->first), given->second);
}

faro_coefficient coefficient_of(const Coefficient& given) {
  if (!given) return {};
  // An array of std::complex is one of real and imaginary parts by turns.
  return {.values = reinterpret_cast<const double*>(given->first.data()),
          .count = given->first.size(),
          .axis = given->second,
          .padding = 0};
}

struct Addend {
  int number;
  Steps strides;
  std::complex<double> beta;
  bool swapped;
};

// How numbers are changed, without where they lie.
struct Change {
  std::pair<int, int> numbers;
  int function;
  Coefficient scale;
  Coefficient offset;
  std::optional<Addend> addend;
  std::vector<bool> flags;  // to_nearest, saturated, in_swapped, out_swapped

  /// It points to what this holds. Strides of an addend are a view's.
  faro_arithmetic arithmetic() const {
    faro_arithmetic made{};
    made.from = static_cast<faro_number>(numbers.first);
    made.to = static_cast<faro_number>(numbers.second);
    made.function = static_cast<faro_function>(function);
    made.to_nearest = flags.at(0) ? 1 : 0;
    made.saturated = flags.at(1) ? 1 : 0;
    made.in_swapped = flags.at(2) ? 1 : 0;
    made.out_swapped = flags.at(3) ? 1 : 0;
    made.scale = coefficient_of(scale);
    made.offset = coefficient_of(offset);
    if (!addend) return made;
    made.adds = 1;
    made.addend = static_cast<faro_number>(addend->number);
    made.addend_swapped = addend->swapped ? 1 : 0;
    made.addend_strides = addend->strides.empty() ? nullptr : addend->strides.data();
    made.beta[0] = addend->beta.real();
    made.beta[1] = addend->beta.imag();
    return made;
  }
};

void require_ranks(std::initializer_list<std::size_t> ranks, std::size_t wanted) {
  for (const std::size_t rank : ranks) {
    if (rank != wanted) throw nb::value_error("one stride for each extent");
  }
}

}  // namespace

void bind_arithmetic(nb::module_& module) {
  nb::class_<Addend>(module, "Addend")
      .def("__init__", [](Addend* self, int number, Steps strides, const nb::bytes& beta, bool swapped) {
        new (self) Addend{.number = number,
                          .strides = std::move(strides),
                          .beta = values_of(beta).at(0),
                          .swapped = swapped};
      });
  nb::class_<Change>(module, "Change")
      .def_static(
          "make",
          [](std::pair<int, int> numbers, int function, const GivenCoefficient& scale,
             const GivenCoefficient& offset, const Addend* addend, std::vector<bool> flags) {
            return Change{.numbers = numbers,
                          .function = function,
                          .scale = values_of(scale),
                          .offset = values_of(offset),
                          .addend = addend == nullptr ? std::nullopt : std::optional(*addend),
                          .flags = std::move(flags)};
          },
          nb::arg("numbers"), nb::arg("function"), nb::arg("scale").none(), nb::arg("offset").none(),
          nb::arg("addend").none(), nb::arg("flags"));
  nb::class_<ArithmeticHandle>(module, "Arithmetic")
      .def("run",
           [](const ArithmeticHandle& self, std::uintptr_t in, std::uintptr_t addend, std::uintptr_t out,
              std::uint64_t bytes, std::uintptr_t stream) {
             const auto run = [&] {
               return faro_arithmetic_plan_run(self.plan.get(), reinterpret_cast<const void*>(in),
                                               reinterpret_cast<const void*>(addend),
                                               reinterpret_cast<void*>(out), reinterpret_cast<void*>(stream));
             };
             if (bytes < kBytesWithLock) return check(run());
             do_unlocked(run);
           })
      .def("run_by",
           [](const ArithmeticHandle& self, std::uintptr_t entries, std::uintptr_t in, std::uintptr_t addend,
              std::uintptr_t out, std::uintptr_t stream) {
             check(faro_arithmetic_plan_run_by(
                 self.plan.get(), reinterpret_cast<const void*>(entries), reinterpret_cast<const void*>(in),
                 reinterpret_cast<const void*>(addend), reinterpret_cast<void*>(out),
                 reinterpret_cast<void*>(stream)));
           })
      .def("check",
           [](const ArithmeticHandle& self, std::uintptr_t stream) {
             do_unlocked(
                 [&] { return faro_arithmetic_plan_check(self.plan.get(), reinterpret_cast<void*>(stream)); });
           })
      .def("explain", tells<ArithmeticHandle>(faro_arithmetic_plan_explain));
  module.def("plan_arithmetic", [](const Extents& extents, const Steps& in_strides, const Steps& out_strides,
                                   const Change& change, const Options& options) {
    require_ranks({in_strides.size(), out_strides.size()}, extents.size());
    if (change.addend) require_ranks({change.addend->strides.size()}, extents.size());
    const faro_view view{.rank = static_cast<int>(extents.size()),
                         .extents = extents.data(),
                         .in_strides = in_strides.data(),
                         .out_strides = out_strides.data(),
                         .in_corner = 0,
                         .out_corner = 0};
    const faro_arithmetic arithmetic = change.arithmetic();
    return made_unlocked<ArithmeticHandle>([&](faro_arithmetic_plan** plan) {
      return faro_arithmetic_plan_make(&view, &arithmetic, &options.value, plan);
    });
  });
  // (map, shape of the output, …)
  module.def("plan_arithmetic_map",
             [](const MapHandle& map, const Extents& shape, const Change& change, const Options& options) {
               const faro_arithmetic arithmetic = change.arithmetic();
               return made_unlocked<ArithmeticHandle>([&](faro_arithmetic_plan** plan) {
                 return faro_arithmetic_plan_make_map(map.map.get(), static_cast<int>(shape.size()),
                                                      shape.data(), &arithmetic, &options.value, plan);
               });
             });
  // (rows, a faro_row_move, fill or none, a faro_sums, shape of the output, …, device or -1); of the host the
  // entries have to live as long.
  module.def(
      "plan_arithmetic_rows",
      [](const Rows& rows, int move, const nb::object& fill, int sums, const Extents& shape,
         const Change& change, int device) {
        const bool filled = !fill.is_none();
        const nb::bytes bytes = filled ? nb::cast<nb::bytes>(fill) : nb::bytes("", 0);
        const faro_moved_rows moved{.rows = &rows.value,
                                    .move = static_cast<faro_row_move>(move),
                                    .sums = static_cast<faro_sums>(sums),
                                    .fill = filled ? bytes.data() : nullptr,
                                    .fill_bytes = bytes.size(),
                                    .out_shape = shape.data(),
                                    .rank = static_cast<int>(shape.size()),
                                    .device = device + 1,
                                    .reserved = {}};
        const faro_arithmetic arithmetic = change.arithmetic();
        return made_unlocked<ArithmeticHandle>([&](faro_arithmetic_plan** plan) {
          return faro_arithmetic_plan_make_rows(&moved, &arithmetic, plan);
        });
      },
      nb::arg("rows"), nb::arg("move"), nb::arg("fill").none(), nb::arg("sums"), nb::arg("shape"),
      nb::arg("change"), nb::arg("device") = -1);
}

}  // namespace faro::python
