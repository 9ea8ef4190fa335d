// Families of shapes: a call of one, from arrays to arrays, without Python code where they are plain.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "forward.hpp"
#include "numpy_arrays.hpp"
#include "plan_cache.hpp"
#include "plan_handle.hpp"
#include "status.hpp"
#include "tensors.hpp"

namespace faro::python {
namespace {

struct FamilyHandle {
  std::unique_ptr<faro_family, Destroyer<faro_family_destroy>> plan;
  std::vector<Py_ssize_t> extents;  // -1: free
  std::vector<int> order;
  Py_ssize_t width = 1;
  int device = -1;  // the host
};

FamilyHandle make_family(const std::vector<Py_ssize_t>& extents, const std::vector<std::uint64_t>& most,
                         const std::vector<int>& order, const std::vector<int>& flipped,
                         const std::vector<std::int64_t>& shifts, std::uint64_t width, const Options& options,
                         int device) {
  std::vector<int> is_free(extents.size());
  std::transform(extents.begin(), extents.end(), is_free.begin(), [](Py_ssize_t e) { return e < 0 ? 1 : 0; });
  const faro_family_map map{.extents = most.data(),
                            .is_free = is_free.data(),
                            .order = order.data(),
                            .flipped = flipped.data(),
                            .shifts = shifts.data(),
                            .in_strides = nullptr,
                            .out_strides = nullptr,
                            .element_bytes = width,
                            .rank = static_cast<int>(extents.size()),
                            .padding = 0,
                            .reserved = {}};
  FamilyHandle made = made_unlocked<FamilyHandle>(
      [&](faro_family** family) { return faro_family_make(&map, &options.value, family); });
  made.extents = extents;
  made.order = order;
  made.width = static_cast<Py_ssize_t>(width);
  made.device = device;
  return made;
}

// One call's arrays: its free extents, strides in elements where the input is not dense, and the shape there.
struct FamilyArrays {
  std::vector<std::uint64_t> free;
  std::vector<std::int64_t> strides;
  std::vector<Py_ssize_t> out_shape;
  const char* lowest = nullptr;
  bool holds_lock = true;

