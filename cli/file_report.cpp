#include "cli/file_report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "cli/report.hpp"

namespace faro::cli {
namespace {

constexpr std::chrono::seconds kBetweenEvents{1};

// "io_uring with O_DIRECT, …": without the reasons.
std::string way_alone(const std::string& io) { return io.substr(0, io.find_first_of(",:;")); }

std::string short_plan(const file::Facts& facts) {
  if (facts.tiles == 0) return "nothing to move";
  if (facts.in_place)
    return fmt::format("in place in {} sweep{}", facts.sweeps, facts.sweeps == 1 ? "" : "s");
  return facts.sweeps == 1 ? "one sweep" : "a distribution and a sweep";
}

void print_file_json(const PermuteOptions& options, const FileTold& told, const file::Report& report) {
  Json json = new_json();
  json["spec"] = told.spec;
  json["in"] = options.in;
  json["out"] = report.facts.in_place ? options.in : options.out;
  json["in_place"] = report.facts.in_place;
  json["shape"] = told.shape;
  json["elements"] = told.count;
  json["element_bytes"] = told.width;
  json["batch"] = told.batch;
  json["bytes"] = report.facts.moved_bytes;
  json["numbers"] = report.facts.numbers;
  json["plan"] = report.facts.text();
  json["engine"] = name(report.engine);
  json["engine_reason"] = report.engine_text;
  json["memory_bytes"] = told.budget;
  json["sweeps"] = report.facts.sweeps;
  json["tiles"] = report.facts.tiles;
  json["tile_bytes"] = report.facts.tile_bytes;
  json["read_run_bytes"] = report.facts.read_run_bytes;
  json["write_run_bytes"] = report.facts.write_run_bytes;
  json["read_bytes"] = report.read_bytes;
  json["written_bytes"] = report.written_bytes;
  json["journal_bytes"] = report.journal_bytes;
  json["io"] = report.io;
  json["resumed_tiles"] = report.resumed_tiles;
  json["ms"] = report.seconds * 1e3;
  json["gb_per_s"] = gb_per_s(report.facts.moved_bytes, report.seconds * 1e3);
  json["verified"] = report.verified;
  print(json);
}

}  // namespace

std::string file_line(const FileTold& told, const file::Report& report) {
  const double ms = report.seconds * 1e3;
  const std::string rate =
      fmt::format("{}, {:.3g} GB/s{}", time_text(ms), gb_per_s(report.facts.moved_bytes, ms),
                  report.verified ? ", verified" : "");
  const std::string compact = told.elements.empty() ? "" : compacted(told.elements) + ", ";
  const std::string full = told.elements.empty() ? "" : told.elements + " in ";
  const std::vector<std::string> heads{told.label + ": " + full + rate, told.label + ": " + compact + rate,
                                       short_label(told.label) + ": " + compact + rate, compact + rate};
  std::vector<std::vector<std::string>> more;
  if (!report.facts.numbers.empty()) more.push_back({report.facts.numbers});
  more.push_back({report.facts.text(), short_plan(report.facts)});
  if (report.resumed_tiles > 0)
    more.push_back(
        {fmt::format("{} of {} tiles were finished before", report.resumed_tiles, report.facts.tiles),
         fmt::format("{} tiles finished before", report.resumed_tiles)});
  if (!report.engine_text.empty()) more.push_back({report.engine_text, name(report.engine)});
  if (told.shape != told.shape_before) more.push_back({"shape " + shape_text(told.shape)});
  more.push_back({report.io, way_alone(report.io)});
  return fitted_line(heads, more);
}

FileWatch::FileWatch(const PermuteOptions& options)
    : options_(options),
      progress_(options.quiet || options.common.json ? Verbosity::quiet : Verbosity::normal) {}

void FileWatch::step(const std::string& what) { progress_.step(what); }

void FileWatch::watch(const std::string& what, const FileTold& told, file::Options& run) {
  what_ = what;
  begin_ = told_ = std::chrono::steady_clock::now();
  progress_.step(what);
  run.progress = [this](const file::Progress& now) { tell(now); };
  run.done = [this, told](const file::Report& report) {
    progress_.end();
    if (options_.common.json) return print_file_json(options_, told, report);
    if (!options_.quiet) note(file_line(told, report));
  };
}

// By one thread at a time.
void FileWatch::tell(const file::Progress& now) {
  progress_.reach(what_, now.done_bytes, now.total_bytes);
  const auto time = std::chrono::steady_clock::now();
  if (!options_.common.json || options_.quiet || time - told_ < kBetweenEvents) return;
  told_ = time;
  const double seconds = std::chrono::duration<double>(time - begin_).count();
  const double rate = static_cast<double>(now.done_bytes) / seconds;
  Json event;
  event["event"] = "progress";
  event["done_bytes"] = now.done_bytes;
  event["total_bytes"] = now.total_bytes;
  event["percent"] = now.total_bytes == 0
                         ? 100.0
                         : 100 * static_cast<double>(now.done_bytes) / static_cast<double>(now.total_bytes);
  event["seconds"] = seconds;
  event["bytes_per_s"] = rate;
  event["seconds_left"] = rate > 0 ? static_cast<double>(now.total_bytes - now.done_bytes) / rate : 0.0;
  std::fprintf(stderr, "%s\n", event.dump().c_str());
  std::fflush(stderr);
}

}  // namespace faro::cli
