#include "swizzle/domains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "faro/error.hpp"

namespace faro::swizzle::detail {
namespace {

// How many functions, and words of all their supports, are worth a bit for each.
constexpr std::size_t kMostSmall = 8192;
constexpr std::size_t kMostSupportWords = std::size_t{1} << 23;
// Numbers and indexes of large families.
constexpr std::size_t kMostBytes = std::size_t{400} << 20;
// Cells that together leave few functions of any family.
constexpr std::ptrdiff_t kEnoughForced = 4;
// Lists up to this are asked for the values that they have.
constexpr std::size_t kShortList = 64;
// Indexes by two cells of one hole.
constexpr std::size_t kMostPairs = 32;

ValueMask full_mask(std::size_t values) {
  return values >= 64 ? ~ValueMask{0} : (ValueMask{1} << values) - 1;
}

bool contains(ValueMask mask, std::size_t value) { return (mask >> value & 1) != 0; }

}  // namespace

template <typename Visit>
void Domains::for_each_distinct(const Hole& hole, const Visit& visit) const {
  if (hole.all.is_made) {
    for (const std::uint32_t f : hole.all.functions) visit(f);
    return;
  }
  for (std::size_t f = 0; f < hole.family->size(); ++f) visit(static_cast<std::uint32_t>(f));
}

Domains::Domains(const ConstraintModel& model, std::span<const FunctionSet> families,
                 std::function<void()> tick)
    : tick_(std::move(tick)), bytes_left_(kMostBytes) {
  std::uint32_t first_cell = 0;
  for (std::size_t h = 0; h < families.size(); ++h) {
    tick_();
    Hole hole;
    hole.family = &families[h];
    hole.first_cell = first_cell;
    hole.distinct = families[h].size();
    const std::vector<std::int64_t>& read = model.read_cells[h];
    if (static_cast<std::int64_t>(read.size()) < families[h].cells()) {
      std::vector<std::uint32_t> distinct;
      for (const std::size_t f : families[h].distinct_on(read))
        distinct.push_back(static_cast<std::uint32_t>(f));
      hole.distinct = distinct.size();
      hole.all.owner = std::make_shared<const std::vector<std::uint32_t>>(std::move(distinct));
      hole.all.functions = *hole.all.owner;
      hole.all.is_made = true;
    }
    hole.facts.resize(static_cast<std::size_t>(families[h].cells()));
    std::size_t support_words = 0;
    for (const std::int64_t cell : read) {
      Facts& facts = hole.facts[static_cast<std::size_t>(cell)];
      const std::vector<std::int32_t>& values = model.domains[h][static_cast<std::size_t>(cell)];
      FARO_CHECK(!values.empty());
      facts.count = values.size();
      facts.least = values.front();
      facts.number_of.resize(static_cast<std::size_t>(values.back() - values.front()) + 1);
      for (std::size_t v = 0; v < values.size(); ++v) {
        facts.number_of[static_cast<std::size_t>(values[v] - values.front())] = static_cast<std::uint16_t>(v);
      }
      support_words += values.size() * (families[h].size() / 64 + 1);
    }
    hole.is_small = families[h].size() <= kMostSmall && support_words <= kMostSupportWords;
    hole.domain.size = hole.distinct;
    if (hole.is_small) {
      hole.domain.bits.assign(families[h].size() / 64 + 1, 0);
      for_each_distinct(hole,
                        [&](std::uint32_t f) { hole.domain.bits[f / 64] |= std::uint64_t{1} << (f % 64); });
      for (const std::int64_t cell : read) {
        tick_();
        make_supports(hole, cell);
      }
    }
    first_cell += static_cast<std::uint32_t>(families[h].cells());
    if (hole.distinct == 1) for_each_distinct(hole, [&](std::uint32_t f) { hole.domain.only = f; });
    holes_.push_back(std::move(hole));
  }
  levels_.push_back(0);
}

void Domains::make_supports(Hole& hole, std::int64_t cell) const {
  Facts& facts = hole.facts[static_cast<std::size_t>(cell)];
  if (facts.count > kMostMaskValues) return;
  const std::size_t words = hole.domain.bits.size();
  facts.supports.assign(facts.count * words, 0);
  facts.numbers.assign(hole.family->size(), 0);
  for (std::size_t f = 0; f < hole.family->size(); ++f) {
    const std::size_t v = facts.number_of[static_cast<std::size_t>(hole.family->at(f, cell) - facts.least)];
    facts.numbers[f] = static_cast<std::uint8_t>(v);
    facts.supports[v * words + f / 64] |= std::uint64_t{1} << (f % 64);
  }
}

std::vector<std::uint32_t> Domains::candidates(int number) const {
  const Hole& hole = at(number);
  const Domain& domain = hole.domain;
  if (domain.size == 1) return {domain.only};
  if (domain.list.is_made) return {domain.list.functions.begin(), domain.list.functions.end()};
  std::vector<std::uint32_t> result;
  for_each_distinct(hole, [&](std::uint32_t f) {
    if (hole.is_small) {
      if ((domain.bits[f / 64] >> (f % 64) & 1) != 0) result.push_back(f);
      return;
    }
    const bool fits = std::ranges::all_of(domain.known, [&](const auto& known) {
      return contains(known.second, value_number({number, known.first}, f));
    });
    if (fits) result.push_back(f);
  });
  return result;
}

ValueMask Domains::allowed(const Variable& cell) const {
  const Hole& hole = at(cell.hole);
  const Facts& known = facts(cell);
  const Domain& domain = hole.domain;
  if (hole.is_small) {
    if (domain.size == hole.distinct) return full_mask(known.count);
    const std::size_t words = domain.bits.size();
    ValueMask mask = 0;
    for (std::size_t v = 0; v < known.count; ++v) {
      const std::uint64_t* support = known.supports.data() + v * words;
      for (std::size_t w = 0; w < words; ++w) {
        if ((support[w] & domain.bits[w]) == 0) continue;
        mask |= ValueMask{1} << v;
        break;
      }
    }
    return mask;
  }
  if (domain.list.is_made && domain.list.functions.size() <= kShortList) {
    ValueMask mask = 0;
    for (const std::uint32_t f : domain.list.functions) mask |= ValueMask{1} << value_number(cell, f);
    return mask;
  }
  for (const auto& [where, mask] : domain.known) {
    if (where == cell.cell) return mask;
  }
  return full_mask(known.count);
}

void Domains::make_numbers(Hole& hole, std::int64_t cell) {
  Facts& facts = hole.facts[static_cast<std::size_t>(cell)];
  if (!facts.numbers.empty() || hole.family->size() > bytes_left_) return;
  tick_();
  bytes_left_ -= hole.family->size();
  std::vector<std::uint8_t> numbers(hole.family->size());
  for (std::size_t f = 0; f < numbers.size(); ++f) {
    numbers[f] = static_cast<std::uint8_t>(
        facts.number_of[static_cast<std::size_t>(hole.family->at(f, cell) - facts.least)]);
  }
  facts.numbers = std::move(numbers);
}

template <typename NumberOf>
void Domains::fill(Index& index, const Hole& hole, std::size_t count, const NumberOf& number_of) {
  index.first.assign(count + 1, 0);
  for_each_distinct(hole, [&](std::uint32_t f) { ++index.first[number_of(f) + 1]; });
  for (std::size_t v = 1; v < index.first.size(); ++v) index.first[v] += index.first[v - 1];
  std::vector<std::uint32_t> next(index.first);
  index.functions.resize(hole.distinct);
  for_each_distinct(hole, [&](std::uint32_t f) { index.functions[next[number_of(f)]++] = f; });
}

bool Domains::make_index(Hole& hole, const Variable& cell) {
  Index& index = hole.facts[static_cast<std::size_t>(cell.cell)].index;
  if (!index.first.empty()) return true;
  const std::size_t bytes = hole.distinct * sizeof(std::uint32_t);
  if (bytes > bytes_left_) return false;
  tick_();
  bytes_left_ -= bytes;
  make_numbers(hole, cell.cell);
  fill(index, hole, values(cell), [&](std::uint32_t f) { return value_number(cell, f); });
  return true;
}

std::optional<std::span<const std::uint32_t>> Domains::with_two(Hole& hole, int number) {
  std::array<Variable, 2> cells;
  std::array<std::size_t, 2> chosen{};
  std::size_t known = 0;
  for (const auto& [cell, mask] : hole.domain.known) {
    if (!std::has_single_bit(mask)) continue;
    cells[known] = {number, cell};
    chosen[known] = static_cast<std::size_t>(std::countr_zero(mask));
    if (++known == cells.size()) break;
  }
  const std::size_t bytes = hole.distinct * sizeof(std::uint32_t);
  if (known < cells.size() || hole.distinct < kMostSmall) return std::nullopt;
  const std::size_t place = chosen[0] * values(cells[1]) + chosen[1];
  const auto pair = std::ranges::find_if(
      hole.pairs, [&](const PairIndex& p) { return p.first == cells[0].cell && p.second == cells[1].cell; });
  if (pair != hole.pairs.end()) return pair->index.with(place);
  if (hole.pairs.size() >= kMostPairs || bytes > bytes_left_) return std::nullopt;
  tick_();
  bytes_left_ -= bytes;
  for (const Variable& cell : cells) make_numbers(hole, cell.cell);
  PairIndex& made = hole.pairs.emplace_back();
  made.first = cells[0].cell;
  made.second = cells[1].cell;
  fill(made.index, hole, values(cells[0]) * values(cells[1]), [&](std::uint32_t f) {
    return value_number(cells[0], f) * values(cells[1]) + value_number(cells[1], f);
  });
  return made.index.with(place);
}

void Domains::save(int number) {
  Hole& hole = at(number);
  const std::size_t level = levels_.size();
  if (hole.saved_at == level) return;
  saved_.push_back({number, hole.domain, hole.saved_at});
  hole.saved_at = level;
}

void Domains::push() { levels_.push_back(saved_.size()); }

void Domains::pop() {
  FARO_CHECK(levels_.size() > 1);
  while (saved_.size() > levels_.back()) {
    Hole& hole = at(saved_.back().hole);
    hole.domain = std::move(saved_.back().domain);
    hole.saved_at = saved_.back().saved_at;
    saved_.pop_back();
  }
  levels_.pop_back();
}

void Domains::assign(int number, std::uint32_t function) {
  save(number);
  Domain& domain = at(number).domain;
  domain.size = 1;
  domain.only = function;
}

bool Domains::restrict(const Variable& cell, ValueMask mask, bool& changed) {
  Hole& hole = at(cell.hole);
  if (hole.domain.size == 1) return contains(mask, value_number(cell, hole.domain.only));
  save(cell.hole);
  const bool is_possible =
      hole.is_small ? restrict_small(hole, cell, mask, changed) : restrict_large(hole, cell, mask, changed);
  if (hole.domain.size == 1) newly_fixed_.push_back(cell.hole);
  return is_possible;
}

bool Domains::restrict_small(Hole& hole, const Variable& cell, ValueMask mask, bool& changed) {
  const Facts& known = facts(cell);
  Domain& domain = hole.domain;
  const std::size_t words = domain.bits.size();
  std::size_t size = 0;
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t supported = 0;
    for (ValueMask left = mask; left != 0; left &= left - 1) {
      supported |= known.supports[static_cast<std::size_t>(std::countr_zero(left)) * words + w];
    }
    domain.bits[w] &= supported;
    size += static_cast<std::size_t>(std::popcount(domain.bits[w]));
    if (domain.bits[w] != 0) {
      domain.only =
          static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(domain.bits[w]));
    }
  }
  if (size != domain.size) changed = true;
  domain.size = size;
  return size > 0;
}

