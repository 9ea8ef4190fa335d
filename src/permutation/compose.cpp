// Composition of permutations of any form.
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "index_check.hpp"
#include "io/buffer.hpp"
#include "permutation/cyclic_axes.hpp"
#include "permutation/rows.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMost32BitCount = std::uint64_t{1} << 32;

// A label longer than this tells nobody anything.
constexpr std::size_t kLongestLabel = 200;

Cyclic composed(const Cyclic& a, const Cyclic& b) {
  if (a.count == 0) return {.count = 0, .shift = 0, .reversed = a.reversed != b.reversed};
  // b(0) = b.shift, and a takes it to the shift of both.
  return {.count = a.count, .shift = a(b.shift), .reversed = a.reversed != b.reversed};
}

bool is_identity(const Affine& map) { return map.is_identity(); }
bool is_identity(const Cyclic& map) { return map.count <= 1 || (map.shift == 0 && !map.reversed); }
bool is_identity(const Modular& map) { return map.factor == 1 % map.count && map.shift == 0; }
bool is_identity(const Axes& map) { return map.is_identity(); }
bool is_identity(const CyclicAxes& map) { return map.shape().empty(); }
bool is_identity(const Computed&) { return false; }  // those that are have other forms
bool is_identity(const Indexed&) { return false; }   // its entries would have to be read

bool is_spec(const std::string& text) { return text.find("indices(of") == std::string::npos; }

template <typename Word, typename Entry>
Indexed from_entries(std::uint64_t count, const Entry& entry, Direction direction) {
  std::vector<Word> entries(count);
  detail::for_each_index(count, [&](std::uint64_t i) { entries[i] = static_cast<Word>(entry(i)); });
  return {std::move(entries), direction};
}

template <typename Entry>
Indexed from_entries(std::uint64_t count, const Entry& entry, Direction direction) {
  const bool wide = count > kMost32BitCount;
  detail::require_memory("compose", std::to_string(count) + " entries", count * (wide ? 8 : 4) + count / 8);
  return wide ? from_entries<std::uint64_t>(count, entry, direction)
              : from_entries<std::uint32_t>(count, entry, direction);
}

// A function of x for the loop: of an index array, its scatter form's entries.
template <typename Form>
auto function_of(const Form& form) {
  if constexpr (std::is_same_v<Form, Indexed>) {
    return [array = form.redirected(Direction::scatter)](std::uint64_t x) { return array.entry(x); };
  } else {
    return [form](std::uint64_t x) -> std::uint64_t { return form(x); };
  }
}

Indexed as_index_array(const Permutation& a, const Permutation& b, std::uint64_t count) {
  const auto* const left = std::get_if<Indexed>(&a);
  const auto* const right = std::get_if<Indexed>(&b);
  // Two gathers make a gather: out[i] = in[Qb[Qa[i]]].
  if (left != nullptr && right != nullptr && left->direction() == Direction::gather &&
      right->direction() == Direction::gather) {
    return from_entries(
        count, [&](std::uint64_t i) { return right->entry(left->entry(i)); }, Direction::gather);
  }
  return std::visit(
      [count](const auto& f, const auto& g) {
        const auto outer = function_of(f);
        const auto inner = function_of(g);
        return from_entries(
            count, [&](std::uint64_t x) { return outer(inner(x)); }, Direction::scatter);
      },
      a, b);
}

// The k-th power by cycles: every element goes k places on along its own.
//
//     pi = 2 0 1 4 3      cycles 0 2 1 and 3 4      pi^2 = 1 2 0 3 4
//
// One walk over all elements, however large k is.
template <typename Word, typename Next>
Indexed cycle_power(std::uint64_t count, const Next& next, std::int64_t k, Direction direction) {
  detail::require_memory("power", std::to_string(count) + " entries", 2 * count * sizeof(Word) + count / 8);
  std::vector<Word> entries(count);
  std::vector<Word> cycle;
  detail::Marks seen(count);
  for (std::uint64_t start = 0; start < count; ++start) {
    cycle.clear();
    for (std::uint64_t x = start; !seen.mark_alone(x); x = next(x)) cycle.push_back(static_cast<Word>(x));
    if (cycle.empty()) continue;
    const auto length = static_cast<std::int64_t>(cycle.size());
    auto ahead = static_cast<std::size_t>((k % length + length) % length);
    for (const Word x : cycle) {
      entries[x] = cycle[ahead];
      if (++ahead == cycle.size()) ahead = 0;
    }
  }
  return {std::move(entries), direction};
}

template <typename Next>
Indexed cycle_power(std::uint64_t count, const Next& next, std::int64_t k, Direction direction) {
  return count > kMost32BitCount ? cycle_power<std::uint64_t>(count, next, k, direction)
                                 : cycle_power<std::uint32_t>(count, next, k, direction);
}

// An array's power in the array's own direction: a gather's cycles are run through backwards, as its inverse
// is.
Indexed power_as_index_array(const Permutation& permutation, std::int64_t k) {
  if (const auto* const array = std::get_if<Indexed>(&permutation)) {
    return cycle_power(
        array->count(), [&](std::uint64_t i) { return array->entry(i); }, k, array->direction());
  }
  return std::visit(
      [&](const auto& form) {
        if constexpr (std::is_same_v<std::decay_t<decltype(form)>, Indexed>) {
          return form;
        } else {
          return cycle_power(
              element_count(permutation), [&](std::uint64_t x) -> std::uint64_t { return form(x); }, k,
              Direction::scatter);
        }
      },
      permutation);
}

