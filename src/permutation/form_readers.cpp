#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/cyclic_axes.hpp"
#include "permutation/index_check.hpp"
#include "permutation/parser.hpp"
#include "permutation/rows.hpp"

namespace faro::detail {

namespace {

struct Structs {
  std::uint64_t count = 0;
  std::uint64_t words = 0;  // of each
};

// `arguments`: of the map, structs first. Without their number it is what the array at hand holds.
Structs read_structs(SpecReader& reader, std::size_t arguments) {
  Structs structs;
  const auto elements = reader.count_at_hand();
  const bool is_left_out = elements && !reader.at(')') && reader.count_ahead(',') + 2 == arguments;
  if (!is_left_out) {
    structs.count = reader.number("the number of structs");
    reader.comma();
  }
  structs.words = reader.number("the words of a struct");
  if (!is_left_out) return structs;
  if (structs.words == 0 || *elements % structs.words != 0) {
    reader.fail(ErrorCode::value, std::to_string(*elements) + " elements",
                "a multiple of the " + std::to_string(structs.words) + " words of a struct");
  }
  structs.count = *elements / structs.words;
  return structs;
}

Permutation transposed(SpecReader& reader, std::uint64_t rows, std::uint64_t columns) {
  reader.name_axes({.shape = {rows, columns}, .order = {1, 0}});
  const bool is_affine = f2::is_power_of_two(rows) && f2::is_power_of_two(columns);
  if (is_affine) return maps::transpose(rows, columns);
  return maps::transpose_any(rows, columns);
}

// Axes of the array at hand, which may be empty.
Permutation axes_at_hand(SpecReader& reader, const std::vector<std::uint64_t>& shape,
                         const std::vector<int>& order) {
  reader.name_axes({.shape = shape, .order = order});
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (!is_empty) return Axes(shape, order);
  static_cast<void>(
      Axes(std::vector<std::uint64_t>(shape.size(), 1), order));  // refuses an order that is none
  return Axes(std::vector<std::uint64_t>{0}, std::vector<int>{0});
}

void require_axes(const SpecReader& reader, const std::vector<std::uint64_t>& shape, bool holds,
                  const char* wanted) {
  if (holds) return;
  reader.fail(ErrorCode::value,
              "an array of " + std::to_string(shape.size()) + (shape.size() == 1 ? " axis" : " axes"), wanted,
              "give the sizes: `transpose(rows, columns)`, `axes(extents; order)`");
}

}  // namespace

Permutation read_transpose(SpecReader& reader) {
  const std::uint64_t rows = reader.number("the number of rows");
  reader.comma();
  return transposed(reader, rows, reader.number("the number of columns"));
}

Permutation transpose_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  require_axes(reader, shape, shape.size() >= 2, "an array of two axes or more to transpose");
  if (shape.size() == 2) return transposed(reader, shape[0], shape[1]);
  std::vector<int> order(shape.size());
  for (std::size_t a = 0; a < order.size(); ++a) order[a] = static_cast<int>(order.size() - 1 - a);
  return axes_at_hand(reader, shape, order);
}

Permutation read_aos_to_soa(SpecReader& reader) {
  const Structs structs = read_structs(reader, 2);
  reader.name_axes({.shape = {structs.count, structs.words}, .order = {1, 0}});
  return maps::aos_to_soa(structs.count, structs.words);
}

Permutation read_soa_to_aos(SpecReader& reader) {
  const Structs structs = read_structs(reader, 2);
  reader.name_axes({.shape = {structs.words, structs.count}, .order = {1, 0}});
  return maps::soa_to_aos(structs.count, structs.words);
}

Permutation aos_to_soa_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  require_axes(reader, shape, shape.size() == 2, "an array of structs x words");
  return transposed(reader, shape[0], shape[1]);
}

Permutation soa_to_aos_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  require_axes(reader, shape, shape.size() == 2, "an array of words x structs");
  return transposed(reader, shape[0], shape[1]);
}

Permutation read_aosoa(SpecReader& reader) {
  const Structs structs = read_structs(reader, 3);
  reader.comma();
  const std::uint64_t tile = reader.number("the structs of a tile");
  const bool is_index_array = tile != 0 && tile < structs.count && structs.count % tile != 0;
  if (is_index_array && structs.words != 0) {
    // Axes refuse a product that nothing holds.
    reader.allow_index_array(Axes({structs.count, structs.words}, {0, 1}).count());
  }
  return maps::aosoa(structs.count, structs.words, tile);
}

