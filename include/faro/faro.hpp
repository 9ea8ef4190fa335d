// faro: plans and runs fast permutations of large arrays, on CPUs and GPUs.
//
//     #include <faro/faro.hpp>
//
//     std::vector<float> in(1 << 20), out(1 << 20);
//     auto plan = faro::plan(faro::maps::bit_reversal(20), sizeof(float));
//     plan.run(in, out);                                                   // out[pi(x)] = in[x]
//
//     auto on_gpu = faro::plan(problem, {.engine = faro::Engine::cuda});
//     on_gpu.run(device_in, device_out, bytes, stream);                    // queued; returns at once
//     on_gpu.run_staged(host_in, host_out, bytes);                         // arrays of the host, in pieces
//     const auto mapped = on_gpu.with_map("v * 2 + x", "float");
//     mapped.run(device_in, device_out, bytes, stream);                    // out[pi(x)] = in[x] * 2 + x
//
//     auto by_array = faro::plan(faro::Indexed(indices, faro::Direction::scatter), 8);
//     by_array.run(in, out, bytes);                                        // out[indices[i]] = in[i]
//     by_array.save("p.plan");                                             // its schedule, to be used again
//
//     auto reversal = faro::plan({.permutation = faro::maps::bit_reversal(20),
//                                 .element_bytes = sizeof(float),
//                                 .placement = faro::Placement::in_place});
//     reversal.run(out);                                                   // one array, and no second one
//
//     auto rows = faro::plan(faro::Strided{.extents = {3, 4}, .in_strides = {-4, 1}, .out_strides = {4, 1},
//                                          .in_offset = 8}, sizeof(float));
//     rows.run(in, out);                                                   // 3 rows of 4, flipped
//
// This header has what most programs need, host-only C++20: plans and what runs them on a CPU or a GPU, maps,
// index arrays, views and arithmetic. Beside it stand rows.hpp (rows taken, put and added), file.hpp (files
// larger than memory), shards.hpp (arrays over ranks), device/ and layout/ (for authors of kernels), emit/
// (kernels as source), wisdom.hpp and faro.h, the interface in C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "faro/arithmetic.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/kernels/affine_tile_index.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/permutation/take.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/stream.hpp"

namespace faro {

struct PlanOptions {
  Engine engine = Engine::automatic;
  int threads = 0;  // 0: what OpenMP would use (OMP_NUM_THREADS respected)

  // For engine cuda only.
  int device = cuda::kCurrentDevice;  // ordinal
  /// Instead of the device's own choice, for passes of kind tile: an entry of kernels::kCompiledTiles.
  std::optional<kernels::CompiledTile> tile = std::nullopt;
  /// Measure the device first, a tenth of a second, so that explain() predicts its times rather than those
  /// of the device of its kind that faro was measured on (cuda::calibrate).
  bool calibrate = false;

  // For engine cpu only.
  /// Try the few best ways on arrays of the problem's size, made for that, instead of choosing by the curves:
  /// tiles and segments of several sizes, stores through the caches and past them, an index array's methods,
  /// fewer threads. The winner is kept (faro/wisdom.hpp), so that only the first plan of a problem on a
  /// machine measures. Cost: up to some seconds, and two arrays.
  bool measure = false;

  // For index arrays only.
  /// How often the plan will be run; or a method, and sizes, instead of the fastest.
  IndexChoice index_choice = {};
  /// A schedule that was made before (schedule::load, ExecutablePlan::schedule): nothing is recognised or
  /// made. It must be of the problem's index array, of either direction: its count and, for an array of the
  /// host, its fingerprint and every entry are checked.
  std::shared_ptr<const schedule::IndexSchedule> index_schedule = nullptr;
};

/// Memory lent to a run: of the host for engine cpu, of the plan's device for engine cuda.
struct Workspace {
  void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// A plan together with the engine that runs it. Cheap to move; every const member may be called from many
/// threads at once.
class ExecutablePlan {
 public:
  ExecutablePlan(ExecutablePlan&&) noexcept;
  ExecutablePlan& operator=(ExecutablePlan&&) noexcept;
  ~ExecutablePlan();

