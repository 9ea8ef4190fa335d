#include "file/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "file/pipeline.hpp"
#include "io/buffer.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/form_to_run.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

constexpr std::uint64_t kBuffers = 3;  // one is permuted to a second, while the third is written and read

// Beside three buffers, an index array's plan needs workspace and a schedule. `buffer`: the bytes that each
// has for one of the tile.
std::uint64_t tile_bytes_of(const Problem& problem, std::uint64_t memory_bytes,
                            std::uint64_t buffers = kBuffers, Scale buffer = {}) {
  if (!std::holds_alternative<Indexed>(problem.permutation))
    return memory_bytes / buffers / buffer.file * buffer.tile;
  constexpr std::uint64_t kScheduleBytes = 12;  // an element
  const std::uint64_t width = problem.element_bytes;
  const std::uint64_t in_buffer = buffer.in_file(width);
  return memory_bytes / (buffers * in_buffer + width + kScheduleBytes) * width;
}

void require_room(std::uint64_t tile_bytes, std::uint64_t element_bytes) {
  if (tile_bytes >= element_bytes) return;
  fail(ErrorCode::value, "plan", fmt::format("memory for {} an array", size_text(tile_bytes)),
       fmt::format("for at least one element of {}", size_text(element_bytes)));
}

void fill_facts(Sweep::State& state) {
  const std::unique_ptr<Tiles> tiles = state.tiles();
  state.facts.tiles = tiles->count();
  state.facts.tile_bytes = tiles->tile_bytes;
  state.facts.read_run_bytes = tiles->read_run_bytes;
  state.facts.write_run_bytes = tiles->write_run_bytes;
  state.facts.memory_bytes = TileBuffers::count(tiles->placement) * tiles->tile_bytes;
}

// What of a sweep's bytes follows from the numbers that are changed; those of the input are known.
void add_numbers(Sweep::State& state, const std::optional<Numbers>& numbers) {
  if (!numbers || is_plain(numbers->arithmetic)) return;
  const auto changed = std::make_shared<const ChangedNumbers>(*numbers);
  state.numbers = changed;
  const auto as_output = [&](std::uint64_t bytes) {
    return bytes / changed->in_width() * changed->out_width();
  };
  state.out_bytes = as_output(state.out_bytes);
  changed->require(state.element_bytes, state.out_bytes);
  state.facts.written_bytes = as_output(state.facts.moved_bytes);
  state.facts.added_bytes = state.facts.written_bytes / changed->out_width() * changed->added_width();
  state.facts.numbers = changed->text();
}

// What of the memory a tile has.
void divide_memory(TileBudget& budget, const Sweep::State& state, std::uint64_t memory,
                   Placement placement = Placement::out_of_place) {
  Scale buffer;
  if (const ChangedNumbers* const numbers = state.numbers.get()) {
    buffer = {.file = numbers->buffer_width(placement), .tile = numbers->moved_width()};
    budget.read = numbers->in_scale();
    budget.written = numbers->out_scale();
  }
  budget.tile_bytes = tile_bytes_of(state.to_run, memory, TileBuffers::count(placement), buffer);
}

DiskCurve disk_of(const Options& options) {
  if (options.segment_rates.empty()) return usual_disk();
  return {.source = "given", .points = options.segment_rates};
}

// Tiles of half the memory, permuted in place, where their longer runs pay.
void choose_placement(Sweep::State& state, const Options& options, std::uint64_t memory) {
  constexpr double kPays = 0.95;
  const std::uint64_t width = state.to_run.element_bytes;
  if (options.engine == Engine::cuda || !std::holds_alternative<Affine>(state.to_run.permutation) ||
      !std::has_single_bit(width) || width > kMaxElementBytes)
    return;
  if (std::get<Affine>(state.to_run.permutation).is_identity()) {  // nothing is permuted
    state.budget.placement = Placement::in_place;
    return;
  }
  if (state.numbers != nullptr && !state.numbers->may_be_in_place()) return;
  TileBudget halves = state.budget;
  divide_memory(halves, state, memory, Placement::in_place);
  halves.placement = Placement::in_place;
  const auto cost = [&state](const TileBudget& budget) {
    const std::unique_ptr<Tiles> tiles = tiles_of_affine(state.to_run, budget);
    return budget.cost(tiles->read_run_bytes, tiles->write_run_bytes);
  };
  if (cost(halves) < kPays * cost(state.budget)) state.budget = std::move(halves);
}

}  // namespace

const char* name(Io io) noexcept {
  switch (io) {
    case Io::automatic:
      return "auto";
    case Io::uring:
      return "uring";
    case Io::threads:
      return "threads";
    case Io::buffered:
      break;
  }
  return "buffered";
}

