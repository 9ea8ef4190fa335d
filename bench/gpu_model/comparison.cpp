#include "bench/gpu_model/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/gpu_model/counters.hpp"
#include "faro/error.hpp"

namespace faro::bench::gpu_model {
namespace {

// measured / predicted - 1; infinite where nothing was predicted and something measured.
double error_of(double predicted, double measured) {
  if (predicted == measured) return 0;
  return predicted == 0 ? INFINITY : measured / predicted - 1;
}

double measured_of(const Counter& counter, const ProfiledLaunch& launch) {
  return launch.values.at(counter.metric) - (counter.less.empty() ? 0 : launch.values.at(counter.less));
}

bool holds(Criterion criterion, double predicted, double measured) {
  switch (criterion) {
    case Criterion::equal:
      return predicted == measured;
    case Criterion::shown:
      return true;
  }
  return false;
}

std::string criterion_text(Criterion criterion) {
  switch (criterion) {
    case Criterion::equal:
      return "equal";
    case Criterion::shown:
      return "shown only";
  }
  return "";
}

}  // namespace

std::vector<Miss> compare(std::span<const Case> cases, std::span<const ProfiledLaunch> launches) {
  if (cases.size() != launches.size()) {
    fail(ErrorCode::file, "compare the profile", std::to_string(launches.size()) + " launches",
         std::to_string(cases.size()) + ", one for each case",
         "profile `gpu_verify_model --launch` of the same build");
  }
  std::vector<Miss> misses;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t k = 0; k < counters().size(); ++k) {
      const Counter& counter = counters()[k];
      if (!holds(counter.criterion, counter.predicted(cases[i].predicted),
                 measured_of(counters()[k], launches[i]))) {
        misses.push_back({.of_case = i, .counter = k});
      }
    }
  }
  return misses;
}

std::string summary_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches) {
  std::string table =
      "| counter | metric | wanted | cases | equal | furthest off |\n|---|---|---|---|---|---|\n";
  for (std::size_t k = 0; k < counters().size(); ++k) {
    const Counter& counter = counters()[k];
    std::size_t equal = 0;
    double furthest = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const double error =
          error_of(counter.predicted(cases[i].predicted), measured_of(counters()[k], launches[i]));
      if (error == 0) ++equal;
      if (std::abs(error) > std::abs(furthest)) furthest = error;
    }
    table += fmt::format(
        "| {} | `{}` | {} | {} | {} | {} |\n", counter.title,
        counter.less.empty() ? counter.metric : counter.metric + "` - `" + counter.less,
        criterion_text(counter.criterion), cases.size(), equal,
        std::isinf(furthest) ? "counted where none was predicted" : fmt::format("{:+.2f}%", 100 * furthest));
  }
  return table;
}

std::string miss_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches,
                       std::span<const Miss> misses) {
  if (misses.empty()) return "None.\n";
  std::string table =
      "| kernel | bytes | map | counter | predicted | measured |\n|---|---|---|---|---|---|\n";
  for (const Miss& miss : misses) {
    const Case& of = cases[miss.of_case];
    const Counter& counter = counters()[miss.counter];
    table += fmt::format("| {} | {} | `{}` | {} | {:.0f} | {:.0f} |\n", of.kernel, of.element_bytes, of.spec,
                         counter.title, counter.predicted(of.predicted),
                         measured_of(counter, launches[miss.of_case]));
  }
  return table;
}

std::string case_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches) {
  std::string table = "| kernel | bytes | map |";
  std::string rule = "|---|---|---|";
  for (const Counter& counter : counters()) {
    table += " " + counter.title + " |";
    rule += "---|";
  }
  table += "\n" + rule + "\n";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    table += fmt::format("| {} | {} | `{}` |", cases[i].kernel, cases[i].element_bytes, cases[i].spec);
    for (std::size_t k = 0; k < counters().size(); ++k) {
      const double predicted = counters()[k].predicted(cases[i].predicted);
      const double measured = measured_of(counters()[k], launches[i]);
      table += predicted == measured ? fmt::format(" {:.0f} |", measured)
                                     : fmt::format(" {:.0f} / **{:.0f}** |", predicted, measured);
    }
    table += "\n";
  }
  return table;
}

}  // namespace faro::bench::gpu_model