  /// This plan with a function of each element, applied while it is moved, in the same sweep:
  ///
  ///     out[b][pi(x)] = EXPR      of v = in[b][x], the index x and y = pi(x)
  ///
  /// `map` is CUDA C++ over v, x and y, `element` the type of v, one of emit::element_types(); empty: the
  /// unsigned integer of the element's width (uint4 for 16 bytes). Compiled now, for the plan's device; the
  /// last 64 modules are kept, so asking again costs little. What is queued or captured into a graph needs
  /// the plan that with_map() gave until it is done. Errors: ErrorCode::unsupported with engine cpu, which
  /// evaluates no CUDA C++, and for elements wider than 16 bytes; ErrorCode::value for an expression that
  /// does not compile, with the compiler's message, or a type of another width; ErrorCode::device without
  /// NVRTC.   Cost: 0.1 to 0.5 s the first time.
  ExecutablePlan with_map(const std::string& map, const std::string& element = {}) const;

  /// out[b][pi(x)] = in[b][x]. `bytes` is the size of each of the two arrays and must equal
  /// total_bytes(problem).
  ///
  /// Engine cpu: arrays of the host, of any alignment; returns when the result is there. Engine cuda: arrays
  /// of the plan's device, aligned to min(element, 16) bytes; queued on `stream`, as cuda::Executor::run
  /// says. Errors: ErrorCode::value for a null pointer, another size, overlapping arrays, memory that the
  /// engine cannot access, or a stream for engine cpu; nothing is written then. ErrorCode::device for a
  /// failed launch, saying what was queued.   Cost: one sweep over both arrays; allocates nothing.
  /// With a map: arrays aligned to 16 bytes, or it refuses with ErrorCode::value.
  ///
  /// A plan whose workspace_bytes() is not 0 allocates that much for each run: from the host's memory, or
  /// from the device's pool in the stream's order.
  void run(const void* in, void* out, std::uint64_t bytes, Stream stream = {}) const;

  /// Runs the plan of a strided view: out[out_offset + i . out_strides] = in[in_offset + i . in_strides], and
  /// every other element of the output stays as it is. The arrays have so many elements, at least
  /// plan().in_bytes() and plan().out_bytes() of them, and may be larger. Errors: also ErrorCode::value for
  /// arrays that the strides leave, and for the plan of a permutation, whose arrays have one size.
  void run(const void* in, std::uint64_t in_elements, void* out, std::uint64_t out_elements,
           Stream stream = {}) const;

  /// The same, and allocates nothing. Errors: also ErrorCode::value for a workspace of less than
  /// workspace_bytes(), for one that overlaps an array, and with engine cuda for one that is not aligned to
  /// 16 bytes.
  void run(const void* in, void* out, std::uint64_t bytes, Workspace workspace, Stream stream) const;

  /// The same for spans of trivially copyable values, each an element of the plan: the total size is
  /// total_bytes(problem), but for a strided view's. Errors: also ErrorCode::value for values of another
  /// width than the plan's elements; std::byte is untyped, and goes with every width.
  template <typename T>
  void run(std::span<const T> in, std::span<T> out, Stream stream = {}) const {
    static_assert(std::is_trivially_copyable_v<T>, "faro moves bytes");
    require_width<T>();
    run_spans(std::as_bytes(in), std::as_writable_bytes(out), stream);
  }

  /// The same for vectors, arrays and whatever else is contiguous: plan.run(vector_in, vector_out).
  template <std::ranges::contiguous_range In, std::ranges::contiguous_range Out>
  requires std::ranges::sized_range<const In> && std::ranges::sized_range<Out>
  void run(const In& in, Out&& out, Stream stream = {}) const {
    using T = std::ranges::range_value_t<Out>;
    static_assert(std::is_same_v<T, std::ranges::range_value_t<In>>,
                  "faro moves elements, and converts none");
    run(std::span<const T>(std::ranges::data(in), std::ranges::size(in)),
        std::span<T>(std::ranges::data(out), std::ranges::size(out)), stream);
  }

  /// In place, of a plan with Placement::in_place, and only of such: data[b][pi(x)] becomes what data[b][x]
  /// was. `bytes` must equal total_bytes(problem). Requirements and errors as for two arrays; a failed launch
  /// leaves the array permuted in part, and the error says so.
  void run(void* data, std::uint64_t bytes, Stream stream = {}) const;
  /// The same, and allocates nothing: workspace_bytes() is 0 for affine maps, and for a transposition of
  /// other sizes the few elements that its plan names.
  void run(void* data, std::uint64_t bytes, Workspace workspace, Stream stream) const;
  /// The same for a span of trivially copyable values, each an element of the plan, as above.
  template <typename T>
  void run(std::span<T> data, Stream stream = {}) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>, "faro moves bytes");
    require_width<T>();
    run(static_cast<void*>(data.data()), data.size_bytes(), stream);
  }

