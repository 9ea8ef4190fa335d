// PackedPlan: which way a permutation of packed elements goes.
//
//     elements of whole bytes, dense            plans of bytes (faro.hpp), with either engine
//     axes whose runs or matrices are long      bit_axes.hpp
//     affine maps of dense arrays               affine_words.hpp
//     everything else                           any_elements.hpp
//
// With engine cuda all but the first is the kernels' (device_move.hpp).
#include "faro/packed.hpp"

#include <bit>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/array_checks.hpp"
#include "disjoint.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_packed.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/threads.hpp"
#include "packed/affine_words.hpp"
#include "packed/any_elements.hpp"
#include "packed/bit_axes.hpp"
#include "packed/bit_runs.hpp"
#include "packed/device_move.hpp"
#include "rounding.hpp"

namespace faro {
namespace {

constexpr std::uint32_t kMostElementBits = 32768;
constexpr std::uint64_t kMostBits = std::uint64_t{1} << 56;
constexpr std::uint64_t kStreamedBytes = std::uint64_t{4} << 20;  // from here on past the caches
constexpr std::uint64_t kRunElements = 64;  // that pay by themselves, where there is another way
constexpr std::uint64_t kRunBytes = 512;    // that pay beside lines of memory
constexpr std::uint64_t kFewElements = 8;   // that pay beside elements one by one

const char* const kPlan = "plan packed elements";

using packed::is_affine_array;

void check_layout(const PackedLayout& layout, std::uint32_t element_bits) {
  if (layout.row_elements == 0 && layout.pitch_bits != 0) {
    fail(ErrorCode::value, kPlan, "a pitch of " + std::to_string(layout.pitch_bits) + " bits without rows",
         "the elements of a row with it");
  }
  if (layout.row_elements != 0 && layout.pitch_bits != 0 &&
      (layout.row_elements > kMostBits / element_bits ||
       layout.pitch_bits / element_bits < layout.row_elements)) {
    fail(ErrorCode::value, kPlan, "a pitch of " + std::to_string(layout.pitch_bits) + " bits",
         "at least the " + std::to_string(layout.row_elements) + " elements of a row");
  }
}

// Dense rows are no rows; the permutation in the form that has most to offer.
PackedProblem settled(PackedProblem problem) {
  check(problem);
  for (PackedLayout* layout : {&problem.in, &problem.out}) {
    if (layout->pitch_bits == layout->row_elements * problem.element_bits) layout->pitch_bits = 0;
    if (layout->pitch_bits == 0) layout->row_elements = 0;
  }
  const auto* indices = std::get_if<Indexed>(&problem.permutation);
  if (indices == nullptr || indices->on_host()) problem.permutation = normal_form(problem.permutation);
  return problem;
}

void clear_pads(const PackedProblem& problem, std::uint64_t elements, std::byte* out, std::uint64_t bytes) {
  const PackedLayout& layout = problem.out;
  const std::uint64_t all = bytes * packed::kBitsOfByte;
  packed::clear_run(out, 0, layout.first_bit, layout.order);
  if (layout.row_elements == 0) {
    const std::uint64_t end = layout.first_bit + elements * problem.element_bits;
    packed::clear_run(out, end, all - end, layout.order);
    return;
  }
  for (std::uint64_t done = 0; done < elements; done += layout.row_elements) {
    const std::uint64_t in_row = std::min(layout.row_elements, elements - done);
    const std::uint64_t first = packed_position(layout, problem.element_bits, done);
    const std::uint64_t begin = first + in_row * problem.element_bits;
    const std::uint64_t next = done + in_row < elements ? first + layout.pitch_bits : all;
    packed::clear_run(out, begin, next - begin, layout.order);
  }
}

// Elements of whole bytes that stand at bytes, which ordinary plans take.
bool is_of_byte_elements(const PackedProblem& problem) {
  constexpr int kMostIndexBits = 40;
  const auto is_plain = [](const PackedLayout& layout) {
    return layout.row_elements == 0 && layout.first_bit % packed::kBitsOfByte == 0;
  };
  const std::uint64_t count = element_count(problem.permutation);
  const auto* map = std::get_if<Affine>(&problem.permutation);
  return problem.element_bits % packed::kBitsOfByte == 0 && is_plain(problem.in) && is_plain(problem.out) &&
         count != 0 && count <= std::uint64_t{1} << kMostIndexBits &&
         (map == nullptr || std::has_single_bit(problem.element_bits));
}

void check_size(const char* name, std::span<const std::byte> array, std::uint64_t bytes) {
  if (array.size() != bytes || (bytes != 0 && array.data() == nullptr)) {
    fail(ErrorCode::value, "run a plan of packed elements",
         std::string(name) + (array.data() == nullptr && bytes != 0
                                  ? " at a null pointer"
                                  : " of " + std::to_string(array.size()) + " bytes"),
         std::to_string(bytes) + " bytes");
  }
}

}  // namespace

std::uint64_t packed_position(const PackedLayout& layout, std::uint32_t element_bits, std::uint64_t x) {
  if (layout.pitch_bits == 0) return layout.first_bit + x * element_bits;
  return layout.first_bit + x / layout.row_elements * layout.pitch_bits +
         x % layout.row_elements * element_bits;
}

std::uint64_t packed_bytes(const PackedLayout& layout, std::uint32_t element_bits, std::uint64_t elements) {
  if (elements == 0) return 0;
  const std::uint64_t bits = layout.pitch_bits == 0 || layout.pitch_bits == layout.row_elements * element_bits
                                 ? elements * element_bits
                                 : detail::ceil_div(elements, layout.row_elements) * layout.pitch_bits;
  return packed::bytes_of_bits(layout.first_bit + bits);
}

void check(const PackedProblem& problem) {
  if (problem.element_bits == 0 || problem.element_bits > kMostElementBits) {
    fail(ErrorCode::value, kPlan, "elements of " + std::to_string(problem.element_bits) + " bits",
         "1 to " + std::to_string(kMostElementBits));
  }
  if (problem.in.order != problem.out.order && !packed::packs_bytes(problem.element_bits)) {
    fail(ErrorCode::value, kPlan,
         "two orders of bits for elements of " + std::to_string(problem.element_bits) + " bits",
         "1, 2 or 4 bits", "take the output in the input's order");
  }
  if (problem.batch == 0) fail(ErrorCode::value, kPlan, "0 arrays", "one or more");
  const std::uint64_t count = element_count(problem.permutation);
  for (const PackedLayout* layout : {&problem.in, &problem.out}) {
    check_layout(*layout, problem.element_bits);
    const std::uint64_t element = std::max<std::uint64_t>(
        problem.element_bits, layout->row_elements == 0 ? 0 : layout->pitch_bits / layout->row_elements + 1);
    if (count > kMostBits / element / problem.batch || layout->first_bit > kMostBits ||
        layout->pitch_bits > kMostBits) {
      fail(ErrorCode::value, kPlan,
           std::to_string(problem.batch) + " arrays of " + std::to_string(count) + " elements of " +
               std::to_string(problem.element_bits) + " bits",
           "at most 2^56 bits");
    }
  }
}

struct PackedPlan::State {
  struct ByAxes {
    packed::BitAxes axes;
  };
  struct ByMap {
    packed::AffineMove move;
  };
  struct OneByOne {
    Permutation back;
  };
  struct OnDevice {
    cuda::PackedMove move;
    int device = cuda::kCurrentDevice;
  };
  struct ByBytes {
    ExecutablePlan plan;
    std::optional<OnDevice> pads = {};
  };

