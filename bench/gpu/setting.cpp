#include "bench/gpu/setting.hpp"

#include <fmt/format.h>

#include <cctype>
#include <ctime>
#include <fstream>
#include <sstream>

#include "bench/arguments.hpp"
#include "bench/gpu/runtime.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro_build_info.hpp"

namespace faro::bench::gpu {
namespace {

// "580.159.04": the first word that looks like a version in what the kernel's module says of itself.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0 && word.find('.') != std::string::npos) {
      return word;
    }
  }
  return "version unknown";
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &utc)};
}

}  // namespace

Setting make_setting(const std::string& command) {
  int ordinal = 0;
  check_cuda(cudaGetDevice(&ordinal), "cudaGetDevice");
  const cuda::Device device = cuda::devices().at(static_cast<std::size_t>(ordinal));
  const cuda::Versions versions = cuda::versions();
  return {.device = fmt::format("{}, compute capability {}.{}, {} multiprocessors, {}, {} of L2", device.name,
                                device.major, device.minor, device.multiprocessors,
                                size_text(device.memory_bytes), size_text(device.l2_bytes)),
          .driver = driver_version() + ", for CUDA " + versions.driver,
          .runtime = versions.runtime,
          .date = now(),
          .commit = FARO_COMMIT,
          .command = command};
}

std::string setting_table(const Setting& setting) {
  return fmt::format(
      "| | |\n|---|---|\n| device | {} |\n| driver | {} |\n| CUDA runtime | {} |\n| date | {} |\n| commit | "
      "{} "
      "|\n| command | `{}` |\n",
      setting.device, setting.driver, setting.runtime, setting.date, setting.commit, setting.command);
}

}  // namespace faro::bench::gpu
