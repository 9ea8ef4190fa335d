#include "faro/permutation/affine.hpp"

#include <algorithm>
#include <string>

#include "faro/error.hpp"

namespace faro {
namespace {

using f2::Matrix;
using f2::Word;

std::string list_of_bits(Word x) {
  std::string text;
  for (; x != 0; x &= x - 1) {
    if (!text.empty()) text += ", ";
    text += std::to_string(f2::trailing_bit(x));
  }
  return text;
}
bool permutes_bits(const Matrix& a) {
  return std::all_of(a.column_span().begin(), a.column_span().end(),
                     [](Word column) { return f2::is_power_of_two(column); });
}

}  // namespace

const char* name(AffineClass c) noexcept {
  static constexpr const char* kNames[] = {"identity", "BP", "BPC", "tiled BMMC", "BMMC"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(AffineClass::bmmc) + 1);
  return kNames[static_cast<std::size_t>(c)];
}

Affine::Affine(const Matrix& matrix, Word complement) : matrix_(matrix), complement_(complement) {
  if (!matrix.is_square()) {
    fail(ErrorCode::value, "affine map",
         "a matrix of " + std::to_string(matrix.rows()) + " rows and " + std::to_string(matrix.columns()) +
             " columns",
         "a square one");
  }
  if ((complement & ~f2::low_mask(matrix.rows())) != 0) {
    fail(ErrorCode::value, "affine map",
         "a complement with bit " + std::to_string(f2::leading_bit(complement)) + " set",
         "bits below n = " + std::to_string(matrix.rows()));
  }
  const auto inverse = matrix.inverse();
  if (!inverse) {
    const Word dependent = matrix.kernel().front();
    const bool zero_column = f2::is_power_of_two(dependent);
    fail(ErrorCode::value, "affine map",
         "a singular matrix of rank " + std::to_string(matrix.rank()) +
             " for n = " + std::to_string(matrix.rows()) + ": " +
             (zero_column ? "column " + list_of_bits(dependent) + " is zero"
                          : "columns " + list_of_bits(dependent) + " add up to zero"),
         "linearly independent columns");
  }
  inverse_ = *inverse;
}

Affine Affine::inverse() const { return Affine(inverse_, matrix_, inverse_ * complement_); }

Affine Affine::power(std::int64_t k) const {
  Affine base = k < 0 ? inverse() : *this;
  // Negated in unsigned arithmetic, where the most negative k has a magnitude too.
  auto left = k < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(k) : static_cast<std::uint64_t>(k);
  Affine result(bits());
  for (; left != 0; left >>= 1) {
    if ((left & 1) != 0) result = compose(base, result);
    base = compose(base, base);
  }
  return result;
}

bool Affine::is_identity() const { return complement_ == 0 && matrix_ == Matrix::identity(bits()); }

bool Affine::is_involution() const { return matrix_ == inverse_ && matrix_ * complement_ == complement_; }

AffineClass Affine::classify(int segment_bits) const {
  if (is_identity()) return AffineClass::identity;
  if (permutes_bits(matrix_)) return complement_ == 0 ? AffineClass::bp : AffineClass::bpc;
  // The columns that stay inside a segment are exactly t, with an invertible block on top: since A is
  // invertible, t such columns are independent, and so is their block.
  const int t = std::clamp(segment_bits, 0, bits());
  const auto inside = std::count_if(matrix_.column_span().begin(), matrix_.column_span().end(),
                                    [&](Word column) { return (column & ~f2::low_mask(t)) == 0; });
  return inside == t ? AffineClass::tiled : AffineClass::bmmc;
}

int Affine::rank_gamma(int s) const {
  const int n = bits();
  const int low = std::clamp(s, 0, n);
  return matrix_.block(low, 0, n - low, low).rank();
}

Affine compose(const Affine& f, const Affine& g) {
  if (f.bits() != g.bits()) {
    fail(ErrorCode::value, "compose",
         "maps of " + std::to_string(f.bits()) + " and " + std::to_string(g.bits()) + " bits",
         "maps of one size");
  }
  return Affine(f.matrix_ * g.matrix_, g.inverse_ * f.inverse_, f.matrix_ * g.complement_ ^ f.complement_);
}

Affine direct_sum(const Affine& low, const Affine& high) {
  const int n = low.bits() + high.bits();
  if (n > f2::kMaxDimension) {
    fail(ErrorCode::value, "direct sum", std::to_string(n) + " index bits", "at most 64");
  }
  const Word raised = high.bits() == 0 ? 0 : high.complement_ << low.bits();
  return Affine(direct_sum(low.matrix_, high.matrix_), direct_sum(low.inverse_, high.inverse_),
                low.complement_ ^ raised);
}

}  // namespace faro