  PackedProblem problem;
  int threads = 1;
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
  std::variant<ByAxes, ByMap, OneByOne, OnDevice, ByBytes> way = ByAxes{};
  PlanOptions of_bytes;
  // Made when they are first asked for.
  mutable std::once_flag in_place_made;
  mutable std::optional<kernels::PackedInPlacePasses> passes_in_place;
  mutable std::optional<ExecutablePlan> bytes_in_place;

  State(const PackedProblem& asked, const PackedOptions& options)
      : problem(settled(asked)), threads(detail::thread_count(options.threads)) {
    const std::uint64_t elements = count();
    in_bytes = packed_bytes(problem.in, problem.element_bits, elements);
    out_bytes = packed_bytes(problem.out, problem.element_bits, elements);
    const bool is_affine = is_affine_array(problem);
    const bool is_cuda = options.engine == Engine::cuda;
    of_bytes = {
        .engine = is_cuda ? Engine::cuda : Engine::cpu, .threads = options.threads, .device = options.device};
    if (is_of_byte_elements(problem)) {
      way = by_bytes();
    } else if (is_cuda) {
      way = on_device(problem, cuda::ordinal_of(options.device));
    } else if (auto axes = packed::bit_axes(problem);
               axes && packed::elements_at_once(*axes) >= (is_affine ? kRunElements : kFewElements) &&
               !(is_affine && goes_by_lines(*axes))) {
      way = ByAxes{std::move(*axes)};
    } else if (is_affine && packed::has_squares(index_bits(), problem.element_bits)) {
      const Affine places = packed::map_of_places(std::get<Affine>(problem.permutation), problem.element_bits,
                                                  problem.in.order, problem.out.order);
      way = ByMap{packed::AffineMove(places, problem.element_bits)};
    } else {
      way = OneByOne{packed::sources(problem.permutation)};
    }
  }

