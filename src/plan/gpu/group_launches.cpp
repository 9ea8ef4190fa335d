#include "plan/gpu/group_launches.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "faro/error.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/form_to_run.hpp"
#include "plan/index_candidates.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kGroupVectorBytes = kernels::kMovedBytes;

// Arrays up to this go by elements (docs/notes/cuda-experiments.md): 1,000 of 1 KiB take 5.8 us so and 8.5 by
// boxes, of 2 KiB as long, of 4 KiB 13.1 and 8.7, of 16 KiB 42.6 and 15.8.
constexpr std::uint64_t kFewGroupBytes = 1 << 10;

// `bytes`: of an array; `element_bytes`: of the narrow ones several arrays share more
// (axes_whole_params.cpp).
AxesVariant group_variant(std::uint64_t bytes, std::uint64_t element_bytes) {
  constexpr std::uint32_t whole_bytes = 16 << 10;
  AxesVariant variant;
  variant.elements = bytes <= kFewGroupBytes;
  variant.whole_bytes = element_bytes % 4 == 0 ? whole_bytes : 2 * whole_bytes;
  variant.grouped = true;
  return variant;
}

// --- which kernels there are

// One row.
bool is_group_copy(const GpuKernel& kernel) {
  const auto* const rows = std::get_if<kernels::AxesRowsParams>(&kernel.params);
  return rows != nullptr && rows->axes == 0;
}

// Where the family has the kernel: the number of its kind.
struct GroupKindOf {
  const GpuKernel& kernel;

  struct Found {
    GroupFamily family;
    std::uint32_t kind = 0;
  };
  using Kind = GroupFamily::Kind;

  static std::uint32_t log2_of(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(std::countr_zero(bytes));
  }

  std::optional<Found> operator()(const AxesBoxKernel& box) const {
    const auto* const end = std::begin(kernels::kBoxShapes) + kernels::kGroupBoxes;
    const auto* const found = std::find(std::begin(kernels::kBoxShapes), end, box.shape);
    if (found == end) return std::nullopt;
    return Found{{Kind::boxes}, static_cast<std::uint32_t>(found - std::begin(kernels::kBoxShapes))};
  }
  std::optional<Found> operator()(const AxesElementsKernel& elements) const {
    return Found{{Kind::elements},
                 kernels::group_elements_kind(log2_of(static_cast<std::uint64_t>(elements.unit_bytes)),
                                              elements.units)};
  }
  std::optional<Found> operator()(const AxesPlaneKernel& plane) const {
    return of_plane({.shape = plane.shape, .turned = false, .aligned = plane.aligned});
  }
  std::optional<Found> operator()(const AxesTurnedKernel& turned) const {
    return of_plane({.shape = turned.shape, .turned = true, .aligned = turned.words});
  }
  std::optional<Found> operator()(const AxesSkinnyKernel& skinny) const {
    for (std::uint32_t kind = 0; kind < kernels::kGroupStretches; ++kind) {
      if (kernels::axes_skinny_shape(static_cast<int>(kind)) == skinny.shape)
        return Found{{Kind::stretches}, kind};
    }
    return std::nullopt;
  }
  std::optional<Found> operator()(const AxesWholeKernel& whole) const {
    return Found{{Kind::wholes}, log2_of(static_cast<std::uint64_t>(whole.unit_bytes))};
  }
  static std::optional<Found> of_plane(const kernels::GroupPlane& plane) {
    const std::uint32_t kind = kernels::group_plane_kind(plane);
    if (kind == kernels::kGroupPlanes) return std::nullopt;
    return Found{{Kind::planes}, kind};
  }
  std::optional<Found> operator()(const AxesRowsKernel& rows) const {
    const std::uint32_t width = log2_of(static_cast<std::uint64_t>(rows.unit_bytes));
    if (!is_group_copy(kernel)) return Found{{Kind::vectors}, width};
    return Found{{Kind::vectors}, static_cast<std::uint32_t>(kernels::kGroupCopies) + width};
  }
  std::optional<Found> operator()(const ViewRowsKernel& rows) const {
    const auto* const found =
        std::find(std::begin(kernels::kViewRowsShapes), std::end(kernels::kViewRowsShapes), rows.shape);
    const auto number = static_cast<std::uint32_t>(found - std::begin(kernels::kViewRowsShapes));
    return Found{{Kind::vectors}, static_cast<std::uint32_t>(kernels::kGroupViewRows) + number};
  }
  std::optional<Found> operator()(const SegmentsKernel& segments) const {
    return Found{{Kind::vectors},
                 static_cast<std::uint32_t>(kernels::kGroupSegments) + log2_of(segments.vector_bytes)};
  }
  std::optional<Found> operator()(const AffineTileKernel& tile) const {
    return Found{{.kind = Kind::tiles, .tile = tile.tile}, 0};
  }
  template <typename Other>
  std::optional<Found> operator()(const Other& /*kernel*/) const {
    return std::nullopt;
  }
};

