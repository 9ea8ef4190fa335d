#include "faro/swizzle/emission.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "faro/error.hpp"
#include "swizzle/emission_context.hpp"

namespace faro::swizzle {
namespace {

constexpr std::size_t kMostColumns = 100;

/// Comment lines of the words, further ones indented.
std::string comment(const std::string& words, const std::string& indent = "") {
  std::string text;
  std::string line = "//";
  std::string word;
  const auto put = [&] {
    if (word.empty()) return;
    if (line.size() > 2 + indent.size() && line.size() + 1 + word.size() > kMostColumns) {
      text += line + "\n";
      line = "//" + indent;
    }
    line += " " + word;
    word.clear();
  };
  for (const char c : words) {
    const auto code = static_cast<unsigned char>(c);
    if (code <= ' ' || code == 0x7f) {
      put();
    } else {
      word += c == '\\' ? '/' : c;  // a backslash may join lines
    }
  }
  put();
  return text + line + "\n";
}

/// A comment line of the text as it is, spaces included, but for characters that would end or join lines.
std::string verbatim_comment(const std::string& text) {
  std::string line = "// " + text;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  if (line.back() == '\\') line.back() = '/';
  return line + "\n";
}

/// As many as are needed for `count`, `of` each.
std::string quotient_text(const std::string& count, std::int64_t of) {
  if (of == 1) return count;
  return "((" + count + " + " + std::to_string(of - 1) + ") / " + std::to_string(of) + ")";
}

/// Problems of one launch: a grid has fewer than 2^31 blocks, and a problem's number is a uint32_t.
std::int64_t most_problems(const EmissionContext& context) {
  constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kNumbers = std::int64_t{1} << 32;
  const std::int64_t rounds =
      std::min(kMostBlocks / context.program.launch().blocks, kNumbers / context.batch());
  return std::min(rounds * context.batch(), kNumbers - 1);
}

std::string tiles_text(const EmissionContext& context) {
  const Tiling& tiling = *context.options.tiling;
  return context.problems + " = " + quotient_text(context.width, tiling.columns) + " * " +
         quotient_text(context.height, tiling.rows) + ", for any `" + context.width + "` and `" +
         context.height + "` below 2^31, not 0, that give at most " + std::to_string(most_problems(context)) +
         " tiles.";
}

/// What was found, and how it was written.
std::string found_text(const EmissionContext& context, const StatementsText& body) {
  const Program& program = context.program;
  std::string text;
  for (std::size_t k = 0; k < program.holes().size(); ++k) {
    const HoleDeclaration& hole = program.holes()[k];
    IndexNames names;
    std::string arguments;
    for (const Argument& argument : hole.arguments) {
      names.arguments.push_back(argument.name);
      arguments += (arguments.empty() ? "" : ", ") + argument.name;
    }
    const Index function = as_index(context.valuation.parameters(static_cast<int>(k)), hole);
    text += comment("found: " + hole.name + "(" + arguments + ") = " + to_text(function, names), "  ");
  }
  for (const std::string& note : body.notes) text += comment(note);
  return text;
}

/// Who calls a device function, and with what.
std::string function_comment(const EmissionContext& context, const StatementsText& body) {
  const std::string lanes = std::to_string(context.warp());
  std::string text = comment("call: by all lanes of a warp, t the lane" +
                             (context.warp() == 32 ? std::string() : " modulo " + lanes));
  for (const std::string& line : body.outside) text += comment(line, "  ");
  return text;
}

std::string head_text(const EmissionContext& context, const StatementsText& body) {
  const Program& program = context.program;
  const Launch& launch = program.launch();
  const EmissionOptions& options = context.options;
  std::string text = options.command.empty() ? "" : verbatim_comment(options.command);
  text += comment(options.title.empty() ? "A swizzle kernel." : options.title) + "//\n";
  if (options.device_function) return text + function_comment(context, body) + found_text(context, body);
  const std::string warps =
      std::to_string(context.block_threads()) + ">>>, warps of " + std::to_string(launch.warp) + " lanes";
  if (!context.has_many()) {
    text += comment("launch: <<<" + std::to_string(launch.blocks) + ", " + warps + ": one problem");
  } else {
    const std::string rounds = quotient_text(context.problems, context.batch());
    const std::string blocks = launch.blocks == 1 ? rounds : std::to_string(launch.blocks) + " * " + rounds;
    text += comment("launch: <<<" + blocks + ", " + warps);
    text += options.tiling ? comment(tiles_text(context))
                           : comment("Each array holds `" + context.problems + "` problems, at most " +
                                     std::to_string(most_problems(context)) +
                                     ", one behind another; elements are those of one.");
  }
  for (std::size_t k = 0; k < program.arrays().size(); ++k) {
    const auto& array = program.arrays()[k];
    if (array.kind == ArrayKind::shared) continue;
    const auto number = static_cast<int>(k);
    const std::string size = context.tile_width(number) == 0
                                 ? std::to_string(array.size)
                                 : context.image_height(number) + " rows of " + context.image_width(number);
    text += comment(context.arrays[k] + ": " + size + " elements, " +
                    (array.kind == ArrayKind::input ? "read" : "written"));
  }
  return text + found_text(context, body);
}

std::string initial_value(const EmissionContext& context, Operator op) {
  const bool is_float = context.type == "float";
  switch (op) {
    case Operator::multiply:
      return "1";
    case Operator::bit_and:
      return "~" + context.type + "{0}";
    case Operator::least:
      return is_float ? "__int_as_float(0x7f800000)" : "~" + context.type + "{0}";
    case Operator::greatest:
      return is_float ? "-__int_as_float(0x7f800000)" : "0";
    default:
      return "0";
  }
}

std::string helpers_text(const EmissionContext& context, const StatementsText& body) {
  std::string text;
  const std::string head = "static __device__ __forceinline__ " + context.type + " " + context.options.name;
  const std::string parameters = "(" + context.type + " a, " + context.type + " b) { return ";
  if (body.uses_least) text += head + "_least" + parameters + "b < a ? b : a; }\n";
  if (body.uses_greatest) text += head + "_greatest" + parameters + "a < b ? b : a; }\n";
  return text.empty() ? text : text + "\n";
}

bool mentions(const std::string& text, const std::string& word) {
  const auto part = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !part(text[at - 1])) && !part(text[at + word.size()])) return true;
  return false;
}