  // Affine maps that lines of memory take faster than axes: all but long runs.
  bool goes_by_lines(const packed::BitAxes& axes) const {
    return packed::moves_by_lines(index_bits(), problem.element_bits) &&
           (!packed::has_runs(axes) ||
            packed::elements_at_once(axes) * problem.element_bits < kRunBytes * packed::kBitsOfByte);
  }

  static OnDevice on_device(const PackedProblem& problem, int device) {
    OnDevice made{.move = packed::device_move(problem), .device = device};
    if (made.move.indices) made.move.indices = cuda::entries_on_device(*made.move.indices, device);
    return made;
  }

  Problem byte_problem(Placement placement) const {
    return {.permutation = problem.permutation,
            .element_bytes = problem.element_bits / packed::kBitsOfByte,
            .batch = problem.batch,
            .placement = placement};
  }

  ByBytes by_bytes() const {
    ByBytes made{.plan = faro::plan(byte_problem(Placement::out_of_place), of_bytes)};
    if (of_bytes.engine == Engine::cuda && problem.pads == PadBits::zero)
      made.pads = OnDevice{.move = packed::pads_of(problem), .device = of_bytes.device};
    return made;
  }

  // Whether there is a way in place, which is made ready.
  bool is_in_place() const {
    const auto* map = std::get_if<Affine>(&problem.permutation);
    const bool is_bytes = std::holds_alternative<ByBytes>(way);
    if (map == nullptr || problem.in != problem.out || (!is_bytes && !is_affine_array(problem))) return false;
    std::call_once(in_place_made, [&] {
      if (is_bytes) {
        bytes_in_place = faro::plan(byte_problem(Placement::in_place), of_bytes);
      } else if (const auto* on_device = std::get_if<OnDevice>(&way)) {
        passes_in_place =
            kernels::make_packed_in_place(problem.element_bits, *on_device->move.places, problem.batch);
      }
    });
    return true;
  }

  int index_bits() const { return std::get<Affine>(problem.permutation).bits(); }

  std::uint64_t count() const { return element_count(problem.permutation) * problem.batch; }

  bool is_on_device() const {
    const auto* bytes = std::get_if<ByBytes>(&way);
    return bytes != nullptr ? bytes->plan.engine() == Engine::cuda : std::holds_alternative<OnDevice>(way);
  }

  kernels::PackedWork arrays_of(const OnDevice& of, const std::byte* in, std::byte* out) const {
    kernels::PackedWork arrays = of.move.work;
    arrays.in = in;
    arrays.in_bytes = in_bytes;
    arrays.out = out;
    arrays.out_bytes = out_bytes;
    return arrays;
  }

  void clear(const std::byte* in, std::byte* out, Stream stream) const {
    if (problem.pads != PadBits::zero) return;
    const auto* bytes = std::get_if<ByBytes>(&way);
    if (bytes == nullptr || !bytes->pads) return clear_pads(problem, count(), out, out_bytes);
    cuda::permute(bytes->pads->move, arrays_of(*bytes->pads, in, out), stream, bytes->pads->device);
  }