std::optional<GroupKindOf::Found> group_kind(const GpuKernel& kernel) {
  return std::visit(GroupKindOf{kernel}, kernel.id);
}

bool has_group_kernels(const GpuPass& pass) {
  return pass.launched == Kernels::first_aligned && pass.tables.empty() && !pass.in_place &&
         pass.source == PassBuffer::input && pass.target == PassBuffer::output && !pass.kernels.empty() &&
         std::all_of(pass.kernels.begin(), pass.kernels.end(),
                     [](const GpuKernel& kernel) { return group_kind(kernel).has_value(); });
}

// --- which a problem takes

// What lies together, as one row, by vectors at any address. `in_first`, `out_first`: bytes before it.
GpuPass copy_pass(std::uint64_t bytes, std::uint64_t offset, std::uint64_t in_first = 0,
                  std::uint64_t out_first = 0) {
  GpuPass pass{.kind = PassKind::axes, .kernels = {}, .offset = offset};
  constexpr auto threads = std::uint64_t{kernels::kAxesRowsThreads};
  for (std::uint64_t unit = kGroupVectorBytes; unit > 0; unit /= 2) {
    if ((bytes | in_first | out_first) % unit != 0) continue;
    auto params = kernels::make_axes_rows_params({{.extent = bytes / unit, .in = 1, .out = 1}},
                                                 static_cast<int>(unit), 0, 0);
    params.in = {.begin = in_first, .end = in_first + bytes};
    params.out = {.begin = out_first, .end = out_first + bytes};
    pass.kernels.push_back({.id = AxesRowsKernel{static_cast<int>(unit)},
                            .params = params,
                            .blocks = ceil_div(params.vectors(), threads),
                            .first_step = threads,
                            .threads = kernels::kAxesRowsThreads,
                            .in_alignment = unit,
                            .out_alignment = unit});
  }
  return pass;
}

// Copies are the driver's elsewhere.
void replace_copy(GpuPass& pass) {
  if (pass.kind == PassKind::copy) pass = copy_pass(pass.copy_bytes, pass.offset);
}

std::vector<GpuPass> passes_of_axes(const Axes& axes, const Problem& problem) {
  std::vector<GpuPass> passes = axes_passes(
      {.count = axes.count(),
       .element_bytes = problem.element_bytes,
       .batch = problem.batch,
       .form = axes,
       .axes = group_variant(axes.count() * problem.element_bytes * problem.batch, problem.element_bytes)});
  for (GpuPass& pass : passes) replace_copy(pass);
  return passes;
}

