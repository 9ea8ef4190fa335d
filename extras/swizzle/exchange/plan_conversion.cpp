#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "exchange/exchange_steps.hpp"
#include "exchange/shared_exchange.hpp"
#include "faro/error.hpp"
#include "faro/exchange/conversion.hpp"

namespace faro::exchange {
namespace {

constexpr int kMostWordBits = 7;

std::string operation_of(const Layout& from, const Layout& to) {
  return fmt::format("convert `{}` to `{}`", from.name, to.name);
}

[[noreturn]] void refuse(const Layout& from, const Layout& to, const std::string& got,
                         const std::string& wanted, const std::string& remedy = {}) {
  fail(ErrorCode::value, operation_of(from, to), got, wanted, remedy);
}

bool is_in_memory(const Layout& layout) { return layout.lanes.empty() && layout.warps.empty(); }

void require_alike(const Layout& from, const Layout& to) {
  const bool is_flat = from.axes.size() == 1 || to.axes.size() == 1;
  const auto same_bits = [](const Axis& a, const Axis& b) { return a.bits == b.bits; };
  const bool are_alike =
      is_flat ? from.element_bits() == to.element_bits()
              : std::equal(from.axes.begin(), from.axes.end(), to.axes.begin(), to.axes.end(), same_bits);
  if (!are_alike)
    refuse(from, to, fmt::format("{} and {} elements", shape_text(from), shape_text(to)),
           "the same number along each axis",
           "`NAME[16x16]` repeats a fragment over a larger tile, and trans(NAME) exchanges its axes");
  const auto places = [](const std::vector<f2::Word>& columns) { return std::uint64_t{1} << columns.size(); };
  for (const Layout* layout : {&from, &to})
    if (layout->lanes.size() > kMostLaneBits)
      refuse(from, to, fmt::format("{} lanes", places(layout->lanes)), "at most 64");
  if (is_in_memory(from) != is_in_memory(to)) return;
  if (from.lanes.size() != to.lanes.size())
    refuse(from, to, fmt::format("{} and {} lanes", places(from.lanes), places(to.lanes)),
           "one number of lanes");
  if (from.warps.size() != to.warps.size())
    refuse(from, to, fmt::format("{} and {} warps", places(from.warps), places(to.warps)),
           "one number of warps");
}

// A place of the source that holds `element`, nearest to `wish`: its warp first, then its lane.
class Places {
 public:
  explicit Places(const Layout& layout)
      : matrix_(layout.matrix()),
        registers_(static_cast<int>(layout.registers.size())),
        lanes_(static_cast<int>(layout.lanes.size())) {
    constexpr int kMostCopies = 10;
    for (const f2::Word x : matrix_.kernel())
      if (kernel_.size() < kMostCopies) kernel_.push_back(x);
  }

  std::optional<f2::Word> find(f2::Word element, f2::Word wish) const {
    const std::optional<f2::Word> one = matrix_.solve(element);
    if (!one) return std::nullopt;
    f2::Word best = *one;
    for (f2::Word x = 0; x < f2::unit(static_cast<int>(kernel_.size())); ++x) {
      const f2::Word place = *one ^ f2::combine(kernel_.data(), x);
      if (distance(place ^ wish) < distance(best ^ wish)) best = place;
    }
    return best;
  }

  f2::Word warp_of(f2::Word place) const { return place >> (registers_ + lanes_); }

 private:
  // What differs: the warp, the lane, the register, in this order.
  std::array<f2::Word, 3> distance(f2::Word difference) const {
    const f2::Word lane = difference >> registers_ & f2::low_mask(lanes_);
    return {warp_of(difference), lane, difference & f2::low_mask(registers_)};
  }

