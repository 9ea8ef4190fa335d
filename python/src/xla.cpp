// What JAX's compiled programs call: one handler for hosts and GPUs, without Python.
//
//     attribute `move`           a plan of
//
//     "text bit_reversal(20)"    the map, on an array of the argument's shape
//     "view 2 3 4; 4 12 1; 0"    extents, input strides in elements, first element: to a dense array
//     "roll 1 0 -2"              shifts along the axes
//     "family 1 0; 0 1; 0 5"     for shapes that are known when it runs: the order of the axes, which are flipped, and
//                                shifts, one an axis
//     "negacyclic 3 17 97"       X -> X^3 of polynomials along the last axis, the first modulo 17, the second
//                                97, and again (0: by their sign)
//     "evaluations 3"            the same on values in bit-reversed order
//     "arithmetic 1 10 -1 0 0 0; numbers changed in a view: their types in faro.h, from, to and of what is added
//      3 4; 1 3; 0;1 …;;…"       (-1: nothing is), function, to nearest, saturated; extents, strides, first
//                                element; scale, offset: axis and values; beta. Values are bits of doubles
//     "take 2"                   rows along axis 2 by the second argument's indices
//     "take 2 0"                 the same, and zeros by -1
//     "add 2 1", "put 2"         rows added (1: in sums of faro_sums) or put to the third argument's
//                                memory, which is the result's
//
// "batch " in front of others: the first axis is a batch's, each array of it alike. "rows " in front of a
// text: the last axis is one element, which stays whole.
//
// Plans are kept by the text, the shape, the width and the device. faro/_jax_moves.py makes the texts.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan_handle.hpp"
#include "plan_pool.hpp"
#include "status.hpp"
#include "xla_ffi.hpp"

namespace faro::python {
namespace {

// A fault on its way to XLA.
struct Fault {
  int code;
  std::string message;
};

void require(faro_status status) {
  if (status == FARO_OK) return;
  const bool is_callers = status != FARO_INTERNAL && status != FARO_DEVICE && status != FARO_MEMORY;
  throw Fault{is_callers ? xla::kInvalidArgument : xla::kInternal, faro_last_message()};
}

// What XLA's PrimitiveType of so many bytes is added up as: a complex number as two, some not at all.
struct ElementType {
  int type;
  int bytes;
  std::optional<faro_number> number;
};
constexpr ElementType kElementTypes[] = {
    {1, 1, {}},          // PRED
    {2, 1, FARO_I8},     // S8
    {3, 2, FARO_I16},    // S16
    {4, 4, FARO_I32},    // S32
    {5, 8, FARO_I64},    // S64
    {6, 1, FARO_U8},     // U8
    {7, 2, FARO_U16},    // U16
    {8, 4, FARO_U32},    // U32
    {9, 8, FARO_U64},    // U64
    {10, 2, FARO_F16},   // F16
    {11, 4, FARO_F32},   // F32
    {12, 8, FARO_F64},   // F64
    {15, 8, FARO_F32},   // C64
    {16, 2, FARO_BF16},  // BF16
    {18, 16, FARO_F64},  // C128
    {19, 1, {}},         // and below: of 8 bits, floats
    {20, 1, {}},        {23, 1, {}}, {24, 1, {}}, {25, 1, {}}, {28, 1, {}}, {29, 1, {}}, {33, 1, {}},
};

const ElementType* element_type(int type) {
  const auto* const found = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                         [type](const ElementType& each) { return each.type == type; });
  return found == std::end(kElementTypes) ? nullptr : found;
}

// Bytes of an element; 0 for those that are no whole bytes, and unknown ones.
std::int64_t bytes_of(int type) {
  const ElementType* const known = element_type(type);
  return known == nullptr ? 0 : known->bytes;
}

faro_number number_of(int type) {
  const ElementType* const known = element_type(type);
  if (known != nullptr && known->number) return *known->number;
  throw Fault{xla::kInvalidArgument, "add: got elements that are no numbers, wanted integers or floats"};
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ') {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc())
      throw Fault{xla::kInternal, "faro's move: no number in `" + std::string(text) + "`"};
    numbers.push_back(number);
    at = read.ptr;
  }
  return numbers;
}

