// A network made ready to run: the program planned, and an engine for the plan.
//
//     #include <faro/network/network.hpp>
//
//     const auto sorter =
//         network::compile({.program = network::sort(20), .element = {network::Scalar::f32}});
//     sorter.run(std::span<const float>(in), std::span<float>(out));
//
//     const auto on_gpu = network::compile(problem, {.engine = faro::Engine::cuda});
//     on_gpu.run(device_in, device_out, bytes, stream);            // queued; returns at once
//
// Engine cpu takes arrays of the host and returns when the result is there; engine cuda takes arrays of the
// device. `automatic` is cpu, for the same reason as in faro.hpp: a GPU would have to fetch the array first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/layout/tile.hpp"
#include "faro/network/operator.hpp"
#include "faro/network/program.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/plan/target.hpp"
#include "faro/stream.hpp"

namespace faro::network {

// A network's plan: few passes over memory, each doing many layers inside a tile.
//
// A tile is a coset of a subspace T that holds 2^dim(T) elements in fast memory. A layer of direction d needs
// x and x ^ d in one tile, which is d in T. So consecutive layers whose directions lie in one T, together
// with the segments S that memory wants (docs/theory/one-pass.md), are one pass. Merging 2^24 elements:
//
//     layer by layer                     24 passes, layer i pairs x with x ^ (2^(25-i) - 1)
//     tiles of 2^15, segments of 2^6      2 passes: layers 1 to 9, and 10 to 24, of which the last 6 are in S
//
// Between passes the array may lie in another order than the input's, as long as segments are whole when
// written and when read (network/grouping.hpp, docs/theory/network-passes.md). `Pass::map` is the change of
// order. The planner takes the fewest passes, and of those plans one that never changes the order, if there
// is one.
//
//     problem  --normal_form-->  layers, final map  --grouping-->  subspaces T_k, U_k  -->  passes
//
// A plan is immutable, holds no pointer into anybody's data, and may be used from many threads.

// The normal form of a network: every permutation moved out of the way.
//
// Whatever a program does, it lets pairs of elements meet, layer after layer, and moves elements about in
// between. A layer that runs after a permutation is the same layer on other elements, so all permutations can
// be carried out in the head first:
//
//     program  =  bmmc(final_map) . layer_L . ... . layer_1
//
// Each layer has a *frame*, an affine map on the index x that an element had in the input. In the frame's
// numbering the layer is plain: y = frame(x), and the elements with y = 2p and 2p + 1 meet.
//
//     frame(x) = y      bit 0 of y       which of the two:  0 the first, 1 the second
//                       bits 1 .. k-1    the operator's pair number, k the bits that the operator is given
//                       bits k ..        which of 2^(n-k) equal sub-arrays; the operator does not see it
//
// So a layer pairs x with x ^ d, where d = frame^-1 e_0 is its *direction*. A network's cost depends on its
// directions alone. An elementwise function looks at no partner: its layer has the frame of the layer before
// it, of the input where there is none, and no direction that was not there.
//
// Example: vcolumn(2) = parm(3; vcolumn(1)) lets 0 meet 3 and 1 meet 2. parm 3 sends x to y with y_0 = x_1
// and y_1 = x_0 ^ x_1; then y = 0, 1 are x = 0, 3 and y = 2, 3 are x = 1, 2. The direction is 0b11, and bits
// is 1: vcolumn(1) is pairs on two elements, all its pair numbers are 0.

struct Layer {
  Operator op;
  Affine frame;  // y = frame(x): elements with y = 2p and 2p + 1 meet
  int bits = 0;  // k of the operator; its pair number is (y >> 1) mod 2^(k-1)

