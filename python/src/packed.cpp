// Elements smaller than a byte: arrays of bytes go in by their addresses, options as JSON.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>

#include "plan_handle.hpp"
#include "status.hpp"

namespace faro::python {

void bind_packed(nb::module_& module) {
  module.def("packed_bytes", [](const MapHandle& map, const std::string& options) {
    std::pair<std::uint64_t, std::uint64_t> bytes;
    check(faro_packed_bytes(map.map.get(), c_text(options), &bytes.first, &bytes.second));
    return bytes;
  });
  module.def("packed_permute", [](const MapHandle& map, const std::string& options, std::uintptr_t in,
                                  std::uint64_t in_bytes, std::uintptr_t out, std::uint64_t out_bytes,
                                  std::uintptr_t stream) {
    const char* const wanted = c_text(options);
    do_unlocked([&] {
      return faro_packed_permute(map.map.get(), wanted, reinterpret_cast<const void*>(in), in_bytes,
                                 reinterpret_cast<void*>(out), out_bytes, reinterpret_cast<void*>(stream));
    });
  });
  module.def("transpose_bed", [](const std::string& in, const std::string& out, std::uint64_t samples,
                                 std::uint64_t variants, const std::string& options) {
    const char* const from = c_text(in);
    const char* const to = c_text(out);
    const char* const wanted = c_text(options);
    do_unlocked([&] { return faro_transpose_bed(from, to, samples, variants, wanted); });
  });
}

}  // namespace faro::python