std::string_view cut(std::string_view& text, char until) {
  const std::size_t at = text.find(until);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

struct ArrayShape {
  std::vector<std::uint64_t> extents;
  std::int64_t width = 0;

  std::uint64_t product(std::size_t from, std::size_t to) const {
    std::uint64_t count = 1;
    for (std::size_t axis = from; axis < to; ++axis) count *= extents[axis];
    return count;
  }
};

ArrayShape shape_of(const xla::Buffer& buffer) {
  ArrayShape shape{.extents = std::vector<std::uint64_t>(buffer.shape, buffer.shape + buffer.rank),
                   .width = bytes_of(buffer.element_type)};
  if (shape.width == 0) {
    throw Fault{xla::kInvalidArgument, "faro: got elements of XLA's type " +
                                           std::to_string(buffer.element_type) +
                                           ", wanted elements of whole bytes"};
  }
  return shape;
}

std::vector<std::int64_t> dense_strides(const std::vector<std::uint64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= static_cast<std::int64_t>(extents[axis] == 0 ? 1 : extents[axis]);
  }
  return strides;
}

faro_plan* plan_view(std::string_view words, bool in_batch, const ArrayShape& shape,
                     const faro_options& options) {
  const auto extents = numbers_in(cut(words, ';'));
  auto in_strides = numbers_in(cut(words, ';'));
  const auto corner = numbers_in(words);
  std::vector<std::uint64_t> all(extents.begin(), extents.end());
  if (in_batch) {
    all.insert(all.begin(), shape.extents[0]);
    in_strides.insert(in_strides.begin(), static_cast<std::int64_t>(shape.product(1, shape.extents.size())));
  }
  std::vector<std::int64_t> out_strides = dense_strides(all);
  if (all.empty()) {
    all = {1};
    in_strides = {1};
    out_strides = {1};
  }
  const faro_view view{.rank = static_cast<int>(all.size()),
                       .extents = all.data(),
                       .in_strides = in_strides.data(),
                       .out_strides = out_strides.data(),
                       .in_corner = corner.at(0),
                       .out_corner = 0};
  faro_plan* plan = nullptr;
  require(faro_plan_view(&view, static_cast<std::uint64_t>(shape.width), &options, &plan));
  return plan;
}

faro_plan* plan_roll(std::string_view words, bool in_batch, const ArrayShape& shape,
                     const faro_options& options) {
  auto shifts = numbers_in(words);
  if (in_batch) shifts.insert(shifts.begin(), 0);
  std::vector<std::int64_t> strides(shape.extents.size());
  for (std::size_t axis = 0; axis < strides.size(); ++axis)
    strides[axis] = static_cast<std::int64_t>(shape.product(axis + 1, strides.size()));
  faro_plan* plan = nullptr;
  require(faro_plan_roll(static_cast<int>(shifts.size()), shape.extents.data(), strides.data(), shifts.data(),
                         static_cast<std::uint64_t>(shape.width), &options, &plan));
  return plan;
}

faro_plan* plan_text(std::string_view words, bool in_batch, bool of_rows, const ArrayShape& shape,
                     faro_options options) {
  const std::size_t first = in_batch ? 1 : 0;
  if (in_batch) options.batch = shape.extents[0];
  std::size_t last = shape.extents.size();
  auto width = static_cast<std::uint64_t>(shape.width);
  if (of_rows) width *= shape.extents[--last];
  faro_plan* plan = nullptr;
  require(faro_plan_text(std::string(words).c_str(), static_cast<int>(last - first),
                         shape.extents.data() + first, width, &options, &plan));
  return plan;
}

// A plan on a GPU is the current device's: XLA has made it so.
faro_options options_here(bool on_gpu) {
  faro_options options{};
  options.engine = on_gpu ? FARO_CUDA : FARO_CPU;
  if (!on_gpu) return options;
  int device = 0;
  require(faro_cuda_device(&device));
  options.device = device + 1;
  return options;
}

