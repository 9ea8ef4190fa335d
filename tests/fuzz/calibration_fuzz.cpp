// Any text as a file of measured curves: refused by name, or it survives being written and predicts no
// nonsense.
#include <cstddef>
#include <cstdint>
#include <string>

#include "faro/problem/target.hpp"
#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  faro::fuzzing::refuse_or([&] {
    const auto read = faro::IndexCalibration::from_json(text, "fuzz");
    const auto again = faro::IndexCalibration::from_json(read.to_json(), "again");
    if (again.curves.size() != read.curves.size())
      faro::fuzzing::fail("as many curves when read again", text);
    for (const faro::IndexCurve& curve : read.curves) {
      for (const std::uint64_t elements :
           {std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{1} << 40}) {
        for (const std::uint64_t width : {1, 4, 4096}) {
          const auto us = read.predict_us(curve.kernel, width, elements, curve.chunk_bits, curve.run_bits);
          if (us && !(*us >= 0)) faro::fuzzing::fail("a time is no less than 0", text);
        }
      }
    }
  });
  return 0;
}
