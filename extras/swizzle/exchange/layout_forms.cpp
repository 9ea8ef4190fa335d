// Two libraries' texts. Triton's has coordinates of every bit; CuTe's has strides, whose sums must be XORs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exchange/layout_text.hpp"
#include "faro/exchange/lane_program.hpp"

namespace faro::exchange {
namespace {

using Bases = std::vector<std::vector<f2::Word>>;  // coordinates of each bit

// [[0, 1], [8, 0]], or [1, 8] where there is one axis
Bases parse_bases(LayoutScanner& scanner) {
  Bases bases;
  scanner.want("[");
  while (!scanner.take("]")) {
    if (!bases.empty()) scanner.want(",");
    std::vector<f2::Word>& basis = bases.emplace_back();
    if (!scanner.take("[")) {
      basis.push_back(scanner.number());
      continue;
    }
    do basis.push_back(scanner.number());
    while (scanner.take(","));
    scanner.want("]");
  }
  return bases;
}

// Axes as large as the bases need.
std::vector<Axis> axes_of(const std::vector<Bases>& parts, const LayoutScanner& scanner) {
  std::vector<Axis> axes;
  for (const Bases& part : parts) {
    for (const std::vector<f2::Word>& basis : part) {
      if (axes.empty())
        for (std::size_t i = 0; i < basis.size(); ++i) axes.push_back({fmt::format("d{}", i), 0});
      if (basis.size() != axes.size())
        scanner.refuse(fmt::format("a basis of {} coordinates", basis.size()),
                       fmt::format("{}, as the first has", axes.size()));
      for (std::size_t i = 0; i < basis.size(); ++i)
        axes[i].bits = std::max(axes[i].bits, static_cast<int>(std::bit_width(basis[i])));
    }
  }
  return axes;
}

std::vector<f2::Word> columns_of(const Bases& bases, const std::vector<Axis>& axes) {
  std::vector<f2::Word> columns;
  columns.reserve(bases.size());
  for (const std::vector<f2::Word>& basis : bases) columns.push_back(element_of(axes, basis));
  return columns;
}

// A tree of numbers: (4,(2,8)).
struct CuteTree {
  std::vector<CuteTree> parts;  // none: a number
  std::uint64_t value = 0;
};
CuteTree parse_tree(LayoutScanner& scanner) {
  CuteTree tree;
  if (!scanner.take("(")) {
    scanner.take("_");  // of a number that is known when it is compiled
    tree.value = scanner.number();
    return tree;
  }
  do tree.parts.push_back(parse_tree(scanner));
  while (scanner.take(","));
  scanner.want(")");
  return tree;
}

// The bits of a mode, the first part fastest.
void add_bits(const CuteTree& shape, const CuteTree& stride, const LayoutScanner& scanner,
              std::vector<f2::Word>& columns) {
  if (shape.parts.size() != stride.parts.size())
    scanner.refuse("a shape and strides of different profiles", "one stride for each extent");
  for (std::size_t i = 0; i < shape.parts.size(); ++i)
    add_bits(shape.parts[i], stride.parts[i], scanner, columns);
  if (!shape.parts.empty()) return;
  if (!f2::is_power_of_two(shape.value))
    scanner.refuse(fmt::format("an extent of {}", shape.value), "a power of two");
  for (int b = 0; b < f2::trailing_bit(shape.value); ++b) {
    if (std::bit_width(stride.value) + b > f2::kMaxDimension)
      scanner.refuse(fmt::format("a stride of {}", stride.value), "elements below 2^40");
    columns.push_back(stride.value << b);
  }
}

struct CuteSwizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;
};

CuteSwizzle parse_swizzle(LayoutScanner& scanner) {
  for (const char* word : {"Swizzle<", "Sw<", "S<"})
    if (scanner.take(word)) break;
  const auto small = [&] {
    const std::uint64_t value = scanner.number();
    if (value > f2::kMaxDimension / 2) scanner.refuse(std::to_string(value) + " in a Swizzle", "at most 32");
    return static_cast<int>(value);
  };
  CuteSwizzle swizzle;
  swizzle.bits = small();
  scanner.want(",");
  swizzle.base = small();
  scanner.want(",");
  swizzle.shift = small();
  scanner.want(">");
  if (swizzle.shift < swizzle.bits)
    scanner.refuse(fmt::format("Swizzle<{},{},{}>", swizzle.bits, swizzle.base, swizzle.shift),
                   "a shift of at least its bits");
  scanner.want("o");
  if (scanner.take("0")) scanner.want("o");  // CuTe prints an offset, which a linear layout has not
  return swizzle;
}

f2::Word swizzled(f2::Word offset, const CuteSwizzle& swizzle) {
  return offset ^ (offset >> swizzle.shift & f2::low_mask(swizzle.bits) << swizzle.base);
}

// Sums of strides are XORs where no two of them share a bit.
void require_no_carry(const std::vector<f2::Word>& columns, const LayoutScanner& scanner) {
  f2::Word seen = 0;
  for (const f2::Word column : columns) {
    if ((seen & column) != 0)
      scanner.refuse(fmt::format("strides of which two share the bits {:#x}", seen & column),
                     "strides whose sums have no carry");
    seen |= column;
  }
}

// Numbers whose first axis is the fastest, as row-major ones of the same axes.
f2::Word row_major(f2::Word number, const std::vector<Axis>& axes) {
  std::vector<f2::Word> coordinates;
  coordinates.reserve(axes.size());
  for (const Axis& axis : axes) {
    coordinates.push_back(number & f2::low_mask(axis.bits));
    number >>= axis.bits;
  }
  return element_of(axes, coordinates);
}

std::vector<Axis> parse_cute_axes(LayoutScanner& scanner, int bits) {
  if (!scanner.take("@")) return {{"i", bits}};
  std::vector<Axis> axes;
  int all = 0;
  scanner.want("(");
  do {
    axes.push_back({fmt::format("d{}", axes.size()), scanner.bits("elements of an axis")});
    all += axes.back().bits;
  } while (scanner.take(","));
  scanner.want(")");
  if (all < bits)
    scanner.refuse(fmt::format("coordinates of 2^{} elements", all),
                   fmt::format("of the 2^{} there are", bits));
  return axes;
}

}  // namespace