namespace {

// Rolls of axes, and after them the axes that are flipped before.
std::vector<Cyclic> read_moves(SpecReader& reader, const std::vector<std::uint64_t>& extents) {
  reader.semicolon();
  const std::vector<std::uint64_t> rolls = reader.numbers();
  if (rolls.size() != extents.size()) {
    reader.fail(ErrorCode::value,
                std::to_string(rolls.size()) + " rolls of " + std::to_string(extents.size()) + " axes",
                "one of each axis, 0 where it stays");
  }
  std::vector<bool> flipped(extents.size(), false);
  if (reader.at(';')) {
    reader.semicolon();
    for (const std::uint64_t axis : reader.numbers()) {
      if (axis >= extents.size() || flipped[axis]) {
        reader.fail(ErrorCode::value, "flipped axis " + std::to_string(axis),
                    "axes of the " + std::to_string(extents.size()) + ", each at most once");
      }
      flipped[axis] = true;
    }
  }
  std::vector<Cyclic> moves;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::uint64_t extent = extents[axis];
    if (extent == 0) {
      moves.push_back({.count = 0, .shift = 0, .reversed = false});
      continue;
    }
    const std::uint64_t roll = rolls[axis] % extent;
    moves.push_back({.count = extent,
                     .shift = flipped[axis] ? (roll + extent - 1) % extent : roll,
                     .reversed = flipped[axis]});
  }
  return moves;
}

}  // namespace

Permutation read_axes(SpecReader& reader) {
  // Without extents, the order alone: of the axes of the array at hand.
  const auto* const shape = reader.shape_at_hand();
  const bool is_order_alone = shape != nullptr && reader.count_ahead(';') == 0;
  const std::vector<std::uint64_t> extents = is_order_alone ? *shape : reader.numbers();
  if (!is_order_alone) reader.semicolon();
  std::vector<int> order;
  for (const std::uint64_t axis : reader.numbers()) {
    if (axis > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      reader.fail(ErrorCode::value, "axis " + std::to_string(axis),
                  "each of 0.." + std::to_string(extents.size()) + " exactly once");
    }
    order.push_back(static_cast<int>(axis));
  }
  if (is_order_alone) return axes_at_hand(reader, extents, order);
  reader.name_axes({.shape = extents, .order = order});
  if (!reader.at(';')) return Axes(extents, order);
  return simplest_form(CyclicAxes(extents, order, read_moves(reader, extents)));
}

Permutation read_roll(SpecReader& reader) {
  const std::uint64_t count = reader.count_of(2, "the number of elements");
  return maps::roll(count, reader.integer("the shift"));
}

Permutation flip_of_shape(SpecReader& reader, const std::vector<std::uint64_t>&) {
  return maps::flip(reader.count_at_hand().value_or(0));
}

Permutation read_flip(SpecReader& reader) { return maps::flip(reader.number("the number of elements")); }

Permutation read_multiply(SpecReader& reader) {
  const std::uint64_t count = reader.count_of(2, "the number of elements");
  return maps::multiply(count, reader.integer("the factor"));
}

Permutation read_affine_mod(SpecReader& reader) {
  const std::uint64_t count = reader.count_of(3, "the number of elements");
  const std::int64_t factor = reader.integer("the factor");
  reader.comma();
  return maps::affine_mod(count, factor, reader.integer("the shift"));
}

Permutation read_good_thomas(SpecReader& reader) {
  const std::uint64_t rows = reader.number("the number of rows");
  reader.comma();
  const std::uint64_t columns = reader.number("the number of columns");
  std::uint64_t count = 0;
  if (!__builtin_mul_overflow(rows, columns, &count)) reader.allow_index_array(count);
  return maps::good_thomas(rows, columns);
}

Permutation read_rader(SpecReader& reader) {
  const std::uint64_t prime = reader.number("a prime number");
  reader.allow_index_array(prime);
  return maps::rader(prime);
}

Permutation read_random(SpecReader& reader) {
  const std::uint64_t count = reader.count_of(2, "the number of elements");
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
  const std::optional<NamedAxes> axes_f = reader.named_axes();
  reader.comma();
  const Permutation g = reader.map();
  const std::optional<NamedAxes> axes_g = reader.named_axes();
  reader.forget_axes();
  if (axes_f && axes_g && axes_g->target_shape() == axes_f->shape) reader.name_axes(axes_f->after(*axes_g));
  if (auto form = compose_forms(f, g)) return std::move(*form);
  reader.allow_index_array(element_count(f));
  return compose(f, g);
}

Permutation read_inverse(SpecReader& reader) {
  const Permutation f = reader.map();
  if (reader.named_axes()) reader.name_axes(reader.named_axes()->inverse());
  return inverse(f);
}

Permutation read_power(SpecReader& reader) {
  const Permutation f = reader.map();
  reader.forget_axes();
  reader.comma();
  const std::int64_t k = reader.integer("the exponent k");
  if (auto form = power_form(f, k)) return std::move(*form);
  reader.allow_index_array(element_count(f));
  return power(f, k);
}

}  // namespace faro::detail
