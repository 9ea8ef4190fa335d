#include "bench/gpu/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/arguments.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {
namespace {

// The contestants of one map, by name.
struct MapResult {
  const Row* faro = nullptr;
  std::vector<const Row*> rivals;

  // 0 where it was absent.
  double ms(const std::string& contestant) const {
    if (contestant == faro->contestant) return faro->timing.median_ms;
    for (const Row* rival : rivals) {
      if (rival->contestant == contestant) return rival->timing.median_ms;
    }
    return 0;
  }
  double share(const std::string& contestant) const {
    return ms(contestant) > 0 ? ms("cudaMemcpy") / ms(contestant) : 0;
  }
};

std::vector<MapResult> by_map(const Rows& rows) {
  std::vector<MapResult> results;
  for (const Row& row : rows) {
    if (row.contestant == "faro") {
      results.push_back({.faro = &row, .rivals = {}});
    } else {
      FARO_CHECK(!results.empty() && results.back().faro->spec == row.spec);
      results.back().rivals.push_back(&row);
    }
  }
  return results;
}

// Groups of maps with the same sizes of arrays and elements, in order; `beside` says which maps.
std::vector<std::vector<MapResult>> by_width(const Rows& rows, bool beside) {
  std::vector<std::vector<MapResult>> groups;
  for (const MapResult& map : by_map(rows)) {
    if (map.faro->beside != beside) continue;
    const bool same = !groups.empty() && groups.back().front().faro->bytes == map.faro->bytes &&
                      groups.back().front().faro->element_bytes == map.faro->element_bytes;
    if (!same) groups.emplace_back();
    groups.back().push_back(map);
  }
  return groups;
}

struct Spread {
  double worst = 0;  // the smallest
  double middle = 0;
  double best = 0;
  const MapResult* worst_map = nullptr;
};

template <typename Value>
Spread spread(const std::vector<MapResult>& maps, const Value& value) {
  std::vector<double> values;
  Spread result;
  for (const MapResult& map : maps) {
    values.push_back(value(map));
    if (result.worst_map == nullptr || values.back() < result.worst) {
      result.worst = values.back();
      result.worst_map = &map;
    }
  }
  result.middle = median(values);
  result.best = *std::max_element(values.begin(), values.end());
  return result;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

nlohmann::ordered_json to_json(const Rows& rows) {
  auto array = nlohmann::ordered_json::array();
  for (const MapResult& map : by_map(rows)) {
    std::vector<const Row*> all{map.faro};
    all.insert(all.end(), map.rivals.begin(), map.rivals.end());
    for (const Row* row : all) {
      nlohmann::ordered_json object{{"spec", row->spec},
                                    {"element_bytes", row->element_bytes},
                                    {"bytes", row->bytes},
                                    {"contestant", row->contestant},
                                    {"median_ms", row->timing.median_ms},
                                    {"mad_ms", row->timing.mad_ms},
                                    {"samples", row->timing.samples},
                                    {"gb_per_s", gb_per_s(*row)},
                                    {"share_of_copy", map.share(row->contestant)}};
      if (row == map.faro) {
        object["kernel"] = row->kernel;
        object["needs_tile"] = !row->beside;
      }
      array.push_back(std::move(object));
    }
  }
  return array;
}

}  // namespace

std::string share_table(const Rows& rows) {
  std::string table =
      "| element bytes | cudaMemcpy, GB/s | faro, worst / median / best | at its worst on | by the kernel | "
      "vector copy, median | scalar copy, median | naive, worst / median "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const std::vector<MapResult>& maps : by_width(rows, false)) {
    const auto share_of = [&](const char* contestant) {
      return spread(maps, [contestant](const MapResult& map) { return map.share(contestant); });
    };
    const double copy_gb_per_s =
        spread(maps, [](const MapResult& map) { return gb_per_s(*map.faro) / map.share("faro"); }).middle;
    const Spread faro = share_of("faro");
    const Spread naive = share_of("naive");
    table +=
        fmt::format("| {} | {:.0f} | **{}** / {} / {} | `{}` | {} | {} | {} | {} / {} |\n",
                    maps.front().faro->element_bytes, copy_gb_per_s, percent(faro.worst),
                    percent(faro.middle), percent(faro.best), faro.worst_map->faro->spec,
                    faro.worst_map->faro->kernel, percent(share_of("vector copy").middle),
                    percent(share_of("scalar copy").middle), percent(naive.worst), percent(naive.middle));
  }
  return table;
}

