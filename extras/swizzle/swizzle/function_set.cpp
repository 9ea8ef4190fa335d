#include "swizzle/function_set.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/function_builder.hpp"

namespace faro::swizzle {

struct FunctionSet::Lookup {
  detail::RowTable rows{1};
  detail::HashSlots functions;
  std::vector<std::vector<std::uint32_t>> rows_in;  // by column: those that some function has there
};

namespace {

using detail::HashSlots;

constexpr std::uint32_t kStepsPerCheck = std::uint32_t{1} << 16;

std::uint64_t hash_of(std::span<const std::uint32_t> rows) {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) hash += detail::hash_part(k, rows[k]);
  return hash;
}

std::shared_ptr<const detail::Family> built(const HoleDeclaration& hole, Space space,
                                            detail::FunctionBuilder& builder) {
  switch (hole.kind) {
    case HoleKind::xform:
      return detail::build_xforms(hole, space, builder);
    case HoleKind::condition:
      return detail::build_conditions(hole, space, builder);
    case HoleKind::part:
      return detail::build_parts(hole, space, builder);
    case HoleKind::bits:
      return detail::build_bits(hole, space, builder);
    case HoleKind::formulas:
      return detail::build_formulas(hole, builder);
    case HoleKind::warp_offset:
    case HoleKind::warp_size:
      return detail::build_linear(hole, builder);
  }
  return nullptr;
}

}  // namespace

FunctionSet::FunctionSet(const HoleDeclaration& hole, Space space, const Limits& limits) : hole_(hole) {
  check(hole);
  detail::FunctionBuilder builder(hole, limits);
  family_ = built(hole, space, builder);
  count_ = builder.count_;
  row_length_ = static_cast<std::int64_t>(builder.rows_.length());
  columns_ = static_cast<std::int64_t>(builder.columns_);

  std::vector<std::uint32_t> order(count_);
  std::iota(order.begin(), order.end(), 0U);
  std::uint32_t steps = 0;
  const auto check_time = [&] {
    if (++steps % kStepsPerCheck == 0) builder.check_limits();
  };
  const auto rank = [&](std::uint32_t f) { return std::pair(builder.scores_[f], builder.sources_[f]); };
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    check_time();
    return rank(a) < rank(b);
  });
  builder.slots_.clear();
  sources_.reserve(count_);
  row_numbers_.reserve(builder.row_numbers_.size());
  const auto width = static_cast<std::ptrdiff_t>(columns_);
  for (const std::uint32_t f : order) {
    check_time();
    sources_.push_back(builder.sources_[f]);
    const auto first = builder.row_numbers_.begin() + static_cast<std::ptrdiff_t>(f) * width;
    row_numbers_.insert(row_numbers_.end(), first, first + width);
  }
  auto lookup = std::make_shared<Lookup>();
  for (std::uint32_t f = 0; f < count_; ++f) {
    check_time();
    lookup->functions.insert(builder.hashes_[order[f]], f,
                             [&](std::uint32_t known) { return builder.hashes_[order[known]]; });
  }
  lookup->rows = std::move(builder.rows_);
  rows_.reserve(lookup->rows.size() * lookup->rows.length());
  for (std::uint32_t r = 0; r < lookup->rows.size(); ++r) {
    const std::span<const std::int32_t> row = lookup->rows.row(r);
    rows_.insert(rows_.end(), row.begin(), row.end());
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(columns_); ++k) {
    std::vector<bool> used(lookup->rows.size(), false);
    for (std::size_t f = 0; f < count_; ++f) {
      check_time();
      used[rows_of(f)[k]] = true;
    }
    std::vector<std::uint32_t>& rows_in = lookup->rows_in.emplace_back();
    for (std::uint32_t r = 0; r < used.size(); ++r) {
      if (used[r]) rows_in.push_back(r);
    }
  }
  lookup_ = std::move(lookup);
}

void FunctionSet::table(std::size_t f, std::span<std::int32_t> out) const {
  FARO_CHECK(out.size() == static_cast<std::size_t>(cells()));
  const auto length = static_cast<std::size_t>(row_length_);
  std::size_t place = 0;
  for (const std::uint32_t row : rows_of(f)) {
    const std::span<const std::int32_t> values = std::span(rows_).subspan(row * length, length);
    std::ranges::copy(values, out.begin() + static_cast<std::ptrdiff_t>(place));
    place += length;
  }
}

