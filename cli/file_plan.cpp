#include "cli/file_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <vector>

#include "cli/report.hpp"
#include "file/disk.hpp"

namespace faro::cli {
namespace {

std::uint64_t written_bytes(const file::Facts& facts) {
  return facts.written_bytes != 0 ? facts.written_bytes : facts.moved_bytes;
}

// Requests of all sweeps, each of a run.
struct Requests {
  double reads = 0;
  double writes = 0;
  double all() const { return reads + writes; }
};

Requests requests_of(const FilePlan& plan) {
  const file::Facts& facts = plan.facts;
  if (facts.tiles == 0) return {};
  const auto runs = [](std::uint64_t bytes, std::uint64_t run_bytes) {
    return static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(run_bytes, 1));
  };
  const auto of = [&](std::uint64_t run_bytes) { return runs(facts.moved_bytes, run_bytes); };
  Requests requests{.reads = of(facts.read_run_bytes),
                    .writes = runs(written_bytes(facts), facts.write_run_bytes)};
  // An added file lies as the output does.
  if (facts.added_bytes > 0) requests.reads += requests.writes;
  // Each pass in place writes twice, to the journal in order.
  if (facts.in_place) {
    const auto passes = static_cast<double>(facts.sweeps);
    return {.reads = passes * requests.reads, .writes = passes * (requests.writes + of(facts.tile_bytes))};
  }
  // The other sides of a distribution are in order.
  if (plan.of_records && facts.sweeps == 2) {
    requests.reads += of(facts.tile_bytes);
    requests.writes += of(facts.tile_bytes);
  }
  return requests;
}

std::optional<double> predicted_seconds(const FilePlan& plan, const file::DiskCurve& curve) {
  const file::Facts& facts = plan.facts;
  if (facts.tiles == 0) return std::nullopt;
  double seconds = curve.predict_seconds(facts.moved_bytes, facts.read_run_bytes, facts.write_run_bytes);
  if (facts.written_bytes != 0) {
    seconds = curve.predict_read_seconds(facts.moved_bytes, facts.read_run_bytes) +
              curve.predict_read_seconds(facts.added_bytes, facts.write_run_bytes) +
              curve.predict_write_seconds(facts.written_bytes, facts.write_run_bytes);
  }
  // Each pass in place reads once and writes twice, the first time in order.
  if (facts.in_place) {
    seconds *= facts.sweeps;
    seconds += curve.predict_write_seconds(facts.moved_bytes, facts.tile_bytes) * facts.sweeps;
  }
  // The other sides of a distribution are in order: whole buckets are.
  if (plan.of_records && facts.sweeps == 2)
    seconds += curve.predict_seconds(facts.moved_bytes, facts.tile_bytes, facts.tile_bytes);
  return seconds;
}

// Transfers that the literature's methods take at most, each of a segment: B elements, the longer side's,
// with M in memory. Affine maps by Cormen and Wisniewski's on one disk, everything else by a merge sort.
struct Published {
  double transfers = 0;
  const char* formula = "";
};

std::optional<Published> published_of(const FilePlan& plan) {
  const file::Facts& facts = plan.facts;
  // In a distribution, the side that is out of order.
  const std::uint64_t longer =
      plan.of_records ? facts.write_run_bytes : std::max(facts.read_run_bytes, facts.write_run_bytes);
  const std::uint64_t segment = std::min(longer, std::max<std::uint64_t>(facts.moved_bytes, 1));
  if (facts.tiles == 0 || segment < plan.width) return std::nullopt;
  const double transfers = 2 * static_cast<double>(facts.moved_bytes) / static_cast<double>(segment);
  const std::uint64_t held = plan.memory / segment;
  if (plan.affine) {
    if (held < 2) return std::nullopt;
    const auto segment_bits = static_cast<int>(std::bit_width(
                                  std::min(segment / plan.width, std::uint64_t{1} << plan.affine->bits()))) -
                              1;
    const double rounds =
        std::ceil(plan.affine->rank_gamma(segment_bits) / std::floor(std::log2(static_cast<double>(held))));
    return Published{.transfers = transfers * (6 * rounds + 5),
                     .formula = "2 N/B (6 ceil(rank / lg(M/B)) + 5)"};
  }
  if (held < 3) return std::nullopt;  // two are merged to a third
  const double runs = static_cast<double>(facts.moved_bytes) / static_cast<double>(plan.memory);
  const double merges = runs <= 1 ? 0 : std::ceil(std::log2(runs) / std::log2(static_cast<double>(held - 1)));
  return Published{.transfers = transfers * (1 + merges),
                   .formula = "2 N/B (1 + ceil(lg(N/M) / lg(M/B - 1)))"};
}

std::string files_text(const FilePlan& plan) {
  const std::string bytes = size_text(plan.facts.moved_bytes);
  if (plan.facts.written_bytes != 0) {
    return fmt::format("{} read, {} written, with {} of memory",
                       size_text(plan.facts.moved_bytes + plan.facts.added_bytes),
                       size_text(plan.facts.written_bytes), size_text(plan.memory));
  }
  const std::string memory = size_text(plan.memory);
  if (plan.facts.in_place) {
    return fmt::format("{} read, and written to a journal and in place, in each sweep; with {} of memory",
                       bytes, memory);
  }
  return fmt::format("{} read and as many written{}, with {} of memory", bytes,
                     plan.facts.sweeps > 1 ? " in each sweep" : "", memory);
}

std::string tiles_text(const file::Facts& facts) {
  const bool has_two_buffers = facts.memory_bytes / facts.tile_bytes == 2;
  return fmt::format("{}; of {} written and refilled", facts.tiles,
                     has_two_buffers ? "two buffers, one is permuted in place while the other is"
                                     : "three buffers, one is permuted into another while the third is");
}

void print_json(const FilePlan& plan, const std::optional<file::DiskCurve>& curve,
                const std::optional<double>& seconds, const std::optional<Published>& published) {
  const file::Facts& facts = plan.facts;
  Json json = new_json();
  json["spec"] = plan.spec;
  json["element_bytes"] = plan.width;
  json["bytes"] = facts.moved_bytes;
  json["memory_bytes"] = plan.memory;
  json["buffer_bytes"] = facts.memory_bytes;
  json["numbers"] = facts.numbers;
  json["added_bytes"] = facts.added_bytes;
  json["written_bytes"] = written_bytes(facts);
  json["plan"] = facts.text();
  json["sweeps"] = facts.sweeps;
  json["tiles"] = facts.tiles;
  json["tile_bytes"] = facts.tile_bytes;
  json["read_run_bytes"] = facts.read_run_bytes;
  json["write_run_bytes"] = facts.write_run_bytes;
  json["tile_plan"] = {{"permutation", plan.tile_plan.permutation},
                       {"text", plan.tile_plan.text},
                       {"plan", plan.tile_plan.json.empty() ? Json() : Json::parse(plan.tile_plan.json)}};
  json["transfers"] = requests_of(plan).all();
  json["published_transfers"] = published ? Json(published->transfers) : Json();
  json["published_formula"] = published ? published->formula : "";
  json["predicted_ms"] = seconds ? Json(*seconds * 1e3) : Json();
  json["prediction_source"] = curve ? curve->source : "";
  print(json);
}

}  // namespace

