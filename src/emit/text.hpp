// The parts of an emitted file.
#pragma once

#include <string>
#include <vector>

#include "emit/kernel_plan.hpp"
#include "faro/emit/source.hpp"

namespace faro::emit {

// The function that is fused into a permutation: C++ over v, x and y, as the user wrote it.
//
//     v * 2 + x        uses v and x        a kernel computes no y for it
//     v.x              uses v              the x is a member's name
struct MapExpression {
  std::string text;  // empty: v
  bool uses_value = false;
  bool uses_source = false;  // x
  bool uses_target = false;  // y

  bool empty() const { return text.empty(); }
};

/// Reads EXPR. What it means is left to the compiler.
/// Errors: ErrorCode::value where it is blank, its brackets or quotes do not close, or it is more than an
/// expression: `;`, `#`, comments or a new line.
MapExpression parse_map(const std::string& text);

/// What all parts of one file have in common.
struct TextContext {
  const Affine& map;
  const Options& options;
  const ElementType& element;
  MapExpression function;

  /// Whether elements are not only moved.
  bool changes() const { return options.arithmetic || !function.empty(); }
  bool wide() const { return map.bits() > 32; }
  /// The type of indices, and the ending of their constants.
  std::string index() const { return wide() ? "unsigned long long" : "unsigned"; }
  std::string suffix() const { return wide() ? "ull" : "u"; }
  std::string element_name() const { return options.name + "_element"; }
  std::string vector_name() const { return options.name + "_vector"; }
  /// Of what the last kernel writes, and of vectors of it.
  std::string result_name(bool fused) const {
    return options.arithmetic && fused ? options.name + "_result" : element_name();
  }
  std::string results_name(bool fused) const {
    return options.arithmetic && fused ? options.name + "_results" : vector_name();
  }
  bool adds() const { return options.arithmetic && options.arithmetic->addend; }
  /// Its last parameter, and what is passed for it.
  std::string addend_parameter() const {
    return adds() ? ", const " + options.name + "_addend* " + restrict_word() + "addend" : "";
  }
  std::string restrict_word() const { return options.language == Language::cuda ? "__restrict__ " : ""; }
};

// --- whole sections

/// The head of the file: what it does, the map, the launches, their counts, the command.
std::string comment_text(const TextContext& context, const std::vector<KernelPlan>& plans,
                         const std::vector<Kernel>& kernels);

/// Includes, the element's type and the fused function.
std::string preamble_text(const TextContext& context);

/// What numbers are changed by: the types and their conversions, and the function of one number.
std::string arithmetic_text(const TextContext& context);
/// A number's type there, as elements have one.
ElementType number_type(Number number);

/// The vector type of vector kernels and how it is read and written.
std::string vector_text(const TextContext& context, const std::vector<KernelPlan>& plans);

/// One kernel; `fused`: with the function.
std::string kernel_text(const TextContext& context, const KernelPlan& plan, bool fused);
std::string vector_kernel_text(const TextContext& context, const KernelPlan& plan, bool fused);

std::string launcher_text(const TextContext& context, const std::vector<KernelPlan>& plans);

/// The whole C++ function, without the comment; and its tile, for the comment.
std::string cpp_text(const TextContext& context);
std::string cpp_tile_text(const TextContext& context);

// --- parts of a kernel

std::string head_text(const TextContext& context, const KernelPlan& plan, bool fused);
std::string shared_text(const TextContext& context, const KernelPlan& plan);
std::string numbers_text(const TextContext& context, const KernelPlan& plan);

/// `const type name = ...;`: the part of a form that does not depend on iteration and component.
std::string form_text(const TextContext& context, const std::string& name, const Form& form);

/// The loop over the iterations.
std::string loop_text(const TextContext& context, const KernelPlan& plan, const std::string& body);

/// The fused function of an element that goes from index `origin` to index `target`.
std::string call_text(const TextContext& context, const std::string& element, const std::string& origin,
                      const std::string& target);

/// The bits of a vector's element numbers that change before it goes to shared memory; 0: none do.
f2::Word exchanged_bits(const KernelPlan& plan);

// --- values

/// A variable and what its bits lead to.
struct Term {
  std::string variable;
  std::vector<f2::Word> columns;
};

/// `type name = a ^ b ^ c;` and an `if` for every select, two spaces in.
std::string value_text(const TextContext& context, const std::string& name, f2::Word constant,
                       const std::vector<Term>& sum);

/// `const type name = base ^ ...;`: what a loop's variables add to a value.
std::string later_text(const TextContext& context, const std::string& name, const std::string& base,
                       const std::vector<Term>& sum);

/// Every line two spaces further in, directives apart.
std::string indented(const std::string& lines);

}  // namespace faro::emit
