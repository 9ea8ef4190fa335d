// Views, maps and rows with arithmetic, for C.
#include "faro/arithmetic.hpp"

#include <memory>
#include <string>
#include <utility>

#include "capi/plans.hpp"
#include "capi/row_entries.hpp"
#include "capi/status.hpp"
#include "capi/view_shapes.hpp"
#include "faro/faro.h"
#include "faro/faro.hpp"
#include "faro/rows.hpp"

struct faro_arithmetic_plan {
  faro::ExecutableArithmetic plan;
  // From the addresses that a run is given to the first number that is reached, in bytes.
  std::int64_t in_first = 0;
  std::int64_t out_first = 0;
  std::int64_t addend_first = 0;
};

namespace faro::capi {
namespace {

static_assert(static_cast<int>(Function::gelu) == FARO_GELU);

Number number_in(faro_number number) {
  if (number < FARO_I8 || number > FARO_F8_E5M2FNUZ) {
    fail(ErrorCode::value, "read a type of numbers", std::to_string(static_cast<int>(number)),
         "FARO_I8 to FARO_F8_E5M2FNUZ");
  }
  return static_cast<Number>(number);
}

Function function_in(faro_function function) {
  if (function < FARO_IDENTITY || function > FARO_GELU) {
    fail(ErrorCode::value, "read a function of numbers", std::to_string(static_cast<int>(function)),
         "FARO_IDENTITY to FARO_GELU");
  }
  return static_cast<Function>(function);
}

Coefficient coefficient_in(const faro_coefficient& of, double usual) {
  if (of.values == nullptr) return {{usual}, {}};
  Coefficient made;
  for (std::uint64_t i = 0; i < of.count; ++i)
    made.values.emplace_back(of.values[2 * i], of.values[2 * i + 1]);
  if (of.count != 1) made.axis = static_cast<std::size_t>(of.axis);
  return made;
}

std::int64_t bytes_to(std::int64_t elements, Number number) {
  return elements * static_cast<std::int64_t>(bytes_of(number));
}

constexpr const char* kMovingRows = "plan rows";

faro_arithmetic_plan* new_arithmetic_plan(const faro_view& view, const faro_arithmetic& arithmetic,
                                          const PlanOptions& options) {
  const Strided strided = given_view(view);
  const auto in_lowest = -static_cast<std::int64_t>(strided.in_offset);
  const auto out_lowest = -static_cast<std::int64_t>(strided.out_offset);
  Arithmetic made = arithmetic_in(arithmetic);
  std::int64_t addend_lowest = out_lowest;
  if (made.addend && arithmetic.addend_strides != nullptr) {
    made.addend->strides = given_strides(strided.extents.size(), arithmetic.addend_strides, "addend_strides");
    addend_lowest = lowest(strided.extents, made.addend->strides);
    made.addend->first = static_cast<std::uint64_t>(-addend_lowest);
  }
  const std::int64_t addend_first = made.addend ? bytes_to(addend_lowest, made.addend->number) : 0;
  return std::make_unique<faro_arithmetic_plan>(
             faro_arithmetic_plan{.plan = faro::plan(strided, made, options),
                                  .in_first = bytes_to(view.in_corner + in_lowest, made.from),
                                  .out_first = bytes_to(view.out_corner + out_lowest, made.to),
                                  .addend_first = addend_first})
      .release();
}

faro_arithmetic_plan* new_map_arithmetic(const Permutation& map, Shape out_shape,
                                         const faro_arithmetic& arithmetic, const faro_options* options) {
  Arithmetic made = arithmetic_in(arithmetic);
  require_dense_addend(arithmetic);
  made.shape = std::move(out_shape);
  Problem problem{.permutation = map, .element_bytes = bytes_of(made.from)};
  if (options != nullptr) {
    problem.batch = options->batch == 0 ? 1 : options->batch;
    problem.placement = options->in_place != 0 ? Placement::in_place : Placement::out_of_place;
  }
  return new faro_arithmetic_plan{.plan = faro::plan(problem, made, plan_options(options))};
}

RowMove move_in(const faro_moved_rows& of, Number from, Number to) {
  switch (of.move) {
    case FARO_TAKE:
      return take_of(*of.rows, of.fill, of.fill_bytes, of.rows->row_bytes / bytes_of(from) * bytes_of(to));
    case FARO_PUT:
      return Put{.to = entries_in(*of.rows), .rows = of.rows->rows};
    case FARO_ADD:
      return Add{.to = entries_in(*of.rows), .rows = of.rows->rows, .number = to, .sums = sums_of(of.sums)};
  }
  fail(ErrorCode::value, kMovingRows, "move " + std::to_string(static_cast<int>(of.move)),
       "FARO_TAKE, FARO_PUT or FARO_ADD");
}

faro_arithmetic_plan* new_row_arithmetic(const faro_moved_rows& of, const faro_arithmetic& arithmetic) {
  require_zeros(of.reserved, kMovingRows);
  PlanOptions options{.threads = of.rows->threads};
  if (of.device != 0) {
    options.engine = Engine::cuda;
    options.device = of.device - 1;
  }
  Arithmetic made = arithmetic_in(arithmetic);
  require_dense_addend(arithmetic);
  made.shape = given_shape(of.rank, of.out_shape);
  return new faro_arithmetic_plan{
      .plan = plan_rows(move_in(of, made.from, made.to),
                        {.outer = of.rows->outer, .row_bytes = of.rows->row_bytes}, made, options)};
}

// The arrays of a run, which begin where the plan's strides do.
struct NumberArrays {
  NumberArray in;
  void* out;
  NumberArray addend;

