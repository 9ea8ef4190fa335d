// Lines of the table, and what two GPUs let expect of another number of them.
//
// A way's time is a few terms, by what a rank sends and how it passes over its own memory:
//
//     stores       the longer of sending and a pass, and a pass more where the output is unpacked
//     messages     packing, exchange and unpacking; in k slices all but the first packing and the last unpacking
//                  go on while the links work
//
// with the rates of the copies between two GPUs and within one. Two GPUs' time over these terms is what the
// model leaves out; times the terms of p GPUs it is the prediction for p.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace faro::bench::gpu {

inline constexpr const char* kCopyBetween = "copy to the next device";
inline constexpr const char* kCopyWithin = "copy within the device";
inline constexpr const char* kAllToAll = "NCCL's all-to-all alone";
inline constexpr const char* kAllToAllRegistered = "NCCL's all-to-all alone, registered memory";

/// What a rank does: bytes that it sends and has, passes over them.
struct ShardWork {
  enum class Way { copy_within, links_alone, stores, messages };
  Way way = Way::messages;
  double sent_bytes = 0;
  double part_bytes = 0;
  int packs = 0;    // 0 or 1
  int unpacks = 0;  // 0 or 1; of a network all its passes
  int slices = 1;
};

struct ShardLine {
  std::string scaling;  // "weak": parts of one size; "strong": whole arrays of one size; empty: no scaling
  int gpus = 2;
  std::string kind = {};  // of the map, the same for arrays of all sizes
  std::string map;
  std::string name;
  double ms = 0;
  double least = 0;
  double most = 0;
  ShardWork work;
  std::string how;
};

struct MeasuredRates {
  double link_gb_per_s = 0;  // out of a GPU
  double copy_gb_per_s = 0;  // read and written
};

inline double modelled_ms(const ShardWork& work, const MeasuredRates& rates) {
  const double links = work.sent_bytes > 0 ? work.sent_bytes / (rates.link_gb_per_s * 1e6) : 0;
  const double pass = 2 * work.part_bytes / (rates.copy_gb_per_s * 1e6);
  switch (work.way) {
    case ShardWork::Way::copy_within:
      return pass;
    case ShardWork::Way::links_alone:
      return links;
    case ShardWork::Way::stores:
      return std::max(links, pass) + work.unpacks * pass;
    case ShardWork::Way::messages:
      break;
  }
  const double passes = (work.packs + work.unpacks) * pass;
  const double ends = passes / work.slices;
  return ends + std::max(links, passes - ends);
}

inline const ShardLine* find_line(const std::vector<ShardLine>& lines, const ShardLine& like, int gpus,
                                  const std::string& name) {
  for (const ShardLine& each : lines) {
    if (each.scaling == like.scaling && each.gpus == gpus && each.kind == like.kind && each.name == name)
      return &each;
  }
  return nullptr;
}

/// Of a number of GPUs by the lines of two; of two by the rates of their copies alone. Nothing where two were
/// not measured.
inline std::optional<double> predicted_ms(const std::vector<ShardLine>& lines, const ShardLine& line) {
  const ShardLine* const between = find_line(lines, line, 2, kCopyBetween);
  const ShardLine* const within = find_line(lines, line, 2, kCopyWithin);
  const ShardLine* const same = find_line(lines, line, 2, line.name);
  if (between == nullptr || within == nullptr || same == nullptr) return std::nullopt;
  const MeasuredRates rates{.link_gb_per_s = between->work.sent_bytes / between->ms / 1e6,
                            .copy_gb_per_s = 2 * within->work.part_bytes / within->ms / 1e6};
  const double of_two = modelled_ms(same->work, rates);
  if (line.gpus == 2) return of_two;
  return of_two > 0 ? std::optional(same->ms * modelled_ms(line.work, rates) / of_two) : std::nullopt;
}

inline std::string shards_table(const std::vector<ShardLine>& lines) {
  std::string text =
      "| GPUs | scaling | map | by | ms | min to max | predicted ms | GB/s out of a GPU | of the copy | of "
      "NCCL's all-to-all | of two GPUs' rate |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const ShardLine& line : lines) {
    const auto share_of = [&](const char* name) {
      const ShardLine* const other = find_line(lines, line, line.gpus, name);
      return other == nullptr ? std::string() : fmt::format("{:.1f}%", 100 * other->ms / line.ms);
    };
    const std::optional<double> predicted = predicted_ms(lines, line);
    const auto rate_of = [](const ShardLine& each) {
      return (each.work.way == ShardWork::Way::copy_within ? each.work.part_bytes : each.work.sent_bytes) /
             each.ms;
    };
    const ShardLine* const two = line.gpus > 2 ? find_line(lines, line, 2, line.name) : nullptr;
    text += fmt::format("| {} | {} | {} | {} | {:.3f} | {:.3f} to {:.3f} | {} | {:.0f} | {} | {} | {} |\n",
                        line.gpus, line.scaling, line.map, line.name, line.ms, line.least, line.most,
                        predicted ? fmt::format("{:.3f}", *predicted) : "",
                        line.work.sent_bytes / line.ms / 1e6, share_of(kCopyBetween), share_of(kAllToAll),
                        two == nullptr ? "" : fmt::format("{:.1f}%", 100 * rate_of(line) / rate_of(*two)));
  }
  return text;
}

}  // namespace faro::bench::gpu
