// Any bytes as a .npy file whose shape is changed where it lies: the header that comes of it reads as the
// same array of another shape, or there is none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "faro/error.hpp"
#include "io/npy.hpp"
#include "io/npy_update.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faro;
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const std::size_t more : {std::size_t{0}, std::size_t{64}}) {
    std::optional<io::NpyHeader> header;
    try {
      header = io::parse_npy_header(bytes, size + more, "fuzz");
    } catch (const Error&) {
      continue;
    }
    const std::uint64_t items = header->item_count();
    for (const std::vector<std::uint64_t>& shape :
         {std::vector<std::uint64_t>{items}, {1, items}, {items, 1, 1}, header->shape}) {
      const auto made = io::npy_header_reshaped(bytes.first(header->data_offset), shape);
      if (!made) continue;
      if (made->size() != header->data_offset) std::abort();
      try {
        const auto again = io::parse_npy_header(*made, size + more, "again");
        // Where the words `'shape'` stand elsewhere too the writer looks again, as NpyUpdate does.
        if (again.shape == shape && again.item_bytes != header->item_bytes) std::abort();
      } catch (const Error&) {
      }
    }
  }
  return 0;
}