  template <std::ranges::contiguous_range Data>
  requires std::ranges::sized_range<Data>
  void run(Data&& data, Stream stream = {}) const {
    using T = std::ranges::range_value_t<Data>;
    run(std::span<T>(std::ranges::data(data), std::ranges::size(data)), stream);
  }

  /// The same for arrays of the host, whatever the engine: with engine cuda they travel through the device in
  /// pieces, as cuda::run_staged says; with engine cpu this is run(). Returns when the result is there.
  /// With a map, and of an index array: the whole array at once, which the device has to hold twice, or three
  /// times with a workspace. For a plan in place `in` and `out` are the same array, which the device holds
  /// once. Errors: as run(), and as cuda::run_staged.
  void run_staged(const void* in, void* out, std::uint64_t bytes,
                  const cuda::StagingOptions& options = {}) const;

  const Plan& plan() const;

  /// plan().explain(), and with engine cuda a line for each pass's kernel; with a map one for it and its
  /// kernel.
  std::string explain() const;

  /// With engine cuda one entry for each pass (cuda::Executor::resources), with a map one for its kernel;
  /// with engine cpu none.
  std::vector<cuda::KernelResources> kernel_resources() const;

  /// Bytes that a run needs beside its arrays: 0; where an index array takes more than one pass, one more
  /// array and on a CPU each thread's buffers; a row a worker where an array of other sides than powers of
  /// two is transposed in place.
  std::uint64_t workspace_bytes() const;

  /// What an index array became; null for affine maps, rolls and permutations of axes, which need none. With
  /// engine cuda it is fetched from the device.
  std::shared_ptr<const schedule::IndexSchedule> schedule() const;

  /// Writes schedule() to a file, whole or not at all (docs/guide/plan-files.md), for
  /// PlanOptions::index_schedule. Errors: ErrorCode::unsupported where there is none; ErrorCode::file.
  void save(const std::filesystem::path& path) const;

  /// As with_map() was given it; empty without.
  const std::string& map() const;

  Engine engine() const;
  /// Why this engine: one line.
  const std::string& engine_reason() const;

 private:
  struct State;
  /// Errors, of all members: ErrorCode::value for a plan that was moved from.
  const State& state() const;
  explicit ExecutablePlan(std::unique_ptr<State> state);
  friend ExecutablePlan plan(const Problem& problem, const PlanOptions& options);
  void run_checked(const void* in, void* out, void* workspace, Stream stream) const;
  void run_spans(std::span<const std::byte> in, std::span<std::byte> out, Stream stream) const;
  void require_width_of(std::uint64_t bytes) const;
  template <typename T>
  void require_width() const {
    if constexpr (!std::is_same_v<T, std::byte>) require_width_of(sizeof(T));
  }

  std::unique_ptr<State> state_;
};

/// Plans `problem`. Errors: ErrorCode::value for a problem without a permutation, for an element width
/// outside 1..4096 (in place rolls, flips and equal axes take any), or that is no power of two for an affine
/// map, n > 40 or a total size past 2^62, and for options that the engine has no use for;
/// ErrorCode::unsupported for a tile that cannot carry out the map, and in place for what is neither affine
/// nor a transposition; ErrorCode::device for an engine that this build or machine has not. Cost: under 1 ms
/// at n = 34; with engine cuda, the first time also the driver's start.
///
/// An index array is recognised first and planned as what it is (docs/guide/index-arrays.md). One on a device
/// is for engine cuda, which `automatic` then takes; whether it is a permutation is found out here. Errors:
/// ErrorCode::value where it is none, for engine cpu, and for a schedule of another array;
/// ErrorCode::verification for one that has the array's fingerprint and other entries; those of IndexPlan.
/// Cost: sweeps of the array.
ExecutablePlan plan(const Problem& problem, const PlanOptions& options = {});

/// The same of one array out of place: plan(maps::bit_reversal(20), 8).
ExecutablePlan plan(const Permutation& permutation, std::uint64_t element_bytes,
                    const PlanOptions& options = {});

/// What plan() would decide, with nothing made for running it: no schedule, no kernels.
Plan plan_only(const Problem& problem, const PlanOptions& options = {});

/// The same of a strided view.
ExecutablePlan plan(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options = {});