// The plan for a key and a device, made where there is none yet.
template <typename Plan, typename Make>
std::shared_ptr<const Plan> kept_plan(std::string key, const faro_options& options, const Make& make) {
  key += '|' + std::to_string(options.device);
  static std::mutex mutex;
  static auto* const kept = new std::unordered_map<std::string, std::shared_ptr<const Plan>>;
  constexpr std::size_t kMostPlans = 1024;
  {
    const std::lock_guard lock(mutex);
    const auto found = kept->find(key);
    if (found != kept->end()) return found->second;
  }
  std::shared_ptr<const Plan> made = make();
  const std::lock_guard lock(mutex);
  if (kept->size() >= kMostPlans) kept->clear();
  return kept->insert_or_assign(key, std::move(made)).first->second;
}

using PlanOfMove = std::shared_ptr<const faro_plan>;

PlanOfMove make_plan(std::string_view words, const ArrayShape& shape, const faro_options& options) {
  const bool in_batch = words.starts_with("batch ");
  if (in_batch) words.remove_prefix(std::strlen("batch "));
  std::string_view kind = cut(words, ' ');
  const bool of_rows = kind == "rows";
  if (of_rows) kind = cut(words, ' ');
  faro_plan* const plan = kind == "view"   ? plan_view(words, in_batch, shape, options)
                          : kind == "roll" ? plan_roll(words, in_batch, shape, options)
                                           : plan_text(words, in_batch, of_rows, shape, options);
  return {plan, PlanDeleter{}};
}

PlanOfMove planned(std::string_view move, const ArrayShape& shape, bool on_gpu) {
  std::string key(move);
  key += '|';
  for (const std::uint64_t extent : shape.extents) key += std::to_string(extent) + ' ';
  key += '|' + std::to_string(shape.width);
  const faro_options options = options_here(on_gpu);
  return kept_plan<faro_plan>(std::move(key), options, [&] { return make_plan(move, shape, options); });
}

// A family whose extents are all free, for arrays of so many axes.
std::shared_ptr<const faro_family> planned_family(std::string_view move, std::string_view words,
                                                  bool in_batch, const ArrayShape& shape, bool on_gpu) {
  const faro_options options = options_here(on_gpu);
  std::string key(move);
  key += '|' + std::to_string(shape.extents.size()) + '|' + std::to_string(shape.width);
  return kept_plan<faro_family>(std::move(key), options, [&] {
    const auto given = numbers_in(cut(words, ';'));
    const auto flips = numbers_in(cut(words, ';'));
    auto shifts = numbers_in(words);
    std::vector<int> order(given.begin(), given.end());
    std::vector<int> flipped(flips.begin(), flips.end());
    if (in_batch) {
      for (int& axis : order) ++axis;
      order.insert(order.begin(), 0);
      flipped.insert(flipped.begin(), 0);
      shifts.insert(shifts.begin(), 0);
    }
    const std::vector<std::uint64_t> most(order.size(), std::uint64_t{1} << 40);
    faro_family_map map{};
    map.extents = most.data();
    map.order = order.data();
    map.flipped = flipped.data();
    map.shifts = shifts.data();
    map.element_bytes = static_cast<std::uint64_t>(shape.width);
    map.rank = static_cast<int>(order.size());
    faro_family* family = nullptr;
    require(faro_family_make(&map, &options, &family));
    return std::shared_ptr<const faro_family>(family, Destroyer<faro_family_destroy>());
  });
}

void* stream_of(const xla::Call& call) {
  xla::StreamArguments asked{
      .struct_size = sizeof(asked), .extensions = nullptr, .context = call.context, .stream = nullptr};
  if (call.functions->get_stream(&asked) != nullptr) throw Fault{xla::kInternal, "faro: XLA has no stream"};
  return asked.stream;
}

// Rows along an axis: of an array, or of each array of a batch.
faro_rows rows_of(const xla::Buffer& indices, const ArrayShape& array, std::size_t axis, std::uint64_t rows) {
  const ArrayShape entries = shape_of(indices);
  const bool is_signed = indices.element_type == 4 || indices.element_type == 5;
  return {
      .entries = indices.data,
      .count = entries.product(0, entries.extents.size()),
      .entry_bytes = static_cast<int>(entries.width),
      .is_signed = is_signed ? 1 : 0,
      .rows = rows,
      .outer = array.product(0, axis),
      .row_bytes = array.product(axis + 1, array.extents.size()) * static_cast<std::uint64_t>(array.width),
      .threads = 0};
}

