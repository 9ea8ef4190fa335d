// Conversions in kernels, for the tests that run them: on the CPU and on a GPU.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "swizzle_exchange_support.hpp"

namespace faro::testing {

struct ExchangePair {
  const char* from;
  const char* to;
  int element;
};
inline constexpr ExchangePair kExchangePairs[] = {
    {"mma.m16n8.C", "mma.m16n8k8.A", 32},
    {"mma.m16n8.C[16x16]", "mma.m16n8k16.A", 16},
    {"mma.m16n8.C[16x16]", "trans(mma.m16n8.C)[16x16]", 16},
    {"ldmatrix.x4", "ldmatrix.x4.trans", 16},
    {"ldmatrix.x1", "ldmatrix.x1.trans", 16},
    {"wgmma.m64n16.C", "wgmma.m64k16.A", 16},
    {"wgmma.m64n8.C", "wgmma.m64k8.A", 32},
    {"mma.m16n8k32.A", "contiguous(16)", 8},
    {"strided(16)", "contiguous(16)", 8},
    {"contiguous(8)", "strided(8)", 64},
    {"contiguous(1)", "matrix(0, 5, 0: 00001 00010 00100 01000 10000)", 32},
    {"mma.m8n8k4.C[4x8x8]", "blocked(1x1x8, 4x8x1, 1x1x1)", 32},
    {"tcgen05.16x256b.x4", "tcgen05.16x128b.x8", 32},
    {"strided(2)", "contiguous(2)", 8},
    {"blocked(1x4, 8x4, 1x1)", "blocked(4x1, 2x16, 1x1)", 16},
    // Between warps.
    {"wgmma.m64n32.C", "blocked(1x16, 16x2, 4x1)", 16},
    {"wgmma.m64n16.C", "blocked(1x4, 8x4, 4x1)[64x16]", 32},
    {"blocked(1x8, 8x4, 4x1)", "trans(blocked(1x8, 8x4, 4x1))", 16},
    // From and to memory.
    {"tma.128B(64x64)", "mma.m16n8k16.A[64x64]", 16},
    {"tma.128B(64x64)", "mma.m16n8k16.B[64x64]", 16},
    {"tma.64B(16x64)", "mma.m16n8k32.A[16x64]", 8},
    {"tma.32B(16x8)", "mma.m16n8.C", 32},
    {"wgmma.m64n64.C", "tma.128B(64x64)", 16},
    {"trans(mma.m16n8.C[16x16])", "tma.32B(16x16)", 16},
    {"mma.m16n8.C[16x32]", "tma.32B(16x32)", 8},
};

struct EmittedExchange {
  exchange::Conversion conversion;
  exchange::EmittedConversion code;
};

inline std::vector<EmittedExchange> emitted_exchanges() {
  std::vector<EmittedExchange> all;
  const auto add = [&](const exchange::Layout& from, const exchange::Layout& to, int element,
                       int capability) {
    const exchange::Conversion c =
        exchange::convert(from, to, {.element = element, .attempts = 8, .capability = capability});
    for (const exchange::Way way : {exchange::Way::registers, exchange::Way::shared}) {
      if (way == exchange::Way::shared && (!c.shared || !c.has_program())) continue;
      const std::string name = "convert_" + std::to_string(all.size());
      all.push_back({c, exchange::emit_conversion(c, {.name = name, .command = "", .way = way})});
    }
  };
  std::mt19937_64 random(42);
  for (const ExchangePair& p : kExchangePairs)
    for (const int capability : {70, 90})
      add(exchange::parse_layout(p.from, p.element), exchange::parse_layout(p.to, p.element), p.element,
          capability);
  for (int round = 0; round < 16; ++round) {
    const int element = 8 << round % 4;
    const int registers = static_cast<int>(random() % 4);
    const exchange::Layout from = random_layout(registers, 5, random);
    add(from, random_layout(registers, 5, random), element, 90);
    const auto [one, other] = random_block_layouts(random);
    add(one, other, element, 90);
  }
  return all;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// A kernel around it: warp by warp and lane by lane, the registers of a lane behind one another.
inline std::string exchange_kernel(const EmittedExchange& e) {
  const exchange::Conversion& c = e.conversion;
  std::string code = replaced(e.code.text, "#pragma once", "");
  const std::string from = std::to_string(c.words_from);
  const std::string to = std::to_string(c.words_to);
  code += "extern \"C\" __global__ void run_" + e.code.name + "(const uint32_t* from, uint32_t* to) {\n";
  if (e.code.is_shared)
    code += "  __shared__ uint4 shared[" + std::to_string((c.shared->bytes + 15) / 16) + "];\n";
  code += "  const uint32_t thread = threadIdx.x;\n";
  const std::string words = std::to_string(c.memory_bytes / 4);
  const std::string threads = std::to_string(32 << c.warp_bits);
  if (c.is_load()) {
    code += "  for (int i = thread; i < " + words + "; i += " + threads +
            ") reinterpret_cast<uint32_t*>(shared)[i] = from[i];\n  __syncthreads();\n";
  } else {
    code += "  uint32_t in[" + from + "];\n#pragma unroll\n  for (int i = 0; i < " + from +
            "; ++i) in[i] = from[" + from + " * thread + i];\n";
  }
  if (!c.is_store()) code += "  uint32_t out[" + to + "];\n";
  const std::string shared = "reinterpret_cast<char*>(shared)";
  code += "  " + e.code.name + "(" + (c.is_load() ? shared : "in") + ", " + (c.is_store() ? shared : "out") +
          ", thread" + (e.code.is_shared && !c.is_load() && !c.is_store() ? ", " + shared : "") + ");\n";
  if (c.is_store())
    return code + "  __syncthreads();\n  for (int i = thread; i < " + words + "; i += " + threads +
           ") to[i] = reinterpret_cast<uint32_t*>(shared)[i];\n}\n";
  return code + "#pragma unroll\n  for (int i = 0; i < " + to + "; ++i) to[" + to +
         " * thread + i] = out[i];\n}\n";
}

// What the kernel takes or gives: bytes of memory, or the registers of the warps that a launch has.
inline std::vector<std::uint32_t> exchanged_words(const exchange::Conversion& c, bool is_source,
                                                  const std::vector<std::uint8_t>& data) {
  const exchange::Layout& layout = is_source ? c.from : c.to;
  const int words = is_source ? c.words_from : c.words_to;
  std::vector<std::uint32_t> all;
  if (words == 0) {
    const std::vector<std::uint8_t> bytes = held_bytes(layout, c.element, data);
    all.resize(bytes.size() / 4);
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  for (std::uint32_t warp = 0; warp < 1U << c.warp_bits; ++warp) {
    const auto one = held_registers(layout, c.element, words, warp, data);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace faro::testing
