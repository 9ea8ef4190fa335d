#include "store/checkpoint_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "file/sweep.hpp"
#include "store/checkpoint_moves.hpp"
#include "store/safetensors.hpp"

namespace faro::store {
namespace {

// A part of a source along an axis.
struct Slice {
  std::int64_t axis = 0;
  std::uint64_t number = 0;                                // of the parts
  std::vector<std::optional<std::uint64_t>> extents = {};  // of all of them
};

struct DraftPart {
  std::size_t source = 0;
  Change change = {};
  std::optional<Slice> slice = {};
};

// A tensor of the result, by names alone.
struct Draft {
  std::string name;
  std::vector<DraftPart> parts = {};
  const Rule* join = nullptr;
};

// What becomes of a tensor: of the last rule that says it.
struct Fate {
  const Rule* rule = nullptr;
  Captures captures = {};
  std::size_t pattern = 0;
};

std::string in_quotes(const std::string& name) { return "`" + name + "`"; }

// Rules matched with names: drafts.
class Matching {
 public:
  Matching(const CheckpointFiles& files, const Rules& rules) : files_(files), rules_(rules) {}

  CheckpointPlan plan;
  std::vector<Draft> drafts;

  void run() {
    plan.matched.assign(rules_.rules.size(), 0);
    for (std::size_t source = 0; source < files_.tensors.size(); ++source) match(source);
    for (std::size_t rule = 0; rule < rules_.rules.size(); ++rule) {
      if (plan.matched[rule] > 0) continue;
      const Rule& of = rules_.rules[rule];
      fail(ErrorCode::value, of.operation, of.text() + ", which match no tensor",
           fmt::format("a pattern of one of the {} tensors", files_.tensors.size()),
           files_.tensors.empty() ? "" : "such as " + in_quotes(files_.tensors.front().name));
    }
    require_whole_joins();
    require_own_names();
  }

 private:
  // Tensors that are joined under one name, by the rule and what its captures took.
  using JoinKey = std::pair<const Rule*, Captures>;

  void match(std::size_t source) {
    const CheckpointTensor& tensor = files_.tensors[source];
    Change change;
    Fate fate;
    for (std::size_t number = 0; number < rules_.rules.size(); ++number) {
      const Rule& rule = rules_.rules[number];
      if (!rule.is_for(tensor.type)) continue;
      for (std::size_t pattern = 0; pattern < rule.patterns.size(); ++pattern) {
        auto captures = rule.patterns[pattern].match(tensor.name);
        if (!captures) continue;
        ++plan.matched[number];
        change.take(rule.change);
        if (rule.name || rule.is_dropped || rule.split)
          fate = {.rule = &rule, .captures = *std::move(captures), .pattern = pattern};
        break;
      }
    }
    follow(source, change, fate);
  }

  void follow(std::size_t source, const Change& change, const Fate& fate) {
    const std::string& name = files_.tensors[source].name;
    const DraftPart whole{.source = source, .change = change};
    if (fate.rule == nullptr) {
      drafts.push_back({.name = name, .parts = {whole}});
    } else if (fate.rule->is_dropped) {
      plan.dropped.push_back(name);
    } else if (fate.rule->split) {
      split(whole, fate);
    } else if (fate.rule->join) {
      join(whole, fate);
    } else {
      drafts.push_back({.name = filled(*fate.rule->name, fate.captures), .parts = {whole}});
    }
  }

  void split(const DraftPart& whole, const Fate& fate) {
    const Split& split = *fate.rule->split;
    Slice slice{.axis = split.axis};
    for (const SplitPart& part : split.parts) slice.extents.push_back(part.extent);
    for (const SplitPart& part : split.parts) {
      DraftPart made = whole;
      made.change.take(part.change);
      made.slice = slice;
      drafts.push_back({.name = filled(part.name, fate.captures), .parts = {std::move(made)}});
      ++slice.number;
    }
  }

  void join(const DraftPart& whole, const Fate& fate) {
    const auto [found, is_new] = joins_.try_emplace({fate.rule, fate.captures}, drafts.size());
    if (is_new) {
      drafts.push_back({.name = filled(*fate.rule->name, fate.captures), .join = fate.rule});
      drafts.back().parts.assign(fate.rule->patterns.size(), {.source = kNone});
    }
    DraftPart& place = drafts[found->second].parts[fate.pattern];
    if (place.source != kNone) {
      fail(ErrorCode::value, fate.rule->operation,
           fmt::format("{} and {} for {}", in_quotes(files_.tensors[place.source].name),
                       in_quotes(files_.tensors[whole.source].name),
                       in_quotes(fate.rule->patterns[fate.pattern].text())),
           "one tensor for each pattern");
    }
    place = whole;
  }