std::string Facts::text() const {
  if (tiles == 0) return "nothing to move";
  const std::string runs =
      read_run_bytes == write_run_bytes
          ? size_text(read_run_bytes)
          : fmt::format("{} read and {} written", size_text(read_run_bytes), size_text(write_run_bytes));
  if (in_place) {
    return fmt::format("in place in {} sweep{}, tiles of {} in segments of {}", sweeps,
                       sweeps == 1 ? "" : "s", size_text(tile_bytes), runs);
  }
  if (sweeps == 1)
    return fmt::format("one sweep, tiles of {} in segments of {}", size_text(tile_bytes), runs);
  return fmt::format("a distribution and a sweep, buckets of {} in runs of {}", size_text(tile_bytes),
                     size_text(write_run_bytes));
}

Problem in_small_arrays(const Problem& problem, std::uint64_t most_bytes) {
  Problem made = problem;
  const auto array_bytes = [&made] { return element_count(made.permutation) * made.element_bytes; };
  const auto bigger = [&] { return made.element_bytes > 0 && array_bytes() > most_bytes; };
  if (const auto* const map = std::get_if<Affine>(&problem.permutation)) {
    // The topmost bit stays, and goes to no other.
    const auto rests = [](const Affine& of) {
      const int top = of.bits() - 1;
      const f2::Word bit = f2::Word{1} << top;
      if (of.matrix().column(top) != bit || (of.complement() & bit) != 0) return false;
      for (int j = 0; j < top; ++j)
        if ((of.matrix().column(j) & bit) != 0) return false;
      return true;
    };
    for (Affine rest = *map; bigger() && rest.bits() > 0 && rests(rest);) {
      std::vector<f2::Word> columns;
      for (int j = 0; j + 1 < rest.bits(); ++j) columns.push_back(rest.matrix().column(j));
      rest = Affine(f2::Matrix::from_columns(rest.bits() - 1, columns), rest.complement());
      made.permutation = rest;
      made.batch *= 2;
    }
  } else if (const auto* const axes = std::get_if<Axes>(&problem.permutation)) {
    std::vector<std::uint64_t> shape = axes->shape();
    std::vector<int> order = axes->order();
    while (bigger() && !order.empty() && order.front() == 0) {
      made.batch *= shape.front();
      shape.erase(shape.begin());
      order.erase(order.begin());
      for (int& axis : order) --axis;
      made.permutation = Axes(shape, order);
    }
  }
  return bigger() ? problem : made;
}

Checksums checksums_of(const Sweep::State& sweep, int threads) {
  const auto sums = [&]() -> Checksums {
    if (!sweep.problem) {
      const auto sources = sources_of(sweep.views.front());
      if (!sources) {
        fail(ErrorCode::unsupported, "verify",
             "a view whose axes interleave in the output: to find where one element comes from may take more "
             "than 4096 trials",
             "axes of the output that lie one inside another, or nearly");
      }
      const bool has_gaps = sweep.written_bytes() != sweep.out_bytes;
      return {*sources, has_gaps, sweep.element_bytes, sweep.text, threads};
    }
    if (const auto sources = gather_sources_of(*sweep.problem))
      return {*sources, false, sweep.element_bytes, sweep.text, threads};
    return {destinations_of(*sweep.problem), sweep.element_bytes, sweep.text, threads};
  };
  Checksums made = sums();
  if (sweep.numbers != nullptr) made.change(sweep.numbers);
  return made;
}

std::uint64_t default_memory_bytes() { return io::available_memory_bytes() / 10 * 6; }

std::unique_ptr<Tiles> Sweep::State::tiles() const {
  const auto moved = [this] {
    if (whole_arrays) return tiles_of_arrays(to_run, budget);
    if (problem && std::holds_alternative<Affine>(to_run.permutation)) return tiles_of_affine(to_run, budget);
    if (problem && std::holds_alternative<Modular>(to_run.permutation))
      return tiles_of_modular(to_run, budget);
    return tiles_of_views(views, to_run.element_bytes, budget, problem ? Gaps::left_out : Gaps::may_be_read);
  };
  return numbers == nullptr ? moved() : tiles_of_numbers(moved(), numbers, budget.threads);
}

bool holds_arrays(const Problem& problem, const Options& options) {
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  return problem.batch == 0 || total_bytes(problem) / problem.batch <= tile_bytes_of(problem, memory);
}

bool is_distributed(const Problem& problem, const Options& options) {
  const bool has_places = std::holds_alternative<Indexed>(problem.permutation) ||
                          std::holds_alternative<Computed>(problem.permutation);
  return has_places && !holds_arrays(problem, options);
}

