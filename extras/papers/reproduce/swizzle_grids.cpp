// The 4 x 8 grids of the exchange of structs, and the primitives of sw_xform: of programs that were
// synthesised here, watched step by step.
#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/examples.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace {

constexpr std::int64_t kWords = 4;
constexpr std::int64_t kLanes = 8;

struct Grid {
  const char* subject;
  std::array<const char*, kWords> rows;
};

constexpr Grid kTarget{
    "a struct to each lane",
    {"0 4 8 12 16 20 24 28", "1 5 9 13 17 21 25 29", "2 6 10 14 18 22 26 30", "3 7 11 15 19 23 27 31"}};

// Registers after each step; the last one is the target.
constexpr std::array<Grid, 3> kColumns{{
    {"column-row-column, loaded",
     {"0 1 2 3 4 5 6 7", "8 9 10 11 12 13 14 15", "16 17 18 19 20 21 22 23", "24 25 26 27 28 29 30 31"}},
    {"column-row-column, after the column shuffle",
     {"0 9 18 27 4 13 22 31", "24 1 10 19 28 5 14 23", "16 25 2 11 20 29 6 15", "8 17 26 3 12 21 30 7"}},
    {"column-row-column, after the row shuffle",
     {"0 4 9 13 18 22 27 31", "1 5 10 14 19 23 24 28", "2 6 11 15 16 20 25 29", "3 7 8 12 17 21 26 30"}},
}};
constexpr std::array<Grid, 2> kRows{{
    {"row-column-row, loaded",
     {"0 1 2 3 4 5 6 7", "11 8 9 10 15 12 13 14", "18 19 16 17 22 23 20 21", "25 26 27 24 29 30 31 28"}},
    {"row-column-row, after the column shuffle",
     {"0 8 16 24 4 12 20 28", "25 1 9 17 29 5 13 21", "18 26 2 10 22 30 6 14", "11 19 27 3 15 23 31 7"}},
}};

using Grids = std::vector<std::vector<std::string>>;  // by step, then by register

Grids grids_of(const swizzle::Example& example, const swizzle::Valuation& valuation) {
  Grids grids;
  swizzle::ValueTable& values = example.specification.values();
  const auto result =
      swizzle::run_symbolic(example.sketch, valuation, values,
                            [&](int, const swizzle::Statement&, const swizzle::WarpState& state) {
                              std::istringstream text(swizzle::grid_text(values, state, kLanes));
                              grids.emplace_back();
                              for (std::string row; std::getline(text, row);) grids.back().push_back(row);
                            });
  // What was stored: element r W + t of the output is register r of lane t's struct.
  grids.emplace_back();
  for (std::int64_t r = 0; r < kWords; ++r) {
    std::string row;
    for (std::int64_t t = 0; t < kLanes; ++t)
      row += (t == 0 ? "" : " ") +
             std::to_string(values.index_of(result[1][static_cast<std::size_t>(r * kLanes + t)]));
    grids.back().push_back(row);
  }
  return grids;
}

bool equal(const std::vector<std::string>& rows, const Grid& grid) {
  return std::equal(rows.begin(), rows.end(), grid.rows.begin(), grid.rows.end());
}

// The solution, of all the one that goes through the drawn steps; else the cheapest.
Grids solved(const char* name, std::span<const Grid> drawn, std::vector<std::string>& notes) {
  const swizzle::Example example = swizzle::make_example(name, {.struct_words = kWords, .warp = kLanes});
  const auto result = swizzle::synthesise(example.specification, example.sketch, {});
  if (result.kept.empty()) {
    fail(ErrorCode::internal, std::string("reproduce swizzle-grids: ") + name, "no solution",
         "those that are published");
  }
  Grids first;
  for (const swizzle::Solution& solution : result.kept) {
    Grids grids = grids_of(example, solution.valuation);
    if (first.empty()) first = grids;
    const bool same = std::equal(drawn.begin(), drawn.end(), grids.begin(),
                                 [](const Grid& grid, const auto& rows) { return equal(rows, grid); });
    if (!same) continue;
    notes.push_back(std::string(name) + ": one of " + std::to_string(result.solutions) +
                    " solutions of 4 words and 8 lanes");
    return grids;
  }
  return first;
}

void add_rows(Table& table, const Grid& grid, const std::vector<std::string>& rows,
              const std::string& subject) {
  for (std::size_t r = 0; r < grid.rows.size(); ++r) {
    const std::string here = r < rows.size() ? rows[r] : "none";
    table.rows.push_back({.subject = subject,
                          .quantity = "register " + std::to_string(r),
                          .paper = std::string(grid.rows[r]),
                          .here = here,
                          .unit = "words",
                          .agrees = here == grid.rows[r],
                          .criterion = "equal"});
  }
}

struct Line {
  const char* subject;
  std::int64_t n, cf, df, gs, c;
  const char* values;
};

// y[i] = f(x[i]): the value that each place of 0 .. n-1 takes.
constexpr std::array<Line, 5> kLines{{
    {"n = 8, rotation by 2", 8, 1, 8, 8, 6, "6 7 0 1 2 3 4 5"},
    {"n = 8, fan by 3", 8, 3, 8, 8, 0, "0 3 6 1 4 7 2 5"},
    {"n = 8, groups of 4, fan by 3", 8, 3, 4, 4, 0, "0 3 2 1 4 7 6 5"},
    {"n = 9, fan by 3", 9, 3, 3, 9, 0, "0 3 6 1 4 7 2 5 8"},
    {"n = 9, fan by 3, rotated by 1 in threes", 9, 3, 3, 9, 6, "6 0 3 7 1 4 8 2 5"},
}};

std::string values_of(const Line& line) {
  swizzle::XformParameters p;
  p.n = line.n;
  p.cf = line.cf;
  p.df = line.df;
  p.gs = line.gs;
  p.g = line.gs / line.df;
  p.c = line.c;
  p.dr = 1;
  std::string text;
  for (std::int64_t i = 0; i < line.n; ++i)
    text += (i == 0 ? "" : " ") + std::to_string(swizzle::value_of(p, std::array<std::int64_t, 2>{i, 0}));
  return text;
}

}  // namespace

Table swizzle_grids(const Options&) {
  Table table;
  const Grids columns = solved("aos-crc", kColumns, table.notes);
  const Grids rows = solved("aos-rcr", kRows, table.notes);
  for (std::size_t step = 0; step < kColumns.size(); ++step)
    add_rows(table, kColumns[step], columns[step], kColumns[step].subject);
  add_rows(table, kTarget, columns.back(), "column-row-column, stored");
  for (std::size_t step = 0; step < kRows.size(); ++step)
    add_rows(table, kRows[step], rows[step], kRows[step].subject);
  add_rows(table, kTarget, rows.back(), "row-column-row, stored");
  for (const Line& line : kLines) {
    const std::string here = values_of(line);
    table.rows.push_back({.subject = line.subject,
                          .quantity = "places",
                          .paper = std::string(line.values),
                          .here = here,
                          .unit = "places",
                          .agrees = here == line.values,
                          .criterion = "equal"});
  }
  return table;
}

}  // namespace faro::reproduce
