// Any bytes as a .npy file: they are read or refused by ErrorCode::file, and what is read survives being
// written.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "faro/error.hpp"
#include "io/npy.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void try_file(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  using namespace faro;
  io::NpyHeader header;
  try {
    header = io::parse_npy_header(bytes, file_bytes, "fuzz");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::file);
    require(std::string(error.what()).find('\n') == std::string::npos);
    return;
  }
  require(header.item_bytes > 0);
  require(header.data_offset + header.data_bytes() == file_bytes);
  const auto again = io::npy_header_bytes(header.descr, header.shape);
  const auto read_again = io::parse_npy_header(again, again.size() + header.data_bytes(), "again");
  require(read_again.item_bytes == header.item_bytes && read_again.shape == header.shape);
  require(read_again.descr == header.descr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_file(bytes, size);
  // The same header in front of 64 bytes of data: most seeds are then whole files.
  try_file(bytes, size + 64);
  return 0;
}
