#include "kernels/network_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "kernels/affine_params.hpp"

namespace faro::kernels {
namespace {

using f2::Subspace;
using f2::Word;

void require(bool condition, const std::string& got, const char* wanted) {
  if (condition) return;
  fail(ErrorCode::unsupported, "fit the network kernel", got, wanted, "choose another tile");
}

// `space` with unit vectors added until it has `dimension`.
Subspace grown_to(Subspace space, int dimension) {
  for (int i = 0; i < space.ambient_dimension() && space.dimension() < dimension; ++i) {
    space.insert(f2::unit(i));
  }
  return space;
}

// The places that fall in bank 0, a subspace; the lanes of a phase must differ in everything else.
Subspace bank_kernel(const layout::Xor& layout, int bank_bits) {
  f2::Matrix banks = f2::Matrix::zero(bank_bits, layout.tile_bits);
  for (int i = 0; i < layout.tile_bits; ++i) {
    banks.set_column(i, layout(std::uint32_t{1} << i) & f2::low_mask(bank_bits));
  }
  return Subspace::span(layout.tile_bits, banks.kernel());
}

// Where the registers and the threads of a group sit: two bases, together one of the tile. Register 0 of
// thread 0 is at `begin`, XORed with the places of the block's bits, all of which registers span.
struct Basis {
  std::vector<Word> registers;
  std::vector<Word> threads;
  Word begin = 0;
  std::vector<Word> blocks;
};

// Lanes along single place bits: as many as there are banks to reach, or nothing where that cannot be.
std::optional<std::vector<Word>> plain_lanes(const Subspace& held, const Subspace& bank_kernel) {
  const int m = held.ambient_dimension();
  const int wanted = std::min(m - bank_kernel.dimension(), m - held.dimension());
  Subspace reached = held;
  Subspace served = bank_kernel;
  std::vector<Word> lanes;
  for (int i = 0; i < m && static_cast<int>(lanes.size()) < wanted; ++i) {
    const Word unit = f2::unit(i);
    if (reached.contains(unit) || served.contains(unit)) continue;
    reached.insert(unit);
    served.insert(unit);
    lanes.push_back(unit);
  }
  if (static_cast<int>(lanes.size()) < wanted) return std::nullopt;
  return lanes;
}

// Lanes along sums of place bits: a common complement of what registers hold and of the bank kernel.
std::vector<Word> mixed_lanes(const Subspace& held, const Subspace& bank_kernel) {
  const int dimension = std::max(held.dimension(), bank_kernel.dimension());
  const Subspace u = grown_to(held, dimension);
  const Subspace v = grown_to(bank_kernel, dimension);
  // A complement of both within their sum, and then of the sum.
  const Subspace inside = f2::common_complement(u, v);
  const Subspace outside = f2::complement(f2::sum(u, v));
  std::vector<Word> lanes(inside.basis().begin(), inside.basis().end());
  lanes.insert(lanes.end(), outside.basis().begin(), outside.basis().end());
  return lanes;
}

// Directions that complement W, the first of them, the lanes of a phase, also the bank kernel.
std::vector<Word> thread_directions(const Subspace& held, const Subspace& bank_kernel) {
  const int m = held.ambient_dimension();
  std::vector<Word> threads = plain_lanes(held, bank_kernel).value_or(std::vector<Word>{});
  if (threads.empty()) threads = mixed_lanes(held, bank_kernel);
  Subspace reached = held;
  for (const Word lane : threads) FARO_CHECK(reached.insert(lane));
  const std::vector<Word> others = f2::complete(reached, Subspace::low(m, m));
  threads.insert(threads.end(), others.begin(), others.end());
  return threads;
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// The XOR of shares[first + i] over the bits i of `value`.
std::uint32_t sum(const std::vector<std::uint32_t>& shares, std::uint32_t value, int first) {
  std::uint32_t result = 0;
  for (std::size_t i = index(first); i < shares.size() && value != 0; ++i, value >>= 1) {
    if ((value & 1) != 0) result ^= shares[i];
  }
  return result;
}

// The XOR of what `functional` sees of the vectors, one bit each.
Word shares(Word functional, const std::vector<Word>& vectors) {
  Word result = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (f2::parity(functional & vectors[i])) result |= Word{1} << i;
  }
  return result;
}

// Directions in the order in which layers ask for them, so that most pair registers one bit apart.
std::vector<Word> register_directions(std::span<const TileLayer> layers, int tile_bits, int register_bits) {
  std::vector<Word> directions;
  Subspace held(tile_bits);
  for (const TileLayer& layer : layers) {
    if (held.insert(layer.delta)) directions.push_back(layer.delta);
  }
  for (int i = tile_bits - 1; i >= 0 && held.dimension() < register_bits; --i) {
    if (held.insert(f2::unit(i))) directions.push_back(f2::unit(i));
  }
  return directions;
}

// Where a thread begins in the coset that it holds is free, so it begins where the layers' first elements are
// in the same registers for all threads and blocks, and nothing is left to turn round: for what tells first
// from second, f, at x ^ w, with w of the registers' span and f(w) = f(x). That holds for layers whose f are
// independent on this span.
class Beginnings {
 public:
  Beginnings(std::span<const TileLayer> layers, const std::vector<Word>& registers) : registers_(registers) {
    std::vector<Word> columns(registers.size());
    Subspace seen(static_cast<int>(registers.size()));
    for (const TileLayer& layer : layers) {
      const Word row = shares(layer.first.place, registers);
      if (!seen.insert(row)) continue;
      for (std::size_t i = 0; i < registers.size(); ++i) columns[i] |= (row >> i & 1) << layers_.size();
      layers_.push_back(&layer);
    }
    orders_ = f2::Matrix::from_columns(static_cast<int>(layers_.size()), columns);
  }

