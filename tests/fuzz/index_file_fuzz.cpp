// Any bytes as an index array's .npy file: they are refused, or they are a permutation in every respect.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "io/npy.hpp"
#include "permutation/index_file.hpp"
#include "round_trip.hpp"

namespace {

using namespace faro;

void require(bool condition, const char* law) {
  if (!condition) fuzzing::fail(law, "");
}

void try_file(std::span<const std::byte> bytes, Direction direction) {
  const io::NpyHeader header = io::parse_npy_header(bytes, bytes.size(), "fuzz.npy");
  const Indexed array = detail::index_array(header, bytes.subspan(header.data_offset), direction, "fuzz.npy");
  std::vector<bool> seen(array.count(), false);
  for (std::uint64_t i = 0; i < array.count(); ++i) {
    const std::uint64_t entry = array.entry(i);
    require(entry < array.count() && !seen[entry], "entries are a permutation");
    seen[entry] = true;
  }
  require(array.redirected(opposite(direction)) == array, "redirected(p) == p");
  const Recognition recognised = recognise(array, 1);
  for (std::uint64_t i = 0; i < array.count(); ++i) {
    const std::uint64_t entry = array.entry(i);
    const std::uint64_t source = direction == Direction::scatter ? i : entry;
    const std::uint64_t target = direction == Direction::scatter ? entry : i;
    require(apply(recognised.permutation, source) == target, "what is recognised says the same");
  }
  fuzzing::require_round_trip(array);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    fuzzing::refuse_or([&] { try_file(bytes, direction); });
  }
  return 0;
}