std::vector<GpuPass> passes_of_parts(const std::vector<AxisMap>& parts, std::uint64_t element_bytes) {
  std::vector<GpuPass> passes;
  for (const AxisMap& part : parts) {
    const AxisMap normal = normal_form(part);
    const std::uint64_t bytes = unit_count(normal.axes) * element_bytes;
    if (bytes == 0) continue;
    if (bytes > kFewGroupBytes && normal.axes.size() == 1 && normal.axes.front().in == 1 &&
        normal.axes.front().out == 1) {
      passes.push_back(copy_pass(bytes, 0, static_cast<std::uint64_t>(normal.in_first) * element_bytes,
                                 static_cast<std::uint64_t>(normal.out_first) * element_bytes));
      continue;
    }
    passes.push_back(view_pass(normal, element_bytes, group_variant(bytes, element_bytes)));
  }
  return passes;
}

std::optional<std::vector<GpuPass>> passes_of_permutation(const Permutation& permutation,
                                                          const Problem& problem) {
  if (const auto* const axes = std::get_if<Axes>(&permutation)) {
    if (axes->count() == 0 || problem.batch == 0) return std::vector<GpuPass>();
    return passes_of_axes(*axes, problem);
  }
  if (!axis_map(permutation)) return std::nullopt;
  if (const auto* const cyclic = std::get_if<Cyclic>(&permutation);
      cyclic != nullptr && (cyclic->count == 0 || (cyclic->shift == 0 && !cyclic->reversed))) {
    const std::uint64_t bytes = total_bytes(problem);
    return bytes == 0 ? std::vector<GpuPass>() : std::vector<GpuPass>{copy_pass(bytes, 0)};
  }
  return passes_of_parts(unrolled_parts(permutation, problem.batch), problem.element_bytes);
}

std::optional<std::vector<GpuPass>> passes_of_view(const Problem& problem) {
  const AxisMap normal = normal_form(axis_map(*problem.view));
  // Dense on both sides: axes have kernels for all alignments.
  std::optional<Permutation> permutation = as_permutation(normal);
  if (const auto* const affine = permutation ? std::get_if<Affine>(&*permutation) : nullptr)
    permutation = form_of_any_width(Affine(*affine));
  if (permutation && std::holds_alternative<Axes>(*permutation))
    return passes_of_permutation(*permutation, {.element_bytes = problem.element_bytes});
  return passes_of_parts({normal}, problem.element_bytes);
}

// A plan's own, where groups have all of its kernels.
std::optional<std::vector<GpuPass>> passes_of_plan(const Problem& problem, const Target& target) {
  std::vector<GpuPass> passes;
  const Plan plan(problem, target);
  for (const Pass& pass : plan.passes()) {
    FARO_CHECK(pass.gpu != nullptr);
    passes.push_back(*pass.gpu);
    replace_copy(passes.back());
  }
  return passes;
}

bool is_wide_enough(std::uint64_t element_bytes) {
  return element_bytes > 0 && element_bytes <= kMaxElementBytes;
}

}  // namespace

std::optional<std::vector<GpuPass>> group_passes(const Problem& problem, const Target& target) {
  if (problem.placement == Placement::in_place || std::holds_alternative<Indexed>(problem.permutation))
    return std::nullopt;
  std::optional<std::vector<GpuPass>> passes;
  if (problem.view) {
    check_view_problem(problem);
    passes = passes_of_view(problem);
  } else if (is_wide_enough(problem.element_bytes)) {
    check_width(problem);
    const auto* const affine = std::get_if<Affine>(&problem.permutation);
    const auto form = affine != nullptr ? form_of_any_width(*affine) : std::optional(problem.permutation);
    if (form) passes = passes_of_permutation(*form, problem);
  }
  if (!passes) passes = passes_of_plan(problem, target);
  if (!std::all_of(passes->begin(), passes->end(), has_group_kernels)) return std::nullopt;
  return passes;
}

