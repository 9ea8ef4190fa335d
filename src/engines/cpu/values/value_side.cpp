#include "engines/cpu/values/value_side.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "rounding.hpp"

namespace faro::cpu {

PlaceFactors::PlaceFactors(const Coefficient& of, const std::vector<std::uint64_t>& shape, Number computed)
    : width_(bytes_of(computed)) {
  std::uint64_t repeats = 1;  // of a value in the table
  std::uint64_t periods = 1;
  if (of.axis) {
    const auto behind = shape.begin() + static_cast<std::ptrdiff_t>(*of.axis) + 1;
    inner_ = std::accumulate(behind, shape.end(), std::uint64_t{1}, std::multiplies<>());
    period_ = inner_ * of.values.size();
    // Runs of one value would be short: a table of a value for each place, long enough to be cut into few.
    constexpr std::uint64_t kShortRun = 32;
    constexpr std::uint64_t kTable = 1024;
    varies_ = inner_ < kShortRun;
    if (varies_) {
      repeats = inner_;
      periods = detail::ceil_div(kTable, std::max<std::uint64_t>(period_, 1));
    }
  }
  values_.resize(of.values.size() * repeats * periods * width_);
  std::byte* next = values_.data();
  for (std::uint64_t period = 0; period < periods; ++period) {
    for (const std::complex<double>& value : of.values) {
      for (std::uint64_t k = 0; k < repeats; ++k, next += width_) store_factor(computed, value, next);
    }
  }
  if (varies_) period_ *= periods;
}

PlaceFactors::Stretch PlaceFactors::at(std::uint64_t place) const {
  if (inner_ == 0)
    return {.factors = {.data = values_.data()}, .places = std::numeric_limits<std::uint64_t>::max()};
  const std::uint64_t within = place % period_;
  if (varies_)
    return {.factors = {.data = values_.data() + within * width_, .varies = true},
            .places = period_ - within};
  return {.factors = {.data = values_.data() + within / inner_ * width_}, .places = inner_ - within % inner_};
}

PlacedValues::PlacedValues(const Arithmetic& arithmetic, bool streamed)
    : program_(arithmetic),
      scale_(arithmetic.scale, arithmetic.shape, program_.computed),
      offset_(arithmetic.offset, arithmetic.shape, program_.computed) {
  program_.streamed = streamed;
}

void PlacedValues::convert(ValueRun run, std::uint64_t place) const {
  std::uint64_t left = run.count;
  while (left > 0) {
    const PlaceFactors::Stretch scale = scale_.at(place);
    const PlaceFactors::Stretch offset = offset_.at(place);
    run.count = std::min({left, scale.places, offset.places});
    run.scale = scale.factors;
    run.offset = offset.factors;
    convert_run(program_, run);
    run.from += run.count * bytes_of(program_.from);
    run.to += run.count * bytes_of(program_.to);
    if (program_.has_addend) run.addend += run.count * bytes_of(program_.addend);
    place += run.count;
    left -= run.count;
  }
}

}  // namespace faro::cpu
