// Predicted beside measured: every case against its launch in the profile.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/gpu_model/cases.hpp"
#include "bench/gpu_model/profile.hpp"

namespace faro::bench::gpu_model {

/// A counter of a case that is not what was predicted, by its criterion.
struct Miss {
  std::size_t of_case = 0;
  std::size_t counter = 0;
};

/// Errors: ErrorCode::file where the profile has not one launch for each case.
std::vector<Miss> compare(std::span<const Case> cases, std::span<const ProfiledLaunch> launches);

/// Markdown: for every counter how many cases agree and how far the furthest is off; every miss; and a line
/// for each case with predicted / measured where they differ, one number where they are equal.
std::string summary_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches);
/// A line for each family: how many cases, and how many of them equal.
std::string family_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches);

std::string miss_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches,
                       std::span<const Miss> misses);
std::string case_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches);

}  // namespace faro::bench::gpu_model
