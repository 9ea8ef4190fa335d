// gpu_verify_model: whether the CUDA engine's predictions are what the hardware does.
//
//     gpu_verify_model --metrics          the counters to ask the profiler for
//     gpu_verify_model --launch           every case once, to be run under ncu (tools/gpu_verify_run.sh)
//     gpu_verify_model --report CSV OUT   the profile beside the predictions, times beside predicted times
//
// The report goes to OUT.md; the exit status is 5 where a prediction misses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_model/cases.hpp"
#include "bench/gpu_model/comparison.hpp"
#include "bench/gpu_model/counters.hpp"
#include "bench/gpu_model/profile.hpp"
#include "bench/gpu_model/times.hpp"
#include "engines/cuda_measure.hpp"
#include "engines/cuda_shared_transpose.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu_model {
namespace {

constexpr const char* kUsage =
    R"(gpu_verify_model: predicted accesses and times beside a profiler's and a clock's

  --metrics          prints the metrics to collect, for ncu --metrics
  --launch           launches every case once, in order; run it under ncu
  --report CSV OUT   writes OUT.md: the profile CSV of --launch beside what was predicted, and times
  --help

`run`, beside this program, does all of it.
)";

void launch_all() {
  const cuda::DeviceArray in(kArrayBytes);
  const cuda::DeviceArray out(kArrayBytes);
  for (const Case& of : make_cases()) of.launch(in.data(), out.data());
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail(ErrorCode::file, "read the profile", "`" + path + "`, which cannot be read", "a file");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string transpose_table() {
  std::string table =
      "| order | bytes | RAW, ns | RAS, ns | RAP, ns | RAW over RAP |\n|---|---|---|---|---|---|\n";
  using kernels::TransposeOrder;
  const std::vector<std::pair<TransposeOrder, const char*>> orders{
      {TransposeOrder::crsw, "CRSW"},
      {TransposeOrder::srcw, "SRCW"},
      {TransposeOrder::drdw, "DRDW"},
      {TransposeOrder::crsw_as_printed, "CRSW as printed"}};
  for (const int bytes : {4, 8}) {
    for (const auto& [order, order_name] : orders) {
      const auto ns = [&, order = order](cuda::SharedLayout layout) {
        return cuda::time_ns({.order = order, .layout = layout, .element_bytes = bytes});
      };
      const double raw = ns(cuda::SharedLayout::raw);
      const double ras = ns(cuda::SharedLayout::ras);
      const double rap = ns(cuda::SharedLayout::rap);
      table += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.2f} |\n", order_name, bytes, raw, ras,
                           rap, raw / rap);
    }
  }
  return table;
}

// Whether everything agrees.
bool report(const std::string& csv, const std::string& out) {
  const std::vector<ProfiledLaunch> launches = parse_profile(read_text(csv), metrics());
  const std::vector<Case> cases = make_cases();
  const std::vector<Miss> misses = compare(cases, launches);
  const Calibration calibration = cuda::calibrate();
  const std::vector<TimeRow> times = measure_times(calibration);
  constexpr double a_tenth = 0.1;
  const auto off = std::count_if(times.begin(), times.end(),
                                 [](const TimeRow& row) { return std::abs(row.error()) > a_tenth; });

  std::string page = "# Predictions beside the hardware's counters\n\n";
  page += gpu::setting_table(gpu::make_setting("make gpu-verify-model`, `gpu-verify/run"));
  page += fmt::format("\n{} kernels and maps, arrays of {} MiB; {} predictions miss.\n\n", cases.size(),
                      kArrayBytes >> 20, misses.size());
  page += summary_table(cases, launches);
  page += "\n## Misses\n\n" + miss_table(cases, launches, misses);
  page += fmt::format("\n## Times\n\n{} of {} measured times are more than 10% from the predicted.\n\n{}\n{}",
                      off, times.size(), calibration_table(calibration), time_table(times));
  page += "\n## Transposes of 32 x 32 in shared memory\n\nNanoseconds of one, by one block.\n\n" +
          transpose_table();
  const std::string brief = page;
  page +=
      "\n## Every case\n\nOne number where prediction and hardware agree, else predicted / "
      "**measured**.\n\n" +
      case_table(cases, launches);
  io::write_file(out + ".md", page);
  std::fputs(brief.c_str(), stdout);
  return misses.empty() && off == 0;
}

int run(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  const std::string mode = words.empty() ? "" : words.front();
  if (mode == "--metrics" && words.size() == 1) {
    std::printf("%s\n", fmt::format("{}", fmt::join(metrics(), ",")).c_str());
  } else if (mode == "--launch" && words.size() == 1) {
    launch_all();
  } else if (mode == "--report" && words.size() == 3) {
    const bool agrees = report(words[1], words[2]);
    if (!agrees) return exit_status(ErrorCode::verification);
  } else {
    refuse({"read the command line", mode}, "--metrics, --launch, or --report CSV OUT");
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench::gpu_model

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu_model::kUsage, gpu_model::run);
}