  /// False for an array of another shape, or strides that are no whole elements; `item`: a stride of
  /// neighbours.
  template <typename Array>
  bool take(const FamilyHandle& family, const Array& array, const char* data, std::int64_t item) {
    if (static_cast<std::size_t>(array.ndim) != family.extents.size()) return false;
    double bytes = static_cast<double>(family.width);
    for (int a = 0; a < array.ndim; ++a) {
      const auto fixed = family.extents[static_cast<std::size_t>(a)];
      if (fixed >= 0 && fixed != array.shape[a]) return false;
      if (fixed < 0) free.push_back(static_cast<std::uint64_t>(array.shape[a]));
      bytes *= static_cast<double>(array.shape[a]);
    }
    holds_lock = family.device >= 0 || bytes < static_cast<double>(kBytesWithLock);
    for (const int axis : family.order) out_shape.push_back(static_cast<Py_ssize_t>(array.shape[axis]));
    lowest = data;
    if (is_dense(array, item)) return true;
    for (int a = 0; a < array.ndim; ++a) {
      const std::int64_t stride = array.shape[a] > 1 ? array.strides[a] : 0;
      if (stride % item != 0) return false;
      strides.push_back(stride / item);
      if (stride < 0) lowest += stride / item * family.width * (array.shape[a] - 1);
    }
    return true;
  }
  void run(const FamilyHandle& family, void* out, void* stream = nullptr) const {
    const faro_family_call call{.extents = free.data(),
                                .in_strides = strides.empty() ? nullptr : strides.data(),
                                .out_strides = nullptr,
                                .count = static_cast<int>(free.size()),
                                .padding = 0};
    const KnownMemory known;
    const auto move = [&] { return faro_family_run(family.plan.get(), &call, lowest, out, stream); };
    if (holds_lock) return check(move());
    do_unlocked(move);
  }
};

// Whether a result may be written there: of the shape, dense, and apart from the input.
template <typename Array>
bool may_write(const FamilyHandle& self, const FamilyArrays& arrays, const Array& in, const char* from,
               const Array& to, const char* target, std::int64_t item) {
  if (!arrays.strides.empty() || !is_shape(arrays.out_shape, to.ndim, to.shape) || !is_dense(to, item))
    return false;
  std::int64_t bytes = self.width;
  for (int a = 0; a < in.ndim; ++a) bytes *= in.shape[a];
  return target + bytes <= from || from + bytes <= target;
}

// The result of a plain array, `out` unless that is None; None where Python has to look at it.
nb::object call_family(const FamilyHandle& self, nb::handle array, nb::handle out) {
  FamilyArrays arrays;
  if (is_ndarray(array)) {
    const HostArray in = host_array(array);
    if (self.device >= 0 || element_type(in.dtype).bytes != self.width ||
        !arrays.take(self, in, in.data, self.width))
      return nb::none();
    if (out.is_none()) {
      nb::object made = new_ndarray(arrays.out_shape.data(), arrays.out_shape.size(), in.dtype);
      arrays.run(self, host_array(made).data);
      return made;
    }
    if (!is_ndarray(out)) return nb::none();
    const HostArray to = host_array(out);
    if (!to.writable || to.dtype != in.dtype ||
        !may_write(self, arrays, in, in.data, to, to.data, self.width))
      return nb::none();
    arrays.run(self, to.data);
    return nb::borrow(out);
  }
  const ExchangeType type = exchange_type(Py_TYPE(array.ptr()));
  if (type.functions == nullptr) return nb::none();
  Tensor in;
  if (type.functions->borrow(array.ptr(), &in) != 0) {
    PyErr_Clear();
    return nb::none();
  }
  const bool fits = is_exchanged(in) && is_plain(array.ptr(), type, in) && device_of(in) == self.device &&
                    width_of(in) == self.width && arrays.take(self, in, address_of(in), 1) &&
                    !is_watched(type);
  if (!fits) return nb::none();
  void* const stream = current_stream(*type.functions, self.device);
  if (out.is_none()) {
    NewTensor made(*type.functions, in, arrays.out_shape);
    arrays.run(self, made.data(), stream);
    return made.given_away();
  }
  Tensor to;
  if (Py_TYPE(out.ptr()) != type.type) return nb::none();
  if (type.functions->borrow(out.ptr(), &to) != 0) {
    PyErr_Clear();
    return nb::none();
  }
  if (!is_exchanged(to) || !is_plain(out.ptr(), type, to) || !is_like(in, to) ||
      !may_write(self, arrays, in, address_of(in), to, address_of(to), 1))
    return nb::none();
  arrays.run(self, address_of(to), stream);
  tell_written(type, nb::make_tuple(out));
  return nb::borrow(out);
}

}  // namespace

void bind_families(nb::module_& module) {
  using FamilyExtents = std::vector<std::uint64_t>;
  using Strides = std::optional<std::vector<std::int64_t>>;
  nb::class_<FamilyHandle>(module, "Family")
      .def_static("make", &make_family)
      .def(
          "run",
          [](const FamilyHandle& self, const FamilyExtents& free, const Strides& in_strides,
             const Strides& out_strides, std::uintptr_t in, std::uintptr_t out, std::uintptr_t stream) {
            const faro_family_call call{.extents = free.data(),
                                        .in_strides = in_strides ? in_strides->data() : nullptr,
                                        .out_strides = out_strides ? out_strides->data() : nullptr,
                                        .count = static_cast<int>(free.size()),
                                        .padding = 0};
            do_unlocked([&] {
              return faro_family_run(self.plan.get(), &call, reinterpret_cast<const void*>(in),
                                     reinterpret_cast<void*>(out), reinterpret_cast<void*>(stream));
            });
          },
          nb::arg("free"), nb::arg("in_strides").none(), nb::arg("out_strides").none(), nb::arg("in_address"),
          nb::arg("out_address"), nb::arg("stream"))
      .def("run_on_device", runs_unlocked<FamilyHandle>(faro_family_run_on_device))
      .def("explain", [](const FamilyHandle& self, const FamilyExtents& free) {
        const faro_family_call call{.extents = free.data(),
                                    .in_strides = nullptr,
                                    .out_strides = nullptr,
                                    .count = static_cast<int>(free.size()),
                                    .padding = 0};
        return told([&](char** text) { return faro_family_explain(self.plan.get(), &call, text); });
      });
  module.def("call_family", &call_family, nb::arg("family"), nb::arg("array").none(), nb::arg("out").none());
}

}  // namespace faro::python
