#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

#include "faro/error.hpp"
#include "faro/layout/placement.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/machine/trace.hpp"
#include "faro/suggest.hpp"
#include "layout/shared_geometry.hpp"

namespace faro::layout {
namespace {

constexpr std::array<std::string_view, 4> kNames{"row", "column", "diagonal", "stride"};
Index checked_vector(const SharedArray& array, std::uint64_t vector_elements) {
  const std::string operation = fmt::format("read the access: vectors of {}", vector_elements);
  if (!std::has_single_bit(vector_elements) || vector_elements > kMaxLaneBytes / array.element_bytes) {
    fail(ErrorCode::value, operation,
         fmt::format("{} elements of {} bytes a lane", vector_elements, array.element_bytes),
         fmt::format("1, 2, 4, 8 or 16 elements, of at most {} bytes together", kMaxLaneBytes));
  }
  if (array.columns % vector_elements != 0) {
    fail(ErrorCode::value, operation, fmt::format("rows of {} elements", array.columns),
         "columns that are a multiple of the vector",
         "a vector must not go on in the next row; pad the rows");
  }
  return static_cast<Index>(vector_elements);
}

// The warps of an access whose n-th thread, n < threads, takes the vector at `element_of(n)`.
template <typename ElementOf>
void add_warps(AccessSet& set, Index threads, ElementOf element_of) {
  const auto lanes = static_cast<Index>(kGeometry.warp_size);
  for (Index first = 0; first < threads; first += lanes) {
    std::vector<Index>& warp = set.warps.emplace_back();
    for (Index n = first; n < std::min(first + lanes, threads); ++n) warp.push_back(element_of(n));
  }
}

// "column", "column(8)"
std::string access_text(std::string_view name, Index vector_elements) {
  return vector_elements == 1 ? std::string(name) : fmt::format("{}({})", name, vector_elements);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Call {
  std::string_view name;
  std::vector<std::uint64_t> arguments;
};

// "stride(3, 2)"; nothing where the text is no such thing.
std::optional<Call> read_call(std::string_view text) {
  const std::size_t open = std::min(text.find('('), text.size());
  Call call{.name = trimmed(text.substr(0, open)), .arguments = {}};
  if (open == text.size()) return call;
  if (!text.ends_with(')')) return std::nullopt;
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  for (;;) {
    const std::size_t comma = std::min(inside.find(','), inside.size());
    const std::string_view word = trimmed(inside.substr(0, comma));
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || failed != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    call.arguments.push_back(value);
    if (comma == inside.size()) return call;
    inside.remove_prefix(comma + 1);
  }
}

}  // namespace

SharedArray make_shared_array(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes) {
  const std::string operation = "lay out the array";
  if (element_bytes > kMaxLaneBytes || !std::has_single_bit(element_bytes)) {
    fail(ErrorCode::value, operation, fmt::format("elements of {} bytes", element_bytes),
         "1, 2, 4, 8 or 16 bytes");
  }
  if (rows == 0 || columns == 0) {
    fail(ErrorCode::value, operation, fmt::format("{} rows of {} elements", rows, columns),
         "at least one of each");
  }
  if (rows > kMaxSharedBytes || columns > kMaxSharedBytes ||
      rows * columns * element_bytes > kMaxSharedBytes) {
    fail(ErrorCode::value, operation,
         fmt::format("{} x {} elements of {} bytes", rows, columns, element_bytes),
         fmt::format("at most {} bytes, the shared memory of a block", kMaxSharedBytes),
         "give the tile that one block keeps, not the whole array");
  }
  return {.rows = static_cast<Index>(rows),
          .columns = static_cast<Index>(columns),
          .element_bytes = static_cast<Index>(element_bytes)};
}

AccessSet row_access(const SharedArray& array, std::uint64_t vector_elements) {
  const Index v = checked_vector(array, vector_elements);
  AccessSet set{.text = access_text("row", v), .vector_elements = v, .recorded = false, .warps = {}};
  add_warps(set, array.elements() / v, [&](Index n) { return n * v; });
  return set;
}

AccessSet column_access(const SharedArray& array, std::uint64_t vector_elements) {
  const Index v = checked_vector(array, vector_elements);
  AccessSet set{.text = access_text("column", v), .vector_elements = v, .recorded = false, .warps = {}};
  add_warps(set, array.elements() / v,
            [&](Index n) { return n % array.rows * array.columns + n / array.rows * v; });
  return set;
}

AccessSet diagonal_access(const SharedArray& array, std::uint64_t vector_elements) {
  const Index v = checked_vector(array, vector_elements);
  const Index vectors = array.columns / v;  // G
  AccessSet set{.text = access_text("diagonal", v), .vector_elements = v, .recorded = false, .warps = {}};
  add_warps(set, array.elements() / v, [&](Index n) {
    const Index row = n % array.rows;
    return row * array.columns + (row + n / array.rows) % vectors * v;
  });
  return set;
}

AccessSet stride_access(const SharedArray& array, std::uint64_t stride, std::uint64_t vector_elements) {
  const Index v = checked_vector(array, vector_elements);
  const Index vectors = array.elements() / v;
  if (stride == 0 || stride > vectors) {
    fail(ErrorCode::value, "read the access", fmt::format("a stride of {}", stride),
         fmt::format("from 1 to {}, the vectors of the array", vectors));
  }
  const auto k = static_cast<Index>(stride);
  AccessSet set{.text = v == 1 ? fmt::format("stride({})", k) : fmt::format("stride({}, {})", k, v),
                .vector_elements = v,
                .recorded = false,
                .warps = {}};
  for (Index first = 0; first < k; ++first) {
    add_warps(set, (vectors - first + k - 1) / k, [&](Index n) { return (first + n * k) * v; });
  }
  return set;
}

// Accesses that were recorded, from a file: a line a warp access, an element number a lane.
// Errors: ErrorCode::value naming the line of an element outside the array, or of more lanes than a warp has;
// those of machine::read_trace.
static AccessSet recorded_access(const SharedArray& array, const std::string& path) {
  const machine::Trace trace = machine::read_trace(path);
  const auto warp_size = static_cast<std::size_t>(machine::MemoryGeometry{}.warp_size);
  AccessSet set{.text = "@" + path, .vector_elements = 1, .recorded = true, .warps = {}};
  set.warps.reserve(trace.accesses.size());
  for (const machine::TraceAccess& access : trace.accesses) {
    if (access.lanes > warp_size) {
      fail(ErrorCode::value, fmt::format("read the access: `{}`, line {}", trace.name, access.line),
           fmt::format("{} lanes", access.lanes), fmt::format("at most {}, a warp", warp_size),
           "a line is one access of a warp, each number an element: row * columns + column");
    }
    std::vector<Index>& warp = set.warps.emplace_back();
    for (const std::uint64_t element : trace.lanes_of(access)) {
      if (element != machine::kIdleLane && element >= array.elements()) {
        fail(ErrorCode::value, fmt::format("read the access: `{}`, line {}", trace.name, access.line),
             fmt::format("element {}", element),
             fmt::format("below {}, the elements of {} x {}", array.elements(), array.rows, array.columns),
             "a line is one access of a warp, each number an element: row * columns + column");
      }
      warp.push_back(element == machine::kIdleLane ? AccessSet::kIdle : static_cast<Index>(element));
    }
  }
  return set;
}

AccessSet parse_access(const SharedArray& array, std::string_view text) {
  const std::string operation = "read the access";
  const std::string quoted = fmt::format("`{}`", text);
  const std::string_view word = trimmed(text);
  if (word.starts_with('@')) return recorded_access(array, std::string(word.substr(1)));
  const std::optional<Call> call = read_call(word);
  const std::string_view name =
      call ? call->name : trimmed(word.substr(0, std::min(word.find('('), word.size())));
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    const std::string suggestion = did_you_mean(name, kNames);
    fail(ErrorCode::value, operation, quoted,
         "row, column, diagonal, stride(K), each also with a vector, or @FILE",
         suggestion.empty() ? "`row(8)` is 8 elements a lane along the rows" : suggestion);
  }
  const std::size_t needed = name == "stride" ? 1 : 0;
  if (!call || call->arguments.size() < needed || call->arguments.size() > needed + 1) {
    fail(ErrorCode::value, operation, quoted,
         needed == 1 ? "stride(K) or stride(K, V)" : fmt::format("{0} or {0}(V)", name));
  }
  const std::uint64_t v = call->arguments.size() > needed ? call->arguments.back() : 1;
  if (name == "row") return row_access(array, v);
  if (name == "column") return column_access(array, v);
  if (name == "diagonal") return diagonal_access(array, v);
  return stride_access(array, call->arguments.front(), v);
}

std::vector<std::string> split_accesses(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = std::string(trimmed(part));
  return parts;
}

}  // namespace faro::layout