/// What that would decide.
Plan plan_only(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options = {});

/// An array that is read, and how many numbers it has.
struct NumberArray {
  const void* data = nullptr;
  std::uint64_t count = 0;
};

/// The plan of a view, a permutation or rows whose numbers are changed while they are moved
/// (faro/arithmetic.hpp), together with the engine that runs it. Cheap to move; every const member may be
/// called from many threads at once.
class ExecutableArithmetic {
 public:
  ExecutableArithmetic(ExecutableArithmetic&&) noexcept;
  ExecutableArithmetic& operator=(ExecutableArithmetic&&) noexcept;
  ~ExecutableArithmetic();

  /// The move with its arithmetic; every other element of the output stays as it is. `addend`: of the
  /// arithmetic's addend and of nothing else; it may be the output itself, number by number, which
  /// accumulates. In place the input is the output. Any alignment. Returns when the result is there. Errors:
  /// ErrorCode::value for arrays that the strides leave, null pointers, an output that overlaps an input or,
  /// other than number by number, the addend, and an addend that is missing or that the arithmetic has none
  /// of; nothing is written then. Cost: a sweep over the arrays; allocates some hundred KiB a thread.
  /// Of engine cuda arrays are the device's, aligned to their numbers, and the work is queued on `stream`.
  void run(const NumberArray& in, void* out, std::uint64_t out_count, const NumberArray& addend = {},
           Stream stream = {}) const;

  /// The same of arrays of the host, by engine cuda through the device's memory: views, axes, rolls and flips
  /// in pieces, whatever their size; other maps whole, for which it has to have room. With engine cpu this is
  /// run(). Returns when the result is there. Errors: those of run(); ErrorCode::value for arrays of the
  /// device; ErrorCode::unsupported where no piece fits `options`; ErrorCode::device for less free memory.
  /// Cost: each number crosses the bus once; pieces are pinned first.
  void run_staged(const NumberArray& in, void* out, std::uint64_t out_count, const NumberArray& addend = {},
                  const cuda::StagingOptions& options = {}) const;

  /// Of rows, the same by as many entries of the same type elsewhere. Errors: also ErrorCode::value for
  /// entries of the host that name no row, and for those that are not the plan's device's or not aligned;
  /// ErrorCode::unsupported for other plans.
  void run_by(const void* entries, const NumberArray& in, void* out, std::uint64_t out_count,
              const NumberArray& addend = {}, Stream stream = {}) const;

  /// Of rows on a device: waits for the stream, and tells of entries that runs since the last check() found
  /// wrong, as ExecutableRows does. Errors: ErrorCode::value naming the first position of one.
  void check(Stream stream = {}) const;

  /// Numbers that the arrays must have at least.
  std::uint64_t in_count() const;
  std::uint64_t out_count() const;
  std::uint64_t addend_count() const;
  std::uint64_t moved_bytes() const;  // read and written
  std::string explain() const;

  struct State;  // a view's, a permutation's or that of rows

 private:
  explicit ExecutableArithmetic(std::unique_ptr<State> state);
  friend ExecutableArithmetic plan(const Strided& view, const Arithmetic& arithmetic,
                                   const PlanOptions& options);
  friend ExecutableArithmetic plan(const Problem& problem, const Arithmetic& arithmetic,
                                   const PlanOptions& options);
  friend ExecutableArithmetic plan_rows(const RowMove& move, const RowLayout& layout,
                                        const Arithmetic& arithmetic, const PlanOptions& options);
  const State& state() const;

  std::unique_ptr<State> state_;
};

/// Plans a view with arithmetic; Engine::automatic is the CPU's. A kernel of a GPU that does not come with
/// the library is compiled by NVRTC and kept in the user's folder. Errors: those of check() of both, and of
/// engine cuda those of compile_text (faro/engines/nvrtc.hpp).
ExecutableArithmetic plan(const Strided& view, const Arithmetic& arithmetic, const PlanOptions& options = {});

/// Plans any other permutation with arithmetic; of engine cuda what is no view, nor an affine map whose
/// factors are the same for all numbers, goes in two sweeps, through as much of the device's memory as the
/// narrower array has. Factors are along axes of arithmetic.shape, the output's, all arrays of the batch
/// together. Of problem.element_bytes nothing is read. In place the types have one width, and the permutation
/// is one that has a plan in place. Errors: those of check() and plan(problem); ErrorCode::value for a shape
/// of another count, and strides of an addend; ErrorCode::unsupported for an index array on a device.
ExecutableArithmetic plan(const Problem& problem, const Arithmetic& arithmetic,
                          const PlanOptions& options = {});
