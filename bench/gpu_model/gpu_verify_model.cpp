// gpu_verify_model: whether the CUDA engine's predictions are what the hardware does.
//
//     gpu_verify_model --metrics          the counters to ask the profiler for
//     gpu_verify_model --launch [SEED [NUMBER FAMILY...]]   every case once, to be run under ncu
//                                         (tools/gpu_verify_run.sh); with a seed, problems that it draws and
//                                         no others
//     gpu_verify_model --report CSV OUT [SEED [NUMBER FAMILY...]]   the profile beside the predictions
//     gpu_verify_model --times OUT [SEED]   times beside predicted times
//     gpu_verify_model --times OUT SEED NUMBER FAMILY...   of so many drawn problems of these families alone
//     gpu_verify_model --clock OUT SEED N [FAMILY...]   what the factors of costs are fitted to, as tables:
//     gpu_verify_model --count OUT SEED N [FAMILY...]   times and counts
//
// A report goes to OUT.md; the exit status is 5 where a prediction misses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_model/cases.hpp"
#include "bench/gpu_model/comparison.hpp"
#include "bench/gpu_model/counters.hpp"
#include "bench/gpu_model/drawn.hpp"
#include "bench/gpu_model/fitting.hpp"
#include "bench/gpu_model/marker.hpp"
#include "bench/gpu_model/profile.hpp"
#include "bench/gpu_model/times.hpp"
#include "cuda/shared_transpose.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu_model {
namespace {

constexpr std::uint64_t kCountSeed = 1;
constexpr std::uint64_t kTimeSeed = 2;
constexpr int kCounted = 4;  // problems of a family, some have more
constexpr int kTimed = 6;

constexpr const char* kUsage =
    R"(gpu_verify_model: predicted accesses and times beside a profiler's and a clock's

  --metrics          prints the metrics to collect, for ncu --metrics
  --optional-metrics those of them that ncu may not know
  --hardware-metrics those of them for which ncu leaves kernels as they are
  --launch [SEED [NUMBER FAMILY...]]   launches every case once, in order; run it under ncu. With a seed: drawn
                     problems alone, 4 of each family or NUMBER of these; family boxes are those that are listed
  --report CSV OUT [SEED [NUMBER FAMILY...]]   writes OUT.md: the profile CSV of --launch beside what was predicted
  --times OUT [SEED] writes OUT.md: measured times beside predicted ones
  --times OUT SEED NUMBER FAMILY...   the same of NUMBER drawn problems of each family alone; some have twice as many
  --clock OUT SEED NUMBER [FAMILY...]   writes OUT.tsv: the times of NUMBER other problems of each family, and of
                     each of their passes
  --count OUT SEED NUMBER [FAMILY...]   writes OUT.tsv: what their passes are counted to do; needs no GPU
  --help

`run`, beside this program, does all of it.
)";

// Leaves problems of these families alone; without families all.
void keep_families(std::vector<DrawnProblem>& problems, std::span<const std::string> families) {
  std::erase_if(problems, [&](const DrawnProblem& problem) {
    return !families.empty() && std::find(families.begin(), families.end(), problem.family) == families.end();
  });
}

// What is counted: small arrays, since every block is counted on the host, too. `words`: nothing for all
// cases that are listed and some that are drawn, else SEED [NUMBER FAMILY...].
std::vector<Case> all_cases(std::span<const std::string> words) {
  std::vector<Case> cases;
  if (words.empty()) cases = make_cases();
  std::vector<DrawnProblem> drawn =
      draw({.seed = words.empty() ? kCountSeed : parse_count({"SEED", words[0]}),
            .least_bytes = kArrayBytes / 16,
            .most_bytes = kArrayBytes / 2,
            .of_family = words.size() < 2 ? kCounted : parse_int({"NUMBER", words[1]}, 1)});
  if (words.size() > 2) keep_families(drawn, words.subspan(2));
  for (Case& of : drawn_cases(drawn)) cases.push_back(std::move(of));
  // Listed boxes are a family that can be asked for.
  if (words.empty() || std::find(words.begin(), words.end(), "boxes") != words.end()) {
    for (Case& of : drawn_cases(listed_boxes())) cases.push_back(std::move(of));
  }
  return cases;
}

// Draws what SEED NUMBER [FAMILY...] says; without families, of all.
std::vector<DrawnProblem> drawn_problems(std::span<const std::string> words) {
  std::vector<DrawnProblem> problems = draw({.seed = parse_count({"SEED", words[0]}),
                                             .least_bytes = kPredictableBytes,
                                             .most_bytes = 4 * kPredictableBytes,
                                             .of_family = parse_int({"NUMBER", words[1]}, 1)});
  keep_families(problems, words.subspan(2));
  return problems;
}

