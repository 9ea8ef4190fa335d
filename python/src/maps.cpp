#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "forward.hpp"
#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {
namespace {

using nanobind::literals::operator""_a;

// What a function of faro.h gives through its last argument.
template <typename Make>
MapHandle made_map(const Make& make) {
  faro_map* map = nullptr;
  check(make(&map));
  MapHandle handle;
  handle.map.reset(map);
  return handle;
}

auto maps_to(faro_status (*function)(const faro_map*, faro_map**)) {
  return [function](const MapHandle& self) {
    return made_map([&](faro_map** map) { return function(self.map.get(), map); });
  };
}

}  // namespace

void bind_maps(nb::module_& module) {
  nb::class_<MapHandle>(module, "Map")
      .def("count", gives<MapHandle>(faro_map_count))
      .def("text", tells<MapHandle>(faro_map_text))
      .def("picture", tells<MapHandle>(faro_map_picture))
      .def("apply",
           [](const MapHandle& self, std::uint64_t x) {
             std::uint64_t image = 0;
             check(faro_map_apply(self.map.get(), x, &image));
             return image;
           })
      .def("images", runs<MapHandle>(faro_map_images))
      .def("compose",
           [](const MapHandle& self, const MapHandle& other) {
             return made_map(
                 [&](faro_map** map) { return faro_map_compose(self.map.get(), other.map.get(), map); });
           })
      .def("inverse", maps_to(faro_map_inverse))
      .def("normal_form", maps_to(faro_map_normal_form))
      .def("power",
           [](const MapHandle& self, std::int64_t k) {
             return made_map([&](faro_map** map) { return faro_map_power(self.map.get(), k, map); });
           })
      .def("equal",
           [](const MapHandle& self, const MapHandle& other) {
             int equal = 0;
             check(faro_map_equal(self.map.get(), other.map.get(), &equal));
             return equal != 0;
           })
      .def("matrix", [](const MapHandle& self) {
        int bits = 0;
        std::array<std::uint64_t, 64> columns{};
        std::uint64_t complement = 0;
        check(faro_map_matrix(self.map.get(), &bits, columns.data(), &complement));
        return std::pair(std::vector<std::uint64_t>(columns.begin(), columns.begin() + bits), complement);
      });

  module.def(
      "map_parse",
      [](const std::string& text, const std::vector<std::uint64_t>& shape) {
        const char* const said = c_text(text);
        return made_map([&](faro_map** map) {
          return faro_map_parse(said, static_cast<int>(shape.size()), shape.data(), map);
        });
      },
      "text"_a, "shape"_a);
  module.def("map_from_matrix", [](const std::vector<std::uint64_t>& columns, std::uint64_t complement) {
    return made_map([&](faro_map** map) {
      return faro_map_from_matrix(static_cast<int>(columns.size()), columns.data(), complement, map);
    });
  });
  module.def("map_from_axes", [](const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
    if (shape.size() != order.size())
      refuse("make a map of axes", std::to_string(order.size()) + " axes in the order",
             std::to_string(shape.size()) + ", as the shape has");
    return made_map([&](faro_map** map) {
      return faro_map_from_axes(static_cast<int>(shape.size()), shape.data(), order.data(), map);
    });
  });
  module.def("map_from_indices",
             [](std::uintptr_t entries, std::uint64_t count, int entry_bytes, bool is_signed, bool gather) {
               return made_map([&](faro_map** map) {
                 return faro_map_from_indices(reinterpret_cast<const void*>(entries), count, entry_bytes,
                                              is_signed ? 1 : 0, gather ? 1 : 0, map);
               });
             });
  module.def("map_from_device_indices", [](std::uintptr_t entries, std::uint64_t count, int entry_bytes,
                                           bool is_signed, bool gather, int device, std::uintptr_t stream) {
    return made_map([&](faro_map** map) {
      do_unlocked([&] {  // waits for the stream, and for the sweep that checks the entries
        return faro_map_from_device_indices(reinterpret_cast<const void*>(entries), count, entry_bytes,
                                            is_signed ? 1 : 0, gather ? 1 : 0, device + 1,
                                            reinterpret_cast<void*>(stream), map);
      });
      return FARO_OK;
    });
  });
  module.def("wisdom_export", [] { return told([](char** text) { return faro_wisdom_export(text); }); });
  module.def("wisdom_import", [](const std::string& json) {
    std::uint64_t changed = 0;
    check(faro_wisdom_import(json.c_str(), &changed));
    return changed;
  });
  module.def("wisdom_forget", [] {
    std::uint64_t entries = 0;
    check(faro_wisdom_forget(&entries));
    return entries;
  });
  module.def("catalogue", [] { return told([](char** text) { return faro_map_catalogue(text); }); });
  module.def("emit", [](const MapHandle& map, const std::string& options) {
    return told([&](char** text) { return faro_emit(map.map.get(), c_text(options), text); });
  });
  module.def("layout", [](std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes,
                          const std::string& accesses, std::uint64_t seed) {
    return told(
        [&](char** text) { return faro_layout(rows, columns, element_bytes, c_text(accesses), seed, text); });
  });
  module.def("layout_convert",
             [](const std::string& from, const std::string& to, const std::string& options) {
               return told([&](char** text) {
                 return faro_layout_convert(c_text(from), c_text(to), c_text(options), text);
               });
             });
  module.def("layout_check",
             [](const std::string& layout, const std::string& indices, std::uint64_t element_bits) {
               return told([&](char** text) {
                 return faro_layout_check(c_text(layout), c_text(indices), element_bits, text);
               });
             });
  module.def("synth", [](const std::string& request) {
    // Ctrl-C ends a search: what Python raised is raised when it has ended.
    const auto keep_on = [](void*) {
      const nb::gil_scoped_acquire held;
      return PyErr_CheckSignals() == 0 ? 1 : 0;
    };
    const char* const asked = c_text(request);
    char* json = nullptr;
    faro_status status = FARO_OK;
    {
      nb::gil_scoped_release released;
      status = faro_synth(asked, keep_on, nullptr, &json);
    }
    if (PyErr_Occurred() != nullptr) {
      faro_free(json);
      nb::raise_python_error();
    }
    check(status);
    return taken(json);
  });
  module.def("simulate", [](const std::string& request) {
    return told([&](char** text) { return faro_simulate(c_text(request), text); });
  });
}

}  // namespace faro::python
