// Affine maps in JSON.
#include <cstddef>
#include <cstdint>

#include "permutation/spec_file.hpp"
#include "round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  faro::fuzzing::run([&] { return faro::Permutation(faro::parse_affine_json(text)); });
  return 0;
}