  Word of_place(Word place) const {
    return solved([place](const TileFunctional& f) { return f2::parity(f.place & place); });
  }
  Word of_block_bit(int bit) const {
    return solved([bit](const TileFunctional& f) { return f2::bit(f.block, bit); });
  }
  Word of_constants() const {
    return solved([](const TileFunctional& f) { return f.constant; });
  }

 private:
  template <typename Value>
  Word solved(const Value& value_of) const {
    Word values = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (value_of(layers_[i]->first)) values |= f2::unit(static_cast<int>(i));
    }
    const std::optional<Word> coordinates = orders_.solve(values);
    FARO_CHECK(coordinates.has_value());
    return f2::combine(registers_.data(), *coordinates);
  }

  const std::vector<Word>& registers_;
  std::vector<const TileLayer*> layers_;
  f2::Matrix orders_;
};

// Such threads, their lanes free of bank conflicts; or nothing where that cannot be under this layout.
std::optional<std::vector<Word>> beginning_threads(const Subspace& held, const Subspace& bank_kernel,
                                                   const Beginnings& beginnings) {
  const int m = held.ambient_dimension();
  const auto wanted = static_cast<std::size_t>(std::min(m - bank_kernel.dimension(), m - held.dimension()));
  std::vector<Word> lanes;
  std::vector<Word> others;
  Subspace served = bank_kernel;
  for (const Word direction : f2::complete(held, Subspace::low(m, m))) {
    const Word begun = direction ^ beginnings.of_place(direction);
    (lanes.size() < wanted && served.insert(begun) ? lanes : others).push_back(begun);
  }
  if (lanes.size() < wanted) return std::nullopt;
  lanes.insert(lanes.end(), others.begin(), others.end());
  return lanes;
}

// A run of layers that registers can hold.
struct Run {
  std::size_t begin;
  std::size_t end;
  Subspace held;  // the span of their directions, grown to all that registers hold
};

std::vector<Run> runs_of(std::span<const TileLayer> layers, int tile_bits, int register_bits) {
  std::vector<Run> runs;
  std::size_t begin = 0;
  while (begin < layers.size()) {
    Subspace held(tile_bits);
    std::size_t end = begin;
    for (; end < layers.size(); ++end) {
      const Word delta = layers[end].delta;
      FARO_CHECK(delta != 0 && delta <= f2::low_mask(tile_bits));
      if (held.contains(delta)) continue;
      if (held.dimension() == register_bits) break;
      held.insert(delta);
    }
    require(end > begin, "a layer in tiles of one element a thread", "at least 2 elements a thread");
    for (int i = tile_bits - 1; i >= 0 && held.dimension() < register_bits; --i) held.insert(f2::unit(i));
    runs.push_back({begin, end, held});
    begin = end;
  }
  return runs;
}

int bank_bits_of(const NetworkShape& shape, const machine::MemoryGeometry& geometry) {
  return std::min(machine::log2_exact(geometry.lanes_per_phase(shape.tile.element_bytes())),
                  shape.tile.tile_bits());
}

class Maker {
 public:
  // `asks`: whether the operator asks for numbers of pairs.
  Maker(const layout::Tile& tile, const NetworkShape& shape, const layout::Xor& layout, int bank_bits,
        bool asks)
      : tile_(tile),
        shape_(shape),
        layout_(layout),
        bank_kernel_(bank_kernel(layout, bank_bits)),
        asks_(asks) {}