enum class Verb { kTake, kAdd, kPut };

// What is done with rows, as `move` says it, and the numbers that are added.
struct RowMove {
  Verb verb = Verb::kTake;
  std::size_t axis = 0;
  std::uint64_t fill_bytes = 0;  // of zeros, which -1 gives; 0: -1 is refused
  faro_number number = FARO_I8;
  faro_sums sums = FARO_SUMS_USUAL;
};

constexpr char kZero = 0;

RowMove row_move(std::string_view verb, std::string_view words, int element_type) {
  const auto numbers = numbers_in(words);
  RowMove move{.axis = static_cast<std::size_t>(numbers.at(0))};
  if (verb == "take") {
    move.fill_bytes = numbers.size() > 1 ? 1 : 0;
  } else if (verb == "put") {
    move.verb = Verb::kPut;
  } else {
    move.verb = Verb::kAdd;
    move.number = number_of(element_type);
    move.sums = static_cast<faro_sums>(numbers.at(1));
  }
  return move;
}

using DeviceRowPlan = std::unique_ptr<faro_row_plan, RowPlanDeleter>;

DeviceRowPlan plan_rows(const RowMove& move, const faro_rows& rows, int device) {
  faro_options options{};
  options.engine = FARO_CUDA;
  options.device = device + 1;
  faro_row_plan* made = nullptr;
  switch (move.verb) {
    case Verb::kTake:
      require(faro_row_plan_take(&rows, move.fill_bytes == 0 ? nullptr : &kZero, move.fill_bytes, &options,
                                 &made));
      break;
    case Verb::kAdd:
      require(faro_row_plan_add(&rows, move.number, move.sums, &options, &made));
      break;
    case Verb::kPut:
      require(faro_row_plan_put(&rows, &options, &made));
      break;
  }
  return DeviceRowPlan(made);
}

// Plans of rows are for sizes; entries and arrays are those of the call. Making one waits for the device.
void run_rows_on_gpu(const RowMove& move, const faro_rows& rows, const void* in, void* out, void* stream) {
  constexpr std::size_t kMostIdle = 256;
  static auto* const pool = new PlanPool<DeviceRowPlan>(kMostIdle);
  int device = 0;
  require(faro_cuda_device(&device));
  PlanPool<DeviceRowPlan>::Key key{device,
                                   static_cast<int>(move.verb),
                                   static_cast<int>(move.fill_bytes),
                                   move.number,
                                   move.sums,
                                   rows.entry_bytes,
                                   rows.is_signed};
  for (const std::uint64_t size : {rows.count, rows.rows, rows.outer, rows.row_bytes})
    key.push_back(static_cast<std::int64_t>(size));
  auto lent = pool->borrow(std::move(key), [&] { return plan_rows(move, rows, device); });
  require(faro_row_plan_run((*lent).get(), rows.entries, in, out, stream));
  // Waits. What the plan notes of wrong entries is this call's, for no other has it.
  require(faro_row_plan_check((*lent).get(), stream));
  lent.give_back();
}

void run_rows(const xla::Call& call, std::string_view verb, std::string_view words, bool on_gpu) {
  const xla::Buffer& in = *call.arguments.buffers[0];
  const xla::Buffer& indices = *call.arguments.buffers[1];
  const xla::Buffer& out = *call.results.buffers[0];
  const RowMove move = row_move(verb, words, in.element_type);
  // Axes before and behind the indexed one are the same on both sides.
  const ArrayShape numbered = move.verb == Verb::kTake ? shape_of(in) : shape_of(out);
  const faro_rows rows = rows_of(indices, numbered, move.axis, numbered.extents.at(move.axis));
  if (rows.outer * rows.count * rows.row_bytes == 0) return;
  if (on_gpu) return run_rows_on_gpu(move, rows, in.data, out.data, stream_of(call));
  switch (move.verb) {
    case Verb::kTake:
      return require(
          faro_take_new(&rows, move.fill_bytes == 0 ? nullptr : &kZero, move.fill_bytes, in.data, out.data));
    case Verb::kAdd:
      return require(faro_add(&rows, move.number, move.sums, in.data, out.data));
    case Verb::kPut:
      return require(faro_put(&rows, in.data, out.data));
  }
}

