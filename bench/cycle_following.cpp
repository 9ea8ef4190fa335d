#include "bench/cycle_following.hpp"

#include <algorithm>
#include <bit>

#include "engines/cpu/element_width.hpp"
#include "faro/device/division.hpp"

namespace faro::bench {

void follow_cycles(std::byte* data, std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes,
                   std::vector<std::uint64_t>& done) {
  const std::uint64_t count = rows * columns;
  done.assign(count / 64 + 1, 0);
  const device::Division64 by_rows(rows);
  // What belongs at place x = j rows + i is now at i columns + j.
  const auto source_of = [&](std::uint64_t x) {
    const std::uint64_t j = by_rows.divide(x);
    return x * columns + j;
  };
  std::vector<std::byte> kept(element_bytes);
  cpu::with_width(element_bytes, [&](auto width) {
    const auto at = [&](std::uint64_t x) { return data + x * width.bytes(); };
    for (std::uint64_t word = 0; word < done.size(); ++word) {
      while (done[word] != ~std::uint64_t{0}) {
        const std::uint64_t first = word * 64 + static_cast<std::uint64_t>(std::countr_one(done[word]));
        if (first >= count) return;
        width.move(at(first), kept.data());
        std::uint64_t place = first;
        for (std::uint64_t source = source_of(first); source != first; source = source_of(place)) {
          width.move(at(source), at(place));
          done[source / 64] |= std::uint64_t{1} << (source % 64);
          place = source;
        }
        width.move(kept.data(), at(place));
        done[word] |= std::uint64_t{1} << (first % 64);
      }
    }
  });
}

}  // namespace faro::bench
