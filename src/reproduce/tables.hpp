// The tables, one function each, and what their rows have in common.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "reproduce/monte_carlo.hpp"
#include "reproduce/reproduce.hpp"

namespace faro::reproduce {

// Each fills in rows and notes; name, title, source and seed are the caller's (reproduce.cpp).
Table bmmc_figure9(const Options& options);
Table bmmc_figure10(const Options& options);
Table bmmc_figure11(const Options& options);
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

/// Printed to two digits behind the point, a figure and its estimate may differ by so much.
inline constexpr double kTolerance = 0.02;

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
          .standard_error = {},
          .criterion = "equal"};
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
          .standard_error = {},
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
          .agrees = std::abs(tally.mean() - paper) <= kTolerance,
          .standard_error = tally.standard_error(),
          .criterion = "within 0.02"};
}

}  // namespace faro::reproduce
