// faro synth EXAMPLE: what a sketch's holes must be. faro synth --list: what there is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capi/sketch_json.hpp"
#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/exchange/index_check.hpp"
#include "faro/shell.hpp"
#include "faro/suggest.hpp"
#include "faro/swizzle/emission.hpp"
#include "faro/swizzle/examples.hpp"
#include "permutation/spec_file.hpp"

namespace faro::cli {
namespace {

using swizzle::Space;

constexpr double kUsualSeconds = 600;
constexpr double kMostSearchSeconds = 1e6;
constexpr std::uint64_t kMostShown = 10'000;

struct SynthOptions {
  std::string example;
  std::string struct_words;
  std::string warp;
  std::string space = "full";
  std::string time_limit;
  std::string sketch;
  std::vector<std::string> check;
  std::string emit;
  std::string emit_device;
  bool is_device = false;  // `emit` is the file of --emit-device
  std::string element;
  std::string batch;
  bool image = false;
  bool list = false;
  bool all = false;
  bool json = false;
};
void list_names(const SynthOptions& options) {
  if (!options.example.empty())
    fail(ErrorCode::usage, "synth", "`" + options.example + "` and --list", "one of them",
         "`faro synth --list` names the examples");
  if (options.json) {
    Json json = new_json();
    json["names"] = Json::array();
    for (const swizzle::ExampleName& entry : swizzle::example_names()) json["names"].push_back(entry.name);
    return print(json);
  }
  std::string list;
  for (const swizzle::ExampleName& entry : swizzle::example_names())
    list.append(list.empty() ? "" : "\n").append(entry.name);
  print(list);
}

Space parse_space(const std::string& word) {
  constexpr std::array<Space, 4> kSpaces{Space::easy, Space::easy_conditions, Space::full, Space::extra};
  std::vector<std::string_view> names;
  for (const Space space : kSpaces) {
    if (word == swizzle::name(space)) return space;
    names.emplace_back(swizzle::name(space));
  }
  fail(ErrorCode::value, "synth", "--space " + word, "easy, easy-conditions, full or extra",
       did_you_mean(word, names));
}

// @FILE is a sketch of one's own.
swizzle::Example example_of(const SynthOptions& options) {
  if (options.example.starts_with('@')) {
    if (!options.struct_words.empty() || !options.warp.empty())
      fail(ErrorCode::usage, "synth", "--struct or --warp with a sketch's file", "them with examples only");
    const std::string path = options.example.substr(1);
    constexpr std::size_t kMostBytes = std::size_t{16} << 20;
    return capi::read_sketch(faro::detail::read_text_file(path, kMostBytes), path);
  }
  swizzle::ExampleOptions wanted;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // the example says what it takes
  if (!options.struct_words.empty())
    wanted.struct_words = static_cast<std::int64_t>(parse_number("--struct", options.struct_words, 1, kMost));
  if (!options.warp.empty())
    wanted.warp = static_cast<std::int64_t>(parse_number("--warp", options.warp, 1, kMost));
  return swizzle::make_example(options.example, wanted);
}

std::string kernel_name(const swizzle::Example& example) {
  std::string name = example.name;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return example.struct_words ? name + "_" + std::to_string(*example.struct_words) : name;
}

// The command that writes the same file where it is run: every option that was given, but --json.
std::string command_of(const SynthOptions& options) {
  const SynthOptions usual;
  std::string command = "faro synth " + shell_word(options.example);
  const auto add = [&](std::string_view option, const std::string& value, const std::string& usual_value) {
    if (value != usual_value) command.append(" ").append(option).append(" ").append(value);
  };
  add("--struct", options.struct_words, usual.struct_words);
  add("--warp", options.warp, usual.warp);
  add("--space", options.space, usual.space);
  if (options.all) command += " --all";
  add("--time-limit", options.time_limit, usual.time_limit);
  add("--element", options.element, usual.element);
  if (options.image) command += " --image";
  add("--batch", options.batch, usual.batch);
  const std::string file = std::filesystem::path(options.emit).filename().string();
  const std::string word = shell_word(file.starts_with('-') ? "./" + file : file);
  add(options.is_device ? "--emit-device" : "--emit", word, usual.emit);
  return command;
}

// What --batch, --element and --image ask for; the title is told when there is a solution.
swizzle::EmissionOptions emission_of(const SynthOptions& options, const swizzle::Example& example) {
  constexpr std::uint64_t kMostBatch = 1024;
  constexpr std::array<std::string_view, 3> kElements{"uint32_t", "uint64_t", "float"};
  if (options.emit.empty()) {
    for (const auto& [option, given] :
         {std::pair{"--batch", !options.batch.empty()}, std::pair{"--element", !options.element.empty()},
          std::pair{"--image", options.image}}) {
      if (given)
        fail(ErrorCode::value, "synth", std::string(option) + " without --emit", "it with --emit only");
    }
  }
  if (options.is_device && (options.image || !options.batch.empty()))
    fail(ErrorCode::value, "synth", "--batch or --image with --emit-device", "it with --emit only",
         "a device function is called by a kernel of yours");
  if (options.image && !example.tiling)
    fail(ErrorCode::usage, "synth", "--image with " + example.name, "stencil-1d, conv-1d or conv-2d",
         "`faro synth --list` names the examples");
  swizzle::EmissionOptions emission{.name = kernel_name(example), .command = command_of(options)};
  emission.device_function = options.is_device;
  if (options.image) emission.tiling = example.tiling;
  if (!options.batch.empty())
    emission.batch = static_cast<std::uint32_t>(parse_number("--batch", options.batch, 1, kMostBatch));
  if (options.element.empty()) return emission;
  if (std::find(kElements.begin(), kElements.end(), options.element) == kElements.end())
    fail(ErrorCode::value, "synth", "--element " + options.element, "uint32_t, uint64_t or float",
         did_you_mean(options.element, kElements));
  emission.element_type = options.element;
  return emission;
}

// What is emitted: the cheapest solution, or what is known without search.
struct Emitted {
  swizzle::EmittedKernel kernel;
  std::string of;      // "best", "closed form"
  std::string reason;  // in words
};

Emitted emit(swizzle::EmissionOptions emission, const swizzle::Example& example,
             const swizzle::SynthesisResult& result) {
  const swizzle::Valuation* valuation = result.best ? &result.best->valuation : nullptr;
  std::string of = "best";
  for (const swizzle::KnownSolution& known : example.known) {
    if (valuation != nullptr) break;
    if (known.source != "closed form") continue;
    valuation = &known.valuation;
    of = known.source;
  }
  if (valuation == nullptr) {
    const bool is_proven = result.outcome == swizzle::Outcome::none;
    fail(ErrorCode::unsupported, "synth " + example.name,
         is_proven ? std::string("no solution in space ") + swizzle::name(result.space)
                   : "no solution yet: " + result.unfinished,
         "a solution to emit",
         !is_proven                              ? result.remedy
         : result.space != swizzle::Space::extra ? "a larger --space"
                                                 : "`faro synth --list` names examples that have one");
  }
  const bool is_finished = result.outcome != swizzle::Outcome::not_finished;
  std::string reason = is_finished ? "the cheapest solution found"
                                   : "the cheapest solution found by a search that was not finished";
  if (of != "best") {
    reason = result.outcome == swizzle::Outcome::none ? "the closed form, since the space has no solution"
                                                      : "the closed form, since the search was not finished";
  }
  emission.title = reason;
  return {.kernel = swizzle::emit(example.sketch, *valuation, emission), .of = of, .reason = reason};
}

// Everything has been printed; the exit status tells of a search that found nothing, or was cut off.
void judge(const swizzle::Example& example, const swizzle::SynthesisResult& result, bool is_emitted) {
  if (result.outcome == swizzle::Outcome::not_finished)
    throw Verdict{.exit_status = kNotFinished,
                  .line = "synth " + example.name + ": the search was not finished: " + result.unfinished};
  if (result.outcome == swizzle::Outcome::none && !is_emitted)
    throw Verdict{.exit_status = kNoSolution,
                  .line = "synth " + example.name + ": no solution in space " + swizzle::name(result.space)};
}

// Either kind of file is `emit` from here on.
SynthOptions with_one_file(SynthOptions options) {
  if (options.emit_device.empty()) return options;
  if (!options.emit.empty()) fail(ErrorCode::usage, "synth", "--emit with --emit-device", "one of them");
  options.emit = options.emit_device;
  options.is_device = true;
  return options;
}

// Holes are filled by the caller's own expressions, and nothing is searched.
void check_holes(const SynthOptions& options, const swizzle::Example& example) {
  std::vector<std::pair<std::string, std::string>> expressions;
  for (const std::string& given : options.check) {
    const std::size_t sign = given.find('=');
    if (sign == std::string::npos)
      fail(ErrorCode::usage, "synth", "--check " + given, "HOLE=INDEX, such as 'lane=(i + k) % 32'");
    expressions.emplace_back(given.substr(0, sign), given.substr(sign + 1));
  }
  const auto mismatch = exchange::check_holes(example.specification, example.sketch, expressions);
  const bool has_lane = mismatch && mismatch->lane >= 0;
  if (options.json) {
    Json json = new_json();
    json["example"] = example.name;
    json["agrees"] = !mismatch;
    json["first_difference"] = nullptr;
    if (mismatch) {
      Json& first = json["first_difference"] = {{"text", mismatch->text}};
      for (const auto& [key, value] : {std::pair{"block", mismatch->block}, std::pair{"warp", mismatch->warp},
                                       std::pair{"lane", mismatch->lane}})
        first[key] = has_lane ? Json(value) : Json(nullptr);
    }
    print(json);
  }
  if (!mismatch) {
    if (!options.json) print(example.name + ": all that is wanted, for every input");
    return;
  }
  const std::string where = has_lane ? fmt::format(", stored by block {}, warp {}, lane {}", mismatch->block,
                                                   mismatch->warp, mismatch->lane)
                                     : "";
  if (!options.json) print(example.name + ": " + mismatch->text + where);
  throw Verdict{.exit_status = exit_status(ErrorCode::verification),
                .line = "synth " + example.name + ": the expressions do not give what is wanted"};
}

void run(const SynthOptions& given) {
  const SynthOptions options = with_one_file(given);
  if (options.list) return list_names(options);
  if (options.example.empty())
    fail(ErrorCode::usage, "synth", "no EXAMPLE", "EXAMPLE or --list",
         "`faro synth --list` names the examples");
  const Space space = parse_space(options.space);
  const swizzle::Example example = example_of(options);
  if (!options.check.empty()) {
    if (!options.emit.empty() || !options.sketch.empty())
      fail(ErrorCode::usage, "synth", "--check with --emit or --sketch", "one of them");
    return check_holes(options, example);
  }
  if (!options.sketch.empty()) {
    if (!options.emit.empty()) fail(ErrorCode::usage, "synth", "--sketch with --emit", "one of them");
    require_text_file(options.sketch);
    TextFile file(options.sketch, capi::sketch_file(example));
    if (options.json) {
      Json json = new_json();
      json["sketch"] = options.sketch;
      print(json);
    } else {
      print("sketch        " + options.sketch);
    }
    return file.commit();
  }
  double limit = kUsualSeconds;
  if (!options.time_limit.empty()) {
    limit = parse_measure("--time-limit", options.time_limit, kMostSearchSeconds);
    if (limit == 0) fail(ErrorCode::value, "read --time-limit", "`0`", "more than 0 seconds");
  }
  const swizzle::EmissionOptions emission = emission_of(options, example);
  if (!options.emit.empty()) {
    swizzle::require_emittable(example, emission);  // before a search that may take minutes
    require_text_file(options.emit);
  }
  swizzle::SynthesisResult result;
  {
    Progress progress(options.json ? Verbosity::quiet : Verbosity::normal);
    progress.step("searching `" + example.name + "`");
    swizzle::SynthesisOptions search;
    search.space = space;
    search.time_limit_seconds = limit;
    search.processor_time = true;  // the same outcome on a busy machine
    search.progress = [&progress](const swizzle::Progress& now) {
      progress.step(fmt::format("{}, {:.0f}%, {} found", now.stage, 100 * now.done,
                                count_text(now.solutions, "solution")));
    };
    result = swizzle::synthesise(example.specification, example.sketch, search);
  }
  Json emitted = nullptr;
  std::string emitted_text;
  std::optional<TextFile> file;
  if (!options.emit.empty()) {
    const Emitted kernel = emit(emission, example, result);
    file.emplace(options.emit, kernel.kernel.text);
    emitted = {{"file", options.emit},
               {"solution", kernel.of},
               {"name", kernel.kernel.name},
               {"blocks", kernel.kernel.blocks},
               {"threads", kernel.kernel.threads},
               {"batch", kernel.kernel.batch},
               {"image", options.image},
               {"device_function", options.is_device},
               {"shared_bytes", kernel.kernel.shared_bytes},
               {"shuffles", kernel.kernel.shuffles},
               {"selects", kernel.kernel.selects},
               {"live_accumulates", kernel.kernel.live_accumulates},
               {"notes", kernel.kernel.notes}};
    emitted_text = fmt::format("{:<14}{}: {}", "emitted", options.emit, kernel.reason);
  }
  const std::uint64_t shown = options.all ? kMostShown : 0;
  if (options.json) {
    Json json = Json::parse(swizzle::to_json(example, result, shown));
    json["emitted"] = emitted;
    print(json);
  } else {
    std::string text = swizzle::to_text(example, result, shown) + emitted_text;
    while (text.ends_with('\n')) text.pop_back();
    print(text);
  }
  if (file) file->commit();
  judge(example, result, !emitted.is_null());
}

}  // namespace

Verb synth_verb(CLI::App& app) {
  const auto options = std::make_shared<SynthOptions>();
  CLI::App* const command = app.add_subcommand(
      "synth", "Find the swizzles that complete a kernel's sketch, or prove there are none");
  const auto word = [&](const std::string& name, std::string& value, const std::string& type,
                        const std::string& help) { add_text(*command, name, value, type, help); };
  word("EXAMPLE", options->example, "", "The example, such as aos-crc; --list names all; or @FILE, a sketch");
  command->add_flag("--list", options->list, "List the examples");
  word("--struct", options->struct_words, "S",
       "Number of words in a struct, of taps of conv-2d, or the side of transpose");
  word("--warp", options->warp, "W", "Lanes of a warp; the default is 32");
  word("--space", options->space, "SPACE", "easy, easy-conditions, full (the default) or extra");
  command->add_flag("--all", options->all, "Print every solution, not only the cheapest");
  word("--sketch", options->sketch, "FILE",
       "Search nothing, but write the sketch, to be changed and read as @FILE");
  command
      ->add_option("--check", options->check,
                   "Search nothing, but hold a kernel's own expression for each hole, in C over the hole's "
                   "arguments, to the specification; once for each hole")
      ->type_name("HOLE=INDEX")
      ->check(require_text);
  word("--emit", options->emit, "FILE", "Write the kernel as CUDA C++");
  word("--emit-device", options->emit_device, "FILE",
       "Write the part between loads and stores as a __device__ function on registers");
  word("--element", options->element, "T",
       "With --emit or --emit-device: uint32_t (the default), uint64_t or float");
  word("--batch", options->batch, "N",
       "With --emit: solve any number of problems, an argument of the launch, N of them in a block");
  command->add_flag("--image", options->image,
                    "With --emit: process a whole image, whose width and height are arguments of the launch");
  word("--time-limit", options->time_limit, "SECONDS",
       "Stop the search after this much processor time; the default is 600");
  add_no_sync(*command);
  command->add_flag("--json", options->json,
                    "Print JSON on standard output; docs/guide/json.md describes it");
  return {command, [options] { run(*options); }};
}

}  // namespace faro::cli