/// The same of one array out of place: plan(maps::bit_reversal(20), Arithmetic{…}).
ExecutableArithmetic plan(const Permutation& permutation, const Arithmetic& arithmetic,
                          const PlanOptions& options = {});

/// Plans rows with arithmetic: they are converted before they are put or added, and after they are taken;
/// what fills a taken row stands in the output as it is. Engine::automatic is cuda for entries in a device's
/// memory; what is taken or put goes in one sweep there, what is added in two, and entries are treated as
/// ExecutableRows does: read by each run, and those that are wrong left to check().
/// `layout.row_bytes` are those of the input's rows. Errors: those of RowPlan and check(); ErrorCode::value
/// for rows that are no whole number of numbers, and sums of another type than the output's;
/// ErrorCode::unsupported for an addend, or factors that differ from row to row, of rows that are not taken.
ExecutableArithmetic plan_rows(const RowMove& move, const RowLayout& layout, const Arithmetic& arithmetic,
                               const PlanOptions& options = {});

// Multiplications modulo a number of elements, carried out on the host or a GPU: one sweep, no index array,
// any count to 2^40 (faro/permutation/modular.hpp has the maps and why).
//
//     faro::permute(faro::maps::multiply(1 << 16, 5), sizeof(double), in_bytes, out_bytes);
//     faro::permute(faro::maps::multiply(1 << 16, 5), sizeof(double), device_in, device_out,
//                   faro::OnDevice{.stream = stream});       // queued; nothing waits

/// out[b][map(x)] = in[b][x], for as many arrays b as the spans hold. Any alignment. `threads` 0: what OpenMP
/// would use. Errors: ErrorCode::value for elements of 0 or of more than 4096 bytes, for a map that the
/// functions of maps:: would not make, for spans that are no whole number of arrays, of different sizes, null
/// or overlapping; nothing is written then.
void permute(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, int threads = 0);

/// Where work on a device is queued.
struct OnDevice {
  Stream stream = {};
  int device = cuda::kCurrentDevice;
};

/// The same for arrays of a device, aligned to an element of 1, 2, 4, 8 or 16 bytes. Errors: also
/// ErrorCode::value for memory that is not the device's or not aligned, ErrorCode::unsupported for elements
/// of other widths, ErrorCode::device.
void permute(const Modular& map, std::uint64_t element_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, const OnDevice& where);

/// The automorphism X -> X^k of polynomials modulo X^n + 1, on their n coefficients: coefficient i goes to
/// k i mod n, and is negated where k i mod 2 n is n or more. As many polynomials as the spans hold.
/// With `negation.moduli` each has its own, as the residues of a ciphertext do.
/// Errors: as permute; also ErrorCode::value for a k that has a divisor with 2 n, naming the greatest, for a
///         modulus with other numbers than unsigned integers, and for moduli that are no divisor of the
///         polynomials' number.
void permute_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                        std::span<const std::byte> in, std::span<std::byte> out, int threads = 0);

/// The same for arrays of a device. Errors: also as permute's there.
void permute_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation,
                        std::span<const std::byte> in, std::span<std::byte> out, const OnDevice& where);

/// The same automorphism on the values of polynomials, n = 2^m of each, in the bit-reversed order in which
/// transforms of number theory leave them: place p has the value at psi^(2 rev(p) + 1), psi a root of order 2
/// n. Nothing is negated, aligned blocks of 2^s values stay together, and no index is stored. The values are
/// elements of any width. As many polynomials as the spans hold. Law:    transformed and permuted is permuted
/// by permute_negacyclic() and transformed. Errors: as permute; also ErrorCode::value for an n that is no
/// power of two, and for an even k. Source: the automorphisms of cyclotomic rings; see docs/guide/rows.md.
void permute_evaluations(std::uint64_t n, std::int64_t k, std::uint64_t element_bytes,
                         std::span<const std::byte> in, std::span<std::byte> out, int threads = 0);

/// The same for arrays of a device. Errors: also as permute's there.
void permute_evaluations(std::uint64_t n, std::int64_t k, std::uint64_t element_bytes,
                         std::span<const std::byte> in, std::span<std::byte> out, const OnDevice& where);

}  // namespace faro
