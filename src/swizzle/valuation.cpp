#include <algorithm>
#include <utility>

#include "faro/swizzle/interpret.hpp"
#include "swizzle/refuse.hpp"

namespace faro::swizzle {
Valuation::Valuation(const Program& program)
    : holes_(program.holes().begin(), program.holes().end()),
      values_(program.ranges().holes),
      parameters_(holes_.size()),
      tables_(holes_.size()) {}

std::size_t Valuation::require(int hole) const {
  const auto number = static_cast<std::size_t>(hole);
  if (hole < 0 || number >= holes_.size())
    detail::refuse_spec("valuation", "hole number " + std::to_string(hole),
                        "one of " + std::to_string(holes_.size()) + " holes");
  return number;
}

void Valuation::set(int hole, const Parameters& parameters) {
  const std::size_t number = require(hole);
  const HoleDeclaration& declared = holes_[number];
  std::vector<std::int64_t> arguments(declared.arguments.size(), 0);
  std::vector<std::int32_t> table;
  table.reserve(static_cast<std::size_t>(cells(declared)));
  for (std::int64_t cell = 0; cell < cells(declared); ++cell) {
    const std::int64_t value = value_of(parameters, arguments);
    if (value < values_[number].least || value > values_[number].most) {
      std::string where;
      for (std::size_t k = 0; k < arguments.size(); ++k)
        where += (k == 0 ? " at " : ", ") + declared.arguments[k].name + " = " + std::to_string(arguments[k]);
      detail::refuse_spec("function of hole `" + declared.name + "`", std::to_string(value) + where,
                          "values in " + std::to_string(values_[number].least) + " .. " +
                              std::to_string(values_[number].most));
    }
    table.push_back(static_cast<std::int32_t>(value));
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (++arguments[k] < declared.arguments[k].asked) break;
      arguments[k] = 0;
    }
  }
  parameters_[number] = parameters;
  tables_[number] = std::move(table);
}

void Valuation::set(const std::string& hole, const Parameters& parameters) {
  std::string names;
  for (std::size_t number = 0; number < holes_.size(); ++number) {
    if (holes_[number].name == hole) return set(static_cast<int>(number), parameters);
    names += (names.empty() ? "" : ", ") + holes_[number].name;
  }
  detail::refuse_spec("valuation", "hole `" + hole + "`",
                      names.empty() ? "nothing: there are no holes" : "one of " + names);
}

std::int64_t Valuation::operator()(int hole, std::span<const std::int64_t> arguments) const {
  const std::size_t number = require(hole);
  const HoleDeclaration& declared = holes_[number];
  const auto& table = tables_[number];
  if (table.empty())
    detail::refuse_spec("hole `" + declared.name + "`", "no function", "a function", "set one");
  std::int64_t place = 0;
  if (arguments.size() != declared.arguments.size())
    place = cell(declared, {arguments.begin(), arguments.end()});
  for (std::size_t k = arguments.size(); k-- > 0;) {
    const std::int64_t asked = declared.arguments[k].asked;
    if (arguments[k] < 0 || arguments[k] >= asked) cell(declared, {arguments.begin(), arguments.end()});
    place = place * asked + arguments[k];
  }
  return table[static_cast<std::size_t>(place)];
}

const Parameters& Valuation::parameters(int hole) const {
  const std::size_t number = require(hole);
  if (!parameters_[number])
    detail::refuse_spec("hole `" + holes_[number].name + "`", "no function", "a function", "set one");
  return *parameters_[number];
}

bool Valuation::complete() const {
  return std::all_of(parameters_.begin(), parameters_.end(), [](const auto& p) { return p.has_value(); });
}

std::span<const std::int32_t> Valuation::table(int hole) const {
  parameters(hole);
  return tables_[static_cast<std::size_t>(hole)];
}

}  // namespace faro::swizzle