  void require_whole_joins() const {
    for (const auto& [key, draft] : joins_) {
      const auto& parts = drafts[draft].parts;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (parts[part].source != kNone) continue;
        fail(ErrorCode::value, key.first->operation,
             "no tensor " + in_quotes(filled_pattern(key.first->patterns[part], key.second)) + " for " +
                 in_quotes(drafts[draft].name),
             "all parts of what is joined");
      }
    }
  }

  // What a pattern's tensor would be called.
  static std::string filled_pattern(const NamePattern& pattern, const Captures& captures) {
    std::string text = pattern.text();
    for (std::size_t star = text.find("*}"); star != std::string::npos; star = text.find("*}"))
      text.erase(star, 1);
    return filled(text, captures);
  }

  void require_own_names() const {
    std::map<std::string, std::size_t> seen;
    for (std::size_t draft = 0; draft < drafts.size(); ++draft) {
      const std::string& name = drafts[draft].name;
      if (name == "__metadata__")
        fail(ErrorCode::value, "name the tensors of the checkpoint", in_quotes(name), "a name of a tensor");
      const auto [found, is_new] = seen.emplace(name, draft);
      if (is_new) continue;
      fail(ErrorCode::value, "name the tensors of the checkpoint",
           fmt::format("{} for what becomes of {} and of {}", in_quotes(name),
                       in_quotes(files_.tensors[drafts[found->second].parts.front().source].name),
                       in_quotes(files_.tensors[drafts[draft].parts.front().source].name)),
           "a name for each");
    }
  }

  static constexpr std::size_t kNone = ~std::size_t{0};

  const CheckpointFiles& files_;
  const Rules& rules_;
  std::map<JoinKey, std::size_t> joins_;
};

std::size_t axis_of(std::int64_t axis, std::size_t rank, const std::string& operation) {
  const auto all = static_cast<std::int64_t>(rank);
  if (axis >= -all && axis < all) return static_cast<std::size_t>(axis < 0 ? axis + all : axis);
  fail(ErrorCode::value, operation, fmt::format("axis {} of {} axes", axis, rank),
       rank == 0 ? "a tensor with axes" : fmt::format("an axis from -{} to {}", rank, rank - 1));
}

// "-1" is what is left.
Shape reshaped(const std::vector<std::int64_t>& wanted, const Shape& from, const std::string& operation) {
  const std::uint64_t count = volume(from);
  Shape shape;
  shape.reserve(wanted.size());
  std::optional<std::size_t> open;
  std::uint64_t said = 1;
  const auto refuse = [&] {
    fail(ErrorCode::value, operation,
         fmt::format("shape ({}) of {} elements", fmt::join(wanted, ", "), count),
         "a shape of as many, with -1 at most once");
  };
  for (const std::int64_t extent : wanted) {
    if (extent < 0) {
      if (open) refuse();
      open = shape.size();
    } else if (extent != 0 && said > (std::uint64_t{1} << 62) / static_cast<std::uint64_t>(extent)) {
      refuse();
    } else {
      said *= static_cast<std::uint64_t>(extent);
    }
    shape.push_back(extent < 0 ? 1 : static_cast<std::uint64_t>(extent));
  }
  if (open && said != 0 && count % said == 0) {
    shape[*open] = count / said;
  } else if (open || said != count) {
    refuse();
  }
  return shape;
}

// A draft's part with its shapes.
struct FittedPart {
  std::size_t source = 0;
  ElementType type = {};  // of the source
  ElementType to = {};
  Lodging in = {};
  PartMove move = {};
  Shape shape = {};  // of the result
  Arithmetic arithmetic = {};
  std::string text = {};
};

Coefficient coefficient_of(const std::vector<double>& values, const std::optional<std::int64_t>& along,
                           const Shape& shape, const std::string& operation) {
  Coefficient made;
  made.values.assign(values.begin(), values.end());
  if (values.size() == 1) return made;
  if (!along)
    fail(ErrorCode::value, operation, fmt::format("{} values", values.size()),
         "the axis that they are `along`");
  made.axis = axis_of(*along, shape.size(), operation);
  return made;
}

// Drafts fitted to their tensors: shapes, types and sweeps.
class Fitting {
 public:
  Fitting(const CheckpointFiles& files, file::Options options)
      : files_(files), options_(std::move(options)), of_affine_(options_) {
    const std::uint64_t memory =
        options_.memory_bytes != 0 ? options_.memory_bytes : file::default_memory_bytes();
    of_affine_.memory_bytes = memory / 3 * 2;
  }

