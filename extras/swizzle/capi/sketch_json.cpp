#include "capi/sketch_json.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"

namespace faro::capi {
namespace {

using namespace swizzle;

constexpr const char* kReadingSketch = "read a sketch";
constexpr const char* kSketchRemedy = "faro.sketch writes them";

std::string shown(const Json& json) {
  constexpr std::size_t kMostShown = 80;
  const std::string text = json.dump();
  return text.size() > kMostShown ? text.substr(0, kMostShown) + "…" : text;
}

Operator operator_of(const std::string& word) {
  for (const Operator op : {Operator::none, Operator::add, Operator::multiply, Operator::bit_xor,
                            Operator::bit_and, Operator::bit_or, Operator::least, Operator::greatest}) {
    if (word == name(op)) return op;
  }
  fail(ErrorCode::spec, kReadingSketch, shown(word), "an operator: + * ^ & | min max, or none",
       kSketchRemedy);
}

Accumulation accumulation_of(const Json& json) {
  return {.outer = operator_of(json.at("outer").get<std::string>()),
          .inner = operator_of(json.at("inner").get<std::string>()),
          .divisor = json.at("divisor").get<std::uint32_t>()};
}

// --- specifications

class SpecificationReader {
 public:
  explicit SpecificationReader(const Json& json) {
    for (const Json& array : json.at("arrays")) {
      const auto name = array.at("name").get<std::string>();
      const auto size = array.at("size").get<std::int64_t>();
      const bool is_input = array.at("kind") == "input";
      arrays_.emplace_back(name, is_input ? made_.input(name, size) : made_.output(name, size));
    }
    for (const auto& [name, elements] : json.at("wanted").items()) {
      const Array output = array_of(name);
      for (const Json& element : elements)
        made_.set(output, element.at(0).get<std::int64_t>(), value_of(element.at(1)));
    }
  }

  Specification made() && { return std::move(made_); }

 private:
  Array array_of(const std::string& name) const {
    for (const auto& [known, array] : arrays_) {
      if (known == name) return array;
    }
    fail(ErrorCode::spec, kReadingSketch, shown(name), "an array of the specification", kSketchRemedy);
  }

  ValueId value_of(const Json& json) {
    if (json.is_array())
      return made_.at(array_of(json.at(0).get<std::string>()), json.at(1).get<std::int64_t>());
    Specification::Accumulator sum = made_.accumulator(accumulation_of(json.at("sum")));
    for (const Json& term : json.at("terms")) {
      std::vector<ValueId> values;
      for (const Json& value : term) values.push_back(value_of(value));
      sum.add(std::move(values));
    }
    return made_.value(sum);
  }

  Specification made_;
  std::vector<std::pair<std::string, Array>> arrays_;
};

// --- sketches

class ProgramReader {
 public:
  ProgramReader(const Json& json, const Specification& specification)
      : program_(specification, {.warp = json.at("warp").get<std::int64_t>(),
                                 .warps = json.at("warps").get<std::int64_t>(),
                                 .blocks = json.at("blocks").get<std::int64_t>(),
                                 .banks = json.value("banks", std::int64_t{0})}) {
    for (std::size_t number = 0; number < specification.arrays().size(); ++number)
      arrays_.push_back({static_cast<int>(number)});
    for (const Json& declaration : json.at("declarations")) declare(declaration);
    record(json.at("statements"));
  }

  Program made() && { return std::move(program_); }

 private:
  void declare(const Json& json) {
    const auto kind = json.at("kind").get<std::string>();
    const auto name = json.at("name").get<std::string>();
    if (kind == "registers") {
      registers_.push_back(program_.registers(name, json.at("size").get<std::int64_t>()));
    } else if (kind == "shared") {
      arrays_.push_back(program_.shared(name, json.at("size").get<std::int64_t>()));
    } else if (kind == "accumulator") {
      accumulators_.push_back(program_.accumulator(name, accumulation_of(json)));
    } else {
      holes_.push_back(hole(kind, name, json));
    }
  }