  /// d: elements x and x ^ d meet. Requires: the program has a bit (unchecked).
  f2::Word direction() const { return frame.inverse_matrix().column(0); }
};

/// out[final_map(x)] = a[x], with a what the layers, first to last, make of the input in place.
struct NormalForm {
  int bits = 0;  // n
  std::vector<Layer> layers;
  Affine final_map;
  std::string final_text = {};  // what the program calls it, where it is one of the program's own maps
};

/// Law: layers and then final_map do what the program does, to every array and every operator.
/// Cost: one walk over the program, a product of matrices for every permutation in it.
NormalForm normal_form(const Program& program);

/// `batch` arrays of 2^program.bits() elements follow one another in memory; the program runs on each.
struct Problem {
  Program program;
  ElementType element;
  std::uint64_t batch = 1;  // any count; 0 is an empty problem
  /// in_place: a plan that needs no further array is preferred to one that changes the order in fewer passes.
  /// It has as many passes. Not every network has one: see Plan::workspace_bytes.
  Placement placement = Placement::out_of_place;
};

/// Largest n of a problem.
inline constexpr int kMaxNetworkBits = 40;

/// An affine function of a place j in a tile and the tile's number b, to one bit.
struct Functional {
  f2::Word place = 0;
  f2::Word block = 0;
  bool constant = false;

  bool operator()(f2::Word j, f2::Word b) const {
    return f2::parity(place & j) != (f2::parity(block & b) != constant);
  }
  friend bool operator==(const Functional&, const Functional&) = default;
};

/// A layer as the places of a tile see it.
struct LocalLayer {
  Operator op;
  int bits = 0;        // k of the operator
  f2::Word delta = 0;  // places j and j ^ delta meet; not zero
  std::vector<Functional>
      frame;  // k of them: [0] is 0 for the first of the two; [1 + i] is bit i of the pair

  /// Whether place j of tile b is the first of its pair.
  bool is_first(f2::Word j, f2::Word b) const { return !frame.front()(j, b); }
  /// The number of the pair that place j of tile b is in.
  f2::Word pair(f2::Word j, f2::Word b) const {
    f2::Word p = 0;
    for (std::size_t i = 1; i < frame.size(); ++i) {
      if (frame[i](j, b)) p |= f2::unit(static_cast<int>(i) - 1);
    }
    return p;
  }
};

/// One reading and one writing of every array.
///
/// Place j = (column | row << s) of tile b is the element at address
/// tile.block_source(b) ^ tile.source_row(row) ^ column when the pass reads. After all layers it is written
/// to map(address), which is what tile.local, tile.target_row and tile.block_target say.
struct Pass {
  Affine map;                      // of addresses; mostly the identity
  layout::Tile tile;               // of `map`; 2^tile_bits elements, s = segment_bits
  std::vector<LocalLayer> layers;  // applied in order inside every tile; may be empty
  std::size_t first_layer = 0;     // of NormalForm::layers
  /// Every tile writes the very addresses that it has read, in whatever order: so it may do so in one array,
  /// once all of it has been read. All passes but the last are so, and the last unless the final map forbids.
  bool in_place = false;
};

/// Sizes of a tile and of a segment, in elements. 0: the planner's choice.
struct Sizes {
  int tile_bits = 0;     // m
  int segment_bits = 0;  // s; less than m, unless one tile holds the array
};

/// How many passes it takes, and what it would take.
struct PassCounts {
  std::size_t as_written = 0;      // a pass for every layer and one for every permutation between two
  std::size_t layer_by_layer = 0;  // a pass for every layer, where it is, and one for the final map
  std::size_t plain = 0;           // grouped, the order of the array never changing; then the final map
  std::size_t planned = 0;  // this plan: the fewest there are for these sizes (docs/theory/network-passes.md)
};

class Plan {
 public:
  /// Plans `problem` with tiles and segments of `sizes`, or the engine's own where these are 0. Arrays that
  /// are smaller than a tile are one tile.
  /// Errors: ErrorCode::value for a program of no or too many bits, an operator that does not fit the
  /// element, sizes out of range, and past 2^62 bytes. Cost: a second at most for some hundred layers.
  Plan(const Problem& problem, const Sizes& sizes, Engine engine);

  const Problem& problem() const { return problem_; }
  const NormalForm& normal_form() const { return normal_form_; }
  Engine engine() const { return engine_; }

  /// As planned: never 0 for the tile, and at most n.
  const Sizes& sizes() const { return sizes_; }

  /// At least one; empty for a batch of 0. The first reads the input, the last writes the output. All tiles
  /// have sizes().tile_bits bits.
  const std::vector<Pass>& passes() const { return passes_; }
  const PassCounts& counts() const { return counts_; }

