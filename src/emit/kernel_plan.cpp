#include "emit/kernel_plan.hpp"

namespace faro::emit {
namespace {

using f2::Word;

std::vector<Word> multiplied(const Affine& map, std::vector<Word> columns) {
  for (Word& column : columns) column = map.matrix() * column;
  return columns;
}

// Forms that do not depend on a number have no columns for it.
Word sum(const std::vector<Word>& columns, Word number) {
  return f2::combine(columns.data(), number & f2::low_mask(static_cast<int>(columns.size())));
}

}  // namespace

Word Form::operator()(const Place& place) const {
  return constant ^ sum(block, place.block) ^ sum(thread, place.thread) ^ sum(warp, place.warp) ^
         sum(iteration, place.iteration) ^ sum(component, place.component);
}

Form apply(const Affine& map, const Form& form) {
  return {.block = multiplied(map, form.block),
          .thread = multiplied(map, form.thread),
          .warp = multiplied(map, form.warp),
          .iteration = multiplied(map, form.iteration),
          .component = multiplied(map, form.component),
          .constant = map(form.constant)};
}

Word KernelPlan::shift_of(Word address) const {
  const Word row = address >> turn_bits & f2::low_mask(static_cast<int>(turned.size()));
  return f2::combine(turned.data(), row);
}

std::uint32_t KernelPlan::turn(std::uint32_t address) const {
  const Word columns = f2::low_mask(turn_bits);
  return static_cast<std::uint32_t>((address & ~columns) | ((address + shift_of(address)) & columns));
}

std::vector<KernelPlan> plan_kernels(const Affine& map, const ElementType& element, const Options& options) {
  std::vector<KernelPlan> plans;
  if (options.rung == Rung::two_pass || options.both_factors) {
    // A = (U R)(R L P): both are tiled for every segment, since U R has its last s columns, and R L P those
    // that P takes to the last s, within the low s rows.
    const f2::UlpFactors factors = f2::factor_ulp(map.matrix());
    const f2::Matrix reversal = f2::reversal(map.bits());
    const Affine first(reversal * factors.lower * factors.permutation, 0);
    const Affine second(factors.upper * reversal, map.complement());
    FARO_CHECK(compose(second, first) == map);
    if (options.both_factors) {
      plans.push_back(plan_published(first, element, options));
      plans.push_back(plan_published(second, element, options));
    } else {
      plans.push_back(plan_vectors(first, first, element, options));
      plans.push_back(plan_vectors(second, map, element, options));
    }
    plans.front().name = options.name + "_first";
    plans.back().name = options.name + "_second";
  } else {
    plans.push_back(options.rung == Rung::one_pass ? plan_vectors(map, map, element, options)
                                                   : plan_published(map, element, options));
    plans.front().name = options.name;
  }
  for (const KernelPlan& plan : plans) require_room(plan, options);
  if (options.arithmetic) {
    plans.back().result_bytes = static_cast<int>(bytes_of(options.arithmetic->to));
    if (options.arithmetic->addend)
      plans.back().addend_bytes = static_cast<int>(bytes_of(options.arithmetic->addend->number));
  }
  return plans;
}

}  // namespace faro::emit
