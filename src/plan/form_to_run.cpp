#include "plan/form_to_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "faro/plan/transpose_plan.hpp"
#include "permutation/axes_search.hpp"
#include "plan/gpu/axes_choice.hpp"
#include "plan/reversals.hpp"

namespace faro::detail {
namespace {

// Bits that change places are axes of two elements, the highest bit the slowest axis; the normal form joins
// those that stay neighbours.
std::optional<Permutation> as_axes(const Affine& map) {
  if (map.complement() != 0) return std::nullopt;
  const auto n = static_cast<std::size_t>(map.bits());
  std::vector<int> order(n);
  for (std::size_t bit = 0; bit < n; ++bit) {
    const f2::Word target = map.matrix().column(static_cast<int>(bit));
    if (!f2::is_power_of_two(target)) return std::nullopt;
    order[n - 1 - static_cast<std::size_t>(f2::trailing_bit(target))] = static_cast<int>(n - 1 - bit);
  }
  return Axes(std::vector<std::uint64_t>(n, 2), order);
}

}  // namespace

std::optional<Permutation> form_of_any_width(const Affine& map) {
  constexpr int kMostBits = 40;  // of Indexed::kMaxCount, which bounds the other forms
  if (map.bits() > kMostBits) return std::nullopt;
  const std::uint64_t count = std::uint64_t{1} << map.bits();
  for (const bool reversed : {false, true}) {
    const Cyclic cyclic{.count = count, .shift = map(0), .reversed = reversed};
    if (affine_form(cyclic) == map) return cyclic;
  }
  return as_axes(map);
}

// On a CPU boxes are faster than an affine map's tiles where the caches hold neither array
// (docs/notes/axes-experiments.md).
bool boxes_suit_cpu(const Axes& axes, std::uint64_t element_bytes, const Target& target) {
  constexpr std::size_t kMostAxes = 16;
  return axes.shape().size() <= kMostAxes && !std::is_sorted(axes.order().begin(), axes.order().end()) &&
         axes.count() > target.streaming_bytes / element_bytes;
}

bool axes_suit(const Permutation& permutation, std::uint64_t element_bytes, std::uint64_t arrays,
               const Target& target) {
  const auto* const axes = std::get_if<Axes>(&permutation);
  if (axes == nullptr || target.tile) return false;
  if (target.engine == Engine::cpu) return boxes_suit_cpu(*axes, element_bytes, target);
  // Arrays that are small one by one may be many.
  constexpr std::uint64_t kManyBytes = 2 << 20;
  AxesVariant as{.alternatives = false};
  if (axes->count() * element_bytes > kManyBytes / std::max<std::uint64_t>(arrays, 1)) as.elements = false;
  const AxesChoice choice = choose_axes(*axes, element_bytes, 1, as);
  if (std::holds_alternative<AxesRows>(choice.form)) return true;
  if (std::holds_alternative<AxesElements>(choice.form)) return false;
  if (axes->shape().empty()) return false;  // one element
  const std::uint64_t columns = axes->shape().back();
  const std::uint64_t rows = axes->shape()[static_cast<std::size_t>(axes->order().back())];
  if (std::holds_alternative<AxesBoxes>(choice.form)) {
    constexpr std::uint64_t kRowBytes = 64;
    constexpr std::uint64_t kLongSide = 256;  // of planes of wide elements, which boxes move
    constexpr std::uint64_t kWideBytes = 8;
    constexpr std::uint64_t kLargeBytes = 4 << 20;  // beyond what an affine map's tiles move faster
    const bool row_stays = static_cast<std::size_t>(axes->order().back()) + 1 == axes->shape().size();
    if (row_stays) return columns * element_bytes >= kRowBytes;
    return element_bytes >= kWideBytes && std::min(rows, columns) >= kLongSide &&
           axes->count() > kLargeBytes / element_bytes;
  }
  const auto* const lines = std::get_if<AxesLines>(&choice.form);
  if (lines == nullptr || !lines->variants.front().choice.plane) return false;
  // A small array has too few of these tiles for all multiprocessors; an affine map's are smaller.
  constexpr std::uint64_t kSmallBytes = 1 << 20;
  constexpr std::uint64_t kFewTiles = 128;
  const bool is_small = axes->count() <= kSmallBytes / element_bytes;
  if (is_small && arrays < kFewTiles && lines->variants.front().choice.params.tiles * arrays < kFewTiles)
    return false;
  constexpr std::uint64_t kLongSideBytes = 256;
  return std::min(rows, columns) * element_bytes >= kLongSideBytes;
}

bool runs_with_exceptions(const Problem& problem, const Recognition& recognition, const Target& target) {
  if (problem.placement == Placement::in_place) return false;
  Problem others = problem;
  others.permutation = recognition.permutation;
  others = in_form_to_run(std::move(others), target);
  if (std::holds_alternative<Affine>(others.permutation)) return f2::is_power_of_two(problem.element_bytes);
  return !std::holds_alternative<Indexed>(others.permutation);
}

Problem problem_of_block(const Problem& problem, const Recognition& recognition) {
  const auto& indexed = std::get<Indexed>(problem.permutation);
  const std::uint64_t width = problem.element_bytes;
  if (problem.placement == Placement::in_place || width == 0 || width > kMaxElementBytes ||
      problem.batch == 0)
    return problem;
  std::uint64_t together = recognition.blocks.together;
  std::uint64_t divisor = 1;  // as few units as leave elements narrow enough
  while (together % divisor != 0 || together / divisor * width > kMaxElementBytes) ++divisor;
  together /= divisor;
  // Small blocks are taken some at a time.
  constexpr std::uint64_t kLeastElements = 4096;
  const std::uint64_t all = recognition.blocks.repeats;
  const std::uint64_t block = indexed.count() / all;
  std::uint64_t some = std::min<std::uint64_t>(all, (kLeastElements * together + block - 1) / block);
  while (all % some != 0) ++some;
  return problem_of_blocks(problem, {.repeats = all / some, .together = together});
}

Problem problem_of_blocks(const Problem& problem, const Blocks& blocks) {
  if (blocks == Blocks{}) return problem;
  const auto& indexed = std::get<Indexed>(problem.permutation);
  Problem made = problem;
  made.permutation = block_of(indexed, indexed.count() / blocks.repeats, blocks.together);
  made.element_bytes = problem.element_bytes * blocks.together;
  made.batch = problem.batch * blocks.repeats;
  return made;
}

Recognition recognition_of_block(const Problem& block, Recognition of_all, int threads) {
  const auto& indexed = std::get<Indexed>(block.permutation);
  Recognition made;
  made.permutation = indexed;
  if (indexed.on_host()) made = recognise(indexed, threads);
  const bool in_part = made.family == Family::blocks || made.family == Family::exceptions;
  if (in_part) made.permutation = indexed;
  made.family = of_all.family;
  made.blocks = of_all.blocks;
  made.findings = std::move(of_all.findings);
  return made;
}

Recognition known_form(const Permutation& permutation) {
  const Family family = std::holds_alternative<Cyclic>(permutation)       ? Family::cyclic
                        : std::holds_alternative<Modular>(permutation)    ? Family::modular
                        : std::holds_alternative<CyclicAxes>(permutation) ? Family::cyclic_axes
                        : std::holds_alternative<Computed>(permutation)   ? Family::computed
                        : std::holds_alternative<Indexed>(permutation)    ? Family::general
                                                                          : Family::axes;
  Recognition made;
  made.family = family;
  made.permutation = permutation;
  return made;
}

Problem in_form_to_run(Problem problem, const Target& target) {
  const bool wide = problem.element_bytes > kMaxElementBytes;
  const bool in_place = problem.placement == Placement::in_place;
  if (problem.element_bytes == 0 || (wide && !in_place)) return problem;
  const std::optional<Affine> map = affine_form(problem.permutation);
  if (!map) {
    // Axes that all stay, and multiplications by 1 and -1, are rolls and flips.
    if (!std::holds_alternative<Indexed>(problem.permutation))
      problem.permutation = normal_form(problem.permutation);
    // The kernel of multiplications takes units.
    const auto* const modular = std::get_if<Modular>(&problem.permutation);
    constexpr std::uint64_t kWidestUnit = 16;
    const bool is_unit = f2::is_power_of_two(problem.element_bytes) && problem.element_bytes <= kWidestUnit;
    if (modular != nullptr && target.engine == Engine::cuda && !is_unit)
      problem.permutation = as_index_array(*modular);
    return problem;
  }
  if (wide) {
    // Rolls, flips and axes that change places in place take any width; other maps do not.
    Problem named = problem;
    if (auto form = form_of_any_width(*map); form && std::holds_alternative<Affine>(problem.permutation))
      named.permutation = *std::move(form);
    if (reverses_in_place(named) || as_transposition(named)) return named;
  } else if (f2::is_power_of_two(problem.element_bytes)) {
    const bool stays =
        !in_place && axes_suit(problem.permutation, problem.element_bytes, problem.batch, target);
    if (!stays) problem.permutation = *map;
  } else if (std::holds_alternative<Affine>(problem.permutation)) {
    if (auto form = form_of_any_width(*map)) problem.permutation = *std::move(form);
  }
  return problem;
}

Permutation form_to_run(const Problem& problem, const Recognition& recognition) {
  // The map that most entries follow is not what the array says.
  if (recognition.family == Family::exceptions) return problem.permutation;
  const auto* const map = std::get_if<Affine>(&recognition.permutation);
  if (map == nullptr || f2::is_power_of_two(problem.element_bytes)) return recognition.permutation;
  // Many short axes cost more than an array's own ways, of which the planner takes the fastest.
  constexpr std::size_t kMostAxes = 4;
  auto form = form_of_any_width(*map);
  const auto* const axes = form ? std::get_if<Axes>(&*form) : nullptr;
  if (!form || (axes != nullptr && axes->shape().size() > kMostAxes)) return problem.permutation;
  return *std::move(form);
}

}  // namespace faro::detail
