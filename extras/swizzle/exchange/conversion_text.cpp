#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

std::string side_text(const SharedSide& side, bool is_store) {
  if (side.kind == AccessKind::none) return "";
  return fmt::format("{} in {}, ", side.text(is_store), counted(side.wavefronts, "wavefront"));
}

std::string conflicts_text(const Conversion& c) {
  const SharedExchange& s = *c.shared;
  if (s.is_free_of_conflicts()) return "no bank conflict";
  if (c.is_load() || c.is_store())
    return fmt::format("bank conflicts: without them {}", s.store.phases + s.load.phases);
  return fmt::format("no placement has fewer for these: {} and {} by ranks", s.store.least_wavefronts,
                     s.load.least_wavefronts);
}

std::string shared_text(const Conversion& c) {
  if (!c.shared) return "";
  const SharedExchange& s = *c.shared;
  return fmt::format("shared memory {}; {}{}{}; {} turns{}\n", counted(s.bytes, "byte"),
                     side_text(s.store, true), side_text(s.load, false), conflicts_text(c), s.turns,
                     c.has_program() && c.is_shared_cheaper() ? ", fewer than the registers'" : "");
}

std::string registers_text(const Conversion& c) {
  if (c.is_load()) return fmt::format("from memory to {} a lane", counted(c.words_to, "register"));
  if (c.is_store()) return fmt::format("from {} a lane to memory", counted(c.words_from, "register"));
  return fmt::format("{} to {} registers a lane", c.words_from, c.words_to);
}

}  // namespace

std::string SharedSide::text(bool is_store) const {
  const char* plural = instructions == 1 ? "" : "s";
  if (kind == AccessKind::plain)
    return fmt::format("{} {}{} of {}", instructions, is_store ? "store" : "load", plural,
                       counted(bytes, "byte"));
  return fmt::format("{} {}.x{}{}", instructions, is_store ? "stmatrix" : "ldmatrix", phases / instructions,
                     kind == AccessKind::matrix ? "" : ".trans");
}

std::string to_text(const Conversion& c) {
  std::string text = fmt::format("{} -> {}\n", c.from.name, c.to.name);
  text += fmt::format(
      "elements      {} bits, {}, {} lanes{}; {}\n", c.element, shape_text(c.from), 1 << c.lane_bits,
      c.warp_bits == 0 ? "" : fmt::format(" of {}", counted(1 << c.warp_bits, "warp")), registers_text(c));
  if (c.has_program()) {
    const InstructionCounts counts = c.program.counts();
    text += fmt::format("shuffles      {}: {}\n", counts.shuffles, proof_of(c));
    text += fmt::format("steps         {}\n", steps_text(c));
    text += fmt::format("instructions  {}, {}, {} of bytes; {} turns\n", counted(counts.shuffles, "shuffle"),
                        counted(counts.selects, "select"), counted(counts.permutes, "permutation"),
                        counts.turns());
    if (!c.transposed.empty())
      text += fmt::format("movmatrix     {} in their place, one for each register; {} turns\n",
                          c.transposed.size(), c.register_turns());
  } else if (!c.is_load() && !c.is_store()) {
    text += "shuffles      none: elements change warps\n";
  }
  return text + shared_text(c);
}

std::string to_json(const Conversion& c) {
  nlohmann::ordered_json json;
  json["schema"] = kJsonSchema;
  const auto layout = [](const Layout& l) {
    return nlohmann::ordered_json{{"name", l.name}, {"linear", to_text(l)}, {"cute", to_cute(l)}};
  };
  json["from"] = layout(c.from);
  json["to"] = layout(c.to);
  json["element_bits"] = c.element;
  json["lanes"] = 1 << c.lane_bits;
  json["warps"] = 1 << c.warp_bits;
  json["registers"] = {c.words_from, c.words_to};
  for (const char* key :
       {"shuffles", "selects", "permutes", "turns", "movmatrix", "least_shuffles", "proven"})
    json[key] = nullptr;
  json["steps"] = nlohmann::ordered_json::array();
  if (c.has_program()) {
    const InstructionCounts counts = c.program.counts();
    json["shuffles"] = counts.shuffles;
    json["selects"] = counts.selects;
    json["permutes"] = counts.permutes;
    json["turns"] = c.register_turns();
    json["movmatrix"] = c.transposed.size();
    json["least_shuffles"] = {{"linear_steps", c.bound.linear_steps}, {"any_program", c.bound.any_program}};
    json["proven"] = c.is_proven();
    for (const Step& step : c.steps)
      json["steps"].push_back(
          {{"shuffles", step.shuffles}, {"sources", step.sources}, {"keeps", step.keeps}});
  }
  json["shared"] = nullptr;
  if (c.shared) {
    const auto side = [](const SharedSide& s, bool is_store) {
      if (s.kind == AccessKind::none) return nlohmann::ordered_json(nullptr);
      return nlohmann::ordered_json{{"by", s.text(is_store)},
                                    {"instructions", s.instructions},
                                    {"wavefronts", s.wavefronts},
                                    {"without_conflicts", s.phases},
                                    {"least_wavefronts", s.least_wavefronts}};
    };
    json["shared"] = {{"bytes", c.shared->bytes},
                      {"store", side(c.shared->store, true)},
                      {"load", side(c.shared->load, false)},
                      {"is_free_of_conflicts", c.shared->is_free_of_conflicts()},
                      {"turns", c.shared->turns},
                      {"is_cheaper", c.is_shared_cheaper()}};
  }
  return json.dump(2);
}

}  // namespace faro::exchange