Layout parse_triton(LayoutScanner& scanner) {
  const bool has_name = scanner.take("#ttg.linear");
  if (has_name) scanner.want("<");
  const bool has_braces = scanner.take("{");
  std::vector<Bases> parts(3);
  const std::vector<std::string_view> names{"register", "lane", "warp"};
  for (bool first = true; first || scanner.take(","); first = false) {
    if (scanner.take("block")) {
      scanner.want("=");
      if (!parse_bases(scanner).empty()) scanner.refuse("bits of the block", "`block = []`");
      continue;
    }
    const auto name = std::find_if(names.begin(), names.end(), [&](auto n) { return scanner.take(n); });
    if (name == names.end())
      scanner.refuse(fmt::format("`{}`", scanner.rest().substr(0, 40)), "register, lane, warp or block");
    scanner.want("=");
    parts[static_cast<std::size_t>(name - names.begin())] = parse_bases(scanner);
  }
  if (has_braces) scanner.want("}");
  if (has_name) scanner.want(">");
  Layout layout;
  layout.axes = axes_of(parts, scanner);
  int bits = 0;
  for (const Axis& axis : layout.axes) bits += axis.bits;
  require_few_bits(bits, scanner);
  layout.registers = columns_of(parts[0], layout.axes);
  layout.lanes = columns_of(parts[1], layout.axes);
  layout.warps = columns_of(parts[2], layout.axes);
  return layout;
}

Layout parse_cute(LayoutScanner& scanner) {
  CuteSwizzle swizzle;
  if (!scanner.next_is("(")) swizzle = parse_swizzle(scanner);
  const CuteTree shape = parse_tree(scanner);
  scanner.want(":");
  const CuteTree stride = parse_tree(scanner);
  if (shape.parts.size() != 2 || stride.parts.size() != 2)
    scanner.refuse("a layout of other than two modes", "((threads),(values)):((strides),(strides))");
  std::vector<f2::Word> threads;
  Layout layout;
  add_bits(shape.parts[0], stride.parts[0], scanner, threads);
  add_bits(shape.parts[1], stride.parts[1], scanner, layout.registers);
  std::vector<f2::Word> all = threads;
  all.insert(all.end(), layout.registers.begin(), layout.registers.end());
  require_no_carry(all, scanner);
  int bits = 0;
  const auto apply = [&](f2::Word& column) {
    column = swizzled(column, swizzle);
    bits = std::max(bits, static_cast<int>(std::bit_width(column)));
  };
  for (f2::Word& column : threads) apply(column);
  for (f2::Word& column : layout.registers) apply(column);
  require_few_bits(bits, scanner);
  layout.axes = parse_cute_axes(scanner, bits);
  for (f2::Word& column : threads) column = row_major(column, layout.axes);
  for (f2::Word& column : layout.registers) column = row_major(column, layout.axes);
  const auto lanes = std::min(std::ptrdiff_t{kCudaLaneBits}, static_cast<std::ptrdiff_t>(threads.size()));
  layout.lanes.assign(threads.begin(), threads.begin() + lanes);
  layout.warps.assign(threads.begin() + lanes, threads.end());
  return layout;
}

Layout parse_cute_memory(LayoutScanner& scanner) {
  CuteSwizzle swizzle;
  if (!scanner.next_is("(")) swizzle = parse_swizzle(scanner);
  const CuteTree shape = parse_tree(scanner);
  scanner.want(":");
  const CuteTree stride = parse_tree(scanner);
  if (shape.parts.size() != stride.parts.size())
    scanner.refuse("a shape and strides of different profiles", "one stride for each extent");
  Layout layout;
  std::vector<f2::Word> offsets;  // of the bits of the first axis, then of the second
  for (std::size_t i = 0; i < std::max(shape.parts.size(), std::size_t{1}); ++i) {
    const std::size_t before = offsets.size();
    add_bits(shape.parts.empty() ? shape : shape.parts[i], stride.parts.empty() ? stride : stride.parts[i],
             scanner, offsets);
    layout.axes.push_back({fmt::format("d{}", i), static_cast<int>(offsets.size() - before)});
  }
  require_no_carry(offsets, scanner);
  const auto bits = static_cast<int>(offsets.size());
  require_few_bits(bits, scanner);
  f2::Word all = 0;
  for (f2::Word& offset : offsets) {
    offset = swizzled(offset, swizzle);
    all |= offset;
  }
  if (all != f2::low_mask(bits)) scanner.refuse("offsets with gaps", "a tile without padding");
  const auto inverse = f2::Matrix::from_columns(bits, offsets).inverse();
  if (!inverse) scanner.refuse("offsets that repeat", "each element at one offset");
  for (int i = 0; i < bits; ++i) layout.registers.push_back(row_major(inverse->column(i), layout.axes));
  return layout;
}

}  // namespace faro::exchange
