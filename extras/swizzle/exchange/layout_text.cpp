#include "exchange/layout_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "faro/error.hpp"
#include "faro/exchange/lane_program.hpp"

namespace faro::exchange {

void LayoutScanner::skip_space() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
}

bool LayoutScanner::done() {
  skip_space();
  return rest_.empty();
}

bool LayoutScanner::next_is(std::string_view token) {
  skip_space();
  return rest_.starts_with(token);
}

bool LayoutScanner::take(std::string_view token) {
  if (!next_is(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

void LayoutScanner::want(std::string_view token) {
  if (take(token)) return;
  refuse(rest_.empty() ? "its end" : fmt::format("`{}`", rest_.substr(0, 40)), fmt::format("`{}`", token));
}

std::uint64_t LayoutScanner::number() {
  skip_space();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc{})
    refuse(rest_.empty() ? "its end" : fmt::format("`{}`", rest_.substr(0, 40)), "a number below 2^64");
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

int LayoutScanner::bits(std::string_view what) {
  const std::uint64_t value = number();
  if (!f2::is_power_of_two(value)) refuse(fmt::format("{} {}", value, what), "a power of two");
  return f2::trailing_bit(value);
}

std::vector<int> LayoutScanner::extents(std::string_view what) {
  std::vector<int> result{bits(what)};
  while (take("x")) result.push_back(bits(what));
  return result;
}

std::string_view LayoutScanner::rest() {
  skip_space();
  return rest_;
}

void LayoutScanner::refuse(const std::string& got, const std::string& wanted) const {
  fail(ErrorCode::spec, fmt::format("parse the layout `{}`", text_), got, wanted,
       "`faro layout convert --list` names layouts; docs/guide/exchange.md has the forms");
}

void require_few_bits(int bits, const LayoutScanner& scanner) {
  constexpr int kMostBits = 40;
  if (bits > kMostBits)
    scanner.refuse(fmt::format("2^{} elements", bits), fmt::format("at most 2^{}", kMostBits));
}

f2::Word element_of(const std::vector<Axis>& axes, const std::vector<f2::Word>& coordinates) {
  f2::Word element = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) element = element << axes[i].bits | coordinates[i];
  return element;
}

namespace {

// Columns of axes that have grown: each axis keeps its coordinates.
f2::Word widened(f2::Word element, const std::vector<Axis>& from, const std::vector<Axis>& to) {
  std::vector<f2::Word> coordinates(from.size());
  for (std::size_t i = from.size(); i-- > 0;) {
    coordinates[i] = element & f2::low_mask(from[i].bits);
    element >>= from[i].bits;
  }
  return element_of(to, coordinates);
}

}  // namespace

Layout over_tile(Layout layout, const std::vector<int>& bits, const LayoutScanner& scanner) {
  if (bits.size() != layout.axes.size())
    scanner.refuse(fmt::format("a tile of {} axes", bits.size()),
                   fmt::format("{} axes as {} has", layout.axes.size(), shape_text(layout)));
  const std::vector<Axis> before = layout.axes;
  int all = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] < before[i].bits)
      scanner.refuse(fmt::format("{} elements along axis {}", std::uint64_t{1} << bits[i], i),
                     fmt::format("at least the {} of one fragment", std::uint64_t{1} << before[i].bits));
    layout.axes[i].bits = bits[i];
    all += bits[i];
  }
  require_few_bits(all, scanner);
  for (auto* columns : {&layout.registers, &layout.lanes, &layout.warps})
    for (f2::Word& column : *columns) column = widened(column, before, layout.axes);
  for (std::size_t i = bits.size(); i-- > 0;) {
    for (int b = before[i].bits; b < bits[i]; ++b) {
      std::vector<f2::Word> coordinates(bits.size());
      coordinates[i] = f2::unit(b);
      layout.registers.push_back(element_of(layout.axes, coordinates));
    }
  }
  return layout;
}

