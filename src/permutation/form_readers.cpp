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
Permutation axes_at_hand(SpecReader& reader, const std::vector<int>& order) {
  const std::vector<std::uint64_t> shape = reader.take_shape(order);
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  // Refuses an order that is none.
  const Axes axes(is_empty ? std::vector<std::uint64_t>(shape.size(), 1) : shape, order);
  reader.name_axes({.shape = shape, .order = order});
  if (is_empty) return Axes(std::vector<std::uint64_t>{0}, std::vector<int>{0});
  return axes;
}

Permutation transposed_at_hand(SpecReader& reader) {
  const std::vector<std::uint64_t> shape = reader.take_shape({1, 0});
  return transposed(reader, shape[0], shape[1]);
}

void require_axes(const SpecReader& reader, const std::vector<std::uint64_t>& shape, bool holds,
                  const char* wanted, const char* remedy) {
  if (holds) return;
  reader.fail(ErrorCode::value,
              "an array of " + std::to_string(shape.size()) + (shape.size() == 1 ? " axis" : " axes"), wanted,
              remedy);
}

}  // namespace

Permutation read_transpose(SpecReader& reader) {
  const std::uint64_t rows = reader.number("the number of rows");
  reader.comma();
  return transposed(reader, rows, reader.number("the number of columns"));
}

Permutation transpose_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  if (shape.empty()) return Axes({1}, {0});  // a single number: as an axis of one, it stays
  if (shape.size() == 2) return transposed_at_hand(reader);
  std::vector<int> order(shape.size());
  for (std::size_t a = 0; a < order.size(); ++a) order[a] = static_cast<int>(order.size() - 1 - a);
  return axes_at_hand(reader, order);
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
  require_axes(reader, shape, shape.size() == 2, "an array of structs x words",
               "give the sizes: `aos_to_soa(count, words)`");
  return transposed_at_hand(reader);
}

Permutation soa_to_aos_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  require_axes(reader, shape, shape.size() == 2, "an array of words x structs",
               "give the sizes: `soa_to_aos(count, words)`");
  return transposed_at_hand(reader);
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
  const bool is_order_alone = reader.shape_at_hand() != nullptr && reader.count_ahead(';') == 0;
  std::vector<std::uint64_t> extents;
  if (!is_order_alone) {
    extents = reader.numbers();
    reader.semicolon();
  }
  std::vector<int> order;
  for (const std::uint64_t axis : reader.numbers()) {
    if (axis > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      reader.fail(ErrorCode::value, "axis " + std::to_string(axis),
                  "each of 0.." + std::to_string(extents.size()) + " exactly once");
    }
    order.push_back(static_cast<int>(axis));
  }
  if (reader.at('-'))
    reader.fail(ErrorCode::spec, reader.here(), "an axis counted from 0; the last of n is n - 1");
  if (is_order_alone) return axes_at_hand(reader, order);
  if (!reader.at(';')) {
    const bool is_empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
    const Axes axes(is_empty ? std::vector<std::uint64_t>(extents.size(), 1) : extents, order);
    reader.name_axes({.shape = extents, .order = order});
    if (is_empty) return Axes(std::vector<std::uint64_t>{0}, std::vector<int>{0});
    return axes;
  }
  const CyclicAxes moved(extents, order, read_moves(reader, extents));  // refuses what is no order
  const NamedAxes axes{.shape = extents, .order = order};
  // More is done than their order says.
  reader.name(
      {.axes = std::nullopt, .shapes = RegroupedShape{.before = axes.shape, .after = axes.target_shape()}});
  return simplest_form(moved);
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

Permutation rader_of_shape(SpecReader& reader, const std::vector<std::uint64_t>&) {
  const std::uint64_t prime = reader.count_at_hand().value_or(0);
  reader.allow_index_array(prime);
  return maps::rader(prime);
}

