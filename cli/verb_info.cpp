// faro info: this build, this machine, and why an engine is not available.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>

#include "cli/arguments.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/threads.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"

namespace faro::cli {
namespace {

// The chosen word of "always [madvise] never"; "unavailable" where the kernel has no huge pages.
std::string transparent_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string word; file >> word;) {
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') return word.substr(1, word.size() - 2);
  }
  return "unavailable";
}

Json facts_of_gpus() {
  Json gpus = Json::array();
  for (const cuda::Device& device : cuda::devices()) {
    gpus.push_back({{"ordinal", device.ordinal},
                    {"name", device.name},
                    {"capability", fmt::format("{}.{}", device.major, device.minor)},
                    {"multiprocessors", device.multiprocessors},
                    {"memory_bytes", device.memory_bytes},
                    {"free_memory_bytes", device.free_memory_bytes}});
  }
  return gpus;
}

Json facts() {
  Json json = new_json();
  json["version"] = FARO_VERSION;
  json["commit"] = FARO_COMMIT;
  json["device"] = device_name();
  json["simd_target"] = cpu::simd_target();
  json["cores"] = std::thread::hardware_concurrency();
  json["threads"] = detail::thread_count();
  json["page_bytes"] = sysconf(_SC_PAGESIZE);
  json["transparent_huge_pages"] = transparent_huge_pages();
  json["available_memory_bytes"] = io::available_memory_bytes();
  const cuda::Versions versions = cuda::versions();
  json["cuda_driver"] = versions.driver;
  json["cuda_runtime"] = versions.runtime;
  json["gpus"] = facts_of_gpus();
  const cuda::Status cuda_status = cuda::status();
  json["engines"] = {
      {{"name", "cpu"}, {"available", true}, {"reason", "built in"}},
      {{"name", "cuda"}, {"available", cuda_status.available}, {"reason", cuda_status.reason}}};
  return json;
}

void show_info(bool as_json) {
  const Json json = facts();
  if (as_json) return print(json);
  const auto text = [&](const char* key) { return json[key].get<std::string>(); };
  const auto number = [&](const char* key) { return json[key].get<std::uint64_t>(); };
  std::string page = fmt::format("faro {} ({})\n", text("version"), text("commit"));
  page += fmt::format("processor   {}; {}\n", text("device"), count_text(number("cores"), "core"));
  page += fmt::format("SIMD        {}\n", text("simd_target"));
  page += fmt::format("threads     {}\n", number("threads"));
  page += fmt::format("pages       {}; transparent huge pages: {}\n", size_text(number("page_bytes")),
                      text("transparent_huge_pages"));
  page += fmt::format("memory      {} available\n", size_text(number("available_memory_bytes")));
  for (const Json& gpu : json["gpus"]) {
    page += fmt::format("GPU {:<6}  {}, compute capability {}, {}; {}, {} free\n", gpu["ordinal"].get<int>(),
                        gpu["name"].get<std::string>(), gpu["capability"].get<std::string>(),
                        count_text(gpu["multiprocessors"].get<std::uint64_t>(), "multiprocessor"),
                        size_text(gpu["memory_bytes"].get<std::uint64_t>()),
                        size_text(gpu["free_memory_bytes"].get<std::uint64_t>()));
  }
  if (!text("cuda_driver").empty() || !text("cuda_runtime").empty()) {
    const std::string driver = text("cuda_driver").empty() ? "no driver" : "driver " + text("cuda_driver");
    page += fmt::format("CUDA        {}, runtime {}\n", driver, text("cuda_runtime"));
  }
  for (const Json& engine : json["engines"]) {
    page += fmt::format("{:<10}  {}: {}\n", engine["name"].get<std::string>(),
                        engine["available"].get<bool>() ? "available" : "unavailable",
                        engine["reason"].get<std::string>());
  }
  page.pop_back();
  print(page);
}

}  // namespace

Verb info_verb(CLI::App& app) {
  const auto options = std::make_shared<CommonOptions>();
  CLI::App* const command = app.add_subcommand("info", "Show version, processor, memory and engines");
  options->add_json(*command);
  return {command, [options] { show_info(options->json); }};
}

}  // namespace faro::cli