  f2::Matrix matrix_;
  int registers_;
  int lanes_;
  std::vector<f2::Word> kernel_;
};

// Bytes of a place: those within an element below the register's bits, the lane's above, which begin at
// `held`.
f2::Word byte_place(f2::Word place, int element_bytes_bits, int registers, int held) {
  const f2::Word reg = place & f2::low_mask(registers);
  return reg << element_bytes_bits | (place >> registers) << held;
}

// The source place of every bit of a target's byte, up to its warps.
std::vector<f2::Word> source_places(const Layout& from, const Layout& to, int byte_bits, int held) {
  const Places places(from);
  const auto registers = static_cast<int>(from.registers.size());
  std::vector<f2::Word> source;
  for (int i = 0; i < byte_bits; ++i) source.push_back(f2::unit(i));
  const auto add = [&](const std::vector<f2::Word>& elements, int first) {
    for (std::size_t j = 0; j < elements.size(); ++j) {
      const f2::Word wish = first < 0 ? 0 : f2::unit(first + static_cast<int>(j));
      const std::optional<f2::Word> place = places.find(elements[j], wish);
      if (!place)
        refuse(from, to, fmt::format("element {} of the target, which the source lacks", elements[j]),
               "a source that holds every element of the target");
      source.push_back(byte_place(*place, byte_bits, registers, held));
    }
  };
  add(to.registers, -1);
  add(to.lanes, registers);
  add(to.warps, registers + static_cast<int>(from.lanes.size()));
  return source;
}

// Whether every warp does the same with elements of its own.
bool stays_in_warps(const std::vector<f2::Word>& source, std::size_t warps, int warp_at) {
  const std::size_t rest = source.size() - warps;
  for (std::size_t i = 0; i < rest; ++i)
    if (source[i] >> warp_at != 0) return false;
  for (std::size_t w = 0; w < warps; ++w)
    if (source[rest + w] != f2::unit(warp_at + static_cast<int>(w))) return false;
  return true;
}

// What each lane must receive, counted over all of its bytes.
int least_of_any_program(const Conversion& c, int target_held) {
  const auto lanes = f2::unit(c.lane_bits);
  const int source_held = f2::trailing_bit(static_cast<f2::Word>(c.words_from)) + kBitsOfWord;
  int least = 0;
  for (f2::Word lane = 0; lane < lanes; ++lane) {
    std::set<f2::Word> foreign;
    std::set<f2::Word> sources{lane};
    for (f2::Word byte = 0; byte < f2::unit(target_held); ++byte) {
      const f2::Word place = f2::combine(c.source.data(), byte | lane << target_held);
      if (place >> source_held == lane) continue;
      foreign.insert(place);
      sources.insert(place >> source_held);
    }
    const auto words = static_cast<int>((foreign.size() + 3) / 4);
    // After s shuffles a lane has heard of 2^s lanes at most, itself among them.
    const auto heard = static_cast<int>(std::bit_width(sources.size() - 1));
    least = std::max({least, words, heard});
  }
  return least;
}

Rows rows_of(const f2::Matrix& matrix, int first, int count) {
  const f2::Matrix columns = matrix.transposed();
  Rows rows;
  rows.reserve(static_cast<std::size_t>(count));
  for (int i = first; i < first + count; ++i) rows.push_back(columns.column(i));
  return rows;
}

struct Problem {
  int dimension = 0;
  int target_held = 0;
  int words_bits_from = 0;
  ExchangeState source;
  ExchangeState target;
};

Problem problem_of(const Conversion& c) {
  Problem p;
  p.dimension = static_cast<int>(c.source.size());
  p.target_held = p.dimension - c.lane_bits;
  p.words_bits_from = f2::trailing_bit(static_cast<f2::Word>(c.words_from));
  const f2::Matrix source = f2::Matrix::from_columns(kBitsOfWord + p.words_bits_from + c.lane_bits, c.source);
  p.source = {.byte = rows_of(source, 0, kBitsOfWord),
              .word = rows_of(source, kBitsOfWord, p.words_bits_from),
              .lane = rows_of(source, kBitsOfWord + p.words_bits_from, c.lane_bits)};
  for (int i = 0; i < p.target_held; ++i)
    (i < kBitsOfWord ? p.target.byte : p.target.word).push_back(f2::unit(i));
  for (int j = 0; j < c.lane_bits; ++j) p.target.lane.push_back(f2::unit(p.target_held + j));
  return p;
}

// The target's registers, made of the words of the last step.
std::vector<int> make_outputs(ProgramBuilder& builder, const ExchangeState& state,
                              const std::vector<int>& family, const Problem& p, int words_to) {
  const auto function = [&](const Rows& rows, int word) {
    PlaceFunction place;
    const f2::Word fixed = static_cast<f2::Word>(word) << kBitsOfWord;
    for (std::size_t bit = 0; bit < rows.size(); ++bit) {
      const f2::Word value = f2::unit(static_cast<int>(bit));
      if (f2::parity(rows[bit] & fixed)) place.constant |= value;
      for (int i = 0; i < std::min(kBitsOfWord, p.target_held); ++i)
        if (f2::bit(rows[bit], i)) place.of_byte[static_cast<std::size_t>(i)] |= value;
      for (int j = 0; p.target_held + j < p.dimension; ++j)
        if (f2::bit(rows[bit], p.target_held + j)) place.of_lane[static_cast<std::size_t>(j)] |= value;
    }
    return place;
  };
  std::vector<int> outputs;
  outputs.reserve(static_cast<std::size_t>(words_to));
  for (int word = 0; word < words_to; ++word)
    outputs.push_back(builder.make(family, {function(state.byte, word), function(state.word, word)}));
  return outputs;
}

struct Attempt {
  LaneProgram program;
  std::vector<Step> steps;
};

Attempt attempt(const Conversion& c, const Problem& p, const std::vector<Rows>& chain,
                const Preference& preference, std::mt19937_64& random) {
  ProgramBuilder builder(c.lane_bits, c.words_from);
  std::vector<int> family;
  family.reserve(static_cast<std::size_t>(c.words_from));
  for (int i = 0; i < c.words_from; ++i) family.push_back(builder.input(i));
  ExchangeState state = p.source;
  Attempt result;
  for (const Rows& lanes : chain)
    result.steps.push_back(
        make_step(builder, state, family, lanes, p.target, p.dimension, c.lane_bits, preference, random));
  result.program = builder.finish(make_outputs(builder, state, family, p, c.words_to));
  return result;
}

bool is_cheaper(const LaneProgram& a, const LaneProgram& b) {
  const InstructionCounts x = a.counts();
  const InstructionCounts y = b.counts();
  return std::pair(x.shuffles, x.turns()) < std::pair(y.shuffles, y.turns());
}

// Whether chains of steps are defined: every source lane has bytes, and no byte has two takers.
bool has_chains(const Problem& p) {
  Rows all = p.source.byte;
  all.insert(all.end(), p.source.word.begin(), p.source.word.end());
  all.insert(all.end(), p.source.lane.begin(), p.source.lane.end());
  return f2::Subspace::span(p.dimension, all).dimension() == p.dimension &&
         f2::Subspace::span(p.dimension, p.source.lane).dimension() == static_cast<int>(p.source.lane.size());
}

void search(Conversion& c, int attempts) {
  const Problem p = problem_of(c);
  const bool chains_exist = has_chains(p);
  if (chains_exist)
    c.bound.linear_steps =
        fewest_shuffles(step_ranks(p.dimension, p.source.lane, p.target.lane), p.target_held, c.lane_bits);
  std::mt19937_64 random(1);
  for (int i = 0; i < attempts; ++i) {
    const Preference preference{
        .target_bytes = (i & 1) != 0, .target_words = (i & 2) != 0, .shuffled = (i & 4) != 0};
    std::vector<std::vector<Rows>> chains;
    if (p.source.lane == p.target.lane) {
      chains.emplace_back();
    } else if (chains_exist) {
      chains = cheapest_chains(p.dimension, p.source.lane, p.target.lane, p.target_held, random);
    } else {
      chains.push_back({p.target.lane});
    }
    for (const std::vector<Rows>& chain : chains) {
      Attempt found = attempt(c, p, chain, preference, random);
      if (!c.program.outputs.empty() && !is_cheaper(found.program, c.program)) continue;
      c.program = std::move(found.program);
      c.steps = std::move(found.steps);
    }
  }
}

// Whether registers are transposed, each by itself, as movmatrix does it: row r of a matrix is in lanes 4 r
// to 4 r + 3, two halves each.
//
//     target   half  lane 1 0  lane 2  lane 4 3        of the source
//              lane 2   4 3    half       1 0
std::vector<int> transposed_registers(const Conversion& c, int capability) {
  constexpr int kHasMovmatrix = 75;
  const int held = kBitsOfWord + f2::trailing_bit(static_cast<f2::Word>(c.words_to));
  if (capability < kHasMovmatrix || c.lane_bits != kCudaLaneBits || c.words_from != c.words_to ||
      static_cast<int>(c.source.size()) != held + c.lane_bits)
    return {};
  const f2::Word half = f2::unit(1);
  const auto lane = [&](int bit) { return f2::unit(held + bit); };
  const std::vector<f2::Word> bytes{f2::unit(0), lane(2)};
  const std::vector<f2::Word> lanes{lane(3), lane(4), half, lane(0), lane(1)};
  if (!std::equal(bytes.begin(), bytes.end(), c.source.begin()) ||
      !std::equal(lanes.begin(), lanes.end(), c.source.begin() + held))
    return {};
  const std::vector<f2::Word> words(c.source.begin() + kBitsOfWord, c.source.begin() + held);
  std::vector<int> registers;
  for (f2::Word word = 0; word < static_cast<f2::Word>(c.words_to); ++word) {
    const f2::Word place = f2::combine(words.data(), word);
    if (place >> held != 0 || (place & f2::low_mask(kBitsOfWord)) != 0) return {};
    registers.push_back(static_cast<int>(place >> kBitsOfWord));
  }
  return registers;
}

// A conversion from or to a layout in memory: the address of every bit of the registers' places.
void plan_memory(Conversion& c, int byte_bits, const ConversionOptions& options) {
  const Layout& memory = c.is_load() ? c.from : c.to;
  const Layout& registers = c.is_load() ? c.to : c.from;
  const std::size_t offsets = memory.registers.size();
  if (memory.matrix().rank() != static_cast<int>(offsets))
    refuse(c.from, c.to, "a layout in memory that has an element twice", "each element at one offset");
  constexpr int kMostMemoryBits = 18;  // 256 KiB
  if (static_cast<int>(offsets) + byte_bits > kMostMemoryBits)
    refuse(c.from, c.to, fmt::format("2^{} bytes of shared memory", static_cast<int>(offsets) + byte_bits),
           "at most 2^18");
  if (registers.lanes.size() != kCudaLaneBits)
    fail(ErrorCode::unsupported, operation_of(c.from, c.to),
         fmt::format("{} lanes", std::uint64_t{1} << registers.lanes.size()),
         "warps of 32 lanes, as CUDA has");
  c.memory_bytes = 1 << (offsets + static_cast<std::size_t>(byte_bits));
  c.warp_bits = static_cast<int>(registers.warps.size());
  const std::vector<f2::Word> address =
      source_places(memory, registers, byte_bits, static_cast<int>(offsets) + byte_bits);
  if (c.is_load()) c.source = address;
  c.shared = plan_access(c, address, options);
}

}  // namespace

Conversion convert(const Layout& from, const Layout& to, const ConversionOptions& options) {
  FARO_CHECK(options.element == 8 || options.element == 16 || options.element == 32 || options.element == 64);
  require_alike(from, to);
  const int byte_bits = f2::trailing_bit(static_cast<f2::Word>(options.element / 8));
  const auto word_bits = [&](const Layout& layout) {
    const int bits = std::max(byte_bits + static_cast<int>(layout.registers.size()) - kBitsOfWord, 0);
    if (bits > kMostWordBits)
      refuse(from, to, fmt::format("2^{} registers a lane", bits), "at most 128",
             "convert a part of the tile at a time");
    return bits;
  };
  const bool is_load = is_in_memory(from) && !is_in_memory(to);
  const bool is_store = is_in_memory(to) && !is_in_memory(from);
  Conversion c;
  c.from = from;
  c.to = to;
  c.element = options.element;
  c.words_from = is_load ? 0 : 1 << word_bits(from);
  c.words_to = is_store ? 0 : 1 << word_bits(to);
  if (is_load || is_store) {
    plan_memory(c, byte_bits, options);
    return c;
  }
  c.lane_bits = static_cast<int>(from.lanes.size());
  const int held = kBitsOfWord + word_bits(from);
  c.source = source_places(from, to, byte_bits, held);
  const std::size_t warps = to.warps.size();
  if (stays_in_warps(c.source, warps, held + c.lane_bits)) {
    c.source.resize(c.source.size() - warps);
    c.bound.any_program = least_of_any_program(c, static_cast<int>(c.source.size()) - c.lane_bits);
    c.bound.linear_steps = c.bound.any_program;
    search(c, std::max(options.attempts, 1));
    c.transposed = transposed_registers(c, options.capability);
    c.shared = plan_shared(c, options);
    return c;
  }
  c.warp_bits = static_cast<int>(warps);
  c.shared = plan_shared(c, options);
  if (!c.shared)
    fail(ErrorCode::unsupported, operation_of(from, to),
         c.lane_bits == kCudaLaneBits
             ? "registers of a lane that take one element twice"
             : fmt::format("elements that change warps of {} lanes", 1 << c.lane_bits),
         "layouts of 32 lanes whose registers differ, where elements change warps",
         "give both layouts their elements of one warp alone");
  return c;
}

}  // namespace faro::exchange
