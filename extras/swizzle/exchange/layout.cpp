#include "faro/exchange/layout.hpp"

#include <numeric>

namespace faro::exchange {

int Layout::element_bits() const {
  return std::accumulate(axes.begin(), axes.end(), 0,
                         [](int sum, const Axis& axis) { return sum + axis.bits; });
}

f2::Word Layout::element(f2::Word reg, f2::Word lane, f2::Word warp) const {
  return f2::combine(registers.data(), reg & f2::low_mask(static_cast<int>(registers.size()))) ^
         f2::combine(lanes.data(), lane & f2::low_mask(static_cast<int>(lanes.size()))) ^
         f2::combine(warps.data(), warp & f2::low_mask(static_cast<int>(warps.size())));
}

f2::Matrix Layout::matrix() const {
  std::vector<f2::Word> columns = registers;
  columns.insert(columns.end(), lanes.begin(), lanes.end());
  columns.insert(columns.end(), warps.begin(), warps.end());
  return f2::Matrix::from_columns(element_bits(), columns);
}

std::string shape_text(const Layout& layout) {
  std::string text;
  for (const Axis& axis : layout.axes)
    text += (text.empty() ? "" : " x ") + std::to_string(std::uint64_t{1} << axis.bits);
  return text;
}

namespace {

// The coordinates of an element, the slowest axis first.
std::vector<f2::Word> coordinates_of(const Layout& layout, f2::Word element) {
  std::vector<f2::Word> coordinates(layout.axes.size());
  for (std::size_t i = layout.axes.size(); i-- > 0;) {
    coordinates[i] = element & f2::low_mask(layout.axes[i].bits);
    element >>= layout.axes[i].bits;
  }
  return coordinates;
}

std::string bases_text(const Layout& layout, const std::vector<f2::Word>& columns) {
  std::string text = "[";
  for (const f2::Word column : columns) {
    text += text.size() > 1 ? ", [" : "[";
    std::string tuple;
    for (const f2::Word c : coordinates_of(layout, column))
      tuple += (tuple.empty() ? "" : ", ") + std::to_string(c);
    text += tuple + "]";
  }
  return text + "]";
}

// The number of an element whose first axis is the fastest.
f2::Word first_axis_fastest(const Layout& layout, f2::Word element) {
  f2::Word number = 0;
  int shift = 0;
  const std::vector<f2::Word> coordinates = coordinates_of(layout, element);
  for (std::size_t i = 0; i < layout.axes.size(); ++i) {
    number |= coordinates[i] << shift;
    shift += layout.axes[i].bits;
  }
  return number;
}

// One mode of CuTe: bits whose strides double are one extent. "(4,8)" and "(32,1)".
struct CuteMode {
  std::string shape;
  std::string stride;
};
CuteMode cute_mode(const Layout& layout, const std::vector<f2::Word>& columns) {
  std::vector<std::uint64_t> shapes;
  std::vector<f2::Word> strides;
  for (const f2::Word column : columns) {
    const f2::Word stride = first_axis_fastest(layout, column);
    const bool goes_on = !shapes.empty() && stride == strides.back() * shapes.back();
    if (goes_on) {
      shapes.back() *= 2;
    } else {
      shapes.push_back(2);
      strides.push_back(stride);
    }
  }
  if (shapes.empty()) return {"1", "0"};
  CuteMode mode;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    mode.shape += (i == 0 ? "" : ",") + std::to_string(shapes[i]);
    mode.stride += (i == 0 ? "" : ",") + std::to_string(strides[i]);
  }
  if (shapes.size() == 1) return mode;
  return {"(" + mode.shape + ")", "(" + mode.stride + ")"};
}

}  // namespace

std::string to_text(const Layout& layout) {
  return "#ttg.linear<{register = " + bases_text(layout, layout.registers) +
         ", lane = " + bases_text(layout, layout.lanes) + ", warp = " + bases_text(layout, layout.warps) +
         ", block = []}>";
}

std::string to_cute(const Layout& layout) {
  const f2::Matrix columns = layout.matrix();
  for (const f2::Word column : columns.column_span())
    if (column != 0 && !f2::is_power_of_two(column)) return "";
  std::vector<f2::Word> threads = layout.lanes;
  threads.insert(threads.end(), layout.warps.begin(), layout.warps.end());
  const CuteMode thread = cute_mode(layout, threads);
  const CuteMode value = cute_mode(layout, layout.registers);
  std::string shape;
  for (const Axis& axis : layout.axes)
    shape += (shape.empty() ? "" : ",") + std::to_string(std::uint64_t{1} << axis.bits);
  return "(" + thread.shape + "," + value.shape + "):(" + thread.stride + "," + value.stride + ") @ (" +
         shape + ")";
}

}  // namespace faro::exchange