  CheckpointResult result_of(const Draft& draft) {
    std::vector<FittedPart> parts;
    parts.reserve(draft.parts.size());
    for (const DraftPart& part : draft.parts)
      parts.push_back(of_tensor(part.source, [&] { return fitted(part); }));
    CheckpointResult made{.name = draft.name, .shape = parts.front().shape, .type = parts.front().to};
    std::vector<Lodging> out{Lodging{}};
    if (draft.join != nullptr) out = join(parts, *draft.join, made);
    // A type that safetensors has not is refused here.
    of_tensor(parts.front().source, [&] {
      const SafeTensor named{.name = made.name, .shape = made.shape, .type = made.type};
      static_cast<void>(safetensors_header({&named, 1}, Json::object(), 1));
    });
    for (std::size_t part = 0; part < parts.size(); ++part) {
      made.sources.push_back(files_.tensors[parts[part].source].name);
      if (!parts[part].text.empty()) made.changes += (made.changes.empty() ? "" : "; ") + parts[part].text;
      of_tensor(parts[part].source, [&] { add_pieces(made, parts[part], out[part]); });
    }
    if (draft.join != nullptr) made.changes += made.changes.empty() ? "joined" : "; joined";
    return made;
  }

 private:
  std::string operation_of(std::size_t source) const {
    return "change " + in_quotes(files_.tensors[source].name);
  }

  // What call() gives; its errors say which tensor it was.
  template <typename Call>
  auto of_tensor(std::size_t source, const Call& call) const -> decltype(call()) {
    const std::string operation = operation_of(source);
    try {
      return call();
    } catch (const Error& error) {
      if (error.report().operation == operation) throw;
      ErrorReport report = error.report();
      report.operation = operation + ": " + report.operation;
      throw Error(std::move(report));
    }
  }

  FittedPart fitted(const DraftPart& part) const {
    const CheckpointTensor& tensor = files_.tensors[part.source];
    const std::string operation = operation_of(part.source);
    const Change& change = part.change;
    FittedPart made{.source = part.source, .type = tensor.type, .to = change.type.value_or(tensor.type)};
    Shape shape = change.reshape ? reshaped(*change.reshape, tensor.shape, operation) : tensor.shape;
    if (part.slice) made.text = slice(*part.slice, shape, made.in, operation);
    made.move = part_move(change.layout, shape, operation);
    made.shape = change.shape ? reshaped(*change.shape, made.move.shape, operation) : made.move.shape;
    if (!made.move.text.empty()) made.text += (made.text.empty() ? "" : ", ") + made.move.text;
    set_arithmetic(made, change, operation);
    return made;
  }

  // Cuts the shape, and says how the part lies in it.
  static std::string slice(const Slice& slice, Shape& shape, Lodging& lodging, const std::string& operation) {
    const std::size_t axis = axis_of(slice.axis, shape.size(), operation);
    const std::uint64_t all = shape[axis];
    const std::uint64_t parts = slice.extents.size();
    std::uint64_t sum = 0;
    std::uint64_t begin = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t extent = slice.extents[part].value_or(all / parts);
      if (part < slice.number) begin += extent;
      sum += std::min(extent, all + 1);
    }
    if (sum != all) {
      fail(ErrorCode::value, operation, fmt::format("parts of {} along an axis of {}", sum, all),
           slice.extents.front() ? "parts that are the axis together" : fmt::format("{} equal parts", parts));
    }
    const std::uint64_t extent = slice.extents[slice.number].value_or(all / parts);
    lodging = lodging_of(shape, axis, begin, extent);
    shape[axis] = extent;
    return fmt::format("{} from {} on of axis {}", extent, begin, axis);
  }

  static void set_arithmetic(FittedPart& made, const Change& change, const std::string& operation) {
    FARO_CHECK(made.type.number);
    if (!made.to.number)
      fail(ErrorCode::unsupported, operation, made.to.name + " as its type", "a type of numbers");
    Arithmetic& arithmetic = made.arithmetic;
    arithmetic = {.from = *made.type.number, .to = *made.to.number};
    arithmetic.saturated = change.saturates.value_or(false);
    if (change.scale) arithmetic.scale = coefficient_of(*change.scale, change.along, made.shape, operation);
    if (change.offset)
      arithmetic.offset = coefficient_of(*change.offset, change.along, made.shape, operation);
    check(arithmetic, made.shape);
    if (!is_plain(arithmetic)) made.text += (made.text.empty() ? "" : "; ") + to_text(arithmetic);
  }