namespace {

using CubeMap = Permutation (*)(int d, int b);
Permutation morton_map(int d, int b) { return maps::morton(d, b); }

// d and b, of which an array at hand fixes b.
Permutation read_cube(SpecReader& reader, CubeMap map) {
  const int d = reader.small_number("the number of axes d");
  const std::optional<int> n = reader.bits_at_hand();
  if (n && reader.at(')') && d > 0 && *n % d == 0) return map(d, *n / d);
  reader.comma();
  return map(d, reader.small_number("the bits of an axis b"));
}

Permutation cube_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape, CubeMap map,
                          const char* remedy) {
  const bool is_cube =
      !shape.empty() && f2::is_power_of_two(shape.front()) &&
      std::all_of(shape.begin(), shape.end(), [&](std::uint64_t extent) { return extent == shape.front(); });
  require_axes(reader, shape, is_cube, "axes of 2^b elements each", remedy);
  return map(static_cast<int>(shape.size()), f2::trailing_bit(shape.front()));
}

}  // namespace

Permutation read_morton(SpecReader& reader) { return read_cube(reader, morton_map); }
Permutation read_hilbert(SpecReader& reader) { return read_cube(reader, maps::hilbert); }

Permutation morton_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  return cube_of_shape(reader, shape, morton_map, "give the sizes: `morton(d, b)`");
}

Permutation hilbert_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape) {
  return cube_of_shape(reader, shape, maps::hilbert, "give the sizes: `hilbert(d, b)`");
}

Permutation read_healpix(SpecReader& reader) {
  return maps::healpix(reader.small_number("the order k, of which nside is 2^k"));
}

Permutation healpix_of_shape(SpecReader& reader, const std::vector<std::uint64_t>&) {
  constexpr std::uint64_t kDiamonds = 12;
  const std::uint64_t count = reader.count_at_hand().value_or(0);
  const std::uint64_t pixels = count / kDiamonds;  // of a diamond
  if (count % kDiamonds != 0 || !f2::is_power_of_two(pixels) || f2::trailing_bit(pixels) % 2 != 0) {
    reader.fail(ErrorCode::value, "an array of " + std::to_string(count) + " elements",
                "12 4^k pixels: 12, 48, 192 and so on", "`--axis` names the axis of the pixels");
  }
  return maps::healpix(f2::trailing_bit(pixels) / 2);
}

