#include "bench/report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::bench {
namespace {

// The contestants of one map, fastest of its kind each; 0 where one was absent.
struct MapResult {
  std::string spec;
  double faro_ms = 0;
  double tile_ms = 0;
  double copy_ms = 0;
  double naive_ms = 0;
  std::string tile_shape;
  Row copy;
};

// Rows of one map follow one another; a map begins with its row of faro.
std::vector<MapResult> by_map(std::span<const Row> rows) {
  std::vector<MapResult> results;
  const auto keep_faster = [](double& best_ms, double ms) {
    const bool faster = best_ms == 0 || ms < best_ms;
    if (faster) best_ms = ms;
    return faster;
  };
  for (const Row& row : rows) {
    const double ms = row.timing.median_ms;
    if (row.kernel == "faro") results.emplace_back().spec = row.spec;
    FARO_CHECK(!results.empty() && results.back().spec == row.spec);
    MapResult& result = results.back();
    if (row.kernel == "faro") result.faro_ms = ms;
    if (row.kernel == "copy") {
      result.copy_ms = ms;
      result.copy = row;
    }
    if (row.kernel.starts_with("naive")) keep_faster(result.naive_ms, ms);
    if (row.kernel == "gather tile" && keep_faster(result.tile_ms, ms)) result.tile_shape = row.shape;
  }
  return results;
}

// Quotients over the maps where both were measured.
struct Spread {
  std::vector<double> values;
  std::string worst_spec;

  void add(double numerator, double denominator, const std::string& spec) {
    if (numerator == 0 || denominator == 0) return;
    if (values.empty() || numerator / denominator < worst()) worst_spec = spec;
    values.push_back(numerator / denominator);
  }
  double worst() const { return *std::min_element(values.begin(), values.end()); }
  std::string percent() const {
    return values.empty() ? "-" : fmt::format("{:.1f} / {:.1f}%", 100 * worst(), 100 * median(values));
  }
  std::string times() const {
    return values.empty() ? "-" : fmt::format("{:.2f} / {:.2f}x", worst(), median(values));
  }
};

std::string large_line(std::span<const Row> rows) {
  Spread faro_share;
  Spread tile_share;
  Spread naive_share;
  Spread ratio;
  std::vector<double> copy_speeds;
  std::set<std::string> shapes;
  for (const MapResult& map : by_map(rows)) {
    faro_share.add(map.copy_ms, map.faro_ms, map.spec);
    tile_share.add(map.copy_ms, map.tile_ms, map.spec);
    naive_share.add(map.copy_ms, map.naive_ms, map.spec);
    ratio.add(map.tile_ms, map.faro_ms, map.spec);
    copy_speeds.push_back(gb_per_s(map.copy));
    if (!map.tile_shape.empty()) shapes.insert(map.tile_shape);
  }
  return fmt::format(
      "| {} | {} | {:.1f} | {} | {} | {} | {} | {} | {} |\n", rows.front().pages, rows.front().element_bytes,
      median(copy_speeds), faro_share.percent(), tile_share.percent(), ratio.times(),
      ratio.worst_spec.empty() ? "-" : "`" + ratio.worst_spec + "`",
      shapes.empty() ? "-" : fmt::format("{}", fmt::join(shapes, ", ")), naive_share.percent());
}

// "32K": sysconf's answer is wrong on some virtual machines, the kernel's is not.
std::string cache_text(int index) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
  std::string size;
  return file >> size ? size : "?";
}

std::string processor_text() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

nlohmann::ordered_json to_json(std::span<const Row> rows) {
  auto array = nlohmann::ordered_json::array();
  std::size_t first = 0;  // of the rows of one map
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (row.kernel == "faro") first = i;
    double copy_ms = 0;
    for (std::size_t j = first; j < rows.size() && (j == first || rows[j].kernel != "faro"); ++j) {
      if (rows[j].kernel == "copy") copy_ms = rows[j].timing.median_ms;
    }
    nlohmann::ordered_json object{{"spec", row.spec},
                                  {"element_bytes", row.element_bytes},
                                  {"bytes", row.bytes},
                                  {"pages", row.pages},
                                  {"engine", "cpu"},
                                  {"kernel", row.kernel},
                                  {"median_ms", row.timing.median_ms},
                                  {"mad_ms", row.timing.mad_ms},
                                  {"samples", row.timing.samples},
                                  {"gb_per_s", gb_per_s(row)}};
    if (!row.shape.empty()) object["shape"] = row.shape;
    if (copy_ms > 0) object["share_of_copy"] = copy_ms / row.timing.median_ms;
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace

std::string machine_text() {
  constexpr int kL1Data = 0;  // index 1 is the instruction cache
  constexpr int kL2 = 2;
  constexpr int kL3 = 3;
  return fmt::format("{}, {} threads, {}, caches {} L1d, {} L2, {} L3", processor_text(),
                     omp_get_max_threads(), cpu::simd_target(), cache_text(kL1Data), cache_text(kL2),
                     cache_text(kL3));
}

std::string regret_text(std::vector<double> ratios) {
  if (ratios.empty()) return "";
  std::sort(ratios.begin(), ratios.end());
  return fmt::format(
      "chosen way over the better of through and past the caches: median {:.3f}, 90th percentile {:.3f}, "
      "most {:.2f}\n",
      ratios[ratios.size() / 2], ratios[ratios.size() * 9 / 10], ratios.back());
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

std::string large_table(std::span<const Row> rows) {
  std::string table =
      "| pages | element bytes | copy GB/s | faro, of copy | gather tile, of copy | faro / gather tile | at "
      "its worst on "
      "| gather tile's best | naive, of copy |\n|---|---|---|---|---|---|---|---|---|\n";
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].pages == rows[first].pages &&
           rows[last].element_bytes == rows[first].element_bytes) {
      ++last;
    }
    table += large_line(rows.subspan(first, last - first));
    first = last;
  }
  return table;
}

std::string in_cache_table(std::span<const Row> rows) {
  std::map<std::uint64_t, std::vector<Row>> by_width;
  for (const Row& row : rows) by_width[row.element_bytes].push_back(row);
  std::string table = "| element bytes | faro / naive | at its worst on |\n|---|---|---|\n";
  for (const auto& [element_bytes, of_width] : by_width) {
    Spread ratio;
    for (const MapResult& map : by_map(of_width)) ratio.add(map.naive_ms, map.faro_ms, map.spec);
    table += fmt::format("| {} | {} | `{}` |\n", element_bytes, ratio.times(), ratio.worst_spec);
  }
  return table;
}

void write_json(const std::string& path, const Setting& setting, std::span<const Row> large,
                std::span<const Row> in_cache) {
  const nlohmann::ordered_json json{{"schema", 1},
                                    {"device", setting.machine},
                                    {"idle_memory_latency_ns", setting.latency_ns},
                                    {"load_average_before", setting.load_before},
                                    {"commit", setting.commit},
                                    {"command", setting.command},
                                    {"rows", to_json(large)},
                                    {"in_cache_rows", to_json(in_cache)}};
  io::write_file(path, json.dump(1) + "\n");
}

}  // namespace faro::bench
