// Work on index arrays on a device, of a build without CUDA: it says so.
#include "engines/cuda/availability.hpp"
#include "engines/cuda_index.hpp"

namespace faro::cuda {

Indexed indexed_on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                          int device) {
  require_available();
  return Indexed::on_device(indices, count, type, direction, device, nullptr);
}

Indexed to_device(const Indexed& indexed, int /*device*/) {
  require_available();
  return indexed;
}

Indexed to_host(const Indexed& indexed) {
  if (!indexed.on_host()) require_available();
  return indexed;
}

void validate(const Indexed& /*indexed*/) { require_available(); }

Recognition recognise(const Indexed& indexed, const RecogniseLimits& /*limits*/) {
  require_available();
  return {.family = Family::general, .permutation = indexed, .runs = {}, .displacement = {}, .findings = {}};
}

Indexed redirected(const Indexed& indexed, Direction /*direction*/) {
  require_available();
  return indexed;
}

Indexed compose(const Indexed& a, const Indexed& /*b*/) {
  require_available();
  return a;
}

Indexed random_on_device(std::uint64_t count, std::uint64_t seed, int /*device*/) {
  require_available();
  return Indexed::random(count, seed);
}

}  // namespace faro::cuda
