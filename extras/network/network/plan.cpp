#include "faro/network/plan.hpp"

#include <string>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "network/grouping.hpp"

namespace faro::network {
namespace {

using f2::Subspace;
using f2::Word;

constexpr int kMaxBytesBits = 62;
std::uint64_t checked_bytes(const Problem& problem) {
  const int n = problem.program.bits();
  if (n > kMaxNetworkBits) {
    fail(ErrorCode::value, "plan network", "a program of " + std::to_string(n) + " index bits",
         "at most " + std::to_string(kMaxNetworkBits));
  }
  check_element(problem.program, problem.element);
  const std::uint64_t one = problem.element.bytes() << n;
  if (problem.batch > (std::uint64_t{1} << kMaxBytesBits) / one) {
    fail(ErrorCode::value, "plan network",
         std::to_string(problem.batch) + " arrays of " + std::to_string(one) + " bytes",
         "at most 2^" + std::to_string(kMaxBytesBits) + " bytes in all");
  }
  return one * problem.batch;
}

Grouping grouping_of(const NormalForm& form) {
  Grouping grouping{.bits = form.bits, .final_inverse = form.final_map.inverse_matrix()};
  for (const Layer& layer : form.layers) grouping.directions.push_back(layer.direction());
  return grouping;
}

std::size_t count_as_written(const NormalForm& form) {
  std::size_t passes = form.layers.size();
  const Affine start(form.bits);
  const Affine* frame = &start;
  for (const Layer& layer : form.layers) {
    if (!(layer.frame == *frame)) ++passes;
    frame = &layer.frame;
  }
  return form.final_map == *frame ? passes : passes + 1;
}

Word place_of(const layout::Tile& tile, Word address) {
  const Word column = address & f2::low_mask(tile.segment_bits);
  const Subspace rows = Subspace::span(tile.index_bits, tile.source_rows);
  const Word row = rows.coordinates(address ^ column);
  return row == 0 ? column : column | row << tile.segment_bits;
}

// `frame` is of addresses.
LocalLayer localize(const Layer& layer, const Affine& frame, const layout::Tile& tile) {
  LocalLayer local{.op = layer.op, .bits = layer.bits, .delta = 0, .frame = {}};
  local.delta = place_of(tile, frame.inverse_matrix().column(0));
  local.frame.resize(static_cast<std::size_t>(layer.bits));
  const auto add = [&](Word direction, Word Functional::*where, int bit) {
    const Word image = frame.matrix() * direction;
    for (int i = 0; i < layer.bits; ++i) {
      if (f2::bit(image, i)) local.frame[static_cast<std::size_t>(i)].*where |= f2::unit(bit);
    }
  };
  for (int i = 0; i < tile.segment_bits; ++i) add(f2::unit(i), &Functional::place, i);
  for (int i = 0; i < tile.row_bits; ++i) {
    add(tile.source_rows[static_cast<std::size_t>(i)], &Functional::place, tile.segment_bits + i);
  }
  for (int i = 0; i < tile.block_bits(); ++i) {
    add(tile.block_sources[static_cast<std::size_t>(i)], &Functional::block, i);
  }
  for (int i = 0; i < layer.bits; ++i) {
    local.frame[static_cast<std::size_t>(i)].constant = f2::bit(frame.complement(), i);
  }
  FARO_CHECK(local.delta != 0 && local.frame.front()(local.delta, 0) != local.frame.front()(0, 0));
  return local;
}

// Groups are in the input's coordinates; passes are in addresses, which a pass with a map changes.
class Passes {
 public:
  Passes(const Plan& plan, Placement placement)
      : form_(plan.normal_form()),
        sizes_(plan.sizes()),
        engine_(plan.engine()),
        placement_(placement),
        address_(form_.bits) {}

  std::vector<Pass> make(const std::vector<Group>& groups) {
    const std::vector<Affine> maps = detail::choose_maps(groups, form_.final_map, placement_);
    std::vector<Pass> passes;
    for (std::size_t k = 0; k < groups.size(); ++k) passes.push_back(make(groups[k], maps[k]));
    return passes;
  }

 private:
  Pass make(const Group& group, const Affine& map) {
    const Subspace space = f2::image(address_.matrix(), group.tile);
    const std::vector<Word> directions(space.basis().begin(), space.basis().end());
    Pass pass{.map = map, .tile = {}, .layers = {}, .first_layer = group.first_layer, .in_place = false};
    pass.tile = layout::make_tile(
        map, {.segment_bits = sizes_.segment_bits,
              .min_row_bits = sizes_.tile_bits - sizes_.segment_bits,
              .order = engine_ == Engine::cuda ? layout::BlockOrder::target : layout::BlockOrder::source,
              .directions = directions});
    FARO_CHECK(pass.tile.tile_bits() == sizes_.tile_bits);
    Subspace filled = Subspace::low(form_.bits, sizes_.segment_bits);
    for (const Word row : pass.tile.source_rows) filled.insert(row);
    pass.in_place = detail::keeps_cosets(map, filled);
    const Affine index = address_.inverse();
    for (std::size_t i = 0; i < group.layers; ++i) {
      const Layer& layer = form_.layers[group.first_layer + i];
      pass.layers.push_back(localize(layer, compose(layer.frame, index), pass.tile));
    }
    address_ = compose(map, address_);
    return pass;
  }

  const NormalForm& form_;
  Sizes sizes_;
  Engine engine_;
  Placement placement_;
  Affine address_;  // of the element with index x in the input, before the next pass
};

}  // namespace

Plan::Plan(const Problem& problem, const Sizes& sizes, Engine engine)
    : problem_(problem), engine_(engine), array_bytes_(checked_bytes(problem)) {
  normal_form_ = network::normal_form(problem_.program);
  if (normal_form_.bits == 0) return;  // a program of one element is the identity
  Grouping grouping = grouping_of(normal_form_);
  sizes_ = detail::choose_sizes(grouping, sizes, problem_.element.bytes(), engine);
  grouping.tile_bits = sizes_.tile_bits;
  grouping.segment_bits = sizes_.segment_bits;

  std::vector<Group> groups = group_plain(grouping);
  counts_.as_written = count_as_written(normal_form_);
  counts_.layer_by_layer = normal_form_.layers.size() + (normal_form_.final_map.is_identity() ? 0 : 1);
  counts_.plain = groups.size();
  counts_.planned = fewest_passes(grouping);
  if (counts_.planned < counts_.plain) groups = group_moving(grouping);
  FARO_CHECK(groups.size() == counts_.planned);
  if (problem_.batch == 0) return;
  passes_ = Passes(*this, problem_.placement).make(groups);
}

std::uint64_t Plan::workspace_bytes() const {
  for (const Places& places : run_places(passes_)) {
    if (places.target == Place::workspace) return array_bytes_;
  }
  return 0;
}

std::vector<Places> run_places(const std::vector<Pass>& passes) {
  std::vector<Places> places(passes.size());
  Place target = Place::out;
  for (std::size_t k = passes.size(); k-- > 0;) {
    places[k].target = target;
    if (k == 0) {
      places[k].source = Place::in;
    } else if (!passes[k].in_place) {
      target = target == Place::out ? Place::workspace : Place::out;
    }
    if (k > 0) places[k].source = target;
  }
  return places;
}

}  // namespace faro::network