ArraySkews skew_params(GpuKernel& kernel, std::uint64_t in_past, std::uint64_t out_past) {
  const auto in = static_cast<std::uint32_t>(in_past % kGroupVectorBytes);
  if (auto* const rows = std::get_if<kernels::AxesRowsParams>(&kernel.params)) {
    const ArraySkews skews{.in = in, .out = static_cast<std::uint32_t>(out_past % kGroupVectorBytes)};
    rows->in = {.begin = skews.in + rows->in.begin, .end = skews.in + rows->in.end};
    rows->out = {.begin = skews.out + rows->out.begin, .end = skews.out + rows->out.end};
    rows->first_vector = rows->out.begin / kGroupVectorBytes;
    return skews;
  }
  if (auto* const lines = std::get_if<kernels::AxesLinesParams>(&kernel.params)) {
    const ArraySkews skews{.in = in, .out = static_cast<std::uint32_t>(out_past % kernels::kLineSector)};
    lines->in = {.begin = skews.in + lines->in.begin, .end = skews.in + lines->in.end};
    lines->out = {.begin = skews.out + lines->out.begin, .end = skews.out + lines->out.end};
    return skews;
  }
  if (auto* const whole = std::get_if<kernels::AxesWholeParams>(&kernel.params)) {
    constexpr std::uint64_t sector = kernels::kWholeSector;
    const ArraySkews skews{.in = static_cast<std::uint32_t>(in_past % sector),
                           .out = static_cast<std::uint32_t>(out_past % sector)};
    whole->in = {.begin = skews.in + whole->in.begin, .end = skews.in + whole->in.end};
    whole->out = {.begin = skews.out + whole->out.begin, .end = skews.out + whole->out.end};
    return skews;
  }
  if (auto* const elements = std::get_if<kernels::AxesElementsParams>(&kernel.params)) {
    elements->in = {.begin = in + elements->in.begin, .end = in + elements->in.end};
    elements->in_first += in;
    return {.in = in};
  }
  const auto* const box = std::get_if<AxesBoxKernel>(&kernel.id);
  if (box == nullptr || !box->shape.ragged) return {};
  const ArraySkews skews{.in = in, .out = static_cast<std::uint32_t>(out_past % kernels::kLineSector)};
  const auto unit = static_cast<std::uint32_t>(box->shape.unit_bytes);
  std::get<kernels::AxesBoxParams>(kernel.params).skew(skews.in / unit, skews.out / unit);
  return skews;
}

namespace {

// --- the table

// One array's part of a launch.
struct PlacedArray {
  kernels::GroupBlock first;  // its block 0
  std::uint64_t entries = 0;
};

// A launch that is being made.
struct OpenLaunch {
  GroupLaunch launch;
  std::vector<PlacedArray> arrays;
};

class GroupTableMaker {
 public:
  explicit GroupTableMaker(std::uint64_t enough_blocks) : enough_blocks_(enough_blocks) {}

  void add(const GroupArray& array) {
    if (array.values != nullptr) return add_values(*array.values, array);
    for (std::size_t number = 0; number < array.passes->size(); ++number)
      add_pass((*array.passes)[number], array);
  }

  GroupLaunches take() {
    // What is read in steps is at an end when rows begin to move.
    made_.params.resize(round_up(made_.params.size(), kernels::kGroupParamsBytes));
    split_tiles();
    // Launches begin while those before end: blocks that are soon done come last.
    std::stable_sort(open_.begin(), open_.end(), [](const OpenLaunch& a, const OpenLaunch& b) {
      return is_soon_done(a.launch.family.kind) < is_soon_done(b.launch.family.kind);
    });
    for (OpenLaunch& open : open_) {
      std::stable_sort(
          open.arrays.begin(), open.arrays.end(), [](const PlacedArray& a, const PlacedArray& b) {
            return a.first.kind != b.first.kind ? a.first.kind < b.first.kind : a.entries > b.entries;
          });
      hold_params(open);
      write_blocks(open);
      made_.launches.push_back(std::move(open.launch));
    }
    return std::move(made_);
  }

