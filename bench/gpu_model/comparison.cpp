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

// A profile of hardware counters alone has not all.
bool is_counted(const Counter& counter, const ProfiledLaunch& launch) {
  return launch.values.contains(counter.metric);
}

double measured_of(const Counter& counter, const ProfiledLaunch& launch) {
  const auto value = [&](const std::string& metric) { return metric.empty() ? 0 : launch.values.at(metric); };
  return value(counter.metric) - value(counter.less) + value(counter.more);
}

// What is required of a counter in this case.
Criterion criterion_of(const Counter& counter, const Case& of) {
  const bool required = !counter.of_shared || of.shared == SharedCheck::all;
  return required ? counter.criterion : Criterion::shown;
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
      if (!is_counted(counter, launches[i])) continue;
      if (!holds(criterion_of(counter, cases[i]), counter.predicted(cases[i].predicted),
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
    if (!launches.empty() && !is_counted(counter, launches.front())) continue;
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
        counter.metric + (counter.less.empty() ? "" : "` - `" + counter.less) +
            (counter.more.empty() ? "" : "` + `" + counter.more),
        criterion_text(counter.criterion), cases.size(), equal,
        std::isinf(furthest) ? "counted where none was predicted" : fmt::format("{:+.2f}%", 100 * furthest));
  }
  return table;
}

std::string family_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches) {
  std::string table =
      "| family | cases | launches | requests and sectors equal | all that is required equal | furthest off "
      "|\n"
      "|---|---|---|---|---|---|\n";
  std::vector<std::string> families;
  for (const Case& of : cases) {
    if (std::find(families.begin(), families.end(), of.family) == families.end()) {
      families.push_back(of.family);
    }
  }
  for (const std::string& family : families) {
    std::size_t number = 0;
    std::size_t made = 0;
    std::size_t global = 0;
    std::size_t all = 0;
    double furthest = 0;
    std::string where = "-";
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].family != family) continue;
      ++number;
      made += launches[i].launches;
      bool global_holds = true;
      bool all_holds = true;
      for (const Counter& counter : counters()) {
        if (criterion_of(counter, cases[i]) == Criterion::shown || !is_counted(counter, launches[i]))
          continue;
        const double error =
            error_of(counter.predicted(cases[i].predicted), measured_of(counter, launches[i]));
        if (error == 0) continue;
        all_holds = false;
        if (!counter.of_shared) global_holds = false;
        if (std::abs(error) <= std::abs(furthest)) continue;
        furthest = error;
        where = fmt::format("{}: {} of {} bytes, {:+.2f}%", counter.title, cases[i].spec,
                            cases[i].element_bytes, 100 * error);
      }
      global += global_holds ? 1 : 0;
      all += all_holds ? 1 : 0;
    }
    table += fmt::format("| {} | {} | {} | {} | {} | {} |\n", family, number, made, global, all, where);
  }
  return table;
}

std::string miss_table(std::span<const Case> cases, std::span<const ProfiledLaunch> launches,
                       std::span<const Miss> misses) {
  if (misses.empty()) return "None.\n";
  std::string table =
      "| family | kernel | bytes | map | counter | predicted | measured |\n|---|---|---|---|---|---|---|\n";
  for (const Miss& miss : misses) {
    const Case& of = cases[miss.of_case];
    const Counter& counter = counters()[miss.counter];
    table += fmt::format("| {} | {} | {} | `{}` | {} | {:.0f} | {:.0f} |\n", of.family, of.kernel,
                         of.element_bytes, of.spec, counter.title, counter.predicted(of.predicted),
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
      if (!is_counted(counters()[k], launches[i])) {
        table += fmt::format(" {:.0f} / - |", predicted);
        continue;
      }
      const double measured = measured_of(counters()[k], launches[i]);
      table += predicted == measured ? fmt::format(" {:.0f} |", measured)
                                     : fmt::format(" {:.0f} / **{:.0f}** |", predicted, measured);
    }
    table += "\n";
  }
  return table;
}

}  // namespace faro::bench::gpu_model
