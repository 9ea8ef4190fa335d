#include <variant>

#include "engines/cpu.hpp"
#include "engines/cpu/rows/row_work.hpp"
#include "faro/error.hpp"

namespace faro::cpu {

void run_rows(const RowPlan& plan, const std::byte* in, std::byte* out) {
  const RowWork work(plan, in, out);
  if (std::holds_alternative<Take>(plan.move())) {
    run_take(work);
  } else if (std::holds_alternative<Put>(plan.move())) {
    run_put(work);
  } else {
    run_add(work);
  }
  if (!work.wrong.load()) return;
  // Tells which one it is.
  if (plan.check() == EntryCheck::meanwhile)
    static_cast<void>(check_rows(plan.move(), plan.target().threads));
  fail(ErrorCode::value, name(plan.move()), "entries that name other rows than when they were planned",
       "entries that stay as they are", "what was written is not to be used");
}

}  // namespace faro::cpu