 private:
  struct Kept {
    std::uint32_t at = 0;  // both in units of kGroupParamsBytes
    std::uint32_t size = 0;
  };
  struct Placed {
    Kept params;
    std::uint32_t kind = 0;
    std::size_t launch = 0;
    std::uint64_t entries = 0;
    std::uint32_t first = 0;  // of its boxes
    ArraySkews skews;
  };
  using Key = std::tuple<const void*, std::uint64_t, std::uint64_t>;  // by skews of both sides

  void add_pass(const GpuPass& pass, const GroupArray& array) {
    const std::uint64_t in_past = (array.in_past + pass.offset) % kGroupAlignment;
    const std::uint64_t out_past = (array.out_past + pass.offset) % kGroupAlignment;
    const auto [entry, is_new] = placed_.try_emplace(Key{&pass, in_past, out_past});
    if (is_new) entry->second = place(pass, in_past, out_past, array.member);
    push(entry->second, array, static_cast<std::int64_t>(pass.offset));
  }

  void add_values(const GroupValuesWork& values, const GroupArray& array) {
    const auto [entry, is_new] = placed_.try_emplace(Key{&values, 0, 0});
    if (is_new) {
      const GroupFamily family{.kind = GroupFamily::Kind::values, .changes = values.changes};
      entry->second = {
          .params = keep_params(values.arrays),
          .launch = launch_of(family, static_cast<int>(kernels::kValueThreads), values.shared_bytes),
          .entries = values.boxes,
          .skews = {}};
    }
    push(entry->second, array, 0);
  }

  void push(const Placed& at, const GroupArray& array, std::int64_t offset) {
    OpenLaunch& open = open_[at.launch];
    ++open.launch.arrays;
    open.arrays.push_back({.first = {.in_offset = array.in_offset_bytes + offset - at.skews.in,
                                     .out_offset = array.out_offset_bytes + offset - at.skews.out,
                                     .member = array.member,
                                     .block = at.first,
                                     .params = at.params.at,
                                     .kind = static_cast<std::uint8_t>(at.kind),
                                     .held = static_cast<std::uint16_t>(at.params.size)},
                           .entries = at.entries});
  }

  // The kernel for such addresses, its launch, and its parameters where they will be.
  Placed place(const GpuPass& pass, std::uint64_t in_past, std::uint64_t out_past, std::uint32_t member) {
    const auto fits = [&](const GpuKernel& kernel) {
      return in_past % kernel.in_alignment == 0 && out_past % kernel.out_alignment == 0;
    };
    const auto found = std::find_if(pass.kernels.begin(), pass.kernels.end(), fits);
    if (found == pass.kernels.end()) {
      fail(ErrorCode::value, "run",
           "arrays of member " + std::to_string(member) + " that begin between units",
           "arrays aligned to " + std::to_string(pass.kernels.back().in_alignment) + " bytes");
    }
    GpuKernel kernel = *found;
    Placed placed;
    placed.skews = skew_params(kernel, in_past, out_past);
    const auto kind = group_kind(kernel);
    FARO_CHECK(kind.has_value());
    placed.kind = kind->kind;
    placed.launch = launch_of(kind->family, kernel.threads, kernel.shared_bytes);
    placed.entries = entries_of(kind->family, kernel);
    placed.params = std::visit([this](const auto& params) { return keep_params(params); }, kernel.params);
    if (const auto* const box = std::get_if<kernels::AxesBoxParams>(&kernel.params))
      placed.first = keep_boxes(open_[placed.launch].launch.boxes, *box, placed.entries);
    return placed;
  }

  static std::uint32_t keep_boxes(std::vector<kernels::RaggedBox>& boxes, const kernels::AxesBoxParams& of,
                                  std::uint64_t count) {
    const std::size_t first = boxes.size();
    FARO_CHECK((first + count) >> 32 == 0);
    boxes.reserve(first + count);
    for (std::uint64_t block = 0; block < count; ++block) boxes.push_back(kernels::ragged_box(of, block));
    return static_cast<std::uint32_t>(first);
  }

