#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exchange/shared_exchange.hpp"
#include "faro/exchange/conversion.hpp"
#include "faro/json_schema.hpp"

namespace faro::exchange {
namespace {

std::string counted(int count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string proof_of(const Conversion& c) {
  if (c.is_best_of_all())
    return c.bound.any_program == 0 ? "nothing crosses lanes"
                                    : "no program has fewer: of what a lane must receive";
  const std::string chains =
      c.is_proven()
          ? "no chain of exchanges that are linear over F2 has fewer, by their ranks"
          : fmt::format("chains of exchanges that are linear over F2 need {} at least", c.bound.linear_steps);
  return fmt::format("{}; any program needs {}", chains, c.bound.any_program);
}

std::string steps_text(const Conversion& c) {
  std::string text;
  for (const Step& step : c.steps)
    text += fmt::format("{}{} from {}{}", text.empty() ? "" : ", then ", counted(step.shuffles, "shuffle"),
                        counted(step.sources, "lane"), step.keeps ? ", the own among them" : "");
  return text.empty() ? "registers renamed within each lane" : text;
}

std::string shared_text(const Conversion& c) {
  if (!c.shared) return "";
  const SharedExchange& s = *c.shared;
  return fmt::format(
      "shared memory {}, {} and {} of {}; wavefronts {} and {} (the least: {} and {}); {} turns{}\n",
      counted(s.bytes, "byte"), counted(s.stores, "store"), counted(s.loads, "load"),
      counted(s.access_bytes, "byte"), s.store_wavefronts, s.load_wavefronts, s.least_wavefronts,
      s.least_wavefronts, s.turns, c.is_shared_cheaper() ? ", fewer than the registers'" : "");
}

}  // namespace

std::string to_text(const Conversion& c) {
  const InstructionCounts counts = c.program.counts();
  std::string text = fmt::format("{} -> {}\n", c.from.name, c.to.name);
  text += fmt::format("elements      {} bits, {}, {} lanes; {} to {} registers a lane\n", c.element,
                      shape_text(c.from), 1 << c.lane_bits, c.words_from, c.words_to);
  text += fmt::format("shuffles      {}: {}\n", counts.shuffles, proof_of(c));
  text += fmt::format("steps         {}\n", steps_text(c));
  text +=
      fmt::format("instructions  {}, {}, {} of bytes; {} turns\n", counted(counts.shuffles, "shuffle"),
                  counted(counts.selects, "select"), counted(counts.permutes, "permutation"), counts.turns());
  return text + shared_text(c);
}

std::string to_json(const Conversion& c) {
  const InstructionCounts counts = c.program.counts();
  nlohmann::ordered_json json;
  json["schema"] = kJsonSchema;
  const auto layout = [](const Layout& l) {
    return nlohmann::ordered_json{{"name", l.name}, {"linear", to_text(l)}, {"cute", to_cute(l)}};
  };
  json["from"] = layout(c.from);
  json["to"] = layout(c.to);
  json["element_bits"] = c.element;
  json["lanes"] = 1 << c.lane_bits;
  json["registers"] = {c.words_from, c.words_to};
  json["shuffles"] = counts.shuffles;
  json["selects"] = counts.selects;
  json["permutes"] = counts.permutes;
  json["turns"] = counts.turns();
  json["least_shuffles"] = {{"linear_steps", c.bound.linear_steps}, {"any_program", c.bound.any_program}};
  json["proven"] = c.is_proven();
  json["steps"] = nlohmann::ordered_json::array();
  for (const Step& step : c.steps)
    json["steps"].push_back({{"shuffles", step.shuffles}, {"sources", step.sources}, {"keeps", step.keeps}});
  json["shared"] = nullptr;
  if (c.shared)
    json["shared"] = {{"bytes", c.shared->bytes},
                      {"stores", c.shared->stores},
                      {"loads", c.shared->loads},
                      {"access_bytes", c.shared->access_bytes},
                      {"store_wavefronts", c.shared->store_wavefronts},
                      {"load_wavefronts", c.shared->load_wavefronts},
                      {"least_wavefronts", c.shared->least_wavefronts},
                      {"turns", c.shared->turns},
                      {"is_cheaper", c.is_shared_cheaper()}};
  return json.dump(2);
}

}  // namespace faro::exchange
