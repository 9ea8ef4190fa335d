#include "network/kernel_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "embedded_headers.hpp"
#include "faro/error.hpp"
#include "network/elementwise.hpp"
#include "network/launches.hpp"
#include "network/scalar_types.hpp"

namespace faro::network {
namespace {

// What the headers use of the standard library beyond <cstdint> and <cstddef>, which the run-time compiler
// adds.
constexpr const char* kStandardTraits = R"(#pragma once
namespace std {
template <bool, typename A, typename> struct conditional { using type = A; };
template <typename A, typename B> struct conditional<false, A, B> { using type = B; };
template <bool condition, typename A, typename B> using conditional_t = typename conditional<condition, A, B>::type;
template <typename A> struct remove_const { using type = A; };
template <typename A> struct remove_const<const A> { using type = A; };
template <typename A> using remove_const_t = typename remove_const<A>::type;
}
)";

constexpr const char* kStandardConcepts = R"(#pragma once
namespace std {
template <typename, typename> inline constexpr bool same_types = false;
template <typename A> inline constexpr bool same_types<A, A> = true;
template <typename A, typename B> concept same_as = same_types<A, B>;
}
)";

// {operator}: definitions that end in `using Operator = ...;`.
constexpr const char* kText = R"(#include "kernels/network_operators.hpp"

namespace faro::kernels {{

template <typename Real>
struct KeyValue {{
  Real key;
  Real value;
}};

{operator_definition}

struct CompiledLayers {{
  struct Ahead {{
    std::uint32_t flips = 0;  // of the group's layers, a bit each
    {power} power = {{}};     // of its first layer
  }};
  template <typename Operator>
  static Ahead ahead(const NetworkGroup& group, const NetworkTables& tables, int block_bits,
                     std::uint64_t array_block, std::uint32_t thread, const Operator& apply) {{
    const auto context = [&](std::uint32_t i) {{
      return LayerContext{{tables.layers[group.first_layer + i], tables.pairs_of(group.first_layer + i), array_block,
                          block_bits, thread, tables.zero}};
    }};
    Ahead known;
    switch (group.code) {{
{aheads}      default: break;
    }}
    return known;
  }}
  template <int registers, typename Operator>
  static void run(typename Operator::Value (&value)[registers], const NetworkGroup& group,
                  const NetworkTables& tables, int block_bits, std::uint64_t array_block, std::uint32_t thread,
                  const Operator& apply, const Ahead& known) {{
    const auto context = [&](std::uint32_t i) {{
      return LayerContext{{tables.layers[group.first_layer + i], tables.pairs_of(group.first_layer + i), array_block,
                          block_bits, thread, tables.zero}};
    }};
    switch (group.code) {{
{groups}      default: {otherwise}
    }}
  }}
}};

struct Arrays : device::DirectMemory {{
  template <int bytes>
  device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {{
    return device::DirectMemory::load_global<bytes>(buffer, numbered(offset));
  }}
  template <int bytes>
  void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {{
    device::DirectMemory::store_global<bytes>(buffer, numbered(offset), packet);
  }}
  static std::uint64_t numbered(std::uint64_t offset) {{
    {numbered}
  }}
}};

constexpr NetworkShape kShape{{{{{width}, {segment}, {row}, {vector}, {thread}}}, {registers}}};

extern "C" __global__ void __launch_bounds__(kShape.tile.threads(), {min_blocks})
    {name}(const __grid_constant__ AffineTileParams params, const __grid_constant__ NetworkTables tables,
           const __grid_constant__ Operator apply, const std::byte* in, std::byte* out) {{
  extern __shared__ uint4 tile[];
  Arrays memory{{{{in, out, reinterpret_cast<std::byte*>(tile)}}}};
  const std::uint64_t block = blockIdx.x;
  load_tile<kShape.tile>(memory, params, block, threadIdx.x);
  __syncthreads();
  for (std::uint32_t group = 0; group < tables.group_count; ++group) {{
    const auto ahead =
        group_ahead<kShape, CompiledLayers>(params, tables, group, block, threadIdx.x, apply);
    apply_group<kShape, CompiledLayers>(memory, params, tables, group, block, threadIdx.x, apply, ahead);
    __syncthreads();
  }}
  store_tile<kShape.tile>(memory, params, block, threadIdx.x);
}}

}}  // namespace faro::kernels
)";

