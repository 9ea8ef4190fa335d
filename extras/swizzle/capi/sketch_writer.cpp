// Specifications and sketches as JSON, which sketch_json.cpp reads.
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "capi/sketch_json.hpp"
#include "faro/error.hpp"

namespace faro::capi {

const char* word_of(swizzle::IndexKind kind) {
  static constexpr const char* kNames[] = {"",   "lane", "warp", "block", "loop", "argument", "hole",
                                           "+",  "-",    "*",    "/",     "%",    "^",        "<",
                                           "<=", "==",   "not",  "and",   "or",   "select"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(swizzle::IndexKind::select) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

using namespace swizzle;

Json accumulation_json(const Accumulation& a) {
  return {{"outer", name(a.outer)}, {"inner", name(a.inner)}, {"divisor", a.divisor}};
}

Json value_json(const Specification& specification, ValueId value) {
  const ValueTable& values = specification.values();
  if (values.is_input(value)) {
    const auto array = static_cast<std::size_t>(values.array_of(value));
    return Json::array({specification.arrays()[array].name, values.index_of(value)});
  }
  Json terms = Json::array();
  for (const auto& term : values.terms_of(value)) {
    Json one = Json::array();
    for (const ValueId factor : term) one.push_back(value_json(specification, factor));
    terms.push_back(std::move(one));
  }
  return {{"sum", accumulation_json(values.accumulation_of(value))}, {"terms", std::move(terms)}};
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const Program& program) : program_(program) {}

  Json written() {
    Json json = {{"warp", program_.launch().warp},
                 {"warps", program_.launch().warps},
                 {"blocks", program_.launch().blocks}};
    if (program_.launch().banks != 0) json["banks"] = program_.launch().banks;
    json["declarations"] = Json::array();
    Json& declarations = json["declarations"];
    for (const auto& r : program_.register_arrays())
      declarations.push_back({{"kind", "registers"}, {"name", r.name}, {"size", r.size}});
    for (const auto& a : program_.arrays())
      if (a.kind == ArrayKind::shared)
        declarations.push_back({{"kind", "shared"}, {"name", a.name}, {"size", a.size}});
    for (const auto& a : program_.accumulators()) {
      Json declared = {{"kind", "accumulator"}, {"name", a.name}};
      declared.update(accumulation_json(a.accumulation));
      declarations.push_back(std::move(declared));
    }
    for (const HoleDeclaration& hole : program_.holes()) declarations.push_back(hole_json(hole));
    json["statements"] = statements_json(program_.statements());
    return json;
  }

 private:
  Json index_json(const Index& index) const {
    if (index.kind() == IndexKind::constant) return index.value();
    Json json = Json::array({word_of(index.kind())});
    if (index.kind() == IndexKind::loop) {
      if (index.number() == counter_) return Json::array({"argument", 0});
      json.push_back(loops_.at(index.number()));
    }
    if (index.kind() == IndexKind::argument || index.kind() == IndexKind::hole)
      json.push_back(index.number());
    for (const Index& operand : index.operands()) json.push_back(index_json(operand));
    return json;
  }

  Json register_json(const Register& r) const { return Json::array({r.registers, index_json(r.index)}); }

  Json hole_json(const HoleDeclaration& hole) const {
    constexpr const char* kKinds[] = {"xform",  "part",        "condition", "bits",
                                      "family", "warp_offset", "warp_size"};
    Json json = {{"kind", kKinds[static_cast<std::size_t>(hole.kind)]}, {"name", hole.name}};
    if (hole.kind != HoleKind::xform && !hole.arguments.empty()) {
      Json& arguments = json["arguments"] = Json::object();
      for (const Argument& argument : hole.arguments) arguments[argument.name] = argument.asked;
    }
    switch (hole.kind) {
      case HoleKind::xform:
        json["m"] = hole.m;
        json["asked"] = hole.arguments[1].asked;
        json["of_registers"] = hole.in_extra == Freedom::extra;
        [[fallthrough]];
      case HoleKind::bits:
        json["n"] = hole.n;
        json["one_to_one"] = hole.one_to_one;
        json["easy"] = hole.most == Freedom::easy;
        break;
      case HoleKind::part:
        json["choices"] = hole.choices;
        [[fallthrough]];
      case HoleKind::condition:
        json["constants"] = hole.constants;
        json["easy"] = hole.most_conditions == ConditionFreedom::easy;
        break;
      case HoleKind::formulas:
        json["formulas"] = Json::array();
        for (const Index& formula : hole.formulas) json["formulas"].push_back(index_json(formula));
        break;
      case HoleKind::warp_offset:
        json["units"] = hole.units;
        [[fallthrough]];
      case HoleKind::warp_size:
        json["most_constant"] = hole.most_constant;
        break;
    }
    return json;
  }

  Json statements_json(std::span<const Statement> statements) {
    Json all = Json::array();
    for (const Statement& statement : statements)
      all.push_back(std::visit([&](const auto& s) { return json_of(s); }, statement));
    return all;
  }

  Json json_of(const LoadStatement& s) const {
    return Json::array(
        {"load", register_json(s.to), s.from.number, index_json(s.address), index_json(s.when)});
  }
  Json json_of(const StoreStatement& s) const {
    return Json::array(
        {"store", s.to.number, index_json(s.address), register_json(s.from), index_json(s.when)});
  }
  Json json_of(const ShuffleStatement& s) const {
    return Json::array({"shuffle", register_json(s.to), register_json(s.from), index_json(s.lane)});
  }
  Json json_of(const PermuteStatement& s) {
    counter_ = s.counter;
    Json json = Json::array({"permute", s.to, s.from, index_json(s.source)});
    counter_ = -1;
    return json;
  }
  Json json_of(const MoveStatement& s) const {
    return Json::array({"move", register_json(s.to), register_json(s.from)});
  }
  Json json_of(const AccumulateStatement& s) const {
    Json term = Json::array();
    for (const Register& r : s.term) term.push_back(register_json(r));
    if (s.starts) return Json::array({"start", s.accumulator, std::move(term)});
    return Json::array({"accumulate", s.accumulator, std::move(term), index_json(s.when)});
  }
  Json json_of(const EvaluateStatement& s) const {
    return Json::array({"evaluate", register_json(s.to), s.accumulator});
  }
  static Json json_of(const BarrierStatement& /*s*/) { return Json::array({"barrier"}); }
  Json json_of(const PresentStatement& s) const {
    return Json::array({"present", s.registers, s.output.number, index_json(s.address), index_json(s.when)});
  }
  Json json_of(const LoopStatement& s) {
    const auto number = static_cast<int>(loops_.size());
    loops_.emplace(s.number, number);
    const auto& declared = program_.loops()[static_cast<std::size_t>(s.number)];
    return Json::array({"loop", number, declared.name, s.count, statements_json(s.body)});
  }

  const Program& program_;
  std::map<int, int> loops_;  // the program's numbers, which count permutations, as the file has them
  int counter_ = -1;          // of the permutation that is written
};

Json specification_json(const Specification& specification) {
  Json json = {{"arrays", Json::array()}, {"wanted", Json::object()}};
  for (std::size_t number = 0; number < specification.arrays().size(); ++number) {
    const ArrayDeclaration& array = specification.arrays()[number];
    const bool is_input = array.kind == ArrayKind::input;
    json["arrays"].push_back(
        {{"name", array.name}, {"kind", is_input ? "input" : "output"}, {"size", array.size}});
    if (is_input) continue;
    Json& elements = json["wanted"][array.name] = Json::array();
    for (std::int64_t i = 0; i < array.size; ++i) {
      const ValueId wanted = specification.wanted({.number = static_cast<int>(number)}, i);
      if (wanted != kUndefined) elements.push_back(Json::array({i, value_json(specification, wanted)}));
    }
  }
  return json;
}

}  // namespace

std::string sketch_file(const swizzle::Example& example) {
  Json json = {{"name", example.name}};
  json["specification"] = specification_json(example.specification);
  json["sketch"] = ProgramWriter(example.sketch).written();
  return json.dump() + "\n";
}

swizzle::Example sketch_of(const Json& json) {
  swizzle::Specification specification = specification_of(json.at("specification"));
  swizzle::Program program = program_of(json.at("sketch"), specification);
  return {.name = json.at("name").get<std::string>(),
          .summary = {},
          .struct_words = {},
          .specification = std::move(specification),
          .sketch = std::move(program),
          .known = {}};
}

swizzle::Example read_sketch(const std::string& text, const std::string& file) {
  try {
    return sketch_of(Json::parse(text));
  } catch (const nlohmann::json::exception& exception) {
    fail(ErrorCode::spec, "read the sketch in `" + file + "`", exception.what(), "a sketch",
         "`faro synth EXAMPLE --sketch FILE` and Program.text() of Python give one");
  }
}

}  // namespace faro::capi
