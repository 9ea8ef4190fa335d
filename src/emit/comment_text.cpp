// The head of an emitted file, for whoever finds it without us.
#include <fmt/format.h>

#include <complex>

#include "emit/text.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/shell.hpp"
#include "permutation/coefficients.hpp"

namespace faro::emit {
namespace {

// A factor as the command reads it: `2-1j`; several with commas.
std::string factor_word(const Coefficient& of) {
  std::string text;
  for (const std::complex<double>& value : of.values) {
    text += text.empty() ? "" : ",";
    text += value.imag() == 0 ? fmt::format("{}", value.real())
                              : fmt::format("{}{:+}j", value.real(), value.imag());
  }
  return text;
}

std::string arithmetic_words(const Arithmetic& of) {
  const auto type = [](Number number, bool swapped) {
    const std::string_view word = name(number);
    if (number == Number::boolean) return std::string(word);
    // i8 is int8, and of the other byte order >i1.
    const std::size_t kind = word.find_first_of("0123456789_");
    if (swapped && bytes_of(number) > 1) return fmt::format(">{}{}", word.substr(0, kind), bytes_of(number));
    const char* const names[] = {"int", "uint", "float", "bfloat", "complex"};
    for (const std::string_view named : names) {
      if (named.substr(0, kind) == word.substr(0, kind))
        return std::string(named) + std::string(word.substr(kind));
    }
    return std::string(word);
  };
  std::string text = " --dtype-in " + shell_word(type(of.from, of.in_swapped)) + " --dtype " +
                     shell_word(type(of.to, of.out_swapped));
  if (of.function != Function::identity) text += std::string(" --op ") + name(of.function);
  if (!detail::is_only(of.scale, 1)) text += " --scale=" + factor_word(of.scale);
  if (!detail::is_only(of.offset, 0)) text += " --offset=" + factor_word(of.offset);
  if (const auto axis = of.scale.axis ? of.scale.axis : of.offset.axis)
    text += fmt::format(" --along {}", *axis);
  if (of.addend) {
    text += " --add " + shell_word(type(of.addend->number, of.addend->swapped));
    if (of.addend->beta != 1.0) text += " --beta=" + factor_word({{of.addend->beta}, {}});
  }
  if (of.to_integer == ToInteger::nearest) text += " --rounding nearest";
  if (of.saturated) text += " --saturate";
  return text;
}

std::string command_text(const TextContext& context) {
  const Options& given = context.options;
  const Options usual;
  std::string text = "faro emit " + shell_word(to_text(context.map));
  if (given.language == Language::cpp) {
    text += " --target cpp";
  } else {
    text += fmt::format(" --kernel {}", name(given.rung));
  }
  if (given.arithmetic) text += arithmetic_words(*given.arithmetic);
  if (given.element != usual.element) text += " --element " + shell_word(given.element);
  if (given.name != usual.name) text += " --name " + given.name;
  if (given.tile_bits != usual.tile_bits) text += fmt::format(" --n-tile {}", given.tile_bits);
  if (given.rung == Rung::iters && given.iteration_bits != usual.iteration_bits) {
    text += fmt::format(" --n-iter {}", given.iteration_bits);
  }
  if (given.rung == Rung::iters && !given.turned_rows) text += " --plain-rows";
  if (given.both_factors) text += " --factors";
  if (given.launcher) text += " --launcher";
  if (!given.map.empty()) text += (given.map.front() == '-' ? " --map=" : " --map ") + shell_word(given.map);
  return text;
}

// The bits of x, the highest first, and the part that each has in the tile.
std::string bits_picture(const KernelPlan& plan) {
  const int n = plan.map.bits();
  std::string numbers;
  std::string parts;
  const auto has = [](const std::vector<f2::Word>& columns, int bit) {
    for (const f2::Word column : columns) {
      if (column == f2::unit(bit)) return true;
    }
    return false;
  };
  for (int j = n - 1; j >= 0; --j) {
    const bool column = j < plan.column_bits;
    const bool row = has(plan.origin.thread, j);
    const char part = column && row                   ? '*'
                      : column                        ? 'c'
                      : row                           ? 'r'
                      : has(plan.source.iteration, j) ? 'i'
                                                      : 'b';
    numbers += fmt::format("{:>3}", j);
    parts += fmt::format("{:>3}", part);
  }
  if (n == 0) return "";
  return fmt::format(
      "//   tile:     bits of x {}\n"
      "//             {:>9} {}\n"
      "//             c column: along a row that is read; r row: along one that is written; * both;{} b "
      "block\n",
      numbers, "", parts, plan.iteration_bits > 0 ? " i iteration;" : "");
}

std::string vectors_picture(const TextContext& context, const KernelPlan& plan) {
  return fmt::format(
      "//   tile:     {0} rows of {1} elements -> shared memory, places XORed -> {0} rows of {1} elements;\n"
      "//             {2} {3} bytes a thread at once, {4} times\n",
      1 << (plan.tile_bits - plan.column_bits), 1 << plan.column_bits,
      context.element.bytes == 16 ? "one element of" : "vectors of", plan.vector_bytes(), plan.iterations());
}

std::string launch_text(const Kernel& kernel) {
  const std::string threads = kernel.threads_y > 1
                                  ? fmt::format("dim3({}, {})", kernel.threads_x, kernel.threads_y)
                                  : fmt::format("{}", kernel.threads_x);
  const std::string dynamic =
      kernel.dynamic_shared_bytes > 0 ? fmt::format(", {}", kernel.dynamic_shared_bytes) : "";
  return fmt::format("//   launch:   {}<<<{}, {}{}>>>, {} bytes of shared memory a block{}\n", kernel.name,
                     kernel.blocks, threads, dynamic, kernel.shared_bytes,
                     dynamic.empty() ? "" : ", by opt-in (cudaFuncAttributeMaxDynamicSharedMemorySize)");
}

std::string counts_text(const machine::AccessCounts& counts) {
  std::string text;
  const auto global = [&](const char* what, const machine::GlobalCounts& of) {
    text += fmt::format("//             {:<14} {:>12} requests {:>12} sectors {:>12} lines\n", what,
                        of.requests, of.sectors, of.lines);
  };
  const auto shared = [&](const char* what, const machine::SharedCounts& of) {
    if (of.requests == 0) return;
    text += fmt::format("//             {:<14} {:>12} requests {:>12} wavefronts, congestion {}\n", what,
                        of.requests, of.wavefronts, of.max_congestion());
  };
  global("loads", counts.global_loads);
  global("stores", counts.global_stores);
  shared("shared stores", counts.shared_stores);
  shared("shared loads", counts.shared_loads);
  return "//   predicted, of a whole launch:\n" + text;
}

std::string rung_text(const TextContext& context) {
  const Options& options = context.options;
  switch (options.rung) {
    case Rung::naive:
      return "naive: a thread an element";
    case Rung::tile:
      return "tile: coalesced on both sides by way of shared memory";
    case Rung::banks:
      return "banks: a tile in shared memory, its rows turned against bank conflicts";
    case Rung::iters:
      return options.turned_rows ? "iters: several tiles a block, their rows turned against bank conflicts"
                                 : "iters: several tiles a block, rows as they are";
    case Rung::two_pass:
      return "two-pass: A = (U R)(R L P), a kernel for R L P and one for U R, c";
    case Rung::one_pass:
      break;
  }
  return "one-pass: whole segments in and out for every map, by one tile along T = S + A^-1 S";
}

}  // namespace

std::string comment_text(const TextContext& context, const std::vector<KernelPlan>& plans,
                         const std::vector<Kernel>& kernels) {
  const Options& options = context.options;
  const bool has_function = context.changes();
  std::string text =
      fmt::format("// {}: out[pi(x)] = {} for all x below 2^{}, elements of {}.\n//\n", options.name,
                  has_function ? "f(in[x])" : "in[x]", context.map.bits(), context.element.name);
  text += fmt::format("//   map:      {}\n", to_text(context.map));
  if (options.arithmetic) {
    text += fmt::format("//   f:        {}; numbers of {} in `in`, of {} in `out`\n",
                        to_text(*options.arithmetic), name(options.arithmetic->from),
                        name(options.arithmetic->to));
    text += options.language == Language::cpp
                ? "//   compile:  -std=c++20 -ffp-contract=off, so that products are rounded\n"
                : "//   compile:  nvcc -std=c++20 --expt-relaxed-constexpr --fmad=false, so that products "
                  "are rounded\n";
  } else if (has_function) {
    text += fmt::format("//   f:        {}\n", options.map);
  }
  if (options.language == Language::cpp) {
    text += cpp_tile_text(context);
  } else {
    text += fmt::format("//   rung:     {}\n", rung_text(context));
    if (options.both_factors)
      text += "//             for each factor of A = (U R)(R L P), the published pair\n";
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (kernels.size() > 1)
      text += fmt::format("//   kernel:   {}, {}\n", kernels[k].name, to_text(kernels[k].map));
    if (plans[k].has_tile) {
      text += plans[k].tile_an_iteration ? bits_picture(plans[k]) : vectors_picture(context, plans[k]);
    }
    text += launch_text(kernels[k]);
    text += counts_text(kernels[k].predicted);
  }
  return text + fmt::format("//   made by:  {}\n", command_text(context));
}

}  // namespace faro::emit