  // One behind the other along an axis.
  static std::vector<Lodging> join(const std::vector<FittedPart>& parts, const Rule& rule,
                                   CheckpointResult& made) {
    const std::size_t axis = axis_of(rule.join->axis, made.shape.size(), rule.operation);
    made.shape[axis] = 0;
    for (const FittedPart& part : parts) {
      Shape others = part.shape;
      if (axis < others.size()) others[axis] = made.shape[axis];
      if (others != made.shape || part.to != made.type) {
        fail(ErrorCode::value, rule.operation,
             fmt::format("({}) of {} and ({}) of {} for {}", fmt::join(parts.front().shape, ", "),
                         made.type.name, fmt::join(part.shape, ", "), part.to.name, in_quotes(made.name)),
             fmt::format("parts that differ in axis {} alone", axis));
      }
      made.shape[axis] += part.shape[axis];
    }
    std::vector<Lodging> out;
    out.reserve(parts.size());
    std::uint64_t begin = 0;
    for (const FittedPart& part : parts) {
      out.push_back(lodging_of(made.shape, axis, begin, part.shape[axis]));
      begin += part.shape[axis];
      const bool varies = part.arithmetic.scale.axis || part.arithmetic.offset.axis;
      if (varies && !out.back().is_dense()) {
        fail(ErrorCode::unsupported, rule.operation,
             fmt::format("values along an axis of {}, a part of which lies in pieces", in_quotes(made.name)),
             "one value, or tensors joined along their first axis");
      }
    }
    if (rule.join->shape) made.shape = reshaped(*rule.join->shape, made.shape, rule.operation);
    return out;
  }

  void add_pieces(CheckpointResult& made, const FittedPart& part, const Lodging& out) {
    if (is_empty(part.shape)) return;
    const auto add = [&](file::Sweep sweep, std::uint64_t in_first, std::uint64_t out_first) {
      made.pieces.push_back({.source = part.source,
                             .sweep = std::move(sweep),
                             .in_offset = in_first * part.type.bytes,
                             .out_offset = out_first * part.to.bytes});
    };
    if (part.in.is_dense() && out.is_dense() && part.move.permutation)
      return add(sweep_of(*part.move.permutation, part), part.in.first, out.first);
    // Where a side is dense its beginning is the piece's, so that values along an axis are counted from it.
    const auto first = [](const Lodging& lodging) { return lodging.is_dense() ? lodging.first : 0; };
    const auto from_first = [&](Lodging lodging) {
      lodging.first -= first(lodging);
      return lodging;
    };
    const std::string operation = operation_of(part.source);
    for (const Strided& view : lodged(part.move, from_first(part.in), from_first(out), operation))
      add(sweep_of(view, part), first(part.in), first(out));
  }

  // Tensors that are changed alike have one sweep.
  template <typename What>
  file::Sweep sweep_of(const What& what, const FittedPart& part) {
    const file::Numbers numbers{.arithmetic = part.arithmetic, .shape = part.shape};
    const std::string key =
        part.move.text + "; " + to_text(what) + "; " + file::ChangedNumbers(numbers).identity();
    if (const auto found = sweeps_.find(key); found != sweeps_.end()) return found->second;
    return sweeps_.emplace(key, made_sweep(what, part.type.bytes, numbers)).first->second;
  }

  file::Sweep made_sweep(const Strided& view, std::uint64_t width, const file::Numbers& numbers) const {
    return {view, width, options_, numbers};
  }

  // All tiles lie in the same three buffers, those that are permuted in place, too: they are no larger.
  file::Sweep made_sweep(const Permutation& permutation, std::uint64_t width,
                         const file::Numbers& numbers) const {
    const Problem problem{.permutation = permutation, .element_bytes = width};
    file::Sweep sweep(problem, options_, numbers);
    const bool is_in_place = sweep.state().budget.placement == Placement::in_place;
    return is_in_place ? file::Sweep(problem, of_affine_, numbers) : sweep;
  }

  const CheckpointFiles& files_;
  file::Options options_;
  file::Options of_affine_;
  std::map<std::string, file::Sweep> sweeps_;
};

}  // namespace

CheckpointPlan plan_checkpoint(const CheckpointFiles& files, const Rules& rules,
                               const file::Options& options) {
  Matching matching(files, rules);
  matching.run();
  CheckpointPlan plan = std::move(matching.plan);
  Fitting fitting(files, options);
  for (const Draft& draft : matching.drafts) plan.tensors.push_back(fitting.result_of(draft));
  return plan;
}

}  // namespace faro::store
