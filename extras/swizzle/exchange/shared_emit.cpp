// Statements through shared memory: stores, a barrier, loads. Addresses are that of the lane, computed once,
// with a constant XORed in for each access.
#include <map>

#include "exchange/emitted_text.hpp"
#include "exchange/shared_access.hpp"

namespace faro::exchange {

std::string lane_expression(const std::string& lane, std::uint64_t constant,
                            std::span<const std::uint64_t> columns) {
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " ^ ") + term; };
  // Bits that move together: (lane & mask) << s or >> s.
  std::map<int, std::uint64_t> moved;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (f2::is_power_of_two(columns[j])) {
      moved[f2::trailing_bit(columns[j]) - static_cast<int>(j)] |= f2::unit(static_cast<int>(j));
    } else if (columns[j] != 0) {
      add(fmt::format("(({} >> {} & 1u) * {})", lane, j, hex(columns[j])));
    }
  }
  for (const auto& [shift, mask] : moved) {
    const bool is_all = mask == f2::low_mask(static_cast<int>(columns.size()));
    const std::string bits = is_all ? lane : fmt::format("({} & {})", lane, hex(mask));
    add(shift == 0  ? bits
        : shift > 0 ? fmt::format("{} << {}", bits, shift)
                    : fmt::format("{} >> {}", bits, -shift));
  }
  if (constant != 0 || text.empty()) add(hex(constant));
  return text;
}

namespace {

class SideEmitter {
 public:
  SideEmitter(const SharedSide& side, bool is_store, int held_bits, int warp_bits)
      : side_(side), is_store_(is_store), held_(static_cast<std::size_t>(held_bits)), warp_bits_(warp_bits) {}

  std::string statements() const {
    std::string text = fmt::format("  const uint32_t {} = {};\n", name(),
                                   lane_expression(warp_bits_ > 0 ? "thread" : "lane", 0, columns()));
    if (is_matrix()) return text + matrices();
    if (!is_store_ && side_.bytes < 4) text += "#pragma unroll\n  for (uint32_t& word : out) word = 0;\n";
    for (const auto& access : accesses_of(side_, static_cast<int>(held_)))
      text += is_store_ ? store(access) : load(access);
    return text;
  }

 private:
  bool is_matrix() const { return side_.kind != AccessKind::plain; }
  const char* name() const { return is_store_ ? "store_at" : "load_at"; }

  // A column for each bit of the lane, or of the thread.
  std::vector<f2::Word> columns() const {
    const auto& a = side_.address;
    std::vector<f2::Word> of_thread(a.begin() + static_cast<std::ptrdiff_t>(held_), a.end());
    if (!is_matrix()) return of_thread;
    // Lane l names row l mod 8 of matrix l / 8, and matrices are consecutive words.
    std::size_t j = 0;
    for (const int bit : phase_bits(side_, static_cast<int>(held_)))
      of_thread[j++] = a[static_cast<std::size_t>(bit)];
    for (std::size_t word = 0; j < kCudaLaneBits; ++j, ++word)
      of_thread[j] = kBitsOfWord + word < held_ ? a[kBitsOfWord + word] : 0;
    return of_thread;
  }

  std::string address(f2::Word place) const {
    return fmt::format("shared + ({} ^ {})", name(), hex(f2::combine(side_.address.data(), place)));
  }

  std::string matrices() const {
    const int matrices = side_.phases / side_.instructions;
    std::string text;
    for (int i = 0; i < side_.instructions; ++i) {
      std::string slots;
      std::string words;
      for (int m = 0; m < matrices; ++m) {
        slots += fmt::format("{}%{}", m == 0 ? "" : ", ", m + (is_store_ ? 1 : 0));
        words += fmt::format("{}\"{}\"({}[{}])", m == 0 ? "" : ", ", is_store_ ? "r" : "=r",
                             is_store_ ? "in" : "out", matrices * i + m);
      }
      const std::string operation =
          fmt::format("{}.sync.aligned.m8n8.x{}{}.shared.b16", is_store_ ? "stmatrix" : "ldmatrix", matrices,
                      side_.kind == AccessKind::matrix ? "" : ".trans");
      const std::string at = fmt::format("\"r\"(static_cast<uint32_t>(__cvta_generic_to_shared({})))",
                                         address(static_cast<f2::Word>(matrices * i) << kBitsOfWord));
      text += is_store_ ? fmt::format("  asm volatile(\"{} [%0], {{{}}};\" :: {}, {} : \"memory\");\n",
                                      operation, slots, at, words)
                        : fmt::format("  asm volatile(\"{} {{{}}}, [%{}];\" : {} : {} : \"memory\");\n",
                                      operation, slots, matrices, words, at);
    }
    return text;
  }

  std::string type() const {
    switch (side_.bytes) {
      case 1:
        return "uint8_t";
      case 2:
        return "uint16_t";
      case 4:
        return "uint32_t";
      case 8:
        return "uint2";
      default:
        return "uint4";
    }
  }

  std::string at(f2::Word place) const {
    return fmt::format("*reinterpret_cast<{}{}*>({})", is_store_ ? "" : "const ", type(), address(place));
  }

  std::string store(const std::vector<f2::Word>& access) const {
    const std::string to = at(access.front());
    const f2::Word word = access.front() >> 2;
    if (side_.bytes < 4)
      return fmt::format("  {} = static_cast<{}>(in[{}] >> {});\n", to, type(), word,
                         8 * (access.front() & 3));
    if (side_.bytes == 4) return fmt::format("  {} = in[{}];\n", to, word);
    std::string words;
    for (std::size_t i = 0; i < access.size(); i += 4)
      words += fmt::format("{}in[{}]", i == 0 ? "" : ", ", access[i] >> 2);
    return fmt::format("  {} = make_{}({});\n", to, type(), words);
  }

  std::string load(const std::vector<f2::Word>& access) const {
    const std::string from = at(access.front());
    const f2::Word word = access.front() >> 2;
    if (side_.bytes < 4)
      return fmt::format("  out[{}] |= static_cast<uint32_t>({}) << {};\n", word, from,
                         8 * (access.front() & 3));
    if (side_.bytes == 4) return fmt::format("  out[{}] = {};\n", word, from);
    std::string text = fmt::format("  {{\n    const {} v = {};\n", type(), from);
    constexpr const char* kParts = "xyzw";
    for (std::size_t i = 0; i < access.size(); i += 4)
      text += fmt::format("    out[{}] = v.{};\n", access[i] >> 2, kParts[i / 4]);
    return text + "  }\n";
  }

  const SharedSide& side_;
  bool is_store_;
  std::size_t held_;
  int warp_bits_;
};

}  // namespace

std::string shared_body(const Conversion& c) {
  const SharedExchange& s = *c.shared;
  const auto statements = [&](const SharedSide& side, bool is_store) {
    const int held = static_cast<int>(side.address.size()) - c.lane_bits - c.warp_bits;
    return SideEmitter(side, is_store, held, c.warp_bits).statements();
  };
  if (c.is_load()) return statements(s.load, false);
  if (c.is_store()) return statements(s.store, true);
  const std::string barrier = c.warp_bits > 0 ? "  __syncthreads();" : "  __syncwarp();";
  return statements(s.store, true) + barrier + "\n" + statements(s.load, false) + barrier +
         "  // before others write there\n";
}

}  // namespace faro::exchange