  void add_group(std::span<const TileLayer> layers) {
    const Basis basis = choose_basis(layers);
    NetworkGroup group{};
    group.first_layer = static_cast<std::uint32_t>(tables_.layers.size());
    group.layer_count = static_cast<std::uint32_t>(layers.size());
    const auto address = [this](Word place) {
      return layout_(static_cast<std::uint32_t>(place)) << shape_.tile.width_bits;
    };
    std::vector<std::uint32_t> of_thread(basis.threads.size());
    std::transform(basis.threads.begin(), basis.threads.end(), of_thread.begin(), address);
    for (std::uint32_t value = 0; value < kLanes; ++value) {
      group.lane_address[value] = address(basis.begin) ^ sum(of_thread, value, 0);
      group.warp_address[value] = sum(of_thread, value, kLaneBits);
    }
    std::transform(basis.registers.begin(), basis.registers.end(), group.register_address, address);
    std::vector<std::uint32_t> of_block(basis.blocks.size());
    std::transform(basis.blocks.begin(), basis.blocks.end(), of_block.begin(), address);
    group.blocks_differ =
        std::any_of(of_block.begin(), of_block.end(), [](auto a) { return a != 0; }) ? 1 : 0;
    for (std::uint32_t value = 0; value < kBlockDigitValues; ++value) {
      for (int digit = 0; digit * kBlockDigitBits < tile_.block_bits(); ++digit) {
        group.block_address[digit][value] = sum(of_block, value, digit * kBlockDigitBits);
      }
    }
    tables_.groups.push_back(group);
    for (const TileLayer& layer : layers) {
      NetworkLayer made = in_registers(layer, basis);
      if (asks_) tables_.pairs.push_back(pair_shares(layer, basis, made));
      tables_.layers.push_back(made);
    }
  }

  HostNetworkTables take() { return std::move(tables_); }

 private:
  Basis choose_basis(std::span<const TileLayer> layers) const {
    const int m = tile_.tile_bits();
    Basis basis;
    basis.registers = register_directions(layers, m, shape_.register_bits);
    const Subspace held = Subspace::span(m, basis.registers);
    basis.blocks.resize(index(tile_.block_bits()));
    if (asks_) {  // a pair's number has shares of threads, which along single bits do not meet the others
      basis.threads = thread_directions(held, bank_kernel_);
    } else {
      const Beginnings beginnings(layers, basis.registers);
      if (auto threads = beginning_threads(held, bank_kernel_, beginnings)) {
        basis.threads = std::move(*threads);
      } else {  // all but the lanes, whose turns are looked up
        basis.threads = thread_directions(held, bank_kernel_);
        const auto lanes =
            static_cast<std::ptrdiff_t>(std::min<std::size_t>(kLaneBits, basis.threads.size()));
        for (auto thread = basis.threads.begin() + lanes; thread != basis.threads.end(); ++thread)
          *thread ^= beginnings.of_place(*thread);
      }
      basis.begin = beginnings.of_constants();
      for (int i = 0; i < tile_.block_bits(); ++i) basis.blocks[index(i)] = beginnings.of_block_bit(i);
    }
    FARO_CHECK(static_cast<int>(basis.threads.size()) == shape_.tile.thread_bits);
    return basis;
  }