constexpr const char* kLookUp =
    "AnyLayers::run(value, group, tables, block_bits, array_block, thread, apply, Nothing{});";

// Blocks that a multiprocessor shall hold, which bounds the registers of a thread: the elements, and 24 for
// all else. More threads hide more of the memory's latency than more registers save.
int min_blocks(const kernels::NetworkShape& shape) {
  constexpr int registers_of_multiprocessor = 65536;
  constexpr int shared_bytes_of_multiprocessor = 227 << 10;  // less on some devices; a wish, not a condition
  constexpr int threads_of_multiprocessor = 2048;
  const int registers = shape.registers() * shape.tile.element_bytes() / 4 + 24;
  const int threads = shape.tile.threads();
  return std::max(1, std::min({registers_of_multiprocessor / (registers * threads),
                               shared_bytes_of_multiprocessor / (shape.tile.tile_bytes() + (1 << 10)),
                               threads_of_multiprocessor / threads, 16}));
}

// The offset again, from the element's number: the compiler then leaves out the upper halves of what gives
// it.
std::string numbered_by_32_bits(const kernels::NetworkShape& shape) {
  return fmt::format(R"(std::uint64_t again;
    asm("mul.wide.u32 %0, %1, {};" : "=l"(again) : "r"(static_cast<std::uint32_t>(offset >> {})));
    return again;)",
                     shape.tile.element_bytes(), shape.tile.width_bits);
}

// Keys are integers while they are compared.
std::string key_type(const ElementType& element) {
  const Scalar scalar = element.scalar;
  const bool is_signed = scalar == Scalar::i32 || scalar == Scalar::i64;
  if (element.with_value) {
    return fmt::format("KeyValue{}<{}, {}>", element.bytes(), is_signed, is_float(scalar));
  }
  const int bits = static_cast<int>(8 * element.bytes());
  const bool is_unsigned = scalar == Scalar::u32 || scalar == Scalar::u64;
  return fmt::format("PlainKey<std::{}int{}_t, {}>", is_unsigned ? "u" : "", bits, is_float(scalar));
}

// The constants of a layer of Fourier's whose shares are disjoint.
std::string roots(const KernelLayer& layer, const Operator& op, const ElementType& element) {
  const char* const real = element.scalar == Scalar::c64 ? "float" : "double";
  std::string values;
  for (const std::uint32_t turns : layer.turns) {
    std::complex<double> w = twiddle(turns, kTurnBits);
    if (op.kind == OperatorKind::inverse_fourier) w = std::conj(w);
    values += fmt::format("{}{{{}({:.17g}), {}({:.17g})}}", values.empty() ? "" : ", ", real, w.real(), real,
                          w.imag());
  }
  return fmt::format("ConstantRoots<{}, {}>{{{{{}}}}}", real, layer.turns.size(), values);
}

std::string user_definition(const Operator& op, const ElementType& element) {
  if (op.text.empty()) {
    fail(ErrorCode::unsupported, "compile the network's kernel",
         "operator `" + op.name + "`, which has a host function only", "CUDA C++ text",
         "give the operator a text, or use engine cpu");
  }
  const std::string scalar(scalar_type(element.scalar));
  return fmt::format(R"(struct Operator : Unencoded {{
  using Value = {};
  static constexpr bool kNeedsPairs = true;
  static void body(Value& a, Value& b, std::uint32_t p, int n) {{
#line 1 "{}"
{}
  }}
  static std::uint32_t start(const LayerContext& context, bool) {{ return context.number(); }}
  void operator()(Value& a, Value& b, bool swapped, std::uint32_t number, const LayerContext& context, int i) const {{
    number ^= context.pairs->registers[i];
    if (swapped) {{
      body(b, a, number, context.layer.bits);
    }} else {{
      body(a, b, number, context.layer.bits);
    }}
  }}
}};)",
                     element.with_value ? "KeyValue<" + scalar + ">" : scalar, op.name, op.text);
}

