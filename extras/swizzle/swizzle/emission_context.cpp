#include "swizzle/emission_context.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <limits>
#include <utility>

#include "faro/emit/reserved_words.hpp"
#include "faro/error.hpp"
#include "swizzle/execution_domain.hpp"
#include "swizzle/statements.hpp"

namespace faro::swizzle {
namespace {

// Beside C++'s words: names that a kernel's text uses itself, and macros.
constexpr const char* kReserved[] = {"uint32_t",    "uint64_t",      "linux",          "unix",
                                     "__shfl_sync", "__syncthreads", "__int_as_float", "i386"};

// Names of the text's own variables.
constexpr const char* kOwnNames[] = {"t", "warp", "block", "lanes"};

std::string as_identifier(const std::string& wish) {
  std::string text;
  for (const char c : wish) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
    text += plain ? c : '_';
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_')
    text = "v" + text;
  return text;
}

bool fits_int(const Interval& interval) {
  return interval.least >= std::numeric_limits<std::int32_t>::min() &&
         interval.most <= std::numeric_limits<std::int32_t>::max();
}

constexpr const char* kEmitting = "emit a kernel";

void require_tiling(const Program& program, const Tiling& tiling) {
  const std::span<const ArrayDeclaration> arrays = program.arrays();
  bool fits = tiling.rows > 0 && tiling.columns > 0 && tiling.widths.size() == arrays.size();
  for (std::size_t k = 0; fits && k < arrays.size(); ++k) {
    const std::int64_t width = tiling.widths[k];
    if (width == 0 || arrays[k].kind == ArrayKind::shared) continue;
    fits = width >= tiling.columns && arrays[k].size % width == 0 && arrays[k].size / width >= tiling.rows;
  }
  if (fits) return;
  fail(ErrorCode::spec, kEmitting,
       "a tiling of " + std::to_string(tiling.rows) + " x " + std::to_string(tiling.columns) +
           " elements that its arrays do not have",
       "of every array a width that divides its size, at least as wide and as high as a tile, or 0");
}

}  // namespace

void require_emittable(const Program& program, const EmissionOptions& options) {
  if (as_identifier(options.name) != options.name ||
      std::find(std::begin(kReserved), std::end(kReserved), options.name) != std::end(kReserved) ||
      std::find(faro::detail::kReservedWords.begin(), faro::detail::kReservedWords.end(), options.name) !=
          faro::detail::kReservedWords.end())
    fail(ErrorCode::spec, kEmitting, "the name `" + options.name + "`", "an identifier",
         "letters, digits and single underscores, a letter first");
  if (options.element_type != "uint32_t" && options.element_type != "uint64_t" &&
      options.element_type != "float")
    fail(ErrorCode::spec, kEmitting, "element type `" + options.element_type + "`",
         "uint32_t, uint64_t or float");
  if (options.element_type == "float") {
    for (const auto& declared : program.accumulators())
      for (const Operator op : {declared.accumulation.outer, declared.accumulation.inner})
        if (op == Operator::bit_xor || op == Operator::bit_and || op == Operator::bit_or)
          fail(ErrorCode::spec, kEmitting,
               std::string("the bit operator `") + name(op) + "` of accumulator `" + declared.name +
                   "` on float",
               "+, *, min or max", "emit for uint32_t or uint64_t");
  }
  constexpr std::int64_t kMostThreads = 1024;
  const Launch& launch = program.launch();
  const std::int64_t batch = options.batch;
  if (batch > kMostThreads)
    fail(ErrorCode::unsupported, kEmitting, std::to_string(batch) + " problems a block",
         "at most 1024 threads a block");
  if (launch.warp > kMostThreads || launch.warps > kMostThreads ||
      launch.warp * launch.warps * (batch < 2 ? 1 : batch) > kMostThreads)
    fail(ErrorCode::unsupported, kEmitting,
         std::to_string(launch.warps) + " warps of " + std::to_string(launch.warp) + " lanes" +
             (batch < 2 ? "" : ", " + std::to_string(batch) + " times"),
         "at most 1024 threads a block");
  if (launch.blocks > std::numeric_limits<std::int32_t>::max())
    fail(ErrorCode::unsupported, kEmitting, std::to_string(launch.blocks) + " blocks", "below 2^31");
  if (options.device_function && (options.batch > 0 || options.tiling))
    fail(ErrorCode::unsupported, kEmitting, "a device function of a batch or an image",
         "one problem: the caller has the others");
  if (options.tiling) require_tiling(program, *options.tiling);
  std::int64_t shared_elements = 0;
  for (const auto& array : program.arrays()) {
    if (array.size > std::numeric_limits<std::int32_t>::max())
      fail(ErrorCode::unsupported, kEmitting,
           std::to_string(array.size) + " elements of `" + array.name + "`", "below 2^31");
    if (array.kind == ArrayKind::shared) shared_elements += array.size;
  }
  constexpr std::int64_t kMostSharedBytes = 49152;
  const std::int64_t bytes = shared_elements * (options.element_type == "uint64_t" ? 8 : 4);
  if (bytes > kMostSharedBytes)
    fail(ErrorCode::unsupported, kEmitting, std::to_string(bytes) + " bytes of shared memory",
         "at most 49152");
  if (options.device_function && shared_elements > 0)
    fail(ErrorCode::unsupported, kEmitting, "a device function of a program with shared memory",
         "registers and shuffles only", "emit the kernel");
  require_batch(options, shared_elements > 0);
}

void require_batch(const EmissionOptions& options, bool needs_block_alone) {
  if (options.batch < 2 || !needs_block_alone) return;
  fail(ErrorCode::unsupported, kEmitting,
       std::to_string(options.batch) + " problems a block, whose threads wait for each other or share memory",
       "a batch of 1: a problem has its block alone");
}

void require_shuffles(const Program& program) {
  constexpr std::uint64_t kMostLanes = 32;
  const auto lanes = static_cast<std::uint64_t>(program.launch().warp);
  if (lanes <= kMostLanes && std::has_single_bit(lanes)) return;
  fail(ErrorCode::unsupported, kEmitting, "shuffles in a warp of " + std::to_string(lanes) + " lanes",
       "a power of two up to 32");
}

Identifiers::Identifiers() : taken_(std::begin(kReserved), std::end(kReserved)) {
  taken_.insert(faro::detail::kReservedWords.begin(), faro::detail::kReservedWords.end());
  taken_.insert(std::begin(kOwnNames), std::end(kOwnNames));
}

std::string Identifiers::claim(const std::string& wish) {
  const std::string base = as_identifier(wish);
  std::string name = base;
  for (int number = 1; !taken_.insert(name).second; ++number)
    name = base + (base.back() == '_' ? "" : "_") + std::to_string(number);
  return name;
}

EmissionContext::EmissionContext(const Program& the_program, const Valuation& the_valuation,
                                 const EmissionOptions& the_options)
    : program(the_program),
      valuation(the_valuation),
      options(the_options),
      type(the_options.element_type),
      ranges(the_program.ranges()) {
  require_runnable(program, valuation);
  require_emittable(program, options);
  identifiers.claim(options.name);
  for (const auto& array : program.arrays()) arrays.push_back(identifiers.claim(array.name));
  for (const auto& declared : program.register_arrays())
    registers.push_back(identifiers.claim(declared.name));
  for (const auto& declared : program.accumulators())
    accumulators.push_back(identifiers.claim(declared.name));
  if (has_many()) {
    problem = identifiers.claim(options.tiling ? "tile" : "problem");
    problems = identifiers.claim(options.tiling ? "tiles" : "problems");
  }
  if (options.tiling) {
    width = identifiers.claim("width");
    height = identifiers.claim("height");
    across = identifiers.claim("across");
    top = identifiers.claim("top");
    left = identifiers.claim("left");
  }
  // Loops of one name are never inside one another, and stay of one name.
  std::map<std::string, std::string> loops;
  for (const auto& loop : program.loops()) {
    auto [at, is_new] = loops.try_emplace(loop.name);
    if (is_new) at->second = identifiers.claim(loop.name);
    names.loops.push_back(at->second);
  }
  for (std::size_t hole = 0; hole < program.holes().size(); ++hole)
    functions_.push_back(as_index(valuation.parameters(static_cast<int>(hole)), program.holes()[hole]));
  facts_ = statement_facts(program, valuation);
}

namespace {

Index with_functions(const Index& index, const std::vector<Index>& functions) {
  if (index.operands().empty() && index.kind() != IndexKind::hole) return index;
  if (index.kind() == IndexKind::hole)
    return substitute(functions[static_cast<std::size_t>(index.number())], index.operands());
  std::vector<Index> operands;
  for (const Index& operand : index.operands()) operands.push_back(with_functions(operand, functions));
  return Index::node(index.kind(), 0, std::move(operands));
}

}  // namespace

Index EmissionContext::resolved(const Index& index) const {
  return simplify(with_functions(index, functions_), ranges);
}

std::string EmissionContext::text(const Index& index) const {
  const auto check = [this](const auto& self, const Index& part) -> void {
    if (const Interval range = bounds(part, ranges); !fits_int(range))
      fail(ErrorCode::unsupported, kEmitting,
           "`" + to_text(part, program.names()) + "`, which may be " + std::to_string(range.least) + " .. " +
               std::to_string(range.most),
           "what an int can hold");
    for (const Index& operand : part.operands()) self(self, operand);
  };
  check(check, index);
  return to_cpp(index, names, ranges);
}

bool EmissionContext::known_when_unrolled(const Index& resolved) {
  return !contains(resolved, IndexKind::lane) && !contains(resolved, IndexKind::warp) &&
         !contains(resolved, IndexKind::block);
}

std::int64_t EmissionContext::tile_width(int array) const {
  const auto number = static_cast<std::size_t>(array);
  if (!options.tiling || program.arrays()[number].kind == ArrayKind::shared) return 0;
  return options.tiling->widths[number];
}

namespace {

std::string plus(const std::string& name, std::int64_t more) {
  return more == 0 ? name : name + " + " + std::to_string(more);
}

}  // namespace

std::string EmissionContext::image_width(int array) const {
  return plus(width, tile_width(array) - options.tiling->columns);
}

std::string EmissionContext::image_height(int array) const {
  const std::int64_t size = program.arrays()[static_cast<std::size_t>(array)].size;
  return plus(height, size / tile_width(array) - options.tiling->rows);
}

std::string as_operand(const std::string& text) {
  const auto is_plain = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  int depth = 0;
  std::size_t end = 0;  // of the brackets that the text begins with
  do {
    depth += text[end] == '(' ? 1 : 0;
    depth -= text[end] == ')' ? 1 : 0;
    ++end;
  } while (depth > 0 && end < text.size());
  return text[0] == '(' && end == text.size() ? text : "(" + text + ")";
}

std::string EmissionContext::element(int register_array, const std::string& subscript) const {
  const std::string& name = registers[static_cast<std::size_t>(register_array)];
  return size(register_array) == 1 ? name : name + "[" + subscript + "]";
}

}  // namespace faro::swizzle