std::optional<std::size_t> FunctionSet::find(std::span<const std::int32_t> table) const {
  FARO_CHECK(table.size() == static_cast<std::size_t>(cells()));
  const auto length = static_cast<std::size_t>(row_length_);
  std::vector<std::uint32_t> rows;
  rows.reserve(static_cast<std::size_t>(columns_));
  for (std::size_t k = 0; k < static_cast<std::size_t>(columns_); ++k) {
    const std::optional<std::uint32_t> row = lookup_->rows.find(table.subspan(k * length, length));
    if (!row) return std::nullopt;
    rows.push_back(*row);
  }
  const std::uint32_t found = lookup_->functions.find(
      hash_of(rows), [&](std::uint32_t f) { return std::ranges::equal(rows_of(f), rows); });
  if (found == HashSlots::kEmpty) return std::nullopt;
  return found;
}

std::vector<std::size_t> FunctionSet::matching(
    std::span<const std::pair<std::int64_t, std::int32_t>> known) const {
  // For each column with a known cell, which rows have what is known.
  struct Column {
    std::size_t number = 0;
    std::vector<bool> fits;  // by row
  };
  const std::size_t rows = rows_.size() / static_cast<std::size_t>(row_length_);
  std::vector<Column> wanted;
  for (const auto& [cell, value] : known) {
    FARO_CHECK(cell >= 0 && cell < cells());
    const auto number = static_cast<std::size_t>(cell / row_length_);
    auto column = std::ranges::find(wanted, number, &Column::number);
    if (column == wanted.end()) column = wanted.insert(column, {number, std::vector<bool>(rows, true)});
    const auto place = static_cast<std::size_t>(cell % row_length_);
    for (std::size_t r = 0; r < rows; ++r) {
      if (rows_[r * static_cast<std::size_t>(row_length_) + place] != value) column->fits[r] = false;
    }
  }
  std::vector<std::size_t> result;
  for (std::size_t f = 0; f < count_; ++f) {
    const std::span<const std::uint32_t> numbers = rows_of(f);
    if (std::ranges::all_of(wanted,
                            [&](const Column& column) { return column.fits[numbers[column.number]]; })) {
      result.push_back(f);
    }
  }
  return result;
}

std::vector<std::size_t> FunctionSet::distinct_on(std::span<const std::int64_t> known) const {
  const auto hash = [&](std::size_t f) {
    std::uint64_t h = 0;
    for (const std::int64_t cell : known) h = detail::mixed(h ^ static_cast<std::uint32_t>(at(f, cell)));
    return h;
  };
  HashSlots slots;
  std::vector<std::size_t> result;
  for (std::size_t f = 0; f < count_; ++f) {
    const std::uint64_t h = hash(f);
    const auto agrees = [&](std::uint32_t other) {
      return std::ranges::all_of(known, [&](std::int64_t cell) { return at(f, cell) == at(other, cell); });
    };
    if (slots.find(h, agrees) != HashSlots::kEmpty) continue;
    result.push_back(f);
    slots.insert(h, static_cast<std::uint32_t>(f), hash);
  }
  return result;
}

std::vector<std::int32_t> FunctionSet::values_at(std::int64_t cell) const {
  FARO_CHECK(cell >= 0 && cell < cells());
  const auto column = static_cast<std::size_t>(cell / row_length_);
  const auto place = static_cast<std::size_t>(cell % row_length_);
  const auto length = static_cast<std::size_t>(row_length_);
  std::vector<std::int32_t> values;
  for (const std::uint32_t r : lookup_->rows_in[column]) {
    const std::int32_t value = rows_[r * length + place];
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Parameters FunctionSet::parameters(std::size_t f) const {
  FARO_CHECK(f < count_);
  return family_->parameters(sources_[f]);
}

std::uint64_t parameter_count(const HoleDeclaration& hole, Space space) {
  check(hole);
  switch (hole.kind) {
    case HoleKind::xform:
      return detail::count_xforms(hole, space);
    case HoleKind::condition:
    case HoleKind::part:
      return detail::count_conditions(hole, space);
    case HoleKind::bits:
      return detail::count_bits(hole, space);
    case HoleKind::formulas:
      return hole.formulas.size();
    case HoleKind::warp_offset:
    case HoleKind::warp_size:
      return detail::count_linear(hole);
  }
  return 0;
}

}  // namespace faro::swizzle
