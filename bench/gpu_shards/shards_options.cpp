#include "bench/gpu_shards/shards_options.hpp"

#include <algorithm>

#include "faro/engines/cuda.hpp"

namespace faro::bench::gpu {
namespace {

const std::vector<std::string> kMeshes = {"pencils",      "cube",         "square",        "uneven",
                                          "gathered",     "gathered1",    "scattered",     "cyclic",
                                          "weights-each", "weights-half", "weights-twice", "weights-apart"};

}  // namespace

bool is_mesh(const std::string& map) {
  return std::find(kMeshes.begin(), kMeshes.end(), map) != kMeshes.end();
}

ShardsOptions parse_shards(const CommandLine& line) {
  ShardsOptions options{{.rounds = 7}};
  options.nccl = !line.has("--without-nccl");
  options.read(line,
               {{"--devices", [&](const Argument& a) { options.devices = parse_ints(a, 0, 63); }},
                {"--scaling",
                 [&](const Argument& a) {
                   if (a.text != "weak" && a.text != "strong" && a.text != "both")
                     refuse(a, "weak, strong or both");
                   options.scaling = a.text;
                 }},
                {"--maps", [&](const Argument& a) { options.maps = parse_names(a); }},
                {"--log-bytes", [&](const Argument& a) { options.log_bytes = parse_int(a, 20, 34); }},
                {"--slices",
                 [&](const Argument& a) {
                   for (const Argument& each : split(a))
                     options.slices.push_back(each.text == "own" ? -1 : parse_int(each, 0, 4));
                 }},
                {"--reserved", [&](const Argument& a) { options.reserved = parse_ints(a, 0, 131); }}},
               {"--without-nccl"});
  if (const auto meshes = std::find(options.maps.begin(), options.maps.end(), "meshes");
      meshes != options.maps.end())
    options.maps.insert(options.maps.erase(meshes), kMeshes.begin(), kMeshes.end());
  if (options.devices.empty()) {
    for (int device = 0; device < static_cast<int>(cuda::devices().size()); ++device)
      options.devices.push_back(device);
  }
  return options;
}

}  // namespace faro::bench::gpu