bool Domains::set_list(Hole& hole, std::vector<std::uint32_t> kept) {
  Domain& domain = hole.domain;
  domain.size = kept.size();
  if (!kept.empty()) domain.only = kept.front();
  domain.list.owner = std::make_shared<const std::vector<std::uint32_t>>(std::move(kept));
  domain.list.functions = *domain.list.owner;
  domain.list.is_made = true;
  return domain.size > 0;
}

// Two cells that have one value choose the functions, or one, that with the fewest; the others thin them out.
void Domains::make_list(Hole& hole, int number) {
  Domain& domain = hole.domain;
  std::optional<std::span<const std::uint32_t>> shortest = with_two(hole, number);
  const bool is_chosen = shortest.has_value();
  for (const auto& [cell, mask] : domain.known) {
    make_numbers(hole, cell);
    if (is_chosen || !std::has_single_bit(mask) || !make_index(hole, {number, cell})) continue;
    const std::span<const std::uint32_t> list = hole.facts[static_cast<std::size_t>(cell)].index.with(
        static_cast<std::size_t>(std::countr_zero(mask)));
    if (!shortest || list.size() < shortest->size()) shortest = list;
  }
  struct Test {
    const std::uint8_t* numbers = nullptr;
    ValueMask mask = 0;
  };
  std::vector<Test> tests;
  for (const auto& [cell, mask] : domain.known) {
    const Facts& facts = hole.facts[static_cast<std::size_t>(cell)];
    if (facts.numbers.empty() || !shortest) {
      set_list(hole, candidates(number));
      return;
    }
    // What leaves least is asked first.
    tests.insert(std::has_single_bit(mask) ? tests.begin() : tests.end(), {facts.numbers.data(), mask});
  }
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t f : *shortest) {
    bool fits = true;
    for (std::size_t k = 0; k < tests.size() && fits; ++k)
      fits = contains(tests[k].mask, tests[k].numbers[f]);
    if (fits) kept.push_back(f);
  }
  set_list(hole, std::move(kept));
}