/// Where the tile is, and where its part of each array begins.
void add_tile(const EmissionContext& context, Lines& lines) {
  const Tiling& tiling = *context.options.tiling;
  const std::string& tile = context.problem;
  lines.add("const uint32_t " + context.across + " = " + quotient_text(context.width, tiling.columns) + ";");
  lines.add("const uint32_t " + context.top + " = " + tile + " / " + context.across + " * " +
            std::to_string(tiling.rows) + ";");
  lines.add("const uint32_t " + context.left + " = " + tile + " % " + context.across + " * " +
            std::to_string(tiling.columns) + ";");
  lines.add("if (" + context.top + " >= " + context.height + ") return;");
  for (std::size_t k = 0; k < context.program.arrays().size(); ++k) {
    const auto number = static_cast<int>(k);
    if (context.tile_width(number) != 0)
      lines.add(context.arrays[k] + " += uint64_t{" + context.top + "} * " +
                as_operand(context.image_width(number)) + " + " + context.left + ";");
  }
}

/// Which problem the thread has, and where its arrays begin. All lanes of a shuffle leave, or none.
void add_problem(const EmissionContext& context, Lines& lines) {
  const auto times = [](const std::string& value, const char* op, std::int64_t count) {
    return count == 1 ? value : value + op + std::to_string(count);
  };
  std::string number = times("blockIdx.x", " / ", context.program.launch().blocks);
  if (context.batch() > 1)
    number = times(number, " * ", context.batch()) + " + threadIdx.x / " + std::to_string(context.threads());
  lines.add("const uint32_t " + context.problem + " = " + number + ";");
  if (context.options.tiling) return add_tile(context, lines);
  lines.add("if (" + context.problem + " >= " + context.problems + ") return;");
  for (std::size_t k = 0; k < context.program.arrays().size(); ++k) {
    const auto& array = context.program.arrays()[k];
    if (array.kind != ArrayKind::shared)
      lines.add(context.arrays[k] + " += uint64_t{" + context.problem + "} * " + std::to_string(array.size) +
                ";");
  }
}