  NumberArrays(const faro_arithmetic_plan& of, const void* from, const void* added, void* to)
      : in{at(from, of.in_first), of.plan.in_count()},
        out(const_cast<void*>(at(to, of.out_first))),
        addend{at(added, of.addend_first), of.plan.addend_count()} {}

 private:
  static const void* at(const void* array, std::int64_t bytes) {
    return array == nullptr ? nullptr : static_cast<const std::byte*>(array) + bytes;
  }
};

}  // namespace

void require_dense_addend(const faro_arithmetic& of) {
  if (of.adds != 0 && of.addend_strides != nullptr)
    fail(ErrorCode::value, "plan", "strides of an added array", "none: it lies as the output",
         "views have them");
}

Arithmetic arithmetic_in(const faro_arithmetic& of) {
  require_zeros(of.reserved, "plan");
  Arithmetic made{.from = number_in(of.from),
                  .to = number_in(of.to),
                  .function = function_in(of.function),
                  .scale = coefficient_in(of.scale, 1),
                  .offset = coefficient_in(of.offset, 0),
                  .to_integer = of.to_nearest != 0 ? ToInteger::nearest : ToInteger::truncate,
                  .saturated = of.saturated != 0,
                  .in_swapped = of.in_swapped != 0,
                  .out_swapped = of.out_swapped != 0};
  if (of.adds != 0) {
    made.addend = Addend{
        .number = number_in(of.addend), .beta = {of.beta[0], of.beta[1]}, .swapped = of.addend_swapped != 0};
  }
  return made;
}

}  // namespace faro::capi

using faro::capi::given_away;
using faro::capi::guarded;
using faro::capi::require_argument;

faro_status faro_arithmetic_plan_make(const faro_view* view, const faro_arithmetic* arithmetic,
                                      const faro_options* options, faro_arithmetic_plan** plan) {
  return guarded([&] {
    require_argument("plan", {{view, "view"}, {arithmetic, "arithmetic"}, {plan, "plan"}});
    *plan = faro::capi::new_arithmetic_plan(*view, *arithmetic, faro::capi::plan_options(options));
  });
}

faro_status faro_arithmetic_plan_make_map(const faro_map* map, int rank, const uint64_t* out_shape,
                                          const faro_arithmetic* arithmetic, const faro_options* options,
                                          faro_arithmetic_plan** plan) {
  return guarded([&] {
    require_argument("plan", {{map, "map"}, {arithmetic, "arithmetic"}, {plan, "plan"}});
    *plan = faro::capi::new_map_arithmetic(map->permutation, faro::capi::given_shape(rank, out_shape),
                                           *arithmetic, options);
  });
}

faro_status faro_arithmetic_plan_make_rows(const faro_moved_rows* rows, const faro_arithmetic* arithmetic,
                                           faro_arithmetic_plan** plan) {
  return guarded([&] {
    require_argument("plan rows", {{rows, "rows"}, {arithmetic, "arithmetic"}, {plan, "plan"}});
    require_argument(rows->rows, "plan rows", "rows->rows");
    *plan = faro::capi::new_row_arithmetic(*rows, *arithmetic);
  });
}

void faro_arithmetic_plan_destroy(faro_arithmetic_plan* plan) { delete plan; }

faro_status faro_arithmetic_plan_run(const faro_arithmetic_plan* plan, const void* in, const void* addend,
                                     void* out, void* stream) {
  return guarded([&] {
    require_argument(plan, "run", "plan");
    const faro::capi::NumberArrays arrays(*plan, in, addend, out);
    const faro::capi::Endable endable(plan->plan.moved_bytes());
    plan->plan.run(arrays.in, arrays.out, plan->plan.out_count(), arrays.addend,
                   faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_arithmetic_plan_run_by(const faro_arithmetic_plan* plan, const void* entries, const void* in,
                                        const void* addend, void* out, void* stream) {
  return guarded([&] {
    require_argument("run", {{plan, "plan"}, {entries, "entries"}});
    const faro::capi::NumberArrays arrays(*plan, in, addend, out);
    plan->plan.run_by(entries, arrays.in, arrays.out, plan->plan.out_count(), arrays.addend,
                      faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_arithmetic_plan_check(const faro_arithmetic_plan* plan, void* stream) {
  return guarded([&] {
    require_argument(plan, "check a plan of rows", "plan");
    plan->plan.check(faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_arithmetic_plan_run_staged(const faro_arithmetic_plan* plan, const void* in,
                                            const void* addend, void* out, uint64_t device_bytes) {
  return guarded([&] {
    require_argument(plan, "run", "plan");
    const faro::capi::NumberArrays arrays(*plan, in, addend, out);
    plan->plan.run_staged(arrays.in, arrays.out, plan->plan.out_count(), arrays.addend,
                          {.device_bytes = device_bytes});
  });
}

faro_status faro_arithmetic_plan_explain(const faro_arithmetic_plan* plan, char** text) {
  return guarded([&] {
    require_argument("explain", {{plan, "plan"}, {text, "text"}});
    *text = given_away(plan->plan.explain());
  });
}
