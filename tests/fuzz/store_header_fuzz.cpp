// Any bytes as a file of every format that stores know by its first bytes, and as Zarr's metadata: arrays
// that lie in the file, or one line.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "faro/error.hpp"
#include "store/store_formats.hpp"
#include "store/zarr_metadata.hpp"

namespace {

using namespace faro;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename Read>
void try_reading(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::file || error.code() == ErrorCode::unsupported);
    require(std::string(error.what()).find('\n') == std::string::npos);
  } catch (const store::Json::exception&) {
    // Of metadata; the format turns it into a line (zarr.cpp).
  }
}

void try_file(const std::string& path, std::span<const std::byte> bytes) {
  for (const store::Format* const format : store::formats()) {
    if (format == &store::hdf5_format() || !format->is_this(path, bytes)) continue;
    for (const store::StoredArray& array : format->arrays(path)) {
      if (array.run) require(store::end_of(array.run->form) <= bytes.size());
    }
  }
}

void try_metadata(const std::string& text) {
  const store::Json json = store::parse_json_object(text, "fuzz");
  if (json.contains("dtype")) {
    static_cast<void>(store::read_zarr_v2(json, store::Json::object(), "fuzz"));
  } else {
    static_cast<void>(store::zarr_v3_of(store::read_zarr_v3(json, "fuzz"), "fuzz"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  try_reading([&] { try_file(path, std::as_bytes(std::span(data, size))); });
  try_reading([&] { try_metadata(std::string(reinterpret_cast<const char*>(data), size)); });
  return 0;
}