Sweep::Sweep(const Problem& problem, const Options& options, const std::optional<Numbers>& numbers) {
  const auto state = std::make_shared<State>();
  state_ = state;
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  if (problem.placement == Placement::in_place)
    fail(ErrorCode::unsupported, "plan", "a sweep over files in place", "permute_in_place() of one file");
  state->text = to_text(problem.permutation);
  state->problem = problem;
  state->to_run = problem;
  state->element_bytes = problem.element_bytes;
  const std::uint64_t bytes = total_bytes(problem);
  state->in_bytes = bytes;
  state->out_bytes = bytes;
  state->facts.moved_bytes = bytes;
  add_numbers(*state, numbers);
  if (state->numbers != nullptr)
    state->to_run.element_bytes = state->numbers->moved_of_in(problem.element_bytes);
  const Target target = cpu::target(options.threads);
  if (std::holds_alternative<Indexed>(problem.permutation)) {
    state->to_run.permutation = normal_form(problem.permutation, options.threads);
  }
  if (!std::holds_alternative<Indexed>(state->to_run.permutation)) {
    // Refuses what cannot be planned at all. Affine maps of elements of any width can.
    Problem checked = state->to_run;
    if (std::holds_alternative<Affine>(checked.permutation) && checked.element_bytes > 0)
      checked.element_bytes = 1;
    static_cast<void>(Plan(checked, target));
    const std::uint64_t width = state->to_run.element_bytes;
    if (checked.element_bytes == width || width <= kMaxElementBytes)
      state->to_run = detail::in_form_to_run(state->to_run, target);
  }
  state->budget = {.tile_bytes = 0,
                   .moves = std::make_shared<const MoveMaker>(options),
                   .threads = options.threads,
                   .long_run_bytes = long_run_bytes(options, bytes),
                   .enough_bytes = enough_tile_bytes(bytes),
                   .disk = disk_of(options)};
  divide_memory(state->budget, *state, memory);
  if (bytes == 0) return;
  require_room(state->budget.tile_bytes, state->to_run.element_bytes);
  const std::uint64_t array_bytes = total_bytes(state->to_run) / problem.batch;
  const Permutation& form = state->to_run.permutation;
  const bool has_own_tiles = std::holds_alternative<Affine>(form) || std::holds_alternative<Modular>(form);
  state->whole_arrays = array_bytes <= state->budget.tile_bytes;
  if (!state->whole_arrays) {
    if (std::holds_alternative<Computed>(form)) {
      fail(ErrorCode::unsupported, "plan " + state->text,
           "a sweep over arrays of " + size_text(array_bytes) + " and too little memory for one",
           "memory for three such arrays", "file::run() of the problem distributes their elements");
    }
    if (std::holds_alternative<Indexed>(form)) {
      fail(ErrorCode::unsupported, "plan " + state->text,
           "an index array over arrays of " + size_text(array_bytes) + " and too little memory for one",
           "memory for one of its arrays, its copy and its schedule",
           state->numbers != nullptr ? "a sweep of maps::roll(count, 0) changes the numbers first"
                                     : "`faro shuffle` moves records at random, and `faro permute "
                                       "@index.npy` by an index file, of any "
                                       "size");
    }
    if (!has_own_tiles) state->views = detail::views_of(form, problem.batch);
    choose_placement(*state, options, memory);
  }
  fill_facts(*state);
}

Sweep::Sweep(const Strided& view, std::uint64_t element_bytes, const Options& options,
             const std::optional<Numbers>& numbers) {
  const auto state = std::make_shared<State>();
  state_ = state;
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  // Refuses what is no view, and widths that no plan takes.
  const Plan checked({.element_bytes = element_bytes, .view = view}, cpu::target(options.threads));
  state->text = to_text(view);
  state->views = {normal_form(view)};
  state->element_bytes = element_bytes;
  state->in_bytes = checked.in_bytes();
  state->out_bytes = checked.out_bytes();
  state->facts.moved_bytes = checked.array_bytes();
  add_numbers(*state, numbers);
  state->to_run.element_bytes =
      state->numbers == nullptr ? element_bytes : state->numbers->moved_of_in(element_bytes);
  state->budget = {.tile_bytes = 0,
                   .moves = std::make_shared<const MoveMaker>(options),
                   .threads = options.threads,
                   .long_run_bytes = long_run_bytes(options, checked.array_bytes()),
                   .enough_bytes = enough_tile_bytes(checked.array_bytes()),
                   .disk = disk_of(options)};
  divide_memory(state->budget, *state, memory);
  if (checked.array_bytes() == 0) return;
  require_room(state->budget.tile_bytes, state->to_run.element_bytes);
  fill_facts(*state);
}

const Facts& Sweep::facts() const { return state_->facts; }

TilePlan Sweep::tile_plan() const {
  if (state_->facts.tiles == 0) return {};
  return state_->tiles()->plan();
}

}  // namespace faro::file