  NetworkLayer in_registers(const TileLayer& layer, const Basis& basis) const {
    NetworkLayer result{};
    result.delta = register_coordinates(layer.delta, basis);
    result.bits = layer.bits;
    result.first_block = layer.first.block ^ shares(layer.first.place, basis.blocks);
    result.first_thread = static_cast<std::uint32_t>(shares(layer.first.place, basis.threads));
    const Word of_bits = shares(layer.first.place, basis.registers);
    const bool constant = layer.first.constant != f2::parity(layer.first.place & basis.begin);
    for (int i = 0; i < shape_.registers(); ++i) {
      const bool second = f2::parity(of_bits & static_cast<Word>(i)) != constant;
      if (second) result.first_registers |= std::uint32_t{1} << i;
    }
    result.number = static_cast<std::uint32_t>(tables_.layers.size());
    return result;
  }

  // For every bit of the pair's number its shares, then the tables of their sums.
  NetworkPairs pair_shares(const TileLayer& layer, const Basis& basis, NetworkLayer& in_registers) const {
    std::vector<std::uint32_t> of_block(index(tile_.block_bits()));
    std::vector<std::uint32_t> of_thread(basis.threads.size());
    std::vector<std::uint32_t> of_register(basis.registers.size());
    std::uint32_t constant = 0;
    for (std::size_t k = 0; k < layer.pair.size(); ++k) {
      const TileFunctional& row = layer.pair[k];
      const std::uint32_t bit = std::uint32_t{1} << k;
      const auto add = [bit](std::vector<std::uint32_t>& shares_of, std::uint64_t members) {
        for (std::size_t i = 0; i < shares_of.size(); ++i) shares_of[i] |= (members >> i & 1) != 0 ? bit : 0;
      };
      add(of_block, row.block);
      add(of_thread, shares(row.place, basis.threads));
      add(of_register, shares(row.place, basis.registers));
      if (row.constant) constant |= bit;
    }
    NetworkPairs pairs{};
    for (std::uint32_t value = 0; value < kBlockDigitValues; ++value) {
      for (int digit = 0; digit * kBlockDigitBits < tile_.block_bits(); ++digit) {
        pairs.block[digit][value] = sum(of_block, value, digit * kBlockDigitBits);
      }
    }
    for (std::uint32_t value = 0; value < kLanes; ++value) {
      pairs.lane[value] = constant ^ sum(of_thread, value, 0);
      pairs.warp[value] = sum(of_thread, value, kLaneBits);
    }
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(shape_.registers()); ++i) {
      pairs.registers[i] = sum(of_register, i, 0);
    }
    std::uint32_t seen = constant;
    in_registers.disjoint = 1;
    for (const auto* of : {&of_block, &of_thread, &of_register}) {
      for (const std::uint32_t bits : *of) {
        if ((seen & bits) != 0) in_registers.disjoint = 0;
        seen |= bits;
      }
    }
    return pairs;
  }

  std::uint32_t register_coordinates(Word delta, const Basis& basis) const {
    const f2::Matrix columns = f2::Matrix::from_columns(tile_.tile_bits(), basis.registers);
    const std::optional<Word> coordinates = columns.solve(delta);
    FARO_CHECK(coordinates.has_value() && *coordinates != 0);
    return static_cast<std::uint32_t>(*coordinates);
  }

  const layout::Tile& tile_;
  const NetworkShape& shape_;
  const layout::Xor& layout_;
  Subspace bank_kernel_;
  bool asks_;
  HostNetworkTables tables_;
};

}  // namespace

std::vector<LayerCode> layer_codes(const HostNetworkTables& tables, const NetworkGroup& group) {
  std::vector<LayerCode> codes;
  for (std::uint32_t i = group.first_layer; i < group.first_layer + group.layer_count; ++i) {
    const NetworkLayer& layer = tables.layers[i];
    codes.push_back({layer.delta, layer.first_registers, layer.first_thread != 0 || layer.first_block != 0,
                     layer.disjoint != 0});
  }
  return codes;
}

