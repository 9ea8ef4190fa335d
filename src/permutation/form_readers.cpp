#include "form_readers.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compose.hpp"
#include "faro/permutation/maps.hpp"
#include "faro/permutation/structs.hpp"
#include "index_literal.hpp"

namespace faro::detail {

namespace {

struct Structs {
  std::uint64_t count = 0;
  std::uint64_t words = 0;  // of each
};

Structs read_structs(SpecReader& reader) {
  Structs structs;
  structs.count = reader.number("the number of structs");
  reader.comma();
  structs.words = reader.number("the words of a struct");
  return structs;
}

}  // namespace

Permutation read_transpose(SpecReader& reader) {
  const std::uint64_t rows = reader.number("the number of rows");
  reader.comma();
  const std::uint64_t columns = reader.number("the number of columns");
  const bool is_affine = f2::is_power_of_two(rows) && f2::is_power_of_two(columns);
  if (is_affine) return maps::transpose(rows, columns);
  return maps::transpose_any(rows, columns);
}

Permutation read_aos_to_soa(SpecReader& reader) {
  const Structs structs = read_structs(reader);
  return maps::aos_to_soa(structs.count, structs.words);
}

Permutation read_soa_to_aos(SpecReader& reader) {
  const Structs structs = read_structs(reader);
  return maps::soa_to_aos(structs.count, structs.words);
}

Permutation read_aosoa(SpecReader& reader) {
  const Structs structs = read_structs(reader);
  reader.comma();
  const std::uint64_t tile = reader.number("the structs of a tile");
  const bool is_index_array = tile != 0 && tile < structs.count && structs.count % tile != 0;
  if (is_index_array && structs.words != 0) {
    // Axes refuse a product that nothing holds.
    reader.allow_index_array(Axes({structs.count, structs.words}, {0, 1}).count());
  }
  return maps::aosoa(structs.count, structs.words, tile);
}

Permutation read_axes(SpecReader& reader) {
  const std::vector<std::uint64_t> extents = reader.numbers();
  reader.semicolon();
  std::vector<int> order;
  for (const std::uint64_t axis : reader.numbers()) {
    if (axis > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      reader.fail(ErrorCode::value, "axis " + std::to_string(axis),
                  "each of 0.." + std::to_string(extents.size()) + " exactly once");
    }
    order.push_back(static_cast<int>(axis));
  }
  return Axes(extents, order);
}

Permutation read_roll(SpecReader& reader) {
  const std::uint64_t count = reader.number("the number of elements");
  reader.comma();
  return maps::roll(count, reader.integer("the shift"));
}

Permutation read_flip(SpecReader& reader) { return maps::flip(reader.number("the number of elements")); }

Permutation read_random(SpecReader& reader) {
  const std::uint64_t count = reader.number("the number of elements");
  reader.comma();
  const std::uint64_t seed = reader.number("the seed");
  reader.allow_index_array(count);
  return Indexed::random(count, seed);
}

Permutation read_indices(SpecReader& reader) {
  std::vector<std::uint64_t> entries = reader.numbers();
  if (entries.size() > kLongestIndexLiteral) {
    reader.fail(ErrorCode::value, "more than " + std::to_string(kLongestIndexLiteral) + " indices",
                "at most so many", "longer ones come from a file: scatter(@index.npy)");
  }
  return Indexed(std::move(entries), Direction::scatter);
}

Permutation read_compose(SpecReader& reader) {
  const Permutation f = reader.map();
  reader.comma();
  const Permutation g = reader.map();
  if (auto form = compose_forms(f, g)) return std::move(*form);
  reader.allow_index_array(element_count(f));
  return compose(f, g);
}

Permutation read_inverse(SpecReader& reader) { return inverse(reader.map()); }

Permutation read_power(SpecReader& reader) {
  const Permutation f = reader.map();
  reader.comma();
  const std::int64_t k = reader.integer("the exponent k");
  if (auto form = power_form(f, k)) return std::move(*form);
  reader.allow_index_array(element_count(f));
  return power(f, k);
}

}  // namespace faro::detail