  static std::uint64_t entries_of(const GroupFamily& family, const GpuKernel& kernel) {
    if (family.kind == GroupFamily::Kind::elements) {
      return ceil_div(std::get<kernels::AxesElementsParams>(kernel.params).vectors(),
                      std::uint64_t{kernels::kGroupWarpLanes});
    }
    // One more where the vectors of an output that begins inside one are one more.
    if (const auto* const rows = std::get_if<kernels::AxesRowsParams>(&kernel.params)) {
      const std::uint64_t together = is_group_copy(kernel) ? kernels::kGroupCopyVectors : 1;
      return ceil_div(rows->vectors() - rows->first_vector, together * kernel.first_step);
    }
    return kernel.blocks;
  }

  std::size_t launch_of(const GroupFamily& family, int threads, std::uint64_t shared_bytes) {
    auto found = std::find_if(open_.begin(), open_.end(),
                              [&](const OpenLaunch& open) { return open.launch.family == family; });
    if (found == open_.end()) {
      GroupLaunch launch{.family = family, .threads = threads, .blocks = {}};
      if (family.kind == GroupFamily::Kind::elements) launch.entries_of_block = kernels::kGroupWarps;
      open_.push_back({.launch = std::move(launch), .arrays = {}});
      found = open_.end() - 1;
    }
    FARO_CHECK(found->launch.threads == threads);
    found->launch.shared_bytes = std::max(found->launch.shared_bytes, shared_bytes);
    return static_cast<std::size_t>(found - open_.begin());
  }

  template <typename Params>
  Kept keep_params(const Params& params) {
    const std::size_t at = round_up(made_.params.size(), kernels::kGroupParamsBytes);
    if constexpr (std::is_trivially_copyable_v<Params>) {
      const std::size_t used = used_bytes(params);
      made_.params.resize(at + used);
      std::memcpy(made_.params.data() + at, &params, used);
    } else {
      FARO_CHECK(false);
    }
    const std::uint64_t number = at / kernels::kGroupParamsBytes;
    FARO_CHECK(number >> 32 == 0);
    const std::uint64_t size = ceil_div(made_.params.size() - at, std::uint64_t{kernels::kGroupParamsBytes});
    return {.at = static_cast<std::uint32_t>(number), .size = static_cast<std::uint32_t>(size)};
  }

  template <typename Params>
  static std::size_t used_bytes(const Params& /*params*/) {
    return sizeof(Params);
  }
  static std::size_t used_bytes(const kernels::AxesBoxParams& box) {
    const std::uint32_t rows = std::max(box.in.first_row + box.in.rows, box.out.first_row + box.out.rows);
    return offsetof(kernels::AxesBoxParams, row) + rows * sizeof(kernels::BoxRow);
  }

  static std::size_t used_bytes(const kernels::AxesWholeParams& whole) {
    return offsetof(kernels::AxesWholeParams, axis) +
           static_cast<std::size_t>(whole.axes) * sizeof(kernels::AxesWholeParams::Axis);
  }