// X -> X^k of polynomials, whose numbers are the last axis.
void run_automorphism(const xla::Call& call, std::string_view kind, std::string_view words, bool on_gpu) {
  const xla::Buffer& in = *call.arguments.buffers[0];
  const ArrayShape shape = shape_of(in);
  const std::uint64_t bytes =
      shape.product(0, shape.extents.size()) * static_cast<std::uint64_t>(shape.width);
  const auto numbers = numbers_in(words);
  const faro_options options = options_here(on_gpu);
  void* const stream = on_gpu ? stream_of(call) : nullptr;
  void* const out = call.results.buffers[0]->data;
  if (kind == "evaluations") {
    return require(faro_permute_evaluations(shape.extents.back(), numbers.at(0),
                                            static_cast<std::uint64_t>(shape.width), in.data, out, bytes,
                                            &options, stream));
  }
  const std::vector<std::uint64_t> moduli(numbers.begin() + 1, numbers.end());
  require(faro_permute_negacyclic_moduli(shape.extents.back(), numbers.at(0), number_of(in.element_type),
                                         moduli.data(), moduli.size(), in.data, out, bytes, &options,
                                         stream));
}

// Numbers that are changed while they are moved.

std::vector<double> doubles_in(std::span<const std::int64_t> bits) {
  std::vector<double> values(bits.size());
  std::memcpy(values.data(), bits.data(), bits.size_bytes());
  return values;
}

// One value or several, as faro_coefficient has them; none: as if there were no coefficient.
struct CoefficientWords {
  int axis = 0;
  std::vector<double> parts;

  explicit CoefficientWords(std::string_view words) {
    const auto numbers = numbers_in(words);
    if (numbers.empty()) return;
    axis = static_cast<int>(numbers[0]);
    parts = doubles_in(std::span(numbers).subspan(1));
  }

  faro_coefficient as_given() const {
    return {.values = parts.empty() ? nullptr : parts.data(),
            .count = parts.size() / 2,
            .axis = axis,
            .padding = 0};
  }
};

using ArithmeticPlan = std::shared_ptr<const faro_arithmetic_plan>;

ArithmeticPlan make_arithmetic(std::string_view words, const faro_options& options) {
  const auto types = numbers_in(cut(words, ';'));
  const auto given = numbers_in(cut(words, ';'));
  const std::vector<std::uint64_t> extents(given.begin(), given.end());
  const auto in_strides = numbers_in(cut(words, ';'));
  const auto corner = numbers_in(cut(words, ';'));
  const CoefficientWords scale(cut(words, ';'));
  const CoefficientWords offset(cut(words, ';'));
  const std::vector<double> beta = doubles_in(numbers_in(words));
  const std::vector<std::int64_t> out_strides = dense_strides(extents);
  const faro_view view{.rank = static_cast<int>(extents.size()),
                       .extents = extents.data(),
                       .in_strides = in_strides.data(),
                       .out_strides = out_strides.data(),
                       .in_corner = corner.at(0),
                       .out_corner = 0};
  faro_arithmetic arithmetic{};
  arithmetic.from = static_cast<faro_number>(types.at(0));
  arithmetic.to = static_cast<faro_number>(types.at(1));
  arithmetic.adds = types.at(2) < 0 ? 0 : 1;
  if (arithmetic.adds != 0) arithmetic.addend = static_cast<faro_number>(types.at(2));
  arithmetic.function = static_cast<faro_function>(types.at(3));
  arithmetic.to_nearest = static_cast<int>(types.at(4));
  arithmetic.saturated = static_cast<int>(types.at(5));
  arithmetic.scale = scale.as_given();
  arithmetic.offset = offset.as_given();
  arithmetic.beta[0] = beta.at(0);
  arithmetic.beta[1] = beta.at(1);
  faro_arithmetic_plan* plan = nullptr;
  require(faro_arithmetic_plan_make(&view, &arithmetic, &options, &plan));
  return {plan, Destroyer<faro_arithmetic_plan_destroy>{}};
}

