// gpu_bench: how near faro comes to cudaMemcpy on a GPU.
//
// Five contestants take turns on every map, timed by the device's clock: faro, cudaMemcpy from device to
// device, a copy kernel of 16 bytes a thread, one of an element a thread, and the naive kernel. Every result
// is verified element by element, on the device, before it is timed. `gpu_bench --help` lists the options;
// bench/results/ keeps tables with their device, driver, commit and command.
#include <fmt/format.h>

#include <algorithm>

#include "bench/arguments.hpp"
#include "bench/gpu/arena.hpp"
#include "bench/gpu/in_place.hpp"
#include "bench/gpu/ladder.hpp"
#include "bench/gpu/large_arrays.hpp"
#include "bench/gpu/options.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/report.hpp"
#include "bench/gpu/small_arrays.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {
namespace {

std::uint64_t arena_bytes(const Options& options) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t large : options.bytes) bytes = std::max(bytes, large);
  for (const std::uint64_t small : options.small_bytes) bytes = std::max(bytes, small * kGraphCalls);
  return bytes;
}

void require_gpu() {
  const cuda::Status status = cuda::status();
  if (status.available) return;
  fail(ErrorCode::device, "gpu_bench", status.reason, "an NVIDIA GPU and its driver",
       "carry this folder to a machine that has them");
}

constexpr const char* kMethod =
    "\nEvery result was verified element by element before it was timed. Medians of alternating rounds; "
    "shares are of "
    "the\ncudaMemcpy from device to device that took turns on the same map.\n";

void write_files(const Options& options, const Setting& setting, const Page& page, const Rows& large,
                 const Rows& small) {
  for (const std::string& file : options.out_files) {
    if (file.ends_with(".json")) {
      write_json(file, setting, large, small);
    } else {
      io::write_file(file, page.text());
    }
  }
}

void run_ladder(const Options& options) {
  const Setting setting = make_setting(options.command);
  const Arena arena(arena_bytes(options));
  Page page;
  page.add("# The ladder of kernels on a GPU\n\n" + setting_table(setting) + kMethod +
           "Kernels are what `faro emit --kernel` writes; \"x 2\" is the rung for each of a BMMC's two "
           "factors, \"faro\" "
           "the plan that faro\nruns. For naive 3 rounds, for all others " +
           std::to_string(options.rounds) + ".\n");
  Rows all;
  for (const std::uint64_t bytes : options.bytes) {
    const Rows rows = measure_ladder(options, bytes, arena);
    page.add(fmt::format("\n## Arrays of {}\n\n{}", size_text(bytes), ladder_table(rows)));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  write_files(options, setting, page, all, {});
}

void run_in_place(const Options& options) {
  const Setting setting = make_setting(options.command);
  const Arena arena(arena_bytes(options));
  Page page;
  page.add("# Affine maps in place on a GPU\n\n" + setting_table(setting) + kMethod);
  Rows all;
  for (const std::uint64_t bytes : options.bytes) {
    const Rows rows = measure_in_place(options, bytes, arena);
    page.add(fmt::format("\n## One array of {}\n\n{}", size_text(bytes), in_place_table(rows)));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  write_files(options, setting, page, all, {});
}

void run(const Options& options) {
  require_gpu();
  if (options.ladder) return run_ladder(options);
  if (options.in_place) return run_in_place(options);
  const Setting setting = make_setting(options.command);
  const Arena arena(arena_bytes(options));
  Page page;
  page.add("# faro on a GPU\n\n" + setting_table(setting) + kMethod);
  Rows large;
  for (const std::uint64_t bytes : options.bytes) {
    const Rows rows = measure_large_arrays(options, bytes, arena);
    page.add(fmt::format("\n## Arrays of {}\n\n{}\nFurthest behind:\n\n{}\nWithout a tile:\n\n{}",
                         size_text(bytes), share_table(rows), worst_table(rows), beside_table(rows)));
    large.insert(large.end(), rows.begin(), rows.end());
  }
  Rows small;
  for (const std::uint64_t bytes : options.small_bytes) {
    const Rows rows = measure_small_arrays(options, bytes, arena);
    small.insert(small.end(), rows.begin(), rows.end());
  }
  if (!small.empty()) {
    page.add(fmt::format(
        "\n## Small arrays\n\nMicroseconds a call, of {} calls in one graph that go round as many "
        "arrays.\n\n{}",
        kGraphCalls, small_table(small)));
  }
  page.add("\n## Summary: a column for each element width\n\n" + summary_table(large, small));
  write_files(options, setting, page, large, small);
}

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage, [](const CommandLine& line) {
    gpu::run(gpu::parse_options(line));
    return 0;
  });
}
