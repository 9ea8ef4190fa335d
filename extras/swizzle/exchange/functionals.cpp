#include "exchange/functionals.hpp"

#include <algorithm>

namespace faro::exchange {

Rows kernel_of(const Rows& rows, int dimension) {
  return f2::Matrix::from_columns(dimension, rows).transposed().kernel();
}

Rows where_zero(const Rows& basis, f2::Word g) {
  Rows result;
  const auto odd = std::find_if(basis.begin(), basis.end(), [&](f2::Word v) { return f2::parity(v & g); });
  for (auto v = basis.begin(); v != basis.end(); ++v)
    if (v != odd) result.push_back(f2::parity(*v & g) ? *v ^ *odd : *v);
  return result;
}

bool is_nonzero_on(const Rows& basis, f2::Word g) {
  return std::any_of(basis.begin(), basis.end(), [&](f2::Word v) { return f2::parity(v & g); });
}

Rows joined(std::initializer_list<const Rows*> parts) {
  Rows all;
  for (const Rows* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

}  // namespace faro::exchange
