// cpu_bench: what the CPU engine gains over the rung below it, and what is left to a plain copy.
//
// Four contestants take turns on every map: faro, the gather tile (gather_tile.hpp: the same tiles without
// the engine's register permutations and block order, in its best shape), the naive loop as floor and a copy
// as ceiling. Every result is verified before it is timed. `cpu_bench --help` lists the options;
// bench/results/ keeps tables with their machine, commit and command.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "bench/arguments.hpp"
#include "bench/gather_tile.hpp"
#include "bench/in_cache.hpp"
#include "bench/large_arrays.hpp"
#include "bench/latency.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"
#include "faro_build_info.hpp"

namespace faro::bench {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string pages_note() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);
  if (modes.find("[never]") == std::string::npos && !modes.empty()) return {};
  return "This system gives no huge pages: rows marked so are on small ones.\n";
}

void run(const Options& options) {
  const double load_before = load_average();
  // First, while nothing has warmed up or fragmented the memory.
  const Setting setting{.machine = machine_text(),
                        .latency_ns = idle_memory_latency_ns(),
                        .load_before = load_before,
                        .commit = FARO_COMMIT,
                        .command = options.command};
  const std::vector<Row> large = measure_large_arrays(options);
  print(fmt::format("## Arrays of {} MiB\n\nWorst / median over the maps.\n\n{}\n", options.bytes >> 20,
                    large_table(large)));
  if (!GatherTile::available()) print("No gather tile: it needs AVX-512, which this processor has not.\n\n");
  print(pages_note());

  std::vector<Row> in_cache;
  if (options.in_cache) {
    in_cache = measure_in_cache(options);
    print(fmt::format(
        "## In cache: 2^4 to 2^20 elements\n\nWorst / median over sizes and maps, against the faster of the "
        "naive loop on one thread and on all. Times include the call itself,\nwhich below 2^8 elements is "
        "most of them, on both sides.\n\n{}\n",
        in_cache_table(in_cache)));
  }
  print(fmt::format(
      "{}; idle memory latency {:.0f} ns; load average before {:.1f}\n\nCommit {}; command `{}`\n",
      setting.machine, setting.latency_ns, setting.load_before, setting.commit, setting.command));
  if (!options.json_file.empty()) write_json(options.json_file, setting, large, in_cache);
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage, [](const CommandLine& line) {
    run(parse_options(line));
    return 0;
  });
}