  void move(const std::byte* in, std::byte* out, Stream stream) const {
    if (const auto* on_device = std::get_if<OnDevice>(&way))
      return cuda::permute(on_device->move, arrays_of(*on_device, in, out), stream, on_device->device);
    clear(in, out, stream);
    if (const auto* bytes = std::get_if<ByBytes>(&way)) {
      const std::uint64_t in_skipped = problem.in.first_bit / packed::kBitsOfByte;
      return bytes->plan.run(in + in_skipped, out + problem.out.first_bit / packed::kBitsOfByte,
                             in_bytes - in_skipped, stream);
    }
    if (const auto* axes = std::get_if<ByAxes>(&way)) {
      packed::move_axes(axes->axes, in, out, out_bytes >= kStreamedBytes, threads);
    } else if (const auto* map = std::get_if<ByMap>(&way)) {
      map->move.run(problem.batch, in + problem.in.first_bit / packed::kBitsOfByte,
                    out + problem.out.first_bit / packed::kBitsOfByte, threads);
    } else {
      packed::move_any(problem, std::get<OneByOne>(way).back, in, out, threads);
    }
  }
};

PackedPlan::PackedPlan(const PackedProblem& problem, const PackedOptions& options)
    : state_(std::make_unique<State>(problem, options)) {}
PackedPlan::PackedPlan(PackedPlan&&) noexcept = default;
PackedPlan& PackedPlan::operator=(PackedPlan&&) noexcept = default;
PackedPlan::~PackedPlan() = default;

void PackedPlan::run(std::span<const std::byte> in, std::span<std::byte> out, Stream stream) const {
  check_size("an input", in, in_bytes());
  check_size("an output", out, out_bytes());
  detail::check_disjoint("run a plan of packed elements", {.name = "the output", .laid = detail::laid(out)},
                         {{.name = "the input", .laid = detail::laid(in)}});
  if (!state_->is_on_device()) {
    detail::check_stream(Engine::cpu, stream);
    detail::check_on_host(in.data(), out.data(), "engine cuda moves them there");
  }
  if (state_->count() != 0) state_->move(in.data(), out.data(), stream);
}

void PackedPlan::run(std::span<std::byte> data, Stream stream) const {
  constexpr const char* kOperation = "permute packed elements in place";
  check_size("an array", data, in_bytes());
  const bool is_on_device = state_->is_on_device();
  if (!is_on_device) {
    detail::check_stream(Engine::cpu, stream);
    detail::check_on_host(data.data(), data.data(), "engine cuda moves them there");
  }
  if (!state_->is_in_place()) {
    fail(
        ErrorCode::unsupported, kOperation, to_text(problem().permutation),
        "an affine map of 1, 2 or 4 bits an element or of bytes, dense, of whole bytes, in one order of bits",
        "give another array for the result");
  }
  if (const auto* on_device = std::get_if<State::OnDevice>(&state_->way)) {
    return cuda::permute_in_place(on_device->move, state_->passes_in_place,
                                  state_->arrays_of(*on_device, data.data(), data.data()), stream,
                                  on_device->device);
  }
  state_->clear(data.data(), data.data(), stream);
  const std::uint64_t skipped = problem().in.first_bit / packed::kBitsOfByte;
  if (state_->bytes_in_place)
    return state_->bytes_in_place->run(data.data() + skipped, data.size() - skipped, stream);
  if (!packed::has_squares(state_->index_bits(), problem().element_bits)) {
    const std::vector<std::byte> before(data.begin(), data.end());  // arrays of a few words
    return state_->move(before.data(), data.data(), stream);
  }
  const Affine map = packed::map_of_places(std::get<Affine>(problem().permutation), problem().element_bits,
                                           problem().in.order, problem().out.order);
  packed::move_affine_in_place(map, problem().element_bits, problem().batch, data.data() + skipped,
                               state_->threads);
}

std::uint64_t PackedPlan::in_bytes() const { return state_->in_bytes; }
std::uint64_t PackedPlan::out_bytes() const { return state_->out_bytes; }
const PackedProblem& PackedPlan::problem() const { return state_->problem; }

bool PackedPlan::has_index_array() const {
  const auto* on_device = std::get_if<State::OnDevice>(&state_->way);
  const auto* one_by_one = std::get_if<State::OneByOne>(&state_->way);
  return std::holds_alternative<Indexed>(problem().permutation) ||
         (one_by_one != nullptr && std::holds_alternative<Indexed>(one_by_one->back)) ||
         (on_device != nullptr && on_device->move.indices);
}

std::string PackedPlan::explain() const {
  const std::string of =
      to_text(problem().permutation) + " of " + std::to_string(problem().element_bits) + " bits: ";
  if (const auto* axes = std::get_if<State::ByAxes>(&state_->way)) {
    return of + "axes, " + std::to_string(packed::elements_at_once(axes->axes)) +
           " elements at once, one sweep";
  }
  if (std::holds_alternative<State::ByMap>(state_->way)) return of + "tiles of an affine map, one sweep";
  if (const auto* on_device = std::get_if<State::OnDevice>(&state_->way)) {
    return of +
           (on_device->move.places    ? "tiles of an affine map"
            : on_device->move.map     ? "words of an affine map"
            : on_device->move.indices ? "words by an index array"
                                      : "axes") +
           " on a GPU, one sweep";
  }
  if (const auto* bytes = std::get_if<State::ByBytes>(&state_->way)) {
    const std::string plan = bytes->plan.explain();
    return of + "as bytes: " + plan.substr(0, plan.find('\n'));
  }
  return of + "element by element, one sweep";
}

}  // namespace faro
