// faro tune: measures what plans are chosen by, and keeps it for this machine.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda_index.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/problem/target.hpp"
#include "file/disk.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

struct TuneOptions {
  CommonOptions common;
  std::string disk;
  bool quick = false;
};

struct Tuned {
  Engine engine = Engine::cpu;
  std::string machine;
  std::string file;
  double seconds = 0;
  IndexCalibration calibration;
};

Tuned tune_engine(Engine engine, const PlanOptions& plan_options, bool quick) {
  const Target target =
      engine == Engine::cuda ? cuda::target(plan_options.device) : cpu::target(plan_options.threads);
  const auto start = std::chrono::steady_clock::now();
  IndexCalibration calibration = engine == Engine::cuda ? cuda::tune(plan_options.device, quick)
                                                        : cpu::tune(plan_options.threads, quick);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string file = keep_calibration(target.name, calibration).string();
  return {engine, target.name, file, seconds, std::move(calibration)};
}

// Nanoseconds an element of every curve's last point.
std::string table_of(const IndexCalibration& calibration) {
  constexpr double kNsPerUs = 1e3;
  std::string table = fmt::format("{:<8}  {:>7}  {:>5}  {:>4}  {:>12}  {:>13}", "kernel", "element", "chunk",
                                  "run", "elements", "ns an element");
  for (const IndexCurve& each : calibration.curves) {
    if (each.curve.empty()) continue;
    const TimeCurve::Point& last = each.curve.points.back();
    const auto power = [](int bits) { return bits == 0 ? std::string("-") : fmt::format("2^{}", bits); };
    table += fmt::format("\n{:<8}  {:>7}  {:>5}  {:>4}  {:>12}  {:>13.4g}", name(each.kernel),
                         each.element_bytes, power(each.chunk_bits), power(each.run_bits), last.elements,
                         kNsPerUs * last.microseconds / static_cast<double>(last.elements));
  }
  return table;
}

// What sweeps over files are predicted by.
void tune_disk(const TuneOptions& options) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;
  constexpr std::uint64_t kQuickBytes = std::uint64_t{64} << 20;
  const auto path = file::disk_curve_path(options.disk);
  if (!path) {
    fail(ErrorCode::file, "tune --disk", "neither FARO_CACHE nor XDG_CACHE_HOME nor HOME",
         "a folder to keep the measured curve in", "set FARO_CACHE");
  }
  file::DiskCurve curve;
  {
    Progress progress(Verbosity::normal);
    progress.step("measuring the disk of " + options.disk);
    curve = file::tune_disk(options.disk, options.quick ? kQuickBytes : kBytes);
  }
  std::filesystem::create_directories(path->parent_path());
  io::write_file(*path, curve.to_json() + "\n");
  constexpr double kGiga = 1e9;
  Json json = new_json();
  json["disk"] = options.disk;
  json["file"] = path->string();
  json["source"] = curve.source;
  json["queue_depth"] = curve.queue_depth;
  json["io_threads"] = curve.io_threads;
  json["segment_bytes"] = curve.enough_segment_bytes();
  json["points"] = Json::array();
  const std::string requests = curve.queue_depth > 0 ? fmt::format("{} requests a thread", curve.queue_depth)
                                                     : fmt::format("{} threads", curve.io_threads);
  std::string text = fmt::format("{}, kept in {}\n{:>9}  {:>10}  {:>11}", curve.source, path->string(),
                                 "segment", "read, GB/s", "write, GB/s");
  text.insert(text.find(", kept"),
              fmt::format(", {}, segments of {}", requests, size_text(curve.enough_segment_bytes())));
  for (const file::DiskCurve::Point& point : curve.points) {
    json["points"].push_back({{"segment_bytes", point.segment_bytes},
                              {"read_gb_per_s", point.read_bytes_per_s / kGiga},
                              {"write_gb_per_s", point.write_bytes_per_s / kGiga}});
    text += fmt::format("\n{:>9}  {:>10.3g}  {:>11.3g}", size_text(point.segment_bytes),
                        point.read_bytes_per_s / kGiga, point.write_bytes_per_s / kGiga);
  }
  if (options.common.json) return print(json);
  print(text);
}

void tune(const TuneOptions& options) {
  if (!options.disk.empty()) return tune_disk(options);
  const PlanOptions plan_options = options.common.plan_options(1);
  if (plan_options.engine != Engine::cuda && plan_options.device != cuda::kCurrentDevice)
    fail(ErrorCode::value, "tune", "--device with --engine " + options.common.engine,
         "--device with --engine cuda");
  std::vector<Engine> engines{plan_options.engine};
  if (plan_options.engine == Engine::automatic) {
    engines = {Engine::cpu};
    if (cuda::status().available) engines.push_back(Engine::cuda);
  }
  std::vector<Tuned> all;
  {
    Progress progress(Verbosity::normal);
    for (const Engine engine : engines) {
      progress.step(std::string("measuring engine ") + name(engine));
      all.push_back(tune_engine(engine, plan_options, options.quick));
    }
  }
  Json json = new_json();
  json["tuned"] = Json::array();
  std::string text;
  for (const Tuned& each : all) {
    json["tuned"].push_back({{"engine", name(each.engine)},
                             {"machine", each.machine},
                             {"file", each.file},
                             {"seconds", each.seconds},
                             {"curves", each.calibration.curves.size()}});
    text += fmt::format("{}{}, {}: {} in {:.3g} s, kept in {}\n{}", text.empty() ? "" : "\n",
                        name(each.engine), each.machine, count_text(each.calibration.curves.size(), "curve"),
                        each.seconds, each.file, table_of(each.calibration));
  }
  if (options.common.json) return print(json);
  print(text);
}

}  // namespace

Verb tune_verb(CLI::App& app) {
  const auto options = std::make_shared<TuneOptions>();
  CLI::App* const command = app.add_subcommand(
      "tune",
      "Measure this machine and keep the figures, by which plans are chosen and their times predicted");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_threads(*command);
  command->add_flag("--quick", options->quick,
                    "Measure fewer sizes and widths, and a smaller file: takes seconds");
  add_text(*command, "--disk", options->disk, "DIR",
           "Measure instead how fast the disk of this folder reads and writes segments, using a file of "
           "1 GiB that is removed");
  add_no_sync(*command);
  options->common.add_json(*command);
  return {command, [options] { tune(*options); }};
}

}  // namespace faro::cli