layout::Xor make_network_layout(const layout::Tile& tile, const NetworkShape& shape,
                                std::span<const TileLayer> layers, const machine::MemoryGeometry& geometry) {
  const layout::Xor usual = make_tile_layout(tile, shape.tile, geometry);
  const bool numbered =
      std::any_of(layers.begin(), layers.end(), [](const TileLayer& layer) { return layer.numbered; });
  const std::vector<Run> runs = runs_of(layers, tile.tile_bits(), shape.register_bits);
  std::vector<std::vector<Word>> registers;
  registers.reserve(runs.size());
  for (const Run& run : runs) {
    registers.push_back(register_directions(layers.subspan(run.begin, run.end - run.begin), tile.tile_bits(),
                                            shape.register_bits));
  }
  const auto suits = [&](std::size_t i, const Subspace& kernel) {
    if (numbered) return plain_lanes(runs[i].held, kernel).has_value();
    const auto of_run = layers.subspan(runs[i].begin, runs[i].end - runs[i].begin);
    return beginning_threads(runs[i].held, kernel, Beginnings(of_run, registers[i])).has_value();
  };
  const int bank_bits = bank_bits_of(shape, geometry);
  const SharedPhases phases = shared_phases(tile, shape.tile, geometry);
  const auto unsuited_runs = [&](const layout::Xor& layout) {
    const Subspace kernel = bank_kernel(layout, bank_bits);
    std::size_t count = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) count += suits(i, kernel) ? 0 : 1;
    return count;
  };
  const auto is_free = [&](const layout::Xor& layout) {
    return layout::predicted_congestion(layout, shape.tile.width_bits, phases.write, geometry) == 1 &&
           layout::predicted_congestion(layout, shape.tile.width_bits, phases.read, geometry) == 1;
  };

  layout::Xor best = usual;
  std::size_t fewest = unsuited_runs(best);
  std::mt19937 random(1);  // the same layout every time
  constexpr int tries = 400;
  for (int attempt = 0; attempt < tries && fewest > 0; ++attempt) {
    layout::Xor layout = usual;
    for (int i = layout.bank_row_bits; i < layout.tile_bits; ++i) {
      layout.mask[i - layout.bank_row_bits] =
          static_cast<std::uint32_t>(random()) & low_bits(~std::uint32_t{0}, layout.bank_row_bits);
    }
    if (!is_free(layout)) continue;
    const std::size_t unsuited = unsuited_runs(layout);
    if (unsuited < fewest) {
      best = layout;
      fewest = unsuited;
    }
  }
  return best;
}

HostNetworkTables make_network_tables(const layout::Tile& tile, const NetworkShape& shape,
                                      const layout::Xor& layout, std::span<const TileLayer> layers,
                                      const machine::MemoryGeometry& geometry) {
  require(is_valid(shape), "an impossible shape", "a valid one");
  require(tile.segment_bits == shape.tile.segment_bits && tile.row_bits == shape.tile.row_bits &&
              tile.block_bits() <= kMaxBlockBits,
          "a tile of s = " + std::to_string(tile.segment_bits) + ", r = " + std::to_string(tile.row_bits),
          "the shape's");
  FARO_CHECK(layout.tile_bits == tile.tile_bits());
  for (const TileLayer& layer : layers) {
    require(layer.pair.size() < 32, "pair numbers of " + std::to_string(layer.pair.size()) + " bits",
            "at most 31");
  }
  const bool asks =
      std::any_of(layers.begin(), layers.end(), [](const TileLayer& layer) { return layer.numbered; });
  Maker maker(tile, shape, layout, bank_bits_of(shape, geometry), asks);
  for (const Run& run : runs_of(layers, tile.tile_bits(), shape.register_bits)) {
    maker.add_group(layers.subspan(run.begin, run.end - run.begin));
  }
  return maker.take();
}

}  // namespace faro::kernels
