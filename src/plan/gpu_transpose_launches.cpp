// The launches of a transposition in place on a GPU: the parameters of every kernel, in order.
#include <algorithm>
#include <utility>

#include "plan/gpu_transpose.hpp"

namespace faro::detail {
namespace {

using kernels::C2rHeld;
using kernels::C2rShape;

constexpr std::uint32_t kThreads = 256;

// Larger blocks, of which few fit a multiprocessor, have more.
std::uint32_t threads_of(std::uint64_t shared_bytes) {
  constexpr std::uint64_t several = std::uint64_t{57} << 10;
  return shared_bytes > several ? 2 * kThreads : kThreads;
}

// Makes the launches of the sweeps' steps, which differ in where columns are before and after.
class Launches {
 public:
  explicit Launches(const GpuTranspose& plan)
      : plan_(plan),
        shape_(kernels::make_c2r_shape(plan.m, plan.n)),
        diagonal_(shape_.c > 1 && !plan.rotates_apart) {}

  std::vector<GpuTransposeLaunch> take() {
    switch (plan_.form) {
      case GpuTransposeForm::nothing:
        break;
      case GpuTransposeForm::whole:
        whole();
        break;
      case GpuTransposeForm::resident:
        if (plan_.rotates_apart && !plan_.r2c) strips(false);
        if (plan_.r2c) strips(true);
        rows(C2rHeld{}, C2rHeld{});
        if (!plan_.r2c) strips(true);
        if (plan_.rotates_apart && plan_.r2c) strips(false);
        break;
      case GpuTransposeForm::long_rows:
        if (plan_.r2c) strips(true);
        long_rows();
        if (!plan_.r2c) strips(true);
        break;
      case GpuTransposeForm::long_columns:
      case GpuTransposeForm::huge:
        long_columns();
        break;
    }
    return std::move(made_);
  }

 private:
  template <typename Params>
  Params sweep(bool vectors) const {
    Params p;
    p.shape = shape_;
    p.vectors = vectors;
    p.r2c = plan_.r2c;
    p.unit_bytes = static_cast<std::uint32_t>(plan_.unit_bytes);
    p.units = plan_.units;
    p.scratch_elements = plan_.scratch_elements();
    return p;
  }
  template <typename Params>
  void add(const Params& p, std::uint64_t blocks) {
    made_.push_back({p, blocks, p.threads, p.shared_bytes()});
  }

  // first to end in parts of so many, those that are whole as one series: take(first, size, repeats).
  template <typename Take>
  static void in_parts(std::uint64_t first, std::uint64_t end, std::uint64_t size, const Take& take) {
    const std::uint64_t whole = (end - first) / size;
    if (whole > 0) take(first, size, whole);
    first += whole * size;
    if (first < end) take(first, end - first, std::uint64_t{1});
  }

  void whole() {
    kernels::TransposeWholeParams p;
    p.rows = static_cast<std::uint32_t>(plan_.rectangle.rows);
    p.columns = static_cast<std::uint32_t>(plan_.rectangle.columns);
    p.units = plan_.units;
    p.arrays = static_cast<std::uint32_t>(std::min(plan_.arrays_at_once, plan_.rectangle.arrays));
    p.total = plan_.rectangle.arrays;
    constexpr std::uint32_t many = 16384;
    p.threads = p.arrays * p.count() * p.units > many ? 4 * kThreads : kThreads;
    kernels::finish(p);
    made_.push_back({p, p.blocks(), p.threads, p.shared_bytes(plan_.unit_bytes)});
  }

  void rows(const C2rHeld& in, const C2rHeld& out) {
    if (plan_.form == GpuTransposeForm::huge) {
      huge_rows(in, out);
      return;
    }
    auto p = sweep<kernels::C2rRowsParams>(plan_.vectors);
    p.threads = plan_.row_threads;
    p.diagonal = diagonal_;
    p.in.held = in;
    p.out.held = out;
    p.scratch_pitch = plan_.moved_columns;
    kernels::finish(p);
    add(p, plan_.m);
  }

  void huge_rows(const C2rHeld& in, const C2rHeld& out) {
    auto p = sweep<kernels::C2rHugeRowsParams>(false);
    p.diagonal = diagonal_;
    p.in = in;
    p.out = out;
    p.scratch_pitch = plan_.moved_columns;
    in_parts(0, plan_.m, plan_.copied_rows,
             [&](std::uint64_t first, std::uint64_t rows, std::uint64_t repeats) {
               p.first_row = first;
               p.rows = rows;
               kernels::finish(p);
               made_.push_back({GpuHugeStep{p, false}, p.blocks(), p.threads, 0, repeats, 2});
               made_.push_back({GpuHugeStep{p, true}, p.blocks(), p.threads, 0, repeats});
             });
  }

  C2rHeld held_rows() const {
    if (plan_.moved_rows == 0) return {};
    return plan_.r2c ? kernels::moved_up(plan_.moved_rows, plan_.m) : kernels::moved_down(plan_.moved_rows);
  }

  void strips(bool shuffles) {
    // The rotation alone, which changes rows only from panel to panel, goes unit by unit.
    auto p = sweep<kernels::C2rStripsParams>(plan_.vectors && shuffles);
    p.width = plan_.strip;
    p.shuffles = shuffles;
    p.diagonal = shuffles && diagonal_;
    p.held = held_rows();
    p.threads = threads_of(p.shared_bytes());
    kernels::finish(p);
    add(p, p.blocks_of_array());
  }

