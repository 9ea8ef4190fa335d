// Any bytes as a file of every format that stores know by its first bytes, and as Zarr's metadata: arrays
// that lie in the file, or one line. What is read is written by every format that is one file, and read
// again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
    // Metadata's; the format turns it into a line (zarr.cpp).
  }
}

// A file in memory.
struct MemoryFile {
  int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);

  void resize(std::uint64_t bytes) const { require(ftruncate(descriptor, static_cast<off_t>(bytes)) == 0); }
  void write(std::span<const std::byte> bytes, std::uint64_t at) const {
    require(pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(bytes.size()));
  }
};

// What is refused where it was written ends the process.
void write_and_read(const store::StoredArray& array) noexcept {
  constexpr std::uint64_t kMostBytes = 4096;
  static const MemoryFile file;
  if (array.refusal || store::is_empty(array.shape) ||
      store::volume(array.shape) * array.type.bytes > kMostBytes)
    return;
  const store::WantedStore wanted{
      .arrays = {{.name = "a", .shape = array.shape, .type = array.type, .notes = array.notes}}};
  for (const store::Format* const format : store::formats()) {
    if (format == &store::hdf5_format() || format == &store::raw_format()) continue;
    std::vector<std::string> left_out;
    std::optional<std::vector<store::RunOutput>> outputs;
    try {
      outputs = format->run_outputs(wanted, left_out);
    } catch (const Error& error) {
      require(error.code() == ErrorCode::unsupported);
    }
    if (!outputs) continue;
    const store::RunOutput& output = outputs->front();
    file.resize(0);
    file.resize(store::end_of(output) + output.tail.size());
    file.write(output.header, 0);
    file.write(output.tail, store::end_of(output));
    if (output.finish) output.finish(file.descriptor);
    const std::vector<store::StoredArray> again = format->arrays(file.path);
    require(again.size() == 1 && again.front().type == array.type && again.front().run.has_value());
    require(store::volume(again.front().shape) == store::volume(array.shape));
    require(again.front().run->form.offset == output.form.offset);
  }
}

void try_file(const std::string& path, std::span<const std::byte> bytes) {
  for (const store::Format* const format : store::formats()) {
    if (format == &store::hdf5_format() || !format->is_this(path, bytes)) continue;
    for (const store::StoredArray& array : format->arrays(path)) {
      if (array.run) require(store::end_of(array.run->form) <= bytes.size());
      write_and_read(array);
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
  static const MemoryFile file;
  const auto bytes = std::as_bytes(std::span(data, size));
  file.resize(0);
  file.write(bytes, 0);
  try_reading([&] { try_file(file.path, bytes); });
  try_reading([&] { try_metadata(std::string(reinterpret_cast<const char*>(data), size)); });
  return 0;
}