// A multiplication, which a roll or a flip is one of.
std::optional<Modular> modular_form(const Permutation& permutation) {
  if (const auto* const map = std::get_if<Modular>(&permutation)) return *map;
  const auto* const cyclic = std::get_if<Cyclic>(&permutation);
  if (cyclic == nullptr || cyclic->count == 0) return std::nullopt;
  return Modular{.count = cyclic->count,
                 .factor = (cyclic->reversed ? cyclic->count - 1 : 1) % cyclic->count,
                 .shift = cyclic->shift};
}

void require_host(const Permutation& permutation) {
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  if (indexed != nullptr) static_cast<void>(indexed->entries32());  // refuses a device's
}

// The array with the label that `text` gives, where that can be read and an array is too long to be written.
template <typename Text>
Indexed told(const Indexed& array, const Text& text) {
  if (array.count() <= kLongestIndexLiteral) return array.labelled({});
  const std::string label = text();
  return array.labelled(label.size() <= kLongestLabel && is_spec(label) ? label : std::string());
}

// x goes to x + k shift, modulo the count; flipped and shifted an even number of times, it is where it was.
Cyclic power_of(const Cyclic& map, std::int64_t k) {
  if (map.reversed) {
    return k % 2 != 0 ? map : Cyclic{.count = map.count, .shift = 0, .reversed = false};
  }
  if (map.count == 0) return map;
  __extension__ using Wide = __int128;
  const Wide count = static_cast<Wide>(map.count);
  const Wide moved = static_cast<Wide>(map.shift) * k % count;
  return {.count = map.count,
          .shift = static_cast<std::uint64_t>(moved < 0 ? moved + count : moved),
          .reversed = false};
}

}  // namespace

namespace detail {

std::optional<Permutation> compose_forms(const Permutation& a, const Permutation& b) {
  const auto* const affine_a = std::get_if<Affine>(&a);
  const auto* const affine_b = std::get_if<Affine>(&b);
  if (affine_a != nullptr && affine_b != nullptr) return compose(*affine_a, *affine_b);
  const std::uint64_t count = element_count(a);
  if (count != element_count(b)) {
    fail(
        ErrorCode::value, "compose",
        "permutations of " + std::to_string(count) + " and " + std::to_string(element_count(b)) + " elements",
        "permutations of one size");
  }
  const auto is_identity_form = [](const auto& form) { return is_identity(form); };
  if (std::visit(is_identity_form, a)) return b;
  if (std::visit(is_identity_form, b)) return a;
  const auto* const computed = std::get_if<Computed>(&a);
  if (computed != nullptr && Permutation(computed->inverse()) == b)
    return Cyclic{.count = count, .shift = 0, .reversed = false};
  const auto* const cyclic_a = std::get_if<Cyclic>(&a);
  const auto* const cyclic_b = std::get_if<Cyclic>(&b);
  if (cyclic_a != nullptr && cyclic_b != nullptr) return composed(*cyclic_a, *cyclic_b);
  const auto modular_a = modular_form(a);
  const auto modular_b = modular_form(b);
  if (modular_a && modular_b) return compose(*modular_a, *modular_b);
  const auto form_a = affine_form(a);
  const auto form_b = affine_form(b);
  if (form_a && form_b) return compose(*form_a, *form_b);
  const auto axes_a = axis_map(a);
  const auto axes_b = axis_map(b);
  const auto axes = axes_a && axes_b ? compose(*axes_a, *axes_b) : std::nullopt;
  if (axes) return normal_form(Permutation(CyclicAxes(*axes)));
  return std::nullopt;
}

std::optional<Permutation> power_form(const Permutation& permutation, std::int64_t k) {
  if (const auto* const map = std::get_if<Affine>(&permutation)) return map->power(k);
  if (const auto* const map = std::get_if<Cyclic>(&permutation)) return power_of(*map, k);
  if (const auto* const map = std::get_if<Modular>(&permutation)) return map->power(k);
  if (k == 1) return permutation;
  if (k == -1) return inverse(permutation);
  if (k == 0) return Cyclic{.count = element_count(permutation), .shift = 0, .reversed = false};
  if (const auto form = affine_form(permutation)) return form->power(k);
  return std::nullopt;
}

}  // namespace detail

Permutation compose(const Permutation& a, const Permutation& b) {
  if (auto form = detail::compose_forms(a, b)) return std::move(*form);
  require_host(a);
  require_host(b);
  return told(as_index_array(a, b, element_count(a)),
              [&] { return "compose(" + to_text(a) + ", " + to_text(b) + ")"; });
}

Permutation power(const Permutation& permutation, std::int64_t k) {
  if (auto form = detail::power_form(permutation, k)) return std::move(*form);
  require_host(permutation);
  return told(power_as_index_array(permutation, k),
              [&] { return "power(" + to_text(permutation) + ", " + std::to_string(k) + ")"; });
}

}  // namespace faro
