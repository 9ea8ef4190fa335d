// gpu_test: the CUDA engine on a GPU. Without one every test is skipped, or, with --require-gpu, none is run
// and the status is 4.
//
//     gpu_test --require-gpu                                                  everything, two minutes
//     compute-sanitizer gpu_test --gtest_filter='GpuSweep.*' --maps=2000      the small seeded sweep
//     gpu_test --gtest_filter='GpuDrawnAxes.*' --seconds=60 --seed=7          a minute of each kind of axes and views
#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "gpu/gpu_support.hpp"

namespace {

bool read_number(std::string_view argument, std::string_view option, std::uint64_t& value) {
  if (!argument.starts_with(option)) return false;
  const std::string_view text = argument.substr(option.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  faro::testing::Settings& settings = faro::testing::settings();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--require-gpu") {
      settings.require_gpu = true;
    } else if (!read_number(argument, "--maps=", settings.maps) &&
               !read_number(argument, "--seed=", settings.seed) &&
               !read_number(argument, "--seconds=", settings.seconds)) {
      std::fprintf(stderr,
                   "gpu_test: `%s` is not --maps=COUNT, --seed=NUMBER, --seconds=NUMBER or --require-gpu\n",
                   argv[i]);
      return 2;
    }
  }
  const faro::cuda::Status status = faro::cuda::status();
  if (!status.available && settings.require_gpu) {
    std::fprintf(stderr, "gpu_test: no GPU: %s\n", status.reason.c_str());
    return 4;
  }
  std::printf(status.available ? "cuda: %s\n" : "no GPU: %s; every test is skipped\n", status.reason.c_str());
  for (const faro::cuda::Device& device : faro::cuda::devices()) {
    std::printf("device %d: %s, compute capability %d.%d\n", device.ordinal, device.name.c_str(),
                device.major, device.minor);
  }
  return RUN_ALL_TESTS();
}
