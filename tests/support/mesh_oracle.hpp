// The whole array of a redistribution, element by element, and drawn problems: for threads as ranks, and for
// processes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faro/shards.hpp"

namespace faro::mesh_oracle {

using Shape = std::vector<std::uint64_t>;

inline std::uint64_t product_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

inline Shape places_of(std::uint64_t x, const Shape& shape) {
  Shape at(shape.size());
  for (std::size_t a = shape.size(); a-- > 0; x /= shape[a]) at[a] = x % shape[a];
  return at;
}

// Whether a rank holds an element, by the words of faro/distribution.hpp.
inline bool holds(const Distribution& distribution, const Shape& shape, int rank, std::uint64_t x) {
  int ranks = 1;
  for (const MeshAxis& axis : distribution.mesh.axes) ranks *= axis.ranks;
  int number = rank - distribution.mesh.first;
  if (number < 0 || number >= ranks) return false;
  const Shape at = places_of(x, shape);
  if (!distribution.boxes.empty()) {
    for (const RankBox& box : distribution.boxes) {
      if (box.rank != number) continue;
      for (std::size_t a = 0; a < at.size(); ++a) {
        if (at[a] < box.begin[a] || at[a] >= box.end[a]) return false;
      }
      return true;
    }
    return false;
  }
  std::vector<int> coordinates(distribution.mesh.axes.size());
  for (std::size_t m = coordinates.size(); m-- > 0; number /= distribution.mesh.axes[m].ranks)
    coordinates[m] = number % distribution.mesh.axes[m].ranks;
  for (const CutAxis& cut : distribution.axes) {
    std::uint64_t places = 1;
    std::uint64_t place = 0;
    for (const int m : cut.over) {
      const auto of = static_cast<std::uint64_t>(distribution.mesh.axes[static_cast<std::size_t>(m)].ranks);
      places *= of;
      place = place * of + static_cast<std::uint64_t>(coordinates[static_cast<std::size_t>(m)]);
    }
    const std::uint64_t extent = shape[static_cast<std::size_t>(cut.axis)];
    const std::uint64_t mine = at[static_cast<std::size_t>(cut.axis)];
    if (cut.block != 0) {
      if (mine / cut.block % places != place) return false;
      continue;
    }
    std::uint64_t begin = 0;
    std::uint64_t length = 0;
    for (std::uint64_t p = 0; p <= place; ++p) {
      begin += length;
      length = cut.extents.empty() ? extent / places + (p < extent % places ? 1 : 0) : cut.extents[p];
    }
    if (mine < begin || mine >= begin + length) return false;
  }
  return true;
}

// Who holds what before and after, element by element.
struct Whole {
  explicit Whole(const ShardProblem& problem)
      : ranks(static_cast<std::size_t>(problem.shards.ranks)), count(element_count(problem.permutation)) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const int number = static_cast<int>(rank);
      before.emplace_back();
      after.emplace_back();
      for (std::uint64_t x = 0; x < count; ++x) {
        if (holds(std::get<Distribution>(problem.shards.in), problem.in_shape(), number, x))
          before.back().insert(x);
      }
      std::map<std::uint64_t, std::uint64_t> by_place;
      for (std::uint64_t x = 0; x < count; ++x) {
        const std::uint64_t y = faro::apply(problem.permutation, x);
        if (holds(std::get<Distribution>(problem.shards.out), problem.out_shape(), number, y))
          by_place[y] = x;
      }
      for (const auto& [y, x] : by_place) after.back().push_back(x);
    }
  }

  std::vector<std::uint32_t> in_part(std::size_t rank) const {
    return values({before[rank].begin(), before[rank].end()});
  }
  std::vector<std::uint32_t> out_part(std::size_t rank) const { return values(after[rank]); }

  // Elements that a group of ranks wants and does not hold.
  std::uint64_t missing(std::size_t first, std::size_t end) const {
    std::set<std::uint64_t> wanted;
    std::set<std::uint64_t> held;
    for (std::size_t rank = first; rank < std::min(end, ranks); ++rank) {
      wanted.insert(after[rank].begin(), after[rank].end());
      held.insert(before[rank].begin(), before[rank].end());
    }
    std::uint64_t count_missing = 0;
    for (const std::uint64_t x : wanted) count_missing += held.count(x) == 0 ? 1 : 0;
    return count_missing;
  }

  std::size_t ranks;
  std::uint64_t count;
  std::vector<std::set<std::uint64_t>> before;
  std::vector<std::vector<std::uint64_t>> after;  // by places

 private:
  static std::vector<std::uint32_t> values(const std::vector<std::uint64_t>& elements) {
    std::vector<std::uint32_t> made;
    for (const std::uint64_t x : elements) made.push_back(static_cast<std::uint32_t>(x * 2654435761U + 1));
    return made;
  }
};

inline std::string label(const ShardProblem& problem) {
  return to_text(problem.permutation) + "\nfrom " + to_text(std::get<Distribution>(problem.shards.in)) +
         "\nto " + to_text(std::get<Distribution>(problem.shards.out)) + "\nranks " +
         std::to_string(problem.shards.ranks) + ", islands of " + std::to_string(problem.shards.island);
}