// {}: the element, the file that errors name, statements over `a`.
std::string each_definition(const Operator& op, const ElementType& element) {
  const bool own = op.kind == OperatorKind::user_elementwise;
  if (own && op.text.empty()) {
    fail(ErrorCode::unsupported, "compile the network's kernel",
         "function `" + op.name + "`, which has a host function only", "CUDA C++ text",
         "give the function a text, or use engine cpu");
  }
  const std::string scalar(scalar_type(element.scalar));
  return fmt::format(R"(struct Operator : Unencoded {{
  using Value = {};
  static constexpr bool kNeedsPairs = false;
  static void one(Value& a) {{
#line 1 "{}"
{}
  }}
  static Nothing start(const LayerContext&, bool) {{ return {{}}; }}
  void operator()(Value& a, Value& b, bool, Nothing, const LayerContext&, int) const {{
    one(a);
    one(b);
  }}
}};)",
                     element.with_value ? "KeyValue<" + scalar + ">" : scalar, op.name,
                     own ? op.text : elementwise_statements(op, element));
}

std::string operator_definition(const Operator& op, const ElementType& element) {
  switch (op.kind) {
    case OperatorKind::compare_exchange:
      return fmt::format("using Operator = CompareExchange<{}>;", key_type(element));
    case OperatorKind::hadamard:
      return fmt::format("using Operator = Hadamard<{}>;", sum_type(element.scalar));
    case OperatorKind::fourier:
    case OperatorKind::inverse_fourier:
      return fmt::format("using Operator = Fourier<{}>;", element.scalar == Scalar::c64 ? "float" : "double");
    case OperatorKind::user:
      return user_definition(op, element);
    case OperatorKind::elementwise:
    case OperatorKind::user_elementwise:
      return each_definition(op, element);
  }
  FARO_CHECK(false);
}

// Whether the second of two neighbours has the same shares of threads and blocks, and half as many pairs.
bool squares(const kernels::HostNetworkTables& tables, std::size_t second) {
  const kernels::NetworkPairs& a = tables.pairs[second - 1];
  const kernels::NetworkPairs& b = tables.pairs[second];
  return tables.layers[second].bits + 1 == tables.layers[second - 1].bits &&
         tables.layers[second - 1].disjoint != 0 && std::ranges::equal(a.lane, b.lane) &&
         std::ranges::equal(a.warp, b.warp) &&
         std::ranges::equal(a.block, b.block,
                            [](const auto& x, const auto& y) { return std::ranges::equal(x, y); });
}

// Layers of a group whose turns are looked up before its elements are read; not of sorts, which have few.
std::size_t flips_ahead(const Operator& op) { return op.kind == OperatorKind::compare_exchange ? 0 : 32; }

// What a group looks up before its elements are there.
std::string ahead_text(const GroupCode& group, const Operator& op) {
  std::string text;
  for (std::size_t i = 0; i < group.size() && i < flips_ahead(op); ++i) {
    if (!group[i].code.flips || is_elementwise(op.kind)) continue;
    text += fmt::format("        known.flips |= std::uint32_t{{context({}).flip()}} << {};\n", i, i);
  }
  if (!group.empty() && !group.front().turns.empty())
    text += "        known.power = apply.power_of(context(0));\n";
  return text;
}

