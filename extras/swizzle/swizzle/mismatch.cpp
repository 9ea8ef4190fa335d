#include <algorithm>
#include <functional>
#include <variant>

#include "faro/error.hpp"
#include "faro/swizzle/program.hpp"
#include "swizzle/execution_domain.hpp"

namespace faro::swizzle {
namespace {

void mark_stores(std::span<const Statement> statements, std::vector<bool>& stored,
                 std::vector<bool>& demanded) {
  for (const Statement& statement : statements) {
    if (const auto* store = std::get_if<StoreStatement>(&statement))
      stored[static_cast<std::size_t>(store->to.number)] = true;
    if (const auto* present = std::get_if<PresentStatement>(&statement))
      demanded[static_cast<std::size_t>(present->output.number)] = true;
    if (const auto* loop = std::get_if<LoopStatement>(&statement)) mark_stores(loop->body, stored, demanded);
  }
}

std::vector<std::string> names_of(const Specification& specification) {
  std::vector<std::string> names;
  for (const auto& array : specification.arrays()) names.push_back(array.name);
  return names;
}

/// Finds the first input that a warp lacks.
class PresentCheck {
 public:
  explicit PresentCheck(const Specification& specification) : specification_(specification) {}

  void operator()(const PresentStatement& statement, std::span<const ValueId> registers,
                  std::span<const std::int64_t> addresses) {
    if (missing) return;
    std::vector<ValueId> held(registers.begin(), registers.end());
    std::sort(held.begin(), held.end());
    for (const std::int64_t address : addresses) {
      const ValueId wanted = specification_.wanted(statement.output, address);
      for (const ValueId input : specification_.values().inputs_of(wanted)) {
        if (std::binary_search(held.begin(), held.end(), input)) continue;
        const auto names = names_of(specification_);
        missing = Mismatch{.array = {},
                           .index = address,
                           .got = kUndefined,
                           .wanted = input,
                           .block = -1,
                           .warp = -1,
                           .lane = -1,
                           .text = "no register of the warp holds " +
                                   specification_.values().to_text(input, names) + ", which " +
                                   names[static_cast<std::size_t>(statement.output.number)] + "[" +
                                   std::to_string(address) + "] needs"};
        return;
      }
    }
  }

  std::optional<Mismatch> missing;

 private:
  const Specification& specification_;
};

}  // namespace

void require_same_arrays(const Specification& specification, const Program& program) {
  const auto specified = specification.arrays();
  const auto equal = [](const ArrayDeclaration& a, const ArrayDeclaration& b) {
    return a.name == b.name && a.kind == b.kind && a.size == b.size;
  };
  if (program.arrays().size() >= specified.size() &&
      std::equal(specified.begin(), specified.end(), program.arrays().begin(), equal))
    return;
  fail(ErrorCode::spec, "compare a program with its specification", "arrays of another specification",
       "a program that was made for this one");
}

std::vector<bool> compared_outputs(const Program& program) {
  const std::size_t arrays = program.arrays().size();
  std::vector<bool> stored(arrays, false);
  std::vector<bool> demanded(arrays, false);
  mark_stores(program.statements(), stored, demanded);
  std::vector<bool> compared(arrays, false);
  for (std::size_t i = 0; i < arrays; ++i)
    compared[i] = program.arrays()[i].kind == ArrayKind::output && (stored[i] || !demanded[i]);
  return compared;
}

std::optional<Mismatch> first_mismatch(const Specification& specification, const Program& program,
                                       const Valuation& valuation) {
  require_same_arrays(specification, program);
  require_runnable(program, valuation);
  RunNotes notes;
  return first_mismatch_in(specification, program, valuation, specification.values(), notes);
}

std::optional<Mismatch> first_mismatch_in(const Specification& specification, const Program& program,
                                          const Valuation& valuation, ValueTable& values, RunNotes& notes) {
  PresentCheck present(specification);
  notes.present = std::ref(present);
  std::vector<std::vector<ValueId>> arrays;
  try {
    arrays = run_symbolic_with(program, valuation, values, {}, notes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::spec) throw;
    Mismatch mismatch;
    mismatch.text = error.what();
    return mismatch;
  }
  if (present.missing) return present.missing;
  const auto names = names_of(specification);
  const std::vector<bool> compared = compared_outputs(program);
  for (std::size_t number = 0; number < names.size(); ++number) {
    const auto& declared = specification.arrays()[number];
    if (!compared[number]) continue;
    const Array array{.number = static_cast<int>(number)};
    for (std::int64_t i = 0; i < declared.size; ++i) {
      const ValueId wanted = specification.wanted(array, i);
      const ValueId got = arrays[number][static_cast<std::size_t>(i)];
      if (wanted == kUndefined || wanted == got) continue;
      const auto& order = notes.last_stores[number][static_cast<std::size_t>(i)];
      const bool is_stored = order.block >= 0;
      return Mismatch{.array = array,
                      .index = i,
                      .got = got,
                      .wanted = wanted,
                      .block = order.block,
                      .warp = is_stored ? order.warp : -1,
                      .lane = is_stored ? order.lane : -1,
                      .text = declared.name + "[" + std::to_string(i) + "]: got " +
                              values.to_text(got, names) + ", wanted " + values.to_text(wanted, names)};
    }
  }
  return std::nullopt;
}

}  // namespace faro::swizzle