  void long_rows() {
    // The batch that the scratch holds comes first, of rows that have moved up last.
    const std::uint64_t cut = plan_.r2c ? plan_.m - plan_.moved_rows : plan_.m;
    const auto add_batch = [&](std::uint64_t first, std::uint64_t rows, std::uint64_t repeats) {
      auto p = sweep<kernels::C2rLongRowsParams>(plan_.vectors);
      p.width = plan_.segment;
      p.held = held_rows();
      p.first_row = first;
      p.rows = rows;
      p.threads = threads_of(p.shared_bytes());
      kernels::finish(p);
      add(p, p.blocks_of_array());
      made_.back().repeats = repeats;
    };
    in_parts(0, cut, plan_.moved_rows, add_batch);
    in_parts(cut, plan_.m, plan_.moved_rows, add_batch);
  }

  void long_columns() {
    const std::uint64_t moved = plan_.moved_columns;
    const C2rHeld down = kernels::moved_down(moved);
    const C2rHeld up = kernels::moved_up(moved, plan_.n);
    const bool apart = plan_.rotates_apart;
    if (plan_.r2c) {
      windows_down(true);
      rows(down, apart ? up : C2rHeld{});
      if (apart) windows_back(false);
    } else {
      if (apart) windows_down(false);
      rows(apart ? down : C2rHeld{}, up);
      windows_back(true);
    }
  }

  // Out of the array: the first batch to the scratch, the next to where that was.
  void windows_down(bool shuffles) {
    const kernels::C2rColumns place = array();
    windows(shuffles, 0, plan_.moved_columns, place, scratch(0));
    kernels::C2rColumns to = place;
    to.shift = -static_cast<std::int64_t>(plan_.moved_columns);
    const auto add_batch = [&](std::uint64_t first, std::uint64_t columns, std::uint64_t repeats) {
      windows(shuffles, first, columns, place, to);
      made_.back().repeats = repeats;
    };
    in_parts(plan_.moved_columns, plan_.n, plan_.moved_columns, add_batch);
  }

  // The opposite, back into the array.
  void windows_back(bool shuffles) {
    const kernels::C2rColumns place = array();
    const std::uint64_t cut = plan_.n - plan_.moved_columns;
    kernels::C2rColumns from = place;
    from.shift = static_cast<std::int64_t>(plan_.moved_columns);
    const auto add_batch = [&](std::uint64_t first, std::uint64_t columns, std::uint64_t repeats) {
      windows(shuffles, first, columns, from, place);
      made_.back().repeats = repeats;
    };
    in_parts(0, cut, plan_.moved_columns, add_batch);
    windows(shuffles, cut, plan_.moved_columns, scratch(cut), place);
  }

  kernels::C2rColumns array() const {
    return {.scratch = false, .stride = plan_.m * plan_.n, .pitch = plan_.n, .shift = 0};
  }
  kernels::C2rColumns scratch(std::uint64_t first_column) const {
    return {.scratch = true,
            .stride = plan_.scratch_elements(),
            .pitch = plan_.moved_columns,
            .shift = -static_cast<std::int64_t>(first_column)};
  }

  void windows(bool shuffles, std::uint64_t first, std::uint64_t columns, const kernels::C2rColumns& in,
               const kernels::C2rColumns& out) {
    auto p = sweep<kernels::C2rWindowsParams>(plan_.vectors);
    p.width = plan_.strip;
    p.rows = plan_.window_rows;
    p.shuffles = shuffles;
    p.first_column = first;
    p.columns = columns;
    p.in = in;
    p.out = out;
    // Rows that have moved lie on the diagonals of their places; those in the scratch on none.
    const kernels::C2rColumns& shuffled = plan_.r2c ? out : in;
    p.rotates = !shuffles || (diagonal_ && !shuffled.scratch);
    p.panel_shift = shuffles ? shuffled.shift : 0;
    kernels::finish(p);
    add(p, p.blocks_of_array());
  }

  const GpuTranspose& plan_;
  C2rShape shape_;
  bool diagonal_;
  std::vector<GpuTransposeLaunch> made_;
};

}  // namespace

bool GpuTransposeLaunch::in_vectors() const {
  return std::visit(
      [](const auto& p) {
        using Params = std::decay_t<decltype(p)>;
        if constexpr (std::is_base_of_v<kernels::C2rSweepParams, Params>) return p.vectors;
        return false;
      },
      params);
}

bool set_skew(GpuTransposeLaunch& launch, std::uint32_t skew) {
  if (!launch.in_vectors()) return false;
  std::visit(
      [skew](auto& params) {
        if constexpr (requires { params.skew; }) params.skew = skew;
      },
      launch.params);
  return true;
}

GpuTransposeLaunch in_series(const GpuTransposeLaunch& launch, std::uint64_t number) {
  GpuTransposeLaunch made = launch;
  made.repeats = 1;
  made.turns = 1;
  std::visit(
      [number](auto& params) {
        if constexpr (requires { params.first_row; }) params.first_row += number * params.rows;
        if constexpr (requires { params.first_column; }) params.first_column += number * params.columns;
        if constexpr (requires { params.gathers; }) params.params.first_row += number * params.params.rows;
      },
      made.params);
  return made;
}

std::vector<GpuTransposeLaunch> launches_of(const GpuTranspose& plan) { return Launches(plan).take(); }

}  // namespace faro::detail
