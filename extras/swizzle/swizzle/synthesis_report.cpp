#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "faro/json_schema.hpp"
#include "faro/swizzle/examples.hpp"

namespace faro::swizzle {
namespace {

using Json = nlohmann::ordered_json;

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

std::string counted(std::uint64_t count, const char* noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

// A function as its parameters, and as the formula that they come to.
struct FunctionText {
  std::string parameters, formula;
};

FunctionText text_of(const HoleDeclaration& hole, const Parameters& parameters) {
  IndexNames names;
  for (const Argument& argument : hole.arguments) names.arguments.push_back(argument.name);
  return {.parameters = to_text(parameters, hole), .formula = to_text(as_index(parameters, hole), names)};
}

FunctionText text_of(const Example& example, const Valuation& valuation, std::size_t hole) {
  return text_of(example.sketch.holes()[hole], valuation.parameters(static_cast<int>(hole)));
}

Json json_of(const Cost& cost) {
  return {{"live_accumulates", cost.live_accumulates},
          {"shuffles", cost.shuffles},
          {"conflicts", cost.conflicts},
          {"instructions", cost.instructions}};
}

Json json_of(const Example& example, const Valuation& valuation, const Cost& cost) {
  Json holes = Json::object();
  for (std::size_t hole = 0; hole < example.sketch.holes().size(); ++hole) {
    const FunctionText text = text_of(example, valuation, hole);
    holes[example.sketch.holes()[hole].name] = {{"parameters", text.parameters}, {"formula", text.formula}};
  }
  return {{"cost", json_of(cost)}, {"holes", holes}};
}

// The solution that needs no search, where the example has one.
const KnownSolution* closed_form_of(const Example& example) {
  const auto found = std::find_if(example.known.begin(), example.known.end(),
                                  [](const KnownSolution& known) { return known.source == "closed form"; });
  return found == example.known.end() ? nullptr : &*found;
}

std::string cost_text(const Cost& cost) {
  const std::string conflicts =
      cost.conflicts == 0 ? "" : counted(static_cast<std::uint64_t>(cost.conflicts), "bank conflict") + ", ";
  return fmt::format("{}, {}, {}{}",
                     counted(static_cast<std::uint64_t>(cost.live_accumulates), "live accumulate"),
                     counted(static_cast<std::uint64_t>(cost.shuffles), "shuffle"), conflicts,
                     counted(static_cast<std::uint64_t>(cost.instructions), "instruction"));
}

class Text {
 public:
  void line(const std::string& label, const std::string& text) {
    text_ += fmt::format("{:<14}{}\n", label, text);
  }
  void solution(const std::string& label, const Example& example, const Valuation& valuation,
                const Cost& cost) {
    line(label, cost_text(cost));
    std::size_t width = 0;
    for (const HoleDeclaration& hole : example.sketch.holes()) width = std::max(width, hole.name.size());
    for (std::size_t hole = 0; hole < example.sketch.holes().size(); ++hole) {
      const FunctionText text = text_of(example, valuation, hole);
      const bool same = text.parameters == text.formula;
      line("", fmt::format("{:<{}}  {}{}", example.sketch.holes()[hole].name, width, text.formula,
                           same ? "" : "   " + text.parameters));
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// What Space::extra opens of a hole, beside all that `full` does.
std::string extra_text(const HoleDeclaration& hole, Space space) {
  if (hole.kind != HoleKind::xform || space != Space::extra) return "";
  switch (freedom_in(hole, space)) {
    case Freedom::gcd:
      return "; g free";
    case Freedom::extra:
      return "; g, ecr and ec free";
    default:
      return "";
  }
}

std::string families_text(const Example& example, const SynthesisResult& result, std::size_t family,
                          std::size_t width) {
  const HoleFamily& f = result.families[family];
  if (f.functions == 0) return fmt::format("{:<{}}  not enumerated", f.hole, width);
  const bool tried = std::find(result.order.begin(), result.order.end(), f.hole) != result.order.end();
  return fmt::format("{:<{}}  {}, written in {}{}{}", f.hole, width, counted(f.functions, "function"),
                     counted(f.parameters, "way"), extra_text(example.sketch.holes()[family], result.space),
                     tried ? "; tried one by one" : "");
}

// What a hole's family writes, so that a proof says what it is a proof of.
std::string grammar_text(const HoleDeclaration& hole, Space space) {
  const auto condition = [&] {
    if (condition_freedom_in(hole, space) == ConditionFreedom::easy)
      return std::string("v1 cmp v2, true or false; cmp in = != >= > <= <");
    std::string constants = fmt::format("0, 1, -1, {}", hole.warp);
    for (const std::int64_t constant : hole.constants) constants += ", " + std::to_string(constant);
    return "v1 cmp (I + v2) or v1 cmp (I - v2), true or false; cmp in = != >= > <= <, I in " + constants;
  };
  switch (hole.kind) {
    case HoleKind::xform: {
      const Freedom freedom = freedom_in(hole, space);
      if (freedom == Freedom::easy)
        return fmt::format("(cf i + cr k + c) mod {}; cf, cr, c below it", hole.n);
      const std::string text = fmt::format(
          "gs floor(i / gs) + (cf i' + floor(i' / df) + cr k + trunc(k / dr) + c, the sum behind cf i' "
          "perhaps mod g) "
          "mod gs; gs divides {}, df divides gs, dr or -dr divides {}, ",
          hole.n, hole.m);
      const bool is_shifted = freedom == Freedom::extra;
      return text + (freedom == Freedom::full ? "g = gs / df" : "g free") +
             (is_shifted ? ", i' = (i + ecr k + ec) mod gs" : ", i' = i mod gs");
    }
    case HoleKind::part:
      return fmt::format("a chain of {} conditions: {}", hole.choices - 1, condition());
    case HoleKind::condition:
      return condition();
    case HoleKind::bits: {
      const std::string& i = hole.arguments.front().name;
      const std::string rest = hole.arguments.size() > 1 ? " of the other arguments" : "";
      const Freedom freedom = freedom_in(hole, space);
      if (freedom == Freedom::easy)
        return i + " ^ c" + (rest.empty() ? "" : ", ^ each other argument shifted or not at all") +
               fmt::format("; c below {}", hole.n);
      return fmt::format(
          "c ^ an XOR of words, one for each set bit; c and all words below {}{}", hole.n,
          freedom == Freedom::full ? ", those of " + i + " one bit each, no two the same" : "");
    }
    case HoleKind::formulas:
      return fmt::format("{} that the sketch lists", counted(hole.formulas.size(), "formula"));
    case HoleKind::warp_offset:
      return fmt::format("a constant and multiples of the ids, all factors 0 to {}", hole.most_constant);
    case HoleKind::warp_size:
      return fmt::format("a constant and a multiple of the warp, both 0 to {}", hole.most_constant);
  }
  return {};
}

std::string outcome_text(const SynthesisResult& result) {
  switch (result.outcome) {
    case Outcome::found:
      return fmt::format("{}, and no other in this space; {:.2f} s, the best after {:.2f} s",
                         counted(result.solutions, "solution"), result.seconds, result.seconds_to_best);
    case Outcome::none:
      return fmt::format("no solution in this space: proven by {} in {:.2f} s",
                         result.candidates == 0 ? std::string("the families alone")
                                                : "trying " + counted(result.candidates, "function"),
                         result.seconds);
    case Outcome::not_finished:
      break;
  }
  const std::string found = result.solutions == 0
                                ? "nothing found, which proves nothing"
                                : counted(result.solutions, "solution") + " found, and there may be more";
  return fmt::format("not finished: {}; {}; {} may finish it; {:.2f} s", result.unfinished, found,
                     result.remedy, result.seconds);
}

}  // namespace

std::string to_text(const Example& example, const SynthesisResult& result, std::uint64_t most_solutions) {
  Text text;
  const Launch& launch = example.sketch.launch();
  text.line("example", example.name + ": " + example.summary);
  text.line("launch",
            fmt::format("{} of {} of {}", counted(static_cast<std::uint64_t>(launch.blocks), "block"),
                        counted(static_cast<std::uint64_t>(launch.warps), "warp"),
                        counted(static_cast<std::uint64_t>(launch.warp), "lane")));
  if (example.struct_words) text.line("struct", std::to_string(*example.struct_words));
  text.line("space", name(result.space));
  std::size_t width = 0;
  for (const HoleFamily& family : result.families) width = std::max(width, family.hole.size());
  for (std::size_t family = 0; family < result.families.size(); ++family)
    text.line(family == 0 ? "holes" : "", families_text(example, result, family, width));
  if (result.families.empty()) text.line("holes", "none: the program is checked as it stands");
  text.line("result", outcome_text(result));
  if (result.outcome == Outcome::none) {
    for (std::size_t hole = 0; hole < example.sketch.holes().size(); ++hole) {
      const HoleDeclaration& declared = example.sketch.holes()[hole];
      text.line(hole == 0 ? "proven for" : "",
                fmt::format("{:<{}}  {}", declared.name, width, grammar_text(declared, result.space)));
    }
  }
  if (result.best) text.solution("best", example, result.best->valuation, result.best->cost);
  std::uint64_t shown = 0;
  for (const Solution& solution : result.kept) {
    if (shown == most_solutions) break;
    text.solution("solution " + std::to_string(++shown), example, solution.valuation, solution.cost);
  }
  if (most_solutions > 0 && shown < result.solutions)
    text.line("", counted(result.solutions - shown, "more solution") + ", not shown");
  const KnownSolution* const closed = closed_form_of(example);
  if (!result.best && closed != nullptr)
    text.solution("closed form", example, closed->valuation, cost_of(example.sketch, closed->valuation));
  return text.take();
}

std::string to_json(const Example& example, const SynthesisResult& result, std::uint64_t most_solutions) {
  Json json;
  json["schema"] = kJsonSchema;
  json["example"] = example.name;
  json["struct"] = example.struct_words ? Json(*example.struct_words) : Json(nullptr);
  json["warp"] = example.sketch.launch().warp;
  json["space"] = name(result.space);
  json["functions"] = Json::object();
  json["parameters"] = Json::object();
  for (const HoleFamily& family : result.families) {
    json["functions"][family.hole] = family.functions == 0 ? Json(nullptr) : Json(family.functions);
    json["parameters"][family.hole] = family.parameters;
  }
  json["grammar"] = Json::object();
  for (const HoleDeclaration& hole : example.sketch.holes())
    json["grammar"][hole.name] = grammar_text(hole, result.space);
  json["outcome"] = name(result.outcome);
  const bool unknown = result.outcome == Outcome::not_finished && result.solutions == 0;
  json["solutions"] = unknown ? Json(nullptr) : Json(result.solutions);
  json["best"] = result.best ? json_of(example, result.best->valuation, result.best->cost) : Json(nullptr);
  json["seconds"] = result.seconds;
  json["enumeration_seconds"] = result.enumeration_seconds;
  json["seconds_to_best"] = result.best ? Json(result.seconds_to_best) : Json(nullptr);
  json["candidates"] = result.candidates;
  json["order"] = result.order;
  json["by_trials"] = result.by_trials;
  json["unfinished"] = result.unfinished;
  json["remedy"] = result.remedy;
  const KnownSolution* const closed = closed_form_of(example);
  json["closed_form"] = closed == nullptr
                            ? Json(nullptr)
                            : json_of(example, closed->valuation, cost_of(example.sketch, closed->valuation));
  json["all"] = Json::array();
  for (const Solution& solution : result.kept) {
    if (json["all"].size() == most_solutions) break;
    json["all"].push_back(json_of(example, solution.valuation, solution.cost));
  }
  return json.dump(2);
}

std::string grid_text(const ValueTable& values, const WarpState& state, std::int64_t warp) {
  const auto lanes = static_cast<std::size_t>(warp);
  std::string text;
  for (std::size_t i = 0; i < state.values.size(); ++i) {
    const ValueId value = state.values[i];
    std::string cell = "*";
    if (value == kUndefined) cell = "-";
    if (value != kUndefined && values.is_input(value)) cell = std::to_string(values.index_of(value));
    text += cell;
    text += (i + 1) % lanes == 0 ? '\n' : ' ';
  }
  return text;
}

}  // namespace faro::swizzle
