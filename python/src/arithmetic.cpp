// Numbers that are changed while they are moved.
#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using Extents = std::vector<std::uint64_t>;
using Steps = std::vector<std::int64_t>;
using Values = std::vector<std::complex<double>>;
using ArithmeticHandle = Handle<faro_arithmetic_plan, faro_arithmetic_plan_destroy>;

// Values, and the axis that several are along.
using Coefficient = std::optional<std::pair<Values, int>>;

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

constexpr std::uint64_t kBytesUnlocked = 65536;

void require_ranks(std::initializer_list<std::size_t> ranks, std::size_t wanted) {
  for (const std::size_t rank : ranks) {
    if (rank != wanted) throw nb::value_error("one stride for each extent");
  }
}

}  // namespace

void bind_arithmetic(nb::module_& module) {
  nb::class_<Addend>(module, "Addend").def(nb::init<int, Steps, std::complex<double>, bool>());
  nb::class_<ArithmeticHandle>(module, "Arithmetic")
      .def("run",
           [](const ArithmeticHandle& self, std::uintptr_t in, std::uintptr_t addend, std::uintptr_t out,
              std::uint64_t bytes, std::uintptr_t /*stream*/) {
             const auto run = [&] {
               return faro_arithmetic_plan_run(self.plan.get(), reinterpret_cast<const void*>(in),
                                               reinterpret_cast<const void*>(addend),
                                               reinterpret_cast<void*>(out));
             };
             if (bytes < kBytesUnlocked) return check(run());
             do_unlocked(run);
           })
      .def("explain", [](const ArithmeticHandle& self) {
        return told([&](char** text) { return faro_arithmetic_plan_explain(self.plan.get(), text); });
      });
  module.def(
      "plan_arithmetic",
      [](const Extents& extents, const Steps& in_strides, const Steps& out_strides,
         std::pair<int, int> numbers, int function, const Coefficient& scale, const Coefficient& offset,
         const Addend* addend, std::vector<bool> flags, const Options& options) {
        require_ranks({in_strides.size(), out_strides.size()}, extents.size());
        const faro_view view{.rank = static_cast<int>(extents.size()),
                             .extents = extents.data(),
                             .in_strides = in_strides.data(),
                             .out_strides = out_strides.data(),
                             .in_corner = 0,
                             .out_corner = 0};
        faro_arithmetic arithmetic{};
        arithmetic.from = static_cast<faro_number>(numbers.first);
        arithmetic.to = static_cast<faro_number>(numbers.second);
        arithmetic.function = static_cast<faro_function>(function);
        arithmetic.to_nearest = flags.at(0) ? 1 : 0;
        arithmetic.saturated = flags.at(1) ? 1 : 0;
        arithmetic.in_swapped = flags.at(2) ? 1 : 0;
        arithmetic.out_swapped = flags.at(3) ? 1 : 0;
        arithmetic.scale = coefficient_of(scale);
        arithmetic.offset = coefficient_of(offset);
        if (addend != nullptr) {
          require_ranks({addend->strides.size()}, extents.size());
          arithmetic.adds = 1;
          arithmetic.addend = static_cast<faro_number>(addend->number);
          arithmetic.addend_swapped = addend->swapped ? 1 : 0;
          arithmetic.addend_strides = addend->strides.data();
          arithmetic.beta[0] = addend->beta.real();
          arithmetic.beta[1] = addend->beta.imag();
        }
        return made_unlocked<ArithmeticHandle>([&](faro_arithmetic_plan** plan) {
          return faro_arithmetic_plan_make(&view, &arithmetic, &options.value, plan);
        });
      },
      nb::arg("extents"), nb::arg("in_strides"), nb::arg("out_strides"), nb::arg("numbers"),
      nb::arg("function"), nb::arg("scale").none(), nb::arg("offset").none(), nb::arg("addend").none(),
      nb::arg("flags"), nb::arg("options"));
}

}  // namespace faro::python