Permutation read_sequency(SpecReader& reader) {
  const std::optional<int> at_hand = reader.bits_at_hand();
  const bool is_left_out = at_hand && !reader.at_digit();
  const int n = is_left_out ? *at_hand : reader.bits();
  if (!is_left_out && reader.at(')')) return maps::sequency(n);
  if (!is_left_out) reader.comma();
  const std::string place = reader.here();
  const std::string_view order = reader.word("an order, hadamard or dyadic,");
  if (order == "hadamard" || order == "natural") return maps::sequency(n);
  if (order == "dyadic" || order == "paley") return maps::sequency_of_dyadic(n);
  reader.fail(ErrorCode::spec, place, "the order before: hadamard (natural) or dyadic (paley)");
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

namespace {

using ShapeEffect = SpecReader::ShapeEffect;

struct ReadMap {
  Permutation map;
  ShapeEffect effect;
};

ReadMap read_map(SpecReader& reader) {
  Permutation map = reader.map();
  return {.map = std::move(map), .effect = reader.effect()};
}

ShapeEffect composed(const ShapeEffect& f, const ShapeEffect& g) {
  ShapeEffect both;
  if (!f.shapes || !g.shapes) {
    // The one keeps the shape that the other takes or gives.
    both.shapes = f.shapes ? f.shapes : g.shapes;
    return both;
  }
  if (g.shapes->after != f.shapes->before) return both;
  both.shapes = RegroupedShape{.before = g.shapes->before, .after = f.shapes->after};
  if (f.axes && g.axes) both.axes = f.axes->after(*g.axes);
  return both;
}

// f and g of compose(f, g). The array at hand is what g takes, and what g gives is at hand for f; where the
// result is at hand, it is what f gives. So the one at the array is read first, wherever it stands.
std::pair<ReadMap, ReadMap> read_composed(SpecReader& reader) {
  const std::size_t first = reader.position();
  const bool is_second_first =
      reader.shape_at_hand() != nullptr && !reader.shape_is_result() && reader.count_ahead(',') > 0;
  if (is_second_first) {
    reader.skip_to(',');
    reader.comma();
    ReadMap g = read_map(reader);
    const std::size_t end = reader.position();
    reader.go_to(first);
    auto outer = *reader.shape_at_hand();
    if (g.effect.shapes) reader.exchange_shape(g.effect.shapes->after);
    ReadMap f = read_map(reader);
    reader.exchange_shape(std::move(outer));
    reader.comma();
    reader.go_to(end);
    return {std::move(f), std::move(g)};
  }
  ReadMap f = read_map(reader);
  reader.comma();
  const bool is_turned = reader.shape_at_hand() != nullptr && f.effect.shapes.has_value();
  auto outer = is_turned ? reader.exchange_shape(f.effect.shapes->before) : std::nullopt;
  ReadMap g = read_map(reader);
  if (is_turned) reader.exchange_shape(std::move(outer));
  return {std::move(f), std::move(g)};
}

// An order of axes k times, or its inverse -k times.
std::vector<int> power_of_order(const std::vector<int>& order, std::int64_t k) {
  std::vector<int> power(order.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    std::vector<std::size_t> cycle{axis};
    while (static_cast<std::size_t>(order[cycle.back()]) != axis)
      cycle.push_back(static_cast<std::size_t>(order[cycle.back()]));
    const auto length = static_cast<std::int64_t>(cycle.size());
    power[axis] = static_cast<int>(cycle[static_cast<std::size_t>((k % length + length) % length)]);
  }
  return power;
}

}  // namespace

Permutation read_compose(SpecReader& reader) {
  const auto [f, g] = read_composed(reader);
  reader.name(composed(f.effect, g.effect));
  if (auto form = compose_forms(f.map, g.map)) return std::move(*form);
  reader.allow_index_array(element_count(f.map));
  return compose(f.map, g.map);
}

Permutation read_inverse(SpecReader& reader) {
  reader.turn_round();
  const ReadMap f = read_map(reader);
  reader.turn_round();
  ShapeEffect undone;
  if (f.effect.axes) undone.axes = f.effect.axes->inverse();
  if (f.effect.shapes) {
    undone.shapes = RegroupedShape{.before = f.effect.shapes->after, .after = f.effect.shapes->before};
  }
  reader.name(std::move(undone));
  return inverse(f.map);
}

Permutation read_power(SpecReader& reader) {
  const bool took_shape = reader.took_shape();
  const auto [f, effect] = read_map(reader);
  const bool takes_shape = reader.took_shape();
  reader.name({});
  reader.comma();
  const std::int64_t k = reader.integer("the exponent k");
  const bool keeps_shape = !effect.shapes || effect.shapes->before == effect.shapes->after;
  if (takes_shape || took_shape) reader.note_shape_taken();
  if (takes_shape && effect.axes) return axes_at_hand(reader, power_of_order(effect.axes->order, k));
  if (takes_shape && !keeps_shape && (k > 1 || k < -1)) {
    reader.fail(ErrorCode::value, "a map that changes the shape of the array at hand, several times",
                "one whose result has the shape that it takes", "compose(f, g) says each by itself");
  }
  if (effect.shapes && (keeps_shape || k == 1 || k == -1)) {
    const auto& [before, after] = *effect.shapes;
    reader.name({.axes = std::nullopt,
                 .shapes = k < 0 ? RegroupedShape{.before = after, .after = before} : *effect.shapes});
  }
  if (auto form = power_form(f, k)) return std::move(*form);
  reader.allow_index_array(element_count(f));
  return power(f, k);
}

}  // namespace faro::detail