// A group's layers. The power of a layer of Fourier's is looked up, or the square of the one before.
std::string group_text(const GroupCode& group, const Operator& op, const ElementType& element) {
  std::string text;
  if (std::any_of(group.begin(), group.end(), [](const KernelLayer& layer) { return !layer.turns.empty(); }))
    text += "        auto power = known.power;\n";
  for (std::size_t i = 0; i < group.size(); ++i) {
    const KernelLayer& layer = group[i];
    std::string start = fmt::format("apply.start(context({}), {})", i, layer.code.disjoint);
    if (!layer.turns.empty()) {
      if (i > 0)
        text += layer.squares ? "        power = squared(power);\n"
                              : fmt::format("        power = apply.power_of(context({}));\n", i);
      start = fmt::format("apply.start_from(power, {})", roots(layer, op, element));
    }
    const std::string flip = !layer.code.flips || is_elementwise(op.kind) ? "false"
                             : i < flips_ahead(op) ? fmt::format("(known.flips >> {} & 1) != 0", i)
                                                   : fmt::format("context({}).flip()", i);
    text += fmt::format(
        "        apply_code<LayerCode{{{}, {:#x}, {}, {}}}>(value, context({}), {}, apply, {});\n",
        layer.code.delta, layer.code.first_registers, layer.code.flips, layer.code.disjoint, i, flip, start);
  }
  return text;
}

}  // namespace

GroupCode group_code(const NetworkLaunch& launch, const kernels::NetworkGroup& group,
                     const kernels::NetworkShape& shape) {
  GroupCode result;
  std::size_t number = group.first_layer;
  for (const kernels::LayerCode& code : kernels::layer_codes(launch.tables, group)) {
    KernelLayer layer{code, {}};
    if (is_fourier(launch.op.kind) && code.disjoint) {
      const int bits = launch.tables.layers[number].bits;
      for (int i = 0; i < shape.registers(); ++i) {
        layer.turns.push_back(launch.tables.pairs[number].registers[i] << (kTurnBits - bits));
      }
      layer.squares = number > group.first_layer && squares(launch.tables, number);
    }
    result.push_back(std::move(layer));
    ++number;
  }
  return result;
}

KernelSource kernel_source(const Operator& op, const ElementType& element, const kernels::NetworkShape& shape,
                           const KernelGroups& groups, std::uint64_t array_bytes) {
  if (element.bytes() > 16) {
    fail(ErrorCode::unsupported, "compile the network's kernel",
         "elements of " + std::to_string(element.bytes()) + " bytes", "at most 16", "use engine cpu");
  }
  FARO_CHECK(kernels::is_valid(shape) &&
             static_cast<std::uint64_t>(shape.tile.element_bytes()) == element.bytes());
  std::string cases;
  std::string aheads;
  for (std::size_t number = 0; number < groups.codes.size(); ++number) {
    const GroupCode& group = groups.codes[number];
    cases += fmt::format("      case {}: {{\n{}        break;\n      }}\n", number,
                         group_text(group, op, element));
    aheads += fmt::format("      case {}:\n{}        break;\n", number, ahead_text(group, op));
  }
  const char* const power = !is_fourier(op.kind)            ? "Nothing"
                            : element.scalar == Scalar::c64 ? "Complex<float>"
                                                            : "Complex<double>";
  const bool is_narrow = !is_fourier(op.kind) && array_bytes / element.bytes() <= std::uint64_t{1} << 32;
  KernelSource source;
  source.text =
      fmt::format(kText, fmt::arg("operator_definition", operator_definition(op, element)),
                  fmt::arg("groups", cases), fmt::arg("aheads", aheads), fmt::arg("power", power),
                  fmt::arg("otherwise", groups.others ? kLookUp : "__builtin_unreachable();"),
                  fmt::arg("min_blocks", min_blocks(shape)), fmt::arg("width", shape.tile.width_bits),
                  fmt::arg("numbered", is_narrow ? numbered_by_32_bits(shape) : "return offset;"),
                  fmt::arg("segment", shape.tile.segment_bits), fmt::arg("row", shape.tile.row_bits),
                  fmt::arg("vector", shape.tile.vector_bits), fmt::arg("thread", shape.tile.thread_bits),
                  fmt::arg("registers", shape.register_bits), fmt::arg("name", kKernelName));
  source.headers = {{"type_traits", kStandardTraits}, {"concepts", kStandardConcepts}};
  for (const EmbeddedHeader& header : kEmbeddedHeaders) source.headers.emplace_back(header.name, header.text);
  return source;
}

}  // namespace faro::network