  /// Bytes of the input, and of the output.
  std::uint64_t array_bytes() const { return array_bytes_; }
  /// Bytes that all passes read and write together.
  std::uint64_t bytes_moved() const { return 2 * array_bytes_ * passes_.size(); }
  /// A further array for what comes before a last pass that is not in place: array_bytes(), or 0 where there
  /// is one pass, or the last is in place. `run_places` says which pass goes where.
  std::uint64_t workspace_bytes() const;

  /// The plan in words, several lines.
  std::string explain() const;
  /// The same as a JSON object (docs/guide/json.md, "network").
  std::string explain_json() const;

 private:
  Problem problem_;
  NormalForm normal_form_;
  Engine engine_;
  Sizes sizes_;
  std::vector<Pass> passes_;
  PassCounts counts_;
  std::uint64_t array_bytes_ = 0;
};

/// Where a pass reads and writes.
enum class Place { in, out, workspace };
struct Places {
  Place source = Place::in;
  Place target = Place::out;
};

/// For every pass, so that the first reads `in`, the last writes `out`, `in` is never written, and a pass
/// that is not in place has two different arrays. Passes in place stay where they are, but for the first.
std::vector<Places> run_places(const std::vector<Pass>& passes);

struct Options {
  Engine engine = Engine::automatic;
  int threads = 0;                    // engine cpu: 0 is what OpenMP would use (OMP_NUM_THREADS respected)
  int device = cuda::kCurrentDevice;  // engine cuda: ordinal
  int tile_bits = 0;                  // m, of elements; 0: the planner's choice
  int segment_bits = 0;               // s, of elements; 0: the planner's choice
};

/// A plan together with the engine that runs it. Cheap to move; every const member may be called from many
/// threads at once.
class Executable {
 public:
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  /// Runs the program on every array of the batch. `bytes` is the size of each of the two, `in` and `out`,
  /// and must be plan().array_bytes(). One array as both is fine where runs_in_place(). Engine cpu: of any
  /// alignment; returns when the result is there. Engine cuda: queued on `stream`, as CudaExecutor::run says.
  /// Errors: ErrorCode::value for a null pointer, another size, arrays that overlap, a stream for engine cpu
  /// or memory that the engine cannot access; nothing is written then. A user's host function may throw: the
  /// output is then partly written.
  void run(const void* in, void* out, std::uint64_t bytes, Stream stream = {}) const;

  /// The same for spans of trivially copyable values whose total size is plan().array_bytes().
  template <typename T>
  void run(std::span<const T> in, std::span<T> out, Stream stream = {}) const {
    static_assert(std::is_trivially_copyable_v<T>, "elements are bytes to faro");
    require_same_size(in.size_bytes(), out.size_bytes());
    run(in.data(), out.data(), in.size_bytes(), stream);
  }

  const Plan& plan() const;
  Engine engine() const { return plan().engine(); }

  /// plan().explain(), and a line on how the engine runs it.
  std::string explain() const;

  /// How often a run sweeps the arrays: the plan's passes; with engine cuda CudaExecutor::launches(), which
  /// is more where one pass has several operators.
  std::size_t sweeps() const;

  /// Bytes that a run needs besides the two arrays. Engine cpu keeps them from the first run on; engine cuda
  /// takes and returns them in the stream's order.
  std::uint64_t workspace_bytes() const;

  /// Whether `in` and `out` may be one array. Engine cuda: never.
  bool runs_in_place() const;

 private:
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  friend Executable compile(const Problem& problem, const Options& options);
  static void require_same_size(std::uint64_t in_bytes, std::uint64_t out_bytes);

  /// Errors, of all members: ErrorCode::value for one that was moved from.
  const State& state() const;

  std::unique_ptr<State> state_;
};

/// Plans `problem` and makes its engine ready. Errors: those of Plan's constructor; ErrorCode::value for
/// options that the engine has no use for; ErrorCode::unsupported for a user's operator that the engine
/// cannot run; ErrorCode::device for an engine that this build or machine has not.
/// Cost: planning, and some milliseconds for tables (engine cpu) or half a second (engine cuda, compiling).
Executable compile(const Problem& problem, const Options& options = {});

}  // namespace faro::network
