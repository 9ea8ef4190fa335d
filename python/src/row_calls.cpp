// The short way of rows (calls.cpp): take(), put() and add_at() of dense arrays by dense arrays of indices,
// all of NumPy or all tensors of one type, without Python code.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "numpy_arrays.hpp"
#include "plan_cache.hpp"
#include "pytorch.hpp"
#include "short_calls.hpp"
#include "status.hpp"
#include "tensors.hpp"

namespace faro::python {
namespace {

// What moves: `outer` arrays of `rows` rows become as many of `count`.
struct TakenShape {
  Py_ssize_t outer = 1;
  Py_ssize_t rows = 1;
  Py_ssize_t row = 1;  // elements
  Py_ssize_t count = 1;
  std::vector<Py_ssize_t> shape;  // of the result
};

// False where Python has to look at it: another axis, or nothing to move.
bool shape_taken(TakenShape& taken, int ndim, const Py_ssize_t* shape, int entry_ndim,
                 const Py_ssize_t* entry_shape, nb::handle axis) {
  Py_ssize_t total = 1;
  for (int a = 0; a < ndim; ++a) total *= shape[a];
  for (int a = 0; a < entry_ndim; ++a) taken.count *= entry_shape[a];
  if (total == 0 || taken.count == 0) return false;
  int chosen = -1;
  taken.rows = total;
  if (!axis.is_none()) {
    if (!PyLong_CheckExact(axis.ptr())) return false;
    int beyond = 0;
    const long asked = PyLong_AsLongAndOverflow(axis.ptr(), &beyond);
    if (beyond != 0 || asked < -ndim || asked >= ndim) return false;
    chosen = static_cast<int>(asked < 0 ? asked + ndim : asked);
    for (int a = 0; a < chosen; ++a) taken.outer *= shape[a];
    for (int a = chosen + 1; a < ndim; ++a) taken.row *= shape[a];
    taken.rows = shape[chosen];
    taken.shape.assign(shape, shape + chosen);
  }
  taken.shape.insert(taken.shape.end(), entry_shape, entry_shape + entry_ndim);
  if (chosen >= 0) taken.shape.insert(taken.shape.end(), shape + chosen + 1, shape + ndim);
  return true;
}

struct EntryType {
  int bytes;
  bool is_signed;
};

faro_rows rows_of(const TakenShape& taken, const void* entries, EntryType type, Py_ssize_t width) {
  return {.entries = entries,
          .count = static_cast<std::uint64_t>(taken.count),
          .entry_bytes = type.bytes,
          .is_signed = type.is_signed ? 1 : 0,
          .rows = static_cast<std::uint64_t>(taken.rows),
          .outer = static_cast<std::uint64_t>(taken.outer),
          .row_bytes = static_cast<std::uint64_t>(taken.row * width),
          .threads = 0};
}

// `fresh`: nobody sees the output where it fails.
void take_on_host(const faro_rows& rows, const void* in, void* out, bool fresh = true) {
  const KnownMemory known;
  const auto take = [&] { return (fresh ? faro_take_new : faro_take)(&rows, nullptr, 0, in, out); };
  if (rows.outer * rows.count * rows.row_bytes < kBytesWithLock) return check(take());
  do_unlocked(take);
}

// A move of rows, and what is added, where it adds.
struct RowMotion {
  enum Kind { take, put, add } kind = take;
  faro_number number = FARO_F32;
};

struct RowPlan {
  std::shared_ptr<const faro_row_plan> plan;
  std::uint64_t workspace_bytes = 0;
};

// A plan for any entries and arrays of these sizes. It lives on the device, so that making one waits.
RowPlan planned_rows(const faro_rows& rows, int device, RowMotion motion) {
  static std::mutex mutex;
  static auto* const kept = new std::unordered_map<Key, RowPlan, KeyHash>;
  constexpr std::size_t kMostPlans = 256;
  thread_local Key key;
  key.assign({device, rows.entry_bytes, rows.is_signed, motion.kind, motion.number});
  for (const std::uint64_t size : {rows.count, rows.rows, rows.outer, rows.row_bytes})
    key.push_back(static_cast<std::int64_t>(size));
  {
    const std::lock_guard lock(mutex);
    const auto found = kept->find(key);
    if (found != kept->end()) return found->second;
  }
  faro_options options{};
  options.engine = FARO_CUDA;
  options.device = device + 1;
  faro_row_plan* plan = nullptr;
  if (motion.kind == RowMotion::take) {
    check(faro_row_plan_take(&rows, nullptr, 0, &options, &plan));
  } else if (motion.kind == RowMotion::put) {
    check(faro_row_plan_put(&rows, &options, &plan));
  } else {
    check(faro_row_plan_add(&rows, motion.number, FARO_SUMS_USUAL, &options, &plan));
  }
  RowPlan made{.plan = {plan, RowPlanDeleter{}}};
  check(faro_row_plan_workspace_bytes(plan, &made.workspace_bytes));
  const std::lock_guard lock(mutex);
  if (kept->size() >= kMostPlans) kept->clear();
  return kept->insert_or_assign(key, std::move(made)).first->second;
}

nb::object take_ndarray(nb::handle array, nb::handle indices, nb::handle axis) {
  const HostArray in = host_array(array);
  const HostArray entries = host_array(indices);
  const ElementType type = element_type(in.dtype);
  const ElementType entry_type = element_type(entries.dtype);
  TakenShape taken;
  const bool fits = entry_type.is_index && type.bytes > 0 && is_dense(in, type.bytes) &&
                    is_dense(entries, entry_type.bytes) &&
                    shape_taken(taken, in.ndim, in.shape, entries.ndim, entries.shape, axis);
  if (!fits) return nb::none();
  nb::object made = new_ndarray(taken.shape.data(), taken.shape.size(), in.dtype);
  const EntryType entry{.bytes = static_cast<int>(entry_type.bytes), .is_signed = entry_type.is_signed};
  take_on_host(rows_of(taken, entries.data, entry, type.bytes), in.data, host_array(made).data);
  return made;
}

void write_on_host(const faro_rows& rows, RowMotion motion, const void* in, void* out) {
  const KnownMemory known;
  const auto write = [&] {
    if (motion.kind == RowMotion::put) return faro_put(&rows, in, out);
    return faro_add(&rows, motion.number, FARO_SUMS_USUAL, in, out);
  };
  if (rows.outer * rows.count * rows.row_bytes < kBytesWithLock) return check(write());
  do_unlocked(write);
}

// The rows of `in` to where they belong; `fresh`: nobody sees the output where it fails.
void move_rows(const ExchangeFunctions& functions, const Tensor& in, const faro_rows& rows, char* out,
               RowMotion motion, bool fresh = false) {
  const int device = device_of(in);
  const char* const from = address_of(in);
  if (device >= 0) {
    const RowPlan of = planned_rows(rows, device, motion);
    void* const stream = current_stream(functions, device);
    const KnownMemory known;
    if (of.workspace_bytes == 0)
      return check(faro_row_plan_run(of.plan.get(), rows.entries, from, out, stream));
    const NewTensor workspace = workspace_beside(functions, in, of.workspace_bytes);
    return check(faro_row_plan_run_in_workspace(of.plan.get(), rows.entries, from, out, workspace.data(),
                                                of.workspace_bytes, stream));
  }
  if (motion.kind == RowMotion::take) return take_on_host(rows, from, out, fresh);
  write_on_host(rows, motion, from, out);
}

// Whether dense tensors share no memory.
bool is_beside(const Tensor& a, const Tensor& b) {
  const auto end = [](const Tensor& tensor) {
    Py_ssize_t bytes = width_of(tensor);
    for (int axis = 0; axis < tensor.ndim; ++axis) bytes *= tensor.shape[axis];
    return address_of(tensor) + bytes;
  };
  return end(a) <= address_of(b) || end(b) <= address_of(a);
}

// Indices of rows of a tensor, both of one type.
struct Indexed {
  TakenShape taken;
  faro_rows rows;
};

// False where Python has to look at it.
bool read_indices(Indexed& read, const Tensor& numbered, const Tensor& entries, nb::handle axis) {
  constexpr int kUnsigned = 1;
  const bool fits = are_entries(entries, numbered) &&
                    shape_taken(read.taken, numbered.ndim, numbered.shape, entries.ndim, entries.shape, axis);
  if (!fits) return false;
  const EntryType entry{.bytes = entries.dtype.bits * entries.dtype.lanes / 8,
                        .is_signed = entries.dtype.code != kUnsigned};
  read.rows = rows_of(read.taken, address_of(entries), entry, width_of(numbered));
  return true;
}

nb::object take_tensor(nb::handle array, nb::handle indices, nb::handle axis, nb::handle out,
                       const ExchangeType& type) {
  Tensor in;
  Tensor entries;
  Indexed read;
  if (!read_plainly(array, type, in) || !read_plainly(indices, type, entries) || is_watched(type) ||
      !read_indices(read, in, entries, axis))
    return nb::none();
  if (out.is_none()) {
    NewTensor made(*type.functions, in, read.taken.shape);
    move_rows(*type.functions, in, read.rows, made.data(), {}, true);
    return made.given_away();
  }
  Tensor to;
  const bool is_output = read_plainly(out, type, to) && is_like(in, to) &&
                         is_shape(read.taken.shape, to.ndim, to.shape) && is_dense(to, 1) &&
                         is_beside(in, to) && is_beside(entries, to);
  if (!is_output) return nb::none();
  move_rows(*type.functions, in, read.rows, address_of(to), {});
  tell_written(type, nb::make_tuple(out));
  return nb::borrow(out);
}

// The type of numbers that are summed, as DLPack has it; false for others.
bool is_summed(int code, Py_ssize_t bits, faro_number& number) {
  constexpr int kInteger = 0;
  constexpr int kUnsigned = 1;
  constexpr int kFloat = 2;
  constexpr int kBrain = 4;
  const struct {
    int code;
    int bits;
    faro_number number;
  } known[] = {{kInteger, 8, FARO_I8},    {kInteger, 16, FARO_I16},  {kInteger, 32, FARO_I32},
               {kInteger, 64, FARO_I64},  {kUnsigned, 8, FARO_U8},   {kUnsigned, 16, FARO_U16},
               {kUnsigned, 32, FARO_U32}, {kUnsigned, 64, FARO_U64}, {kFloat, 16, FARO_F16},
               {kFloat, 32, FARO_F32},    {kFloat, 64, FARO_F64},    {kBrain, 16, FARO_BF16}};
  for (const auto& each : known) {
    if (code != each.code || bits != each.bits) continue;
    number = each.number;
    return true;
  }
  return false;
}

char* end_of(const HostArray& dense, Py_ssize_t item) {
  for (int axis = 0; axis < dense.ndim; ++axis) item *= dense.shape[axis];
  return dense.data + item;
}

// put() and add_at() of dense arrays of NumPy; the output, or None where Python has to look at it.
nb::object write_ndarray(nb::handle out, nb::handle indices, nb::handle values, nb::handle axis, bool adds) {
  const HostArray to = host_array(out);
  const HostArray entries = host_array(indices);
  const HostArray in = host_array(values);
  const ElementType type = element_type(to.dtype);
  const ElementType entry_type = element_type(entries.dtype);
  TakenShape taken;
  RowMotion motion{.kind = adds ? RowMotion::add : RowMotion::put};
  const bool fits =
      to.writable && type.bytes > 0 && in.dtype == to.dtype && entry_type.is_index && entries.ndim == 1 &&
      is_dense(to, type.bytes) && is_dense(in, type.bytes) && is_dense(entries, entry_type.bytes) &&
      shape_taken(taken, to.ndim, to.shape, entries.ndim, entries.shape, axis) &&
      is_shape(taken.shape, in.ndim, in.shape) &&
      (end_of(to, type.bytes) <= in.data || end_of(in, type.bytes) <= to.data) &&
      (end_of(to, type.bytes) <= entries.data || end_of(entries, entry_type.bytes) <= to.data) &&
      (!adds || is_summed(type.code, 8 * type.bytes, motion.number));
  if (!fits) return nb::none();
  const EntryType entry{.bytes = static_cast<int>(entry_type.bytes), .is_signed = entry_type.is_signed};
  write_on_host(rows_of(taken, entries.data, entry, type.bytes), motion, in.data, to.data);
  return nb::borrow(out);
}

// The same of dense arrays of one type.
nb::object write_rows(nb::handle out, nb::handle indices, nb::handle values, nb::handle axis, bool adds) {
  PyTypeObject* const library = Py_TYPE(out.ptr());
  if (library != Py_TYPE(indices.ptr()) || library != Py_TYPE(values.ptr()) || axis.is_none())
    return nb::none();
  if (is_ndarray(out)) return write_ndarray(out, indices, values, axis, adds);
  const ExchangeType type = exchange_type(library);
  if (type.functions == nullptr) return nb::none();
  Tensor to;
  Tensor entries;
  Tensor in;
  Indexed read;
  RowMotion motion{.kind = adds ? RowMotion::add : RowMotion::put};
  const bool fits =
      read_plainly(out, type, to) && read_plainly(indices, type, entries) && read_plainly(values, type, in) &&
      !is_watched(type) && entries.ndim == 1 && is_like(in, to) && read_indices(read, to, entries, axis) &&
      is_shape(read.taken.shape, in.ndim, in.shape) && is_dense(in, 1) && is_beside(in, to) &&
      is_beside(entries, to) &&
      (!adds || is_summed(to.dtype.code, to.dtype.lanes == 1 ? to.dtype.bits : 0, motion.number));
  if (!fits) return nb::none();
  move_rows(*type.functions, in, read.rows, address_of(to), motion);
  tell_written(type, nb::make_tuple(out));
  return nb::borrow(out);
}

// None where Python has to look at it.
nb::object take(nb::handle array, nb::handle indices, nb::handle axis, nb::handle out) {
  if (is_ndarray(array)) {
    return is_ndarray(indices) && out.is_none() ? take_ndarray(array, indices, axis) : nb::none();
  }
  PyTypeObject* const library = Py_TYPE(array.ptr());
  if (library != Py_TYPE(indices.ptr()) || (!out.is_none() && library != Py_TYPE(out.ptr())))
    return nb::none();
  const ExchangeType type = exchange_type(library);
  return type.functions != nullptr ? take_tensor(array, indices, axis, out, type) : nb::none();
}

}  // namespace

void bind_row_calls(nb::module_& module) {
  module.def("take_short", &take, nb::arg("array").none(), nb::arg("indices").none(), nb::arg("axis").none(),
             nb::arg("out").none() = nb::none());
  module.def("write_short", &write_rows, nb::arg("out").none(), nb::arg("indices").none(),
             nb::arg("values").none(), nb::arg("axis").none(), nb::arg("adds"));
}

}  // namespace faro::python