std::string worst_table(const Rows& rows) {
  constexpr std::size_t kShown = 3;
  std::string table =
      "| element bytes | map | faro, of cudaMemcpy | ms | mad | kernel |\n|---|---|---|---|---|---|\n";
  for (std::vector<MapResult>& maps : by_width(rows, false)) {
    std::sort(maps.begin(), maps.end(),
              [](const MapResult& a, const MapResult& b) { return a.share("faro") < b.share("faro"); });
    maps.resize(std::min(maps.size(), kShown));
    for (const MapResult& map : maps) {
      table += fmt::format("| {} | `{}` | {} | {:.4f} | {:.4f} | {} |\n", map.faro->element_bytes,
                           map.faro->spec, percent(map.share("faro")), map.faro->timing.median_ms,
                           map.faro->timing.mad_ms, map.faro->kernel);
    }
  }
  return table;
}

std::string beside_table(const Rows& rows) {
  constexpr std::size_t kLongestSpec = 48;
  std::string table =
      "| element bytes | map | faro, of cudaMemcpy | GB/s | kernel |\n|---|---|---|---|---|\n";
  for (const std::vector<MapResult>& maps : by_width(rows, true)) {
    for (const MapResult& map : maps) {
      std::string spec = map.faro->spec;
      if (spec.size() > kLongestSpec) spec = spec.substr(0, kLongestSpec) + "…";
      table += fmt::format("| {} | `{}` | {} | {:.0f} | {} |\n", map.faro->element_bytes, spec,
                           percent(map.share("faro")), gb_per_s(*map.faro), map.faro->kernel);
    }
  }
  return table;
}

std::string small_table(const Rows& rows) {
  std::string table =
      "| array | element bytes | faro, us, median / worst | cudaMemcpy, us | copy kernel, us | worst beyond "
      "cudaMemcpy | worst beyond the copy kernel | on |\n|---|---|---|---|---|---|---|---|\n";
  const auto microseconds = [](const char* contestant) {
    return [contestant](const MapResult& map) { return 1000 * map.ms(contestant); };
  };
  const auto beyond = [](const char* copy) {  // negated, so that the worst is the smallest
    return [copy](const MapResult& map) { return 1000 * (map.ms(copy) - map.ms("faro")); };
  };
  for (const std::vector<MapResult>& maps : by_width(rows, false)) {
    const Spread faro = spread(maps, microseconds("faro"));
    const Spread beyond_kernel = spread(maps, beyond("vector copy"));
    table += fmt::format(
        "| {} | {} | {:.2f} / {:.2f} | {:.2f} | {:.2f} | {:+.2f} | {:+.2f} | `{}` |\n",
        size_text(maps.front().faro->bytes), maps.front().faro->element_bytes, faro.middle, faro.best,
        spread(maps, microseconds("cudaMemcpy")).middle, spread(maps, microseconds("vector copy")).middle,
        -spread(maps, beyond("cudaMemcpy")).worst, -beyond_kernel.worst, beyond_kernel.worst_map->faro->spec);
  }
  return table;
}

std::string summary_table(const Rows& large, const Rows& small) {
  std::string header = "| array | |";
  std::string rule = "|---|---|";
  std::string lines;
  std::string widths;       // of the header's columns
  std::uint64_t bytes = 0;  // of the line that is being written
  const auto add = [&](const std::vector<MapResult>& maps, const char* what, const std::string& value) {
    const Row& first = *maps.front().faro;
    if (first.bytes != bytes)
      lines += fmt::format("{}| {} | {} |", bytes == 0 ? "" : "\n", size_text(first.bytes), what);
    bytes = first.bytes;
    lines += fmt::format(" {} |", value);
    const std::string width = fmt::format(" {} |", first.element_bytes);
    if (widths.find(width) != std::string::npos) return;
    widths += width;
    rule += "---|";
  };
  for (const std::vector<MapResult>& maps : by_width(large, false)) {
    const Spread shares = spread(maps, [](const MapResult& map) { return map.share("faro"); });
    add(maps, "worst share of cudaMemcpy", percent(shares.worst));
  }
  for (const std::vector<MapResult>& maps : by_width(small, false)) {
    const Spread behind =
        spread(maps, [](const MapResult& map) { return map.ms("vector copy") - map.ms("faro"); });
    add(maps, "worst beyond the copy kernel, us", fmt::format("{:+.2f}", -1000 * behind.worst));
  }
  return header + widths + "\n" + rule + "\n" + lines + "\n";
}

void write_json(const std::string& path, const Setting& setting, const Rows& large, const Rows& small) {
  const nlohmann::ordered_json json{{"schema", 1},
                                    {"device", setting.device},
                                    {"driver", setting.driver},
                                    {"runtime", setting.runtime},
                                    {"date", setting.date},
                                    {"commit", setting.commit},
                                    {"command", setting.command},
                                    {"rows", to_json(large)},
                                    {"small_rows", to_json(small)}};
  io::write_file(path, json.dump(1) + "\n");
}

}  // namespace faro::bench::gpu
