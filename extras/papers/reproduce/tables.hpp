// The tables, one function each, and what their rows have in common.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "reproduce/monte_carlo.hpp"
#include "reproduce/table.hpp"

namespace faro::reproduce {

// Each fills in rows and notes; name, title, source and seed are the caller's (reproduce.cpp).
Table bmmc_figure9(const Options& options);
Table bmmc_figure10(const Options& options);
Table bmmc_figure11(const Options& options);
Table bmmc_section23(const Options& options);
Table bmmc_figure12(const Options& options);
Table bmmc_appendix(const Options& options);
Table dmm_umm_figure4(const Options& options);
Table dmm_umm_table1(const Options& options);
Table offline_example(const Options& options);
Table offline_table1(const Options& options);
Table offline_table2(const Options& options);
Table offline_figure7(const Options& options);
Table rap_figure3(const Options& options);
Table rap_table1(const Options& options);
Table rap_table2(const Options& options);
Table rap_table3(const Options& options);
Table rap_table4(const Options& options);
Table swizzle_grids(const Options& options);
Table swizzle_table1(const Options& options);

inline constexpr const char* kCongestionUnit = "turns";
inline constexpr const char* kTimeUnit = "time units";
inline constexpr const char* kNeedsGpu = "needs a GPU";
inline constexpr const char* kOtherHardware = "other hardware";
inline constexpr const char* kExpectedGrowth = "O~(log w / log log w)";

/// Further from the truth than by so many standard errors an estimate is once in two million.
inline constexpr double kStandardErrors = 5;
/// Half a unit of the last digit of what is printed to two behind the point.
inline constexpr double kRounding = 0.005;

inline constexpr const char* kNoFigure = "the paper gives no figure";
inline constexpr const char* kOtherMaps = "the paper does not say of which kernels";
inline constexpr const char* kWithinErrors = "within 5 standard errors";
inline constexpr const char* kWithinRounding = "within 5 standard errors, and 0.005 for the printed digits";

/// The trials of an estimated cell, unless the caller chose: the usual, and up to a sixteenth more by the
/// seed, so that the means of two seeds, fractions of different denominators, are not equal by chance.
inline std::uint64_t trials_of(const Options& options, std::uint64_t usual) {
  if (options.trials != 0) return options.trials;
  layout::SplitMix64 random{options.seed};
  return usual + random.below(static_cast<layout::Index>(usual / 16));
}

/// So many that a congestion's standard error, about 0.8 / sqrt(trials), stays below 0.002.
inline constexpr std::uint64_t kPreciseTrials = 200'000;

/// What must be equal.
inline Row exact_row(const std::string& subject, const std::string& quantity, std::uint64_t paper,
                     std::uint64_t here, const std::string& unit) {
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .here = here,
          .unit = unit,
          .agrees = paper == here,
          .criterion = "equal"};
}

/// What is predicted in a row is ours, not the paper's.
inline Row of_model(Row row) {
  row.model = std::exchange(row.paper, Value());
  return row;
}

/// A congestion that does not depend on chance: the count where every access tried had it, the mean where
/// one had not.
inline Value certain_value(const Tally& tally) {
  if (tally.is_constant()) return std::uint64_t{tally.most()};
  return tally.mean();
}

inline Row certain_row(const std::string& subject, const std::string& quantity, std::uint64_t paper,
                       const Tally& tally) {
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .here = certain_value(tally),
          .unit = kCongestionUnit,
          .agrees = tally.is_constant() && tally.most() == paper,
          .criterion = "equal in every access tried"};
}

/// A mean that the paper gives to two digits behind the point.
inline Row estimated_row(const std::string& subject, const std::string& quantity, double paper,
                         const Tally& tally) {
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .here = tally.mean(),
          .unit = kCongestionUnit,
          .agrees = std::abs(tally.mean() - paper) <= kRounding + kStandardErrors * tally.standard_error(),
          .standard_error = tally.standard_error(),
          .criterion = kWithinRounding};
}

/// A mean that is predicted to be `model`, or nearer to it than `approximation`; what the paper has is words.
inline Row predicted_row(const std::string& subject, const std::string& quantity, const Value& paper,
                         double model, const Tally& tally, double approximation = 0,
                         const std::string& criterion = kWithinErrors) {
  const double most = approximation + kStandardErrors * tally.standard_error();
  return {.subject = subject,
          .quantity = quantity,
          .paper = paper,
          .model = model,
          .here = tally.mean(),
          .unit = kCongestionUnit,
          .agrees = std::abs(tally.mean() - model) <= most,
          .standard_error = tally.standard_error(),
          .criterion = criterion};
}

/// Whether a's mean is larger than b's by more than chance.
inline bool surely_larger(const Tally& a, const Tally& b) {
  return a.mean() > b.mean() + kStandardErrors * (a.standard_error() + b.standard_error());
}

}  // namespace faro::reproduce