void run_arithmetic(const xla::Call& call, std::string_view words, bool on_gpu) {
  const faro_options options = options_here(on_gpu);
  const ArithmeticPlan plan = kept_plan<faro_arithmetic_plan>(
      std::string(words), options, [&] { return make_arithmetic(words, options); });
  const void* const addend = call.arguments.size > 1 ? call.arguments.buffers[1]->data : nullptr;
  require(faro_arithmetic_plan_run(plan.get(), call.arguments.buffers[0]->data, addend,
                                   call.results.buffers[0]->data, on_gpu ? stream_of(call) : nullptr));
}

std::string_view move_of(const xla::Call& call) {
  const xla::Attributes& attributes = call.attributes;
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    const xla::Text& name = *attributes.names[i];
    if (std::string_view(name.data, name.size) != "move" || attributes.types[i] != xla::kText) continue;
    const auto& value = *static_cast<const xla::Text*>(attributes.values[i]);
    return {value.data, value.size};
  }
  throw Fault{xla::kInternal, "faro: got no attribute `move`, wanted one"};
}

void carry_out(const xla::Call& call, bool on_gpu) {
  const std::string_view move = move_of(call);
  std::string_view words = move;
  std::string_view kind = cut(words, ' ');
  const bool in_batch = kind == "batch";
  if (in_batch) kind = cut(words, ' ');  // of polynomials: more of them
  if (kind == "take" || kind == "add" || kind == "put") return run_rows(call, kind, words, on_gpu);
  const xla::Buffer& in = *call.arguments.buffers[0];
  const ArrayShape shape = shape_of(in);
  if (shape.product(0, shape.extents.size()) == 0) return;
  if (kind == "arithmetic") return run_arithmetic(call, words, on_gpu);
  if (kind == "negacyclic" || kind == "evaluations") return run_automorphism(call, kind, words, on_gpu);
  if (kind == "family") {
    const auto family = planned_family(move, words, in_batch, shape, on_gpu);
    faro_family_call sizes{};
    sizes.extents = shape.extents.data();
    sizes.count = static_cast<int>(shape.extents.size());
    return require(faro_family_run(family.get(), &sizes, in.data, call.results.buffers[0]->data,
                                   on_gpu ? stream_of(call) : nullptr));
  }
  const PlanOfMove plan = planned(move, shape, on_gpu);
  require(
      faro_plan_run(plan.get(), in.data, call.results.buffers[0]->data, on_gpu ? stream_of(call) : nullptr));
}

xla::Failure* handle(xla::Call* call, bool on_gpu) noexcept {
  for (xla::Extension* each = call->extensions; each != nullptr; each = each->next) {
    if (each->type != xla::kMetadata) continue;
    xla::Metadata& told = *reinterpret_cast<xla::MetadataExtension*>(each)->metadata;
    told.version.major = xla::kMajor;
    told.version.minor = xla::kMinor;
    told.traits = 0;
    return nullptr;
  }
  if (call->stage != xla::kExecute) return nullptr;
  const auto failure = [&](int code, const char* message) {
    xla::FailureArguments arguments{
        .struct_size = sizeof(arguments), .extensions = nullptr, .message = message, .code = code};
    return call->functions->make_failure(&arguments);
  };
  try {
    carry_out(*call, on_gpu);
    return nullptr;
  } catch (const Fault& fault) {
    return failure(fault.code, fault.message.c_str());
  } catch (const std::exception& exception) {
    return failure(xla::kInternal, exception.what());
  }
}

xla::Failure* handle_on_host(xla::Call* call) { return handle(call, false); }
xla::Failure* handle_on_gpu(xla::Call* call) { return handle(call, true); }

nb::object capsule_of(xla::Failure* (*handler)(xla::Call*)) {
  PyObject* const made = PyCapsule_New(reinterpret_cast<void*>(handler), "xla._CUSTOM_CALL_TARGET", nullptr);
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

}  // namespace

void bind_xla(nb::module_& module) {
  module.def("xla_handlers",
             [] { return nb::make_tuple(capsule_of(&handle_on_host), capsule_of(&handle_on_gpu)); });
}

}  // namespace faro::python