class Drawn {
 public:
  // Extents are `scale` times as large.
  explicit Drawn(std::uint64_t seed, std::uint64_t scale = 1) : random_(seed), scale_(scale) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  Mesh mesh(int ranks) {
    Mesh made;
    int product = 1;
    const std::uint64_t axes = 1 + below(3);
    for (std::uint64_t m = 0; m < axes; ++m) {
      const int most = ranks / product;
      made.axes.push_back({.ranks = 1 + static_cast<int>(below(static_cast<std::uint64_t>(most)))});
      product *= made.axes.back().ranks;
    }
    made.first = static_cast<int>(below(static_cast<std::uint64_t>(ranks - product + 1)));
    return made;
  }

  Distribution distribution(const Shape& shape, int ranks) {
    if (below(5) == 0 && product_of(shape) > 0) return boxes(shape, ranks);
    Distribution made{.mesh = mesh(ranks)};
    std::map<int, CutAxis> cuts;
    for (std::size_t m = 0; m < made.mesh.axes.size(); ++m) {
      if (below(4) == 0) continue;  // replicated
      const int axis = static_cast<int>(below(shape.size()));
      cuts[axis].axis = axis;
      auto& over = cuts[axis].over;
      over.insert(below(2) == 0 ? over.begin() : over.end(), static_cast<int>(m));
    }
    for (auto& [axis, cut] : cuts) {
      const std::uint64_t extent = shape[static_cast<std::size_t>(axis)];
      const std::uint64_t way = below(3);
      if (way == 1) cut.block = 1 + below(3);
      if (way == 2) {
        std::uint64_t places = 1;
        for (const int m : cut.over)
          places *= static_cast<std::uint64_t>(made.mesh.axes[static_cast<std::size_t>(m)].ranks);
        std::uint64_t left = extent;
        for (std::uint64_t p = 0; p + 1 < places; ++p) {
          cut.extents.push_back(below(left + 1));
          left -= cut.extents.back();
        }
        cut.extents.push_back(left);
      }
      made.axes.push_back(cut);
    }
    return made;
  }

  // A box cut in two again and again; each is somebody's, some are two ranks'.
  Distribution boxes(const Shape& shape, int ranks) {
    Distribution made{.mesh = {.axes = {{.ranks = ranks}}}};
    std::vector<int> free(static_cast<std::size_t>(ranks));
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), random_);
    std::vector<RankBox> all{{.rank = 0, .begin = Shape(shape.size(), 0), .end = shape}};
    const std::uint64_t wanted = 1 + below(static_cast<std::uint64_t>(ranks));
    for (std::uint64_t i = 0; i < 3 * wanted && all.size() < wanted; ++i) {
      const std::size_t which = below(all.size());
      const std::size_t axis = below(shape.size());
      RankBox other = all[which];
      if (other.end[axis] - other.begin[axis] < 2) continue;
      const std::uint64_t at = other.begin[axis] + 1 + below(other.end[axis] - other.begin[axis] - 1);
      all[which].end[axis] = at;
      other.begin[axis] = at;
      all.push_back(other);
    }
    for (RankBox& box : all) {
      box.rank = free.back();
      free.pop_back();
      made.boxes.push_back(box);
    }
    while (!free.empty() && below(2) == 0) {
      RankBox copy = all[below(all.size())];
      copy.rank = free.back();
      free.pop_back();
      made.boxes.push_back(copy);
    }
    return made;
  }

  std::vector<int> order(std::size_t axes) {
    std::vector<int> made(axes);
    std::iota(made.begin(), made.end(), 0);
    std::shuffle(made.begin(), made.end(), random_);
    return made;
  }

  // Neighbours joined at random.
  Shape joined(const Shape& shape) {
    Shape made{shape[0]};
    for (std::size_t a = 1; a < shape.size(); ++a) {
      if (below(2) == 0) {
        made.back() *= shape[a];
      } else {
        made.push_back(shape[a]);
      }
    }
    return made;
  }

  ShardProblem problem(int ranks) {
    Shape shape(1 + below(4));
    for (std::uint64_t& extent : shape) extent = 1 + below(scale_ * (shape.size() > 2 ? 6 : 13));
    if (below(16) == 0) shape[below(shape.size())] = 0;
    const std::vector<int> to = order(shape.size());
    Shape target;
    for (const int axis : to) target.push_back(shape[static_cast<std::size_t>(axis)]);
    const bool is_empty = product_of(shape) == 0;
    ShardProblem made{.permutation = is_empty ? Axes({0}, {0}) : Axes(shape, to),
                      .element_bytes = 4,
                      .shards = {.ranks = ranks}};
    const std::uint64_t way = is_empty ? 1 : below(3);
    if (way == 0) made.axes = NamedAxes{.shape = shape, .order = to};
    if (way == 1) made.shapes = RegroupedShape{.before = shape, .after = target};
    if (way == 1 && !is_empty) {
      std::vector<Cyclic> moves;
      for (const std::uint64_t extent : shape)
        moves.push_back({.count = extent, .shift = below(extent), .reversed = below(3) == 0});
      made.permutation = CyclicAxes(shape, to, moves);
    }
    if (way == 2) {
      made.shapes = RegroupedShape{.before = joined(shape), .after = joined(target)};
    }
    made.shards.in = distribution(made.in_shape(), ranks);
    made.shards.out = distribution(made.out_shape(), ranks);
    if (below(3) == 0) made.shards.island = 1 + static_cast<int>(below(6));
    return made;
  }

 private:
  std::mt19937_64 random_;
  std::uint64_t scale_;
};

}  // namespace faro::mesh_oracle