  Hole hole(const std::string& kind, const std::string& name, const Json& json) {
    std::vector<Argument> arguments;
    if (json.contains("arguments")) {
      for (const auto& [argument, asked] : json.at("arguments").items())
        arguments.push_back({argument, asked.get<std::int64_t>()});
    }
    const auto constants = json.value("constants", std::vector<std::int64_t>());
    const bool is_easy = json.value("easy", false);
    const auto conditions = is_easy ? ConditionFreedom::easy : ConditionFreedom::full;
    if (kind == "xform") {
      const bool is_register = json.value("of_registers", false);
      return program_.xform(name, {.n = json.at("n").get<std::int64_t>(),
                                   .m = json.at("m").get<std::int64_t>(),
                                   .asked = json.value("asked", std::int64_t{0}),
                                   .one_to_one = json.value("one_to_one", false),
                                   .most = is_easy ? Freedom::easy : Freedom::full,
                                   .in_extra = is_register ? Freedom::extra : Freedom::gcd});
    }
    if (kind == "part")
      return program_.part(name, json.at("choices").get<std::int64_t>(), arguments, constants, conditions);
    if (kind == "bits") {
      return program_.bits(
          name, json.at("n").get<std::int64_t>(), arguments,
          {.one_to_one = json.value("one_to_one", false), .most = is_easy ? Freedom::easy : Freedom::full});
    }
    if (kind == "family") {
      std::vector<Index> formulas;
      for (const Json& formula : json.at("formulas"))
        formulas.push_back(index_of(formula, static_cast<int>(arguments.size())));
      return program_.family(name, arguments, std::move(formulas));
    }
    if (kind == "condition") return program_.condition(name, arguments, constants, conditions);
    if (kind == "warp_offset") {
      return program_.warp_offset(name, arguments, json.at("units").get<std::vector<std::int64_t>>(),
                                  json.value("most_constant", std::int64_t{4}));
    }
    if (kind == "warp_size") return program_.warp_size(name, json.value("most_constant", std::int64_t{4}));
    fail(ErrorCode::spec, kReadingSketch, shown(kind),
         "registers, shared, accumulator, xform, part, condition, bits, family, warp_offset or warp_size",
         kSketchRemedy);
  }

  template <typename T>
  static const T& of(const std::vector<T>& declared, const Json& number) {
    const auto at = number.get<std::size_t>();
    if (at >= declared.size())
      fail(ErrorCode::spec, kReadingSketch, shown(number), "the number of something that was declared",
           kSketchRemedy);
    return declared[at];
  }

  // `arguments`: how many the function has whose expression it is; 0: none.
  Index index_of(const Json& json, int arguments = 0) const {
    if (json.is_number_integer()) return Index(json.get<std::int64_t>());
    const auto word = json.at(0).get<std::string>();
    if (word == "lane") return lane_index();
    if (word == "warp") return warp_index();
    if (word == "block") return block_index();
    if (word == "argument") {
      const int number = json.at(1).get<int>();
      if (number < 0 || number >= arguments)
        fail(ErrorCode::spec, kReadingSketch, shown(json), "an argument that the function has",
             kSketchRemedy);
      return argument_index(number);
    }
    if (word == "loop") return of(loops_, json.at(1));
    std::vector<Index> operands;
    const std::size_t first = word == "hole" ? 2 : 1;
    for (std::size_t k = first; k < json.size(); ++k) operands.push_back(index_of(json.at(k), arguments));
    if (word == "hole")
      return Index::node(IndexKind::hole, of(holes_, json.at(1)).number(), std::move(operands));
    for (auto kind = IndexKind::add; kind <= IndexKind::select;
         kind = static_cast<IndexKind>(static_cast<int>(kind) + 1)) {
      const std::size_t wanted = kind == IndexKind::logical_not ? 1 : kind == IndexKind::select ? 3 : 2;
      if (word == word_of(kind) && operands.size() == wanted)
        return Index::node(kind, 0, std::move(operands));
    }
    fail(ErrorCode::spec, kReadingSketch, shown(json), "an expression", kSketchRemedy);
  }

