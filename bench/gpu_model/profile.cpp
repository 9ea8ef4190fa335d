#include "bench/gpu_model/profile.hpp"

#include <algorithm>
#include <charconv>

#include "faro/error.hpp"

namespace faro::bench::gpu_model {
namespace {
// "a","b ""quoted""","1,024"
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

double number_of(std::string text, std::size_t line) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(ErrorCode::file, "read the profile, line " + std::to_string(line), "`" + text + "`", "a number");
  return value;
}

}  // namespace

std::vector<ProfiledLaunch> by_case(std::span<const ProfiledLaunch> launches, std::string_view marker) {
  std::vector<ProfiledLaunch> cases;
  for (const ProfiledLaunch& launch : launches) {
    if (launch.kernel.find(marker) != std::string::npos) {
      cases.push_back({.kernel = "", .values = {}, .launches = 0});
      for (const auto& [metric, value] : launch.values) cases.back().values[metric] = 0;
    } else if (!cases.empty()) {
      ProfiledLaunch& of = cases.back();
      if (of.launches++ == 0) of.kernel = launch.kernel;
      for (const auto& [metric, value] : launch.values) of.values[metric] += value;
    }
  }
  return cases;
}

std::vector<ProfiledLaunch> parse_profile(std::string_view csv, std::span<const std::string> metrics,
                                          std::span<const std::string> optional) {
  std::vector<ProfiledLaunch> launches;
  std::vector<std::string> header;
  std::vector<std::size_t> columns;  // of the metrics
  std::vector<std::string> absent;
  std::size_t kernel_column = 0;
  std::size_t number = 0;
  while (!csv.empty()) {
    ++number;
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with('"')) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (header.empty()) {
      header = fields;
      const auto is_there = [&](const std::string& name) {
        return std::find(header.begin(), header.end(), name) != header.end();
      };
      const auto column = [&](const std::string& name) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found == header.end())
          fail(ErrorCode::file, "read the profile, line " + std::to_string(number),
               "no column `" + name + "`", "every metric that was asked for");
        return static_cast<std::size_t>(found - header.begin());
      };
      kernel_column = column("Kernel Name");
      for (const std::string& metric : metrics) {
        const bool may_miss = std::find(optional.begin(), optional.end(), metric) != optional.end();
        if (may_miss && !is_there(metric)) {
          absent.push_back(metric);
        } else {
          columns.push_back(column(metric));
        }
      }
      continue;
    }
    if (fields.size() != header.size()) {
      fail(ErrorCode::file, "read the profile, line " + std::to_string(number),
           std::to_string(fields.size()) + " columns", std::to_string(header.size()) + ", as in the header");
    }
    if (fields.front().empty()) continue;  // units
    ProfiledLaunch launch{.kernel = fields[kernel_column], .values = {}};
    for (const std::string& metric : absent) launch.values[metric] = 0;
    for (const std::size_t column : columns)
      launch.values[header[column]] = number_of(fields[column], number);
    launches.push_back(std::move(launch));
  }
  if (header.empty())
    fail(ErrorCode::file, "read the profile, line " + std::to_string(number), "no header",
         "the CSV of Nsight Compute");
  return launches;
}

}  // namespace faro::bench::gpu_model
