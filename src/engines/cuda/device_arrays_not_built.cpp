// Of a build without CUDA: nothing is on a device.
#include "engines/cuda/availability.hpp"
#include "engines/cuda/device_arrays.hpp"

namespace faro::cuda {

void require_accessible(const void* /*array*/, const char* /*role*/, int /*device*/) { require_available(); }

int ordinal_of(int device) {
  require_available();
  return device;
}

StreamMemory::StreamMemory(std::uint64_t /*bytes*/, int device, Stream stream)
    : device_(device), stream_(stream) {
  require_available();
}

StreamMemory::~StreamMemory() { data_ = nullptr; }

}  // namespace faro::cuda