void launch_all(std::span<const std::string> words) {
  const cuda::DeviceArray in(kArrayBytes);
  const cuda::DeviceArray out(kArrayBytes);
  for (const Case& of : all_cases(words)) {
    if (of.prepare) of.prepare();
    begin_case();
    of.launch(in.data(), out.data());
    end_case();
  }
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

// Whether every count agrees. Writes OUT.md.
bool report_counts(const std::string& csv, const std::string& out, std::span<const std::string> words) {
  const std::string profile = read_text(csv);
  const bool all = profile.find("smsp__sass") != std::string::npos;
  const std::vector<ProfiledLaunch> profiled =
      parse_profile(profile, all ? metrics() : hardware_metrics(), optional_metrics());
  const std::vector<ProfiledLaunch> launches = by_case(profiled, kMarker);
  std::vector<Case> cases = all_cases(words);
  predict_all(cases);
  const std::vector<Miss> misses = compare(cases, launches);
  std::string page = "# Predictions beside the hardware's counters\n\n";
  page += gpu::setting_table(
      gpu::make_setting(fmt::format("make gpu-verify-model`, `gpu-verify/run counts{}",
                                    words.empty() ? "" : fmt::format(" {}", fmt::join(words, " ")))));
  page += fmt::format("\n{} kernels and problems, arrays of at most {} MiB; {} predictions miss.\n\n",
                      cases.size(), kArrayBytes >> 20, misses.size());
  page += family_table(cases, launches) + "\n" + summary_table(cases, launches);
  page += "\n## Misses\n\n" + miss_table(cases, launches, misses);
  const std::string brief = page;
  page +=
      "\n## Every case\n\nOne number where prediction and hardware agree, else predicted / "
      "**measured**.\n\n" +
      case_table(cases, launches);
  io::write_file(out + ".md", page);
  std::fputs(brief.c_str(), stdout);
  return misses.empty();
}

std::ptrdiff_t far_off(const std::vector<TimeRow>& rows) {
  return std::count_if(rows.begin(), rows.end(), [](const TimeRow& row) {
    constexpr double a_tenth = 0.1;
    return std::abs(row.error()) > a_tenth;
  });
}

// Whether every time is within a tenth. Writes OUT.md: of `problems`, and of the benchmark's maps where
// `all`.
bool report_times(const std::string& out, const std::string& words, const std::vector<DrawnProblem>& problems,
                  bool all) {
  const Calibration calibration = cuda::calibrate();
  std::vector<TimeRow> times;
  if (all) times = measure_times(calibration);
  std::string left_out;
  const std::vector<TimeRow> drawn = measure_drawn(problems, calibration, left_out);
  std::string page = "# Predicted times beside measured ones\n\n";
  page += gpu::setting_table(
      gpu::make_setting(fmt::format("make gpu-verify-model`, `gpu-verify/run times {}", words)));
  page += fmt::format(
      "\nOf {} problems that were drawn, of 256 MiB to 1 GiB, {} are more than 10% from the "
      "predicted; medians of {} runs.\n\n{}",
      drawn.size(), far_off(drawn), kTimeRounds, drawn_table(drawn));
  if (!left_out.empty()) page += "\nLeft out:\n\n" + left_out;
  page += "\n" + calibration_table(calibration);
  if (all) {
    page += fmt::format(
        "\n## Affine maps of the benchmark\n\n{} of {} measured times are more than 10% from the "
        "predicted.\n\n{}",
        far_off(times), times.size(), time_table(times));
    page += "\n## Transposes of 32 x 32 in shared memory\n\nNanoseconds of one, by one block.\n\n" +
            transpose_table();
  }
  const std::string brief = page;
  page += "\n## Every problem that was drawn\n\n" + drawn_rows(drawn);
  io::write_file(out + ".md", page);
  std::fputs(brief.c_str(), stdout);
  return far_off(times) == 0 && far_off(drawn) == 0 && left_out.empty();
}

int run(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  const std::string mode = words.empty() ? "" : words.front();
  const auto from = [&](std::size_t word) { return std::span(words).subspan(std::min(word, words.size())); };
  if (mode == "--optional-metrics" && words.size() == 1) {
    std::printf("%s\n", fmt::format("{}", fmt::join(optional_metrics(), ",")).c_str());
  } else if (mode == "--metrics" && words.size() == 1) {
    std::printf("%s\n", fmt::format("{}", fmt::join(metrics(), ",")).c_str());
  } else if (mode == "--hardware-metrics" && words.size() == 1) {
    std::printf("%s\n", fmt::format("{}", fmt::join(hardware_metrics(), ",")).c_str());
  } else if (mode == "--launch") {
    launch_all(from(1));
  } else if (mode == "--report" && words.size() >= 3) {
    if (!report_counts(words[1], words[2], from(3))) return exit_status(ErrorCode::verification);
  } else if (mode == "--times" && (words.size() == 2 || words.size() == 3)) {
    const std::vector<std::string> usual{words.size() == 3 ? words[2] : std::to_string(kTimeSeed),
                                         std::to_string(kTimed)};
    if (!report_times(words[1], usual[0], drawn_problems(usual), true)) {
      return exit_status(ErrorCode::verification);
    }
  } else if (mode == "--times" && words.size() >= 5) {
    const std::span<const std::string> asked = std::span(words).subspan(2);
    if (!report_times(words[1], fmt::format("{}", fmt::join(asked, " ")), drawn_problems(asked), false)) {
      return exit_status(ErrorCode::verification);
    }
  } else if (mode == "--clock" && words.size() >= 4) {
    const Calibration calibration = cuda::calibrate();
    io::write_file(words[1] + ".tsv", clock_table(drawn_problems(std::span(words).subspan(2))));
    std::printf("%s\n", calibration_table(calibration).c_str());
  } else if (mode == "--count" && words.size() >= 4) {
    io::write_file(words[1] + ".tsv", count_table(drawn_problems(std::span(words).subspan(2)),
                                                  cuda::target_of_capability(9, 0)));
  } else {
    refuse({"read the command line", mode},
           "--metrics, --launch [SEED [NUMBER FAMILY...]], --report CSV OUT [SEED [NUMBER FAMILY...]], "
           "--times OUT "
           "[SEED [NUMBER FAMILY...]], --clock or --count OUT SEED NUMBER [FAMILY...]");
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench::gpu_model

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu_model::kUsage, gpu_model::run);
}
