// faro explain SPEC: how a permutation would be run, and why; nothing is moved.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/file_plan.hpp"
#include "cli/number_options.hpp"
#include "cli/output.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/disk.hpp"
#include "io/npy.hpp"
#include "shard/mesh_method.hpp"
#include "tell/figure.hpp"

namespace faro::cli {
namespace {

struct ExplainOptions {
  CommonOptions common;
  IndexOptions index;
  NumberOptions numbers;
  std::string spec;
  std::string svg;
  std::string figure;
  std::string capability;
  std::string memory;
  std::string disk;
  std::string shards;  // how many ranks
  std::string rank = "0";
  std::string link;
  CutOptions cuts;
  bool by_file = false;
  bool no_calibration = false;
  bool in_place = false;
};

struct Explanation {
  Plan plan;
  std::string text;
};

Explanation explanation_of(const ExecutablePlan& plan) { return {plan.plan(), plan.explain()}; }

struct Capability {
  int major = 0;
  int minor = 0;
};

// What the engine was measured on; planned for where no GPU is at hand and none is named.
constexpr Capability kUsualCapability{.major = 9, .minor = 0};

// "9.0"
Capability parse_capability(const std::string& text) {
  const std::size_t dot = text.find('.');
  const auto is_number = [](const std::string& part) {
    return !part.empty() && part.size() <= 2 && part.find_first_not_of("0123456789") == std::string::npos;
  };
  const std::string major = text.substr(0, dot);
  const std::string minor = dot == std::string::npos ? "" : text.substr(dot + 1);
  if (!is_number(major) || !is_number(minor)) {
    fail(ErrorCode::value, "read --capability", "`" + text + "`", "a compute capability such as 9.0");
  }
  constexpr int kLeastMajor = 8;
  if (std::stoi(major) < kLeastMajor) {
    fail(ErrorCode::unsupported, "explain", "--capability " + text, "8.0 or later",
         "older GPUs have too little shared memory for the kernels");
  }
  return {.major = std::stoi(major), .minor = std::stoi(minor)};
}

// The plan for a kind of GPU, of which none need be here.
Explanation explanation_for_kind(const Problem& problem, const PlanOptions& options, Capability capability,
                                 const std::string& note) {
  Target target = cuda::target_of_capability(capability.major, capability.minor);
  target.name += note;
  target.tile = options.tile;
  if (options.index_choice.empty() && options.index_choice.repeats == 0) {
    const Plan plan(problem, target);
    return {plan, plan.explain()};
  }
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  Recognition recognition;
  recognition.permutation = problem.permutation;
  if (indexed != nullptr) recognition = recognise(*indexed, options.threads);
  const Plan plan(problem, target, std::move(recognition), options.index_choice);
  return {plan, plan.explain()};
}

Explanation make_explanation(const ExplainOptions& options, const Problem& problem) {
  PlanOptions plan_options = options.common.plan_options(problem.element_bytes);
  plan_options.index_choice = options.index.choice();
  const bool names_kind = !options.capability.empty();
  if (names_kind && plan_options.engine != Engine::cuda) {
    fail(ErrorCode::value, "explain", "--capability with --engine " + options.common.engine,
         "--capability with --engine cuda");
  }
  if (names_kind && !options.common.device.empty()) {
    fail(ErrorCode::value, "explain", "--capability and --device", "one of them");
  }
  if (plan_options.measure && plan_options.engine == Engine::cuda) {
    fail(ErrorCode::value, "explain", "--measure with --engine cuda",
         "--measure with --engine cpu; kernels of a GPU are chosen by what they do to its memories",
         "leave --measure out");
  }
  if (names_kind)
    return explanation_for_kind(problem, plan_options, parse_capability(options.capability), "");
  if (plan_options.engine == Engine::cuda && options.common.device.empty()) {
    if (const cuda::Status status = cuda::status(); !status.available) {
      return explanation_for_kind(problem, plan_options, kUsualCapability,
                                  "; there is none here (" + status.reason + ")");
    }
  }
  // What an index array becomes would take long to make, and is not looked at.
  if (problem.view || !affine_form(problem.permutation) || !plan_options.index_choice.empty()) {
    const Plan plan = plan_only(problem, plan_options);
    return {plan, plan.explain()};
  }
  PlanOptions measured = plan_options;
  measured.calibrate = plan_options.engine == Engine::cuda && !options.no_calibration;
  return explanation_of(faro::plan(problem, measured));
}

// The plan's drawing, or with --figure one of the literature.
std::string drawing_of(const ExplainOptions& options, const Explanation& explanation) {
  if (options.figure.empty()) return explanation.plan.svg();
  constexpr std::uint64_t kLast = 14;
  const auto figure = static_cast<int>(parse_number("--figure", options.figure, 1, kLast));
  return figure_svg(figure, affine(normal_form(explanation.plan.problem().permutation), "explain --figure"));
}

// The kind of GPU that is planned for where one is named or none is here; nothing else.
std::optional<Target> kind_of_gpu(const ExplainOptions& options, const PlanOptions& plan_options) {
  const bool on_gpu = plan_options.engine == Engine::cuda;
  if (!options.capability.empty() && !on_gpu) {
    fail(ErrorCode::value, "explain", "--capability with --engine " + options.common.engine,
         "--capability with --engine cuda");
  }
  if (on_gpu && options.common.device.empty()) {
    const cuda::Status status = cuda::status();
    if (!options.capability.empty() || !status.available) {
      const Capability capability =
          options.capability.empty() ? kUsualCapability : parse_capability(options.capability);
      Target target = cuda::target_of_capability(capability.major, capability.minor);
      if (options.capability.empty()) target.name += "; there is none here (" + status.reason + ")";
      return target;
    }
  }
  return std::nullopt;
}

// The result's shape, as far as SPEC tells it: else it is flat.
std::vector<std::uint64_t> example_shape(const ExplainOptions& options) {
  if (is_strided_text(options.spec)) return faro::detail::result_shape(parse_strided(options.spec));
  const auto read = parse_spec_with_axes(options.spec, std::nullopt, options.index.direction(options.spec));
  std::vector<std::uint64_t> shape{element_count(read.parsed.permutation)};
  if (read.shapes) shape = read.shapes->after;
  if (read.parsed.axes) shape = read.parsed.axes->target_shape();
  const std::uint64_t batch = options.common.batch_count();
  if (batch > 1) shape.insert(shape.begin(), batch);
  return shape;
}

// --dtype and the like, of a file of --dtype-in.
std::optional<file::Numbers> example_numbers(const ExplainOptions& options) {
  const std::string option = options.numbers.first();
  if (option.empty()) return std::nullopt;
  if (options.in_place)
    fail(ErrorCode::value, "explain", "--in-place with " + option,
         "numbers that are changed from file to file");
  NumberOptions numbers = options.numbers;
  if (numbers.dtype_in.empty()) numbers.dtype_in = "float32";
  return numbers.example([&] { return example_shape(options); });
}

// From file to file, within --memory: the sweep, what is known of its time, and the literature's transfers.
void explain_files(const ExplainOptions& options) {
  if (!options.svg.empty() || !options.capability.empty() || !options.common.tile.empty())
    fail(ErrorCode::value, "explain", "--svg, --capability or --tile with --file", "--file alone");
  const std::optional<file::Numbers> numbers = example_numbers(options);
  const std::uint64_t width = options.common.element_bytes_given().value_or(
      numbers ? bytes_of(numbers->arithmetic.from) : kUsualElementBytes);
  const std::uint64_t memory = memory_budget(options.memory);
  const PlanOptions plan_options = options.common.plan_options(width);
  file::Options file_options{.memory_bytes = memory,
                             .threads = plan_options.threads,
                             .engine = plan_options.engine,
                             .device = plan_options.device};
  file::choose_requests(std::filesystem::path(options.disk.empty() ? "." : options.disk) / "out.npy",
                        file_options);
  std::optional<Problem> problem;
  std::optional<file::Sweep> sweep;
  std::optional<file::Facts> of_records;   // instead
  std::optional<file::Facts> of_in_place;  // instead
  const file::IndexFiles index = file::index_files(options.spec);
  constexpr std::uint64_t kIndexShare = 4;
  if (is_strided_text(options.spec) && !options.in_place) {
    sweep.emplace(parse_strided(options.spec), width, file_options, numbers);
  } else if (index.bytes > memory / kIndexShare && !options.in_place) {
    // Read as it is needed, and not for this.
    of_records = file::record_facts(index.count * options.common.batch_count(), width, true, file_options);
  } else {
    problem = {.permutation = parse_spec(options.spec, {}, options.index.direction(options.spec)),
               .element_bytes = width,
               .batch = options.common.batch_count()};
    problem->permutation = normal_form(problem->permutation, file_options.threads);
    if (options.in_place) {
      of_in_place = file::in_place_facts(*problem, file_options);
    } else if (!numbers && file::is_distributed(*problem, file_options)) {
      const bool by_index = std::holds_alternative<Indexed>(problem->permutation);
      of_records = file::record_facts(element_count(problem->permutation) * problem->batch, width, by_index,
                                      file_options);
    } else {
      sweep.emplace(*problem, file_options, numbers);
    }
  }
  const FilePlan plan{.spec = options.spec,
                      .width = width,
                      .memory = memory,
                      .facts = of_records    ? *of_records
                               : of_in_place ? *of_in_place
                                             : sweep->facts(),
                      .tile_plan = sweep ? sweep->tile_plan() : file::TilePlan(),
                      .affine = problem ? affine_form(problem->permutation) : std::nullopt,
                      .of_records = of_records.has_value(),
                      .disk = options.disk.empty() ? "." : options.disk};
  print_file_plan(plan, options.common.json);
}

// Who holds what, before and after.
std::string drawn_shards(const ShardProblem& problem) {
  const auto drawn = [&](const ShardCut& cut, std::vector<std::uint64_t> shape) {
    const auto distribution = faro::detail::as_distribution(cut, problem.shards.ranks);
    if (!distribution)
      fail(ErrorCode::unsupported, "explain --svg", "a cut by bits", "slabs, or distributions");
    return DrawnDistribution{.distribution = *distribution, .shape = std::move(shape)};
  };
  return svg_of(drawn(problem.shards.in, problem.in_shape()), drawn(problem.shards.out, problem.out_shape()));
}

// What one rank among so many packs, sends to whom, and unpacks.
void explain_shards(const ExplainOptions& options) {
  if (options.in_place || !options.common.tile.empty() || options.by_file)
    fail(ErrorCode::value, "explain", "--in-place, --tile or --file with --shards", "--shards alone");
  require_own_file("explain", "--svg", options.svg, files_in(options.spec));
  const auto read = parse_spec_with_axes(options.spec, std::nullopt, options.index.direction(options.spec));
  const auto ranks = static_cast<int>(parse_number("--shards", options.shards, 1, kMaxShardRanks));
  ShardProblem problem = shard_problem(
      {.read = read,
       .problem = {.permutation = read.parsed.permutation,
                   .element_bytes = options.common.element_bytes_given().value_or(kUsualElementBytes),
                   .batch = options.common.batch_count()},
       .ranks = ranks},
      options.cuts);
  problem.shards.rank = static_cast<int>(parse_number("--rank", options.rank, 0, kMaxShardRanks));
  const ShardPlan plan(problem);
  TextFile svg(options.svg, options.svg.empty() ? std::string() : drawn_shards(problem));
  const PlanOptions plan_options = options.common.plan_options(problem.element_bytes);
  std::optional<Target> target = kind_of_gpu(options, plan_options);
  if (!target) {
    target = plan_options.engine == Engine::cuda ? cuda::target(plan_options.device)
                                                 : cpu::target(plan_options.threads);
  }
  const std::vector<ShardLocalPlan> local_plans = plan.local_plans(*target);
  ShardRates rates;
  if (!options.link.empty()) {
    constexpr double kMostRate = 1e6;
    rates.link_gb_per_s = parse_measure("--link", options.link, kMostRate);
    if (rates.link_gb_per_s == 0) fail(ErrorCode::value, "read --link", "`0`", "more than 0 GB/s");
  }
  if (const auto own = plan.copy_gb_per_s(local_plans)) rates.copy_gb_per_s = *own;
  if (options.common.json) {
    Json json = new_json();
    json["spec"] = options.spec;
    json.update(Json::parse(plan.explain_json(rates)));
    json["local"] = Json::array();
    for (const ShardLocalPlan& each : local_plans) {
      json["local"].push_back({{"step", each.step},
                               {"boxes", each.boxes},
                               {"predicted_ms", each.us ? Json(*each.us / 1e3) : Json()},
                               {"plan", Json::parse(each.json)}});
    }
    print(json);
    return svg.commit();
  }
  std::string text = as_typed(plan.explain(rates));
  while (text.ends_with('\n')) text.pop_back();
  for (const ShardLocalPlan& each : local_plans) {
    text += "\n" + explained(each.step, each.boxes == 0 ? "of the rank's own part"
                                                        : fmt::format("the first of {} boxes", each.boxes));
    if (each.us) text += fmt::format("; {:.4g} ms predicted in all", *each.us / 1e3);
    std::istringstream nested(each.text);
    for (std::string line; std::getline(nested, line);) text += line.empty() ? "\n" : "\n  " + line;
  }
  print(explained("permutation", options.spec) + "\n" + text);
  svg.commit();
}

Problem problem_in(const ExplainOptions& options) {
  Problem problem{.element_bytes = options.common.element_bytes_given().value_or(kUsualElementBytes),
                  .batch = options.common.batch_count(),
                  .placement = options.in_place ? Placement::in_place : Placement::out_of_place};
  if (!is_strided_text(options.spec) || options.in_place) {
    problem.permutation = parse_spec(options.spec, {}, options.index.direction(options.spec));
    return problem;
  }
  if (!options.common.batch.empty() || !options.common.tile.empty() || !options.figure.empty())
    fail(ErrorCode::value, "explain", "--batch, --tile or --figure with a strided view", "a view alone");
  problem.view = parse_strided(options.spec);
  return problem;
}

void explain(const ExplainOptions& options) {
  if (!options.shards.empty()) return explain_shards(options);
  if (options.cuts.is_given() || options.rank != "0" || !options.link.empty())
    fail(ErrorCode::value, "explain", "--rank, --link, --shard-in or --shard-out without --shards",
         "--shards N with them");
  if (!options.figure.empty() && options.svg.empty()) {
    fail(ErrorCode::value, "explain", "--figure without --svg", "--svg FILE, which it is drawn to");
  }
  require_own_file("explain", "--svg", options.svg, files_in(options.spec));
  if (options.by_file || !options.numbers.first().empty()) return explain_files(options);
  if (!options.memory.empty() || !options.disk.empty())
    fail(ErrorCode::value, "explain", "--memory or --disk without --file", "--file with them");
  const Problem problem = problem_in(options);
  if (options.index.choice().repeats != 0 && !std::holds_alternative<Indexed>(problem.permutation))
    fail(ErrorCode::value, "explain", "--repeats with " + options.spec, "that option with an index array");
  if (options.no_calibration && options.common.engine != "cuda") {
    fail(ErrorCode::value, "explain", "--no-calibration with --engine " + options.common.engine,
         "--no-calibration with --engine cuda");
  }
  const Explanation explanation = make_explanation(options, problem);
  TextFile svg(options.svg, options.svg.empty() ? std::string()
                                                : typed_names().in_drawing(
                                                      drawing_of(options, explanation),
                                                      explanation.plan.problem().permutation, options.spec));
  std::string text = options.common.json
                         ? explanation.plan.explain_json()
                         : typed_names().in_explanation(explanation.text, problem.permutation, options.spec);
  while (!options.common.json && text.ends_with('\n')) text.pop_back();
  print(text);
  svg.commit();
}

}  // namespace

Verb explain_verb(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* const command = app.add_subcommand("explain", "Explain how a permutation would be run, and why");
  add_argument(*command, "SPEC", options->spec,
               "The permutation, such as `bit_reversal(20)`; or a strided view");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  add_text(*command, "--capability", options->capability, "M.N",
           "With --engine cuda: a compute capability such as 9.0 instead of a GPU of this machine");
  command->add_flag(
      "--no-calibration", options->no_calibration,
      "With --engine cuda: predict times by what is known of the GPU's kind, without measuring it");
  options->common.add_tile(*command);
  options->common.add_measure(*command);
  options->common.add_element_bytes(*command, "Bytes of an element; the default is 4");
  options->common.add_batch(*command, "Plan for N arrays one after another, each permuted alike");
  add_text(*command, "--shards", options->shards, "N",
           "Plan for an array spread over N ranks, and print what one rank does");
  add_text(*command, "--rank", options->rank, "R", "With --shards: which rank; the default is 0");
  add_text(*command, "--link", options->link, "RATE",
           "With --shards: GB/s that a rank can send, for the predicted time; the default is 25");
  options->cuts.add(*command);
  command->add_flag("--file", options->by_file,
                    "Plan for a file that is larger than the memory, see --memory");
  add_text(*command, "--memory", options->memory, "SIZE",
           "With --file: memory for buffers, such as 16GiB; the default is 60% of the free memory");
  options->numbers.add_to(*command);
  add_text(*command, "--disk", options->disk, "DIR",
           "With --file: a folder on the disk for which the time is predicted; the default is the "
           "present folder");
  command->add_flag("--in-place", options->in_place,
                    "Plan in place: the result takes the place of the input");
  options->index.add_direction(*command);
  options->index.add_choice(*command);
  options->index.add_repeats(*command);
  add_text(*command, "--svg", options->svg, "FILE",
           "Also draw the plan to this file: index bits, tile and banks, or the box of axes");
  add_text(*command, "--figure", options->figure, "K",
           "With --svg: 1, 2, 4, 5, 6, 7 or 8, a figure of the published method drawn for this map");
  add_no_sync(*command);
  options->common.add_json(*command);
  return {command, [options] { explain(*options); }};
}

}  // namespace faro::cli