  // Tiles of equal arrays, as many as are worth a launch, take their parameters as those of one array do.
  void split_tiles() {
    constexpr std::uint64_t worth_blocks = 1024;
    const std::size_t all = open_.size();
    for (std::size_t i = 0; i < all; ++i) {
      if (open_[i].launch.family.kind != GroupFamily::Kind::tiles) continue;
      std::map<std::uint32_t, std::uint64_t> entries;
      for (const PlacedArray& array : open_[i].arrays) entries[array.first.params] += array.entries;
      if (entries.size() == 1) {
        set_constant(open_[i]);
        continue;
      }
      for (const auto& [params, count] : entries) {
        if (count < worth_blocks) continue;
        OpenLaunch own{.launch = open_[i].launch, .arrays = {}};
        const auto is_own = [at = params](const PlacedArray& array) { return array.first.params == at; };
        std::vector<PlacedArray>& arrays = open_[i].arrays;
        std::copy_if(arrays.begin(), arrays.end(), std::back_inserter(own.arrays), is_own);
        std::erase_if(arrays, is_own);
        own.launch.arrays = own.arrays.size();
        open_[i].launch.arrays = arrays.size();
        set_constant(own);
        open_.push_back(std::move(own));
      }
    }
    std::erase_if(open_, [](const OpenLaunch& open) { return open.arrays.empty(); });
  }
  void set_constant(OpenLaunch& open) const {
    const kernels::GroupBlock& first = open.arrays.front().first;
    const std::byte* const begin =
        made_.params.data() + std::size_t{first.params} * kernels::kGroupParamsBytes;
    open.launch.family.params = GroupFamily::Params::constant;
    open.launch.constant.assign(begin, begin + std::size_t{first.held} * kernels::kGroupParamsBytes);
  }

  static bool is_soon_done(GroupFamily::Kind kind) {
    return kind == GroupFamily::Kind::vectors || kind == GroupFamily::Kind::elements;
  }

  // Planes, stretches and wholes are of few blocks, whose parameters are not in a multiprocessor's cache.
  static void hold_params(OpenLaunch& open) {
    using Kind = GroupFamily::Kind;
    const Kind kind = open.launch.family.kind;
    const bool holds = kind == Kind::planes || kind == Kind::stretches || kind == Kind::wholes;
    std::uint32_t most = 0;
    for (PlacedArray& array : open.arrays) {
      if (!holds) array.first.held = 0;
      most = std::max<std::uint32_t>(most, array.first.held);
    }
    if (!holds) return;
    constexpr std::uint64_t line_of_banks = 128;
    open.launch.family.params = GroupFamily::Params::held;
    open.launch.held_bytes =
        static_cast<std::uint32_t>(round_up(most * kernels::kGroupParamsBytes, line_of_banks));
    open.launch.shared_bytes += open.launch.held_bytes;
  }

  void write_blocks(OpenLaunch& open) const {
    std::uint64_t all = 0;
    for (const PlacedArray& array : open.arrays) all += array.entries;
    std::uint64_t together = 1;
    if (open.launch.family.kind == GroupFamily::Kind::boxes) {
      together = std::clamp<std::uint64_t>(all / enough_blocks_, 1, kernels::kMostGroupBoxes);
      all = 0;
      for (const PlacedArray& array : open.arrays) all += ceil_div(array.entries, together);
    }
    constexpr std::uint64_t kMostEntries = (std::uint64_t{1} << 31) - 1;
    if (all > kMostEntries) {
      fail(ErrorCode::unsupported, "plan a group", std::to_string(all) + " blocks of one launch",
           "at most " + std::to_string(kMostEntries), "fewer arrays at a time");
    }
    open.launch.grid = ceil_div(all, open.launch.entries_of_block);
    open.launch.blocks.reserve(static_cast<std::size_t>(all));
    for (const PlacedArray& array : open.arrays) {
      kernels::GroupBlock block = array.first;
      for (std::uint64_t entry = 0; entry < array.entries; entry += together) {
        block.block = static_cast<std::uint32_t>(array.first.block + entry);
        block.count = static_cast<std::uint8_t>(std::min(together, array.entries - entry));
        open.launch.blocks.push_back(block);
      }
    }
  }

  std::uint64_t enough_blocks_;
  std::map<Key, Placed> placed_;
  std::vector<OpenLaunch> open_;
  GroupLaunches made_;
};

}  // namespace

GroupLaunches make_group_launches(std::span<const GroupArray> arrays, std::uint64_t enough_blocks) {
  GroupTableMaker maker(enough_blocks);
  for (const GroupArray& array : arrays) maker.add(array);
  return maker.take();
}

}  // namespace faro::detail