namespace {

Layout transposed(Layout layout, const LayoutScanner& scanner) {
  if (layout.axes.size() < 2) scanner.refuse("trans() of one axis", "two axes or more");
  const int low = layout.element_bits() - layout.axes[0].bits - layout.axes[1].bits;
  const int first = layout.axes[0].bits;
  const int second = layout.axes[1].bits;
  const auto exchange = [&](f2::Word element) {
    const f2::Word rest = element & f2::low_mask(low);
    const f2::Word column = element >> low & f2::low_mask(second);
    const f2::Word row = element >> (low + second);
    return ((column << first | row) << low) | rest;
  };
  for (auto* columns : {&layout.registers, &layout.lanes, &layout.warps})
    for (f2::Word& column : *columns) column = exchange(column);
  std::swap(layout.axes[0], layout.axes[1]);
  return layout;
}

std::vector<f2::Word> units(int first, int count) {
  std::vector<f2::Word> result;
  result.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result.push_back(f2::unit(first + i));
  return result;
}

// strided(R) and contiguous(R)
Layout parse_line(LayoutScanner& scanner, bool is_strided) {
  scanner.want("(");
  const int r = scanner.bits("registers");
  scanner.want(")");
  require_few_bits(r + kCudaLaneBits, scanner);
  Layout layout;
  layout.axes = {{"i", r + kCudaLaneBits}};
  layout.registers = units(is_strided ? kCudaLaneBits : 0, r);
  layout.lanes = units(is_strided ? 0 : r, kCudaLaneBits);
  return layout;
}

// blocked(1x4, 8x4, 1x1): the last axis is dealt out first, in each of the three.
Layout parse_blocked(LayoutScanner& scanner) {
  scanner.want("(");
  std::vector<std::vector<int>> parts;
  for (const char* what : {"elements a lane", "lanes", "warps"}) {
    if (!parts.empty()) scanner.want(",");
    parts.push_back(scanner.extents(what));
    if (parts.back().size() != parts.front().size())
      scanner.refuse(fmt::format("{} along {} axes", what, parts.back().size()),
                     fmt::format("{} axes", parts.front().size()));
  }
  scanner.want(")");
  Layout layout;
  int all = 0;
  for (std::size_t i = 0; i < parts.front().size(); ++i) {
    layout.axes.push_back({fmt::format("d{}", i), parts[0][i] + parts[1][i] + parts[2][i]});
    all += layout.axes.back().bits;
  }
  require_few_bits(all, scanner);
  std::vector<int> done(layout.axes.size(), 0);
  const std::vector<std::vector<f2::Word>*> into{&layout.registers, &layout.lanes, &layout.warps};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::size_t i = layout.axes.size(); i-- > 0;) {
      for (int b = 0; b < parts[part][i]; ++b) {
        std::vector<f2::Word> coordinates(layout.axes.size());
        coordinates[i] = f2::unit(done[i]++);
        into[part]->push_back(element_of(layout.axes, coordinates));
      }
    }
  }
  return layout;
}

// matrix(2, 5, 0: 0100000 1000000 …)
Layout parse_matrix(LayoutScanner& scanner) {
  scanner.want("(");
  std::vector<std::uint64_t> counts;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) scanner.want(",");
    counts.push_back(scanner.number());
    if (counts.back() > f2::kMaxDimension)
      scanner.refuse(std::to_string(counts.back()) + " bits", "at most 64");
  }
  scanner.want(":");
  const std::uint64_t columns = counts[0] + counts[1] + counts[2];
  if (columns > f2::kMaxDimension) scanner.refuse(std::to_string(columns) + " columns", "at most 64");
  std::vector<f2::Word> column(columns);
  int rows = 0;
  for (; !scanner.next_is(")") && !scanner.done(); ++rows) {
    require_few_bits(rows + 1, scanner);
    for (f2::Word& c : column) {
      if (scanner.take("1")) {
        c |= f2::unit(rows);
      } else {
        scanner.want("0");
      }
    }
  }
  scanner.want(")");
  Layout layout;
  layout.axes = {{"i", rows}};
  const auto at = [&](std::uint64_t i) { return column.begin() + static_cast<std::ptrdiff_t>(i); };
  layout.registers.assign(at(0), at(counts[0]));
  layout.lanes.assign(at(counts[0]), at(counts[0] + counts[1]));
  layout.warps.assign(at(counts[0] + counts[1]), at(columns));
  return layout;
}