std::string declarations_text(const EmissionContext& context, const StatementsText& body) {
  const Program& program = context.program;
  const std::string lanes = std::to_string(context.warp());
  Lines lines;
  if (context.has_many()) add_problem(context, lines);
  const bool one_warp = program.launch().warps == 1;
  if (mentions(body.text, "t") && !context.options.device_function)
    lines.add("const int t = static_cast<int>(threadIdx.x" +
              (one_warp && context.options.batch < 2 ? ");" : " % " + lanes + ");"));
  if (mentions(body.text, "warp"))
    lines.add("const int warp = static_cast<int>(threadIdx.x / " + lanes +
              (context.options.batch < 2 ? ");" : " % " + std::to_string(program.launch().warps) + ");"));
  if (mentions(body.text, "block"))
    lines.add("const int block = static_cast<int>(blockIdx.x" +
              (!context.has_many() ? ");" : " % " + std::to_string(program.launch().blocks) + ");"));
  if (body.uses_mask && shuffle_mask(context) == "lanes")
    lines.add("const unsigned lanes = " + std::to_string((std::uint64_t{1} << context.warp()) - 1) +
              "u << (threadIdx.x & " + std::to_string(32 - context.warp()) + "u);");
  for (const int number : body.shared_arrays) {
    const auto k = static_cast<std::size_t>(number);
    lines.add("__shared__ " + context.type + " " + context.arrays[k] + "[" +
              std::to_string(program.arrays()[k].size) + "];");
  }
  for (const int number : body.register_arrays) {
    const auto k = static_cast<std::size_t>(number);
    const std::int64_t size = context.size(number);
    if (std::find(body.parameters.begin(), body.parameters.end(), number) != body.parameters.end()) continue;
    // What a demand alone names is not used by the kernel as it is.
    const bool demanded = body.demanded.contains(number);
    lines.add((demanded ? "[[maybe_unused]] " : "") + context.type + " " + context.registers[k] +
              (size == 1 ? " = 0;" : "[" + std::to_string(size) + "] = {};"));
  }
  for (const int number : body.accumulators) {
    const auto k = static_cast<std::size_t>(number);
    lines.add(context.type + " " + context.accumulators[k] + " = " +
              initial_value(context, program.accumulators()[k].accumulation.outer) + ";");
  }
  return lines.text();
}

std::string parameters_text(const EmissionContext& context) {
  std::string text;
  for (std::size_t k = 0; k < context.program.arrays().size(); ++k) {
    const ArrayKind kind = context.program.arrays()[k].kind;
    if (kind == ArrayKind::shared) continue;
    text += (text.empty() ? "" : ", ") + std::string(kind == ArrayKind::input ? "const " : "") +
            context.type + "* __restrict__ " + context.arrays[k];
  }
  if (!context.has_many()) return text;
  const std::string last =
      context.options.tiling ? context.width + ", uint32_t " + context.height : context.problems;
  return text + (text.empty() ? "uint32_t " : ", uint32_t ") + last;
}

// A program's own warp and block choose addresses; between registers nothing may depend on them.
void require_alone(const StatementsText& body) {
  for (const std::string word : {"warp", "block", "__syncthreads"}) {
    if (mentions(body.text, word))
      fail(ErrorCode::unsupported, "emit a device function", "`" + word + "` between the registers",
           "what the lanes of one warp can do alone", "emit the kernel");
  }
}

std::string function_text(const EmissionContext& context, const StatementsText& body) {
  std::string parameters = "[[maybe_unused]] int t";
  for (const int number : body.parameters) {
    const std::string& name = context.registers[static_cast<std::size_t>(number)];
    const std::int64_t size = context.size(number);
    parameters +=
        ", " + context.type + (size == 1 ? "& " + name : " (&" + name + ")[" + std::to_string(size) + "]");
  }
  return "static __device__ __forceinline__ void " + context.options.name + "(" + parameters + ") {\n";
}

std::string kernel_text(const EmissionContext& context) {
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(context.block_threads()) + ") " +
         context.options.name + "(" + parameters_text(context) + ") {\n";
}

}  // namespace

EmittedKernel emit(const Program& program, const Valuation& valuation, const EmissionOptions& options) {
  EmissionContext context(program, valuation, options);
  const StatementsText body = statements_text(context);
  require_batch(options, mentions(body.text, "__syncthreads"));
  if (options.device_function) require_alone(body);
  EmittedKernel kernel;
  kernel.name = options.name;
  kernel.blocks = static_cast<std::uint32_t>(program.launch().blocks);
  kernel.threads = static_cast<std::uint32_t>(context.block_threads());
  kernel.batch = context.has_many() ? static_cast<std::uint32_t>(context.batch()) : 0;
  for (const int array : body.shared_arrays)
    kernel.shared_bytes +=
        static_cast<std::uint32_t>(program.arrays()[static_cast<std::size_t>(array)].size) *
        (options.element_type == "uint64_t" ? 8U : 4U);
  kernel.shuffles = body.shuffles;
  kernel.selects = body.selects;
  kernel.live_accumulates = body.live_accumulates;
  kernel.notes = body.notes;
  kernel.text = head_text(context, body) + "#include <cstdint>\n\n" + helpers_text(context, body) +
                (options.device_function ? function_text(context, body) : kernel_text(context)) +
                declarations_text(context, body) + body.text + "}\n";
  return kernel;
}

}  // namespace faro::swizzle
