// Where, from what and how something was measured: what every table of results begins with.
#pragma once

#include <string>

namespace faro::bench::gpu {

/// Where, from what and how the rows were measured.
struct Setting {
  std::string device;   // "NVIDIA H200, compute capability 9.0, 132 multiprocessors, 139 GiB, 50 MiB of L2"
  std::string driver;   // "580.159.04, for CUDA 13.0"
  std::string runtime;  // of CUDA, "13.0"
  std::string date;
  std::string commit;
  std::string command;
};

/// Of the current device and of now. Errors: ErrorCode::device.
Setting make_setting(const std::string& command);

/// Markdown.
std::string setting_table(const Setting& setting);

}  // namespace faro::bench::gpu