// tma.128B(64x64): boxes of rows as wide as the swizzle, one behind another, as TMA leaves them in memory. Of
// the number of a byte, bits 4 and on, as many as the rows of 16 bytes have, are XORed with bits 7 and on.
Layout parse_tma(LayoutScanner& scanner, int element) {
  const int span_bits = scanner.bits("bytes of a swizzle");
  constexpr int kChunkBits = 4;
  constexpr int kMostSpanBits = 7;
  if (span_bits <= kChunkBits || span_bits > kMostSpanBits)
    scanner.refuse(fmt::format("tma.{}B", 1 << span_bits), "tma.32B, tma.64B or tma.128B");
  scanner.want("B");
  scanner.want("(");
  const std::vector<int> extents = scanner.extents("elements along an axis");
  scanner.want(")");
  const int byte_bits = f2::trailing_bit(static_cast<f2::Word>(element / 8));
  const int box_bits = span_bits - byte_bits;
  if (extents.size() != 2 || extents[1] < box_bits)
    scanner.refuse(extents.size() != 2 ? fmt::format("{} axes", extents.size())
                                       : fmt::format("rows of {} elements", 1 << extents[1]),
                   fmt::format("rows x columns, {} columns at least", 1 << box_bits));
  require_few_bits(extents[0] + extents[1], scanner);
  Layout layout;
  layout.axes = {{"row", extents[0]}, {"column", extents[1]}};
  // Elements of an offset before the swizzle: columns of a box, rows, boxes.
  std::vector<f2::Word> plain = units(0, box_bits);
  for (const auto& [first, count] :
       {std::pair(extents[1], extents[0]), std::pair(box_bits, extents[1] - box_bits)})
    for (const f2::Word unit : units(first, count)) plain.push_back(unit);
  const f2::Word chunks = f2::low_mask(span_bits - kChunkBits) << (kChunkBits - byte_bits);
  for (int i = 0; i < static_cast<int>(plain.size()); ++i) {
    const f2::Word offset = f2::unit(i) ^ (f2::unit(i) >> (kMostSpanBits - kChunkBits) & chunks);
    layout.registers.push_back(f2::combine(plain.data(), offset));
  }
  return layout;
}

Layout parse_form(LayoutScanner& scanner, int element);

Layout parse_named(LayoutScanner& scanner, int element) {
  const std::string_view rest = scanner.rest();
  const std::size_t end = std::min(rest.find_first_of("[) \t"), rest.size());
  const std::string name(rest.substr(0, end));
  if (name.empty())
    scanner.refuse(rest.empty() ? "its end" : fmt::format("`{}`", rest.substr(0, 40)), "a name or a form");
  scanner.want(name);
  return name.front() == '@' ? layout_in_file(name.substr(1)) : named_layout(name, element);
}

Layout parse_form(LayoutScanner& scanner, int element) {
  if (scanner.next_is("#ttg.linear") || scanner.next_is("{") || scanner.next_is("register"))
    return parse_triton(scanner);
  if (scanner.take("shared(")) {
    Layout layout = parse_cute_memory(scanner);
    scanner.want(")");
    return layout;
  }
  if (scanner.next_is("(") || scanner.next_is("Swizzle") || scanner.next_is("Sw<") || scanner.next_is("S<"))
    return parse_cute(scanner);
  Layout layout;
  if (scanner.take("trans(")) {
    layout = transposed(parse_form(scanner, element), scanner);
    scanner.want(")");
  } else if (scanner.take("strided")) {
    layout = parse_line(scanner, true);
  } else if (scanner.take("contiguous")) {
    layout = parse_line(scanner, false);
  } else if (scanner.take("blocked")) {
    layout = parse_blocked(scanner);
  } else if (scanner.take("tma.")) {
    layout = parse_tma(scanner, element);
  } else if (scanner.take("matrix")) {
    return parse_matrix(scanner);
  } else {
    layout = parse_named(scanner, element);
  }
  if (scanner.take("[")) {
    const std::vector<int> bits = scanner.extents("elements of a tile");
    scanner.want("]");
    layout = over_tile(std::move(layout), bits, scanner);
  }
  return layout;
}

}  // namespace

Layout parse_layout(std::string_view text, int element) {
  if (element != 8 && element != 16 && element != 32 && element != 64)
    fail(ErrorCode::value, "parse a layout", fmt::format("elements of {} bits", element), "8, 16, 32 or 64");
  LayoutScanner scanner(text);
  Layout layout = parse_form(scanner, element);
  if (!scanner.done()) scanner.refuse(fmt::format("`{}` behind it", scanner.rest().substr(0, 40)), "its end");
  if (layout.matrix().columns() > f2::kMaxDimension / 2)
    scanner.refuse(fmt::format("2^{} places", layout.matrix().columns()), "at most 2^32");
  layout.name = std::string(text);
  return layout;
}

}  // namespace faro::exchange