  Register register_of(const Json& json) const { return of(registers_, json.at(0))[index_of(json.at(1))]; }
  Array array_of(const Json& json) const { return of(arrays_, json); }

  Transfer transfer_of(const Json& json) const {
    Transfer made{.slice = json.at("slice").get<std::int64_t>(),
                  .rounds = json.at("rounds").get<std::int64_t>(),
                  .offset = index_of(json.at("offset"))};
    if (json.contains("size")) made.size = index_of(json.at("size"));
    if (json.contains("lane")) {
      made.lane = [lane = index_of(json.at("lane"), 2)](const Index& t, const Index& round) {
        const std::array<Index, 2> arguments{t, round};
        return substitute(lane, arguments);
      };
    }
    return made;
  }

  void record(const Json& statements) {
    for (const Json& statement : statements) add(statement.at(0).get<std::string>(), statement);
  }

  void add(const std::string& word, const Json& json) {
    if (word == "load")
      return program_.load(register_of(json.at(1)), array_of(json.at(2)), index_of(json.at(3)),
                           index_of(json.at(4)));
    if (word == "store")
      return program_.store(array_of(json.at(1)), index_of(json.at(2)), register_of(json.at(3)),
                            index_of(json.at(4)));
    if (word == "shuffle")
      return program_.shuffle(register_of(json.at(1)), register_of(json.at(2)), index_of(json.at(3)));
    if (word == "permute") {
      return program_.permute(of(registers_, json.at(1)), of(registers_, json.at(2)),
                              [source = index_of(json.at(3), 1)](const Index& i) {
                                const std::array<Index, 1> arguments{i};
                                return substitute(source, arguments);
                              });
    }
    if (word == "move") return program_.move(register_of(json.at(1)), register_of(json.at(2)));
    if (word == "accumulate" || word == "start") {
      std::vector<Register> term;
      for (const Json& each : json.at(2)) term.push_back(register_of(each));
      const AccumulatorRef sum = of(accumulators_, json.at(1));
      if (word == "start") return program_.start(sum, std::move(term));
      return program_.accumulate(sum, std::move(term), index_of(json.at(3)));
    }
    if (word == "evaluate") return program_.evaluate(register_of(json.at(1)), of(accumulators_, json.at(2)));
    if (word == "store_sum")
      return program_.store(array_of(json.at(1)), index_of(json.at(2)), of(accumulators_, json.at(3)),
                            index_of(json.at(4)));
    if (word == "barrier") return program_.barrier();
    if (word == "present")
      return program_.present(of(registers_, json.at(1)), array_of(json.at(2)), index_of(json.at(3)),
                              index_of(json.at(4)));
    if (word == "global_to_registers")
      return program_.global_to_registers(of(registers_, json.at(1)), array_of(json.at(2)),
                                          transfer_of(json.at(3)));
    if (word == "registers_to_global")
      return program_.registers_to_global(array_of(json.at(2)), of(registers_, json.at(1)),
                                          transfer_of(json.at(3)));
    if (word == "loop") {
      return program_.loop(json.at(2).get<std::string>(), json.at(3).get<std::int64_t>(),
                           [&](const Index& counter) {
                             if (json.at(1).get<std::size_t>() != loops_.size())
                               fail(ErrorCode::spec, kReadingSketch, shown(json.at(1)),
                                    "loops in the order of their numbers", kSketchRemedy);
                             loops_.push_back(counter);
                             record(json.at(4));
                           });
    }
    fail(ErrorCode::spec, kReadingSketch, shown(json), "a statement", kSketchRemedy);
  }

  Program program_;
  std::vector<Array> arrays_;
  std::vector<Registers> registers_;
  std::vector<AccumulatorRef> accumulators_;
  std::vector<Hole> holes_;
  std::vector<Index> loops_;
};

}  // namespace

swizzle::Specification specification_of(const Json& json) { return SpecificationReader(json).made(); }

swizzle::Program program_of(const Json& json, const swizzle::Specification& specification) {
  return ProgramReader(json, specification).made();
}

}  // namespace faro::capi