bool Domains::settle(bool& changed) {
  for (int h = 0; h < holes(); ++h) {
    Hole& hole = at(h);
    const Domain& domain = hole.domain;
    if (hole.is_small || domain.size == 1 || domain.list.is_made) continue;
    if (std::ranges::none_of(domain.known,
                             [](const auto& known) { return std::has_single_bit(known.second); })) {
      continue;
    }
    save(h);
    make_list(hole, h);
    if (hole.domain.size == 0) return false;
    if (hole.domain.size == 1) newly_fixed_.push_back(h);
    changed = true;
  }
  return true;
}

bool Domains::restrict_large(Hole& hole, const Variable& cell, ValueMask mask, bool& changed) {
  Domain& domain = hole.domain;
  auto known = std::ranges::find(domain.known, cell.cell, &std::pair<std::int64_t, ValueMask>::first);
  if (known == domain.known.end()) {
    known = domain.known.insert(known, {cell.cell, full_mask(facts(cell).count)});
  }
  const bool is_new = (known->second & ~mask) != 0;
  known->second &= mask;
  if (known->second == 0) return false;
  if (!domain.list.is_made) {
    if (!is_new) return true;
    changed = true;
    const auto forced = std::ranges::count_if(
        domain.known, [](const auto& entry) { return std::has_single_bit(entry.second); });
    if (forced >= kEnoughForced) make_list(hole, cell.hole);
    return domain.size > 0;
  }
  if (domain.list.functions.size() > kShortList) make_numbers(hole, cell.cell);
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t f : domain.list.functions) {
    if (contains(mask, value_number(cell, f))) kept.push_back(f);
  }
  if (kept.size() == domain.list.functions.size()) return true;
  changed = true;
  return set_list(hole, std::move(kept));
}

}  // namespace faro::swizzle::detail
