#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "emit/kernel_plan.hpp"
#include "emit/text.hpp"
#include "faro/emit/reserved_words.hpp"
#include "faro/suggest.hpp"

namespace faro::emit {
namespace {

constexpr int kMaxThreadBits = 10;
constexpr int kMaxBlocksBits = 31;  // fewer than 2^31

// Beside C++'s words: names that the text uses itself.
constexpr std::array<std::string_view, 21> kTaken{
    "in",     "out",       "tile",   "block",  "thread", "warp",        "x",
    "y",      "v",         "source", "stored", "loaded", "target",      "origin",
    "stream", "workspace", "error",  "dim3",   "memcpy", "cudaError_t", "cudaStream_t"};

template <typename Words>
bool has(const Words& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_inner = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_inner);
}

// A name that compilers keep for themselves: it begins with two underscores, or one and a capital letter.
bool is_reserved(std::string_view text) {
  return text.size() > 1 && text[0] == '_' && (text[1] == '_' || (text[1] >= 'A' && text[1] <= 'Z'));
}

}  // namespace

std::string operation_of(const Options& options) {
  return options.language == Language::cpp ? "emit C++" : fmt::format("emit rung {}", name(options.rung));
}

void require_room(const KernelPlan& plan, const Options& options) {
  if (const int bits = plan.thread_bits + plan.warp_bits; bits > kMaxThreadBits) {
    fail(ErrorCode::unsupported, operation_of(options),
         fmt::format("n_tile = {}, a block of 2^{} threads", plan.column_bits, bits),
         fmt::format("at most 2^{} threads a block", kMaxThreadBits), "a smaller --n-tile, or rung one-pass");
  }
  if (plan.shared_bytes() > kMaxSharedBytes) {
    fail(ErrorCode::unsupported, operation_of(options),
         fmt::format("2^{} elements of {} bytes in shared memory", plan.shared_bits(), plan.element_bytes),
         fmt::format("at most {} bytes a block", kMaxSharedBytes),
         plan.tile_an_iteration && plan.iteration_bits > 0 ? "a smaller --n-iter or --n-tile"
                                                           : "a smaller --n-tile");
  }
  if (plan.block_bits >= kMaxBlocksBits) {
    fail(ErrorCode::unsupported, operation_of(options), fmt::format("a grid of 2^{} blocks", plan.block_bits),
         "fewer than 2^31 blocks",
         plan.has_tile && !plan.tile_an_iteration
             ? "a larger --n-tile"
             : "rung one-pass, whose tiles are larger, or iters with a larger --n-iter");
  }
}

void require_sizes(int bits, const Options& options) {
  if (bits > kMaxIndexBits) {
    fail(ErrorCode::unsupported, operation_of(options), fmt::format("2^{} elements", bits),
         fmt::format("at most 2^{}", kMaxIndexBits));
  }
  if (options.tile_bits < 0 || options.tile_bits > std::max(bits, 1)) {
    fail(ErrorCode::value, operation_of(options), fmt::format("n_tile = {}", options.tile_bits),
         fmt::format("1 to {}, the bits of the index", std::max(bits, 1)));
  }
  if (options.iteration_bits < 0 || options.iteration_bits > kMaxIterationBits) {
    fail(ErrorCode::value, operation_of(options), fmt::format("n_iter = {}", options.iteration_bits),
         fmt::format("0 to {}", kMaxIterationBits));
  }
}

void require_factors(const Options& options) {
  if (!options.both_factors) return;
  const bool has_factors = options.language == Language::cuda && options.rung != Rung::naive &&
                           options.rung != Rung::two_pass && options.rung != Rung::one_pass;
  if (!has_factors)
    fail(ErrorCode::value, operation_of(options), "both factors", "them of rung tile, banks or iters",
         "two-pass has them by itself");
  if (!options.map.empty() && parse_map(options.map).uses_source)
    fail(ErrorCode::unsupported, operation_of(options), "an expression of x with both factors",
         "one of v and y: the second kernel has no x", "rung two-pass has it");
}

void require_arithmetic(const Affine& map, const Options& options) {
  const Arithmetic& of = *options.arithmetic;
  if (!options.map.empty())
    fail(ErrorCode::value, operation_of(options), "an expression and arithmetic", "one of them");
  if (of.addend && !of.addend->strides.empty())
    fail(ErrorCode::value, operation_of(options), "strides of an added array", "none: it lies as the output");
  const std::uint64_t count = std::uint64_t{1} << map.bits();
  const std::vector<std::uint64_t> shape = of.shape.empty() ? std::vector{count} : of.shape;
  std::uint64_t numbers = 1;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(numbers, extent, &numbers)) numbers = 0;
  }
  if (numbers != count)
    fail(ErrorCode::value, operation_of(options),
         fmt::format("an output of shape {}", fmt::join(shape, " x ")),
         fmt::format("a shape of {} numbers", count));
  check(of, shape);
}

void require_name(const Options& options) {
  constexpr std::size_t longest = 200;
  const std::string& text = options.name;
  const auto types = element_types();
  const bool taken =
      has(faro::detail::kReservedWords, text) || has(kTaken, text) ||
      std::any_of(types.begin(), types.end(), [&](const ElementType& type) { return type.name == text; });
  if (is_identifier(text) && !is_reserved(text) && !taken && text.size() <= longest) return;
  fail(ErrorCode::value, operation_of(options), "the name `" + text + "`",
       "a C++ identifier that is no keyword, not reserved and not used within the text",
       "such as `faro_kernel`");
}

void require_language(const ElementType& element, const Options& options) {
  if (options.language != Language::cpp) return;
  if (options.launcher) fail(ErrorCode::value, operation_of(options), "a launcher", "one of CUDA kernels");
  if (!element.header.empty() && element.component.empty()) {
    fail(ErrorCode::unsupported, operation_of(options), "elements of " + options.element,
         "a type of C++ or one of CUDA's vector types", "an integer of its width moves it as well");
  }
}

const ElementType& find_element(const Options& options) {
  const auto types = element_types();
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const ElementType& type) { return type.name == options.element; });
  if (found != types.end()) return *found;
  std::vector<std::string_view> names;
  for (const ElementType& type : types) names.push_back(type.name);
  std::string remedy = did_you_mean(options.element, names);
  fail(ErrorCode::value, operation_of(options), "the element type `" + options.element + "`",
       "a type of 1, 2, 4, 8 or 16 bytes: uint8_t to uint64_t, int8_t to int64_t, float, double, __half, "
       "__nv_bfloat16, or a vector type such as float2 or uint4",
       remedy.empty() ? "docs/guide/emit.md lists them" : remedy);
}

}  // namespace faro::emit
