// What Nsight Compute counted: its CSV, a launch a row.
//
//     ncu --csv --page raw --print-units base --metrics NAME,NAME… --log-file FILE program
//
//     ==PROF== Connected to process 17 …                      lines of its own, before and after
//     "ID","Process ID",…,"Kernel Name",…,"NAME","NAME"       the header
//     "","",…,"",…,"sector","request"                         units
//     "0","17",…,"void move_tile<6>(…)",…,"524288","4,096"    a row for each launch, in order
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faro::bench::gpu_model {

struct ProfiledLaunch {
  std::string kernel;
  std::map<std::string, double> values;  // of every metric that was asked for
  std::size_t launches = 1;
};

/// Launches by the cases that they belong to: those behind a marker, a kernel of that name, up to the next,
/// their values added up; the kernel is the first's. What is in front of the first marker is left out.
std::vector<ProfiledLaunch> by_case(std::span<const ProfiledLaunch> launches, std::string_view marker);

/// Reads `metrics` of every launch, and `optional` ones, which are 0 where the profile has no such column.
/// Errors: ErrorCode::file for text without a header, a metric that is not there, and a row whose values are
/// not numbers or whose columns are not the header's, naming the line.
std::vector<ProfiledLaunch> parse_profile(std::string_view csv, std::span<const std::string> metrics,
                                          std::span<const std::string> optional = {});

}  // namespace faro::bench::gpu_model