void print_file_plan(const FilePlan& plan, bool as_json) {
  const file::Facts& facts = plan.facts;
  const auto curve = file::kept_disk_curve(plan.disk);
  const auto seconds = curve ? predicted_seconds(plan, *curve) : std::nullopt;
  const auto published = published_of(plan);
  if (as_json) return print_json(plan, curve, seconds, published);
  const Requests requests = requests_of(plan);
  std::vector<std::string> lines{explained("permutation", plan.spec),
                                 explained("elements", fmt::format("{} wide", size_text(plan.width))),
                                 explained("files", files_text(plan)), explained("sweeps", facts.text())};
  if (!facts.numbers.empty()) lines.insert(lines.begin() + 2, explained("numbers", facts.numbers));
  const bool is_distributed = plan.of_records && facts.sweeps == 2;
  if (is_distributed) {
    lines.push_back(explained("records", "sorted by the processor: to buckets, then within each"));
  } else if (facts.tiles > 0) {
    lines.push_back(explained(facts.in_place ? "steps" : "tiles", tiles_text(facts)));
  }
  if (facts.tiles > 0) {
    lines.push_back(explained(
        "transfers",
        fmt::format("{:.0f}, each of a segment: {:.0f} reads and {:.0f} writes{}", requests.all(),
                    requests.reads, requests.writes, facts.in_place ? ", the journal's among them" : "")));
  }
  if (published) {
    lines.push_back(explained(
        "literature",
        fmt::format("at most {:.0f} transfers of such segments, {}: {:.3g} times "
                    "as many",
                    published->transfers, published->formula, published->transfers / requests.all())));
  }
  lines.push_back(explained("time", seconds
                                        ? fmt::format("{:.3g} s predicted, by {}", *seconds, curve->source)
                                        : "not known: `faro tune --disk DIR` measures a disk"));
  std::istringstream nested(plan.tile_plan.text);
  if (!plan.tile_plan.text.empty()) lines.push_back("of each tile, in memory");
  for (std::string line; std::getline(nested, line);) lines.push_back(line.empty() ? line : "  " + line);
  print(fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace faro::cli
