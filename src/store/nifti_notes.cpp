#include "store/nifti_notes.hpp"

#include <algorithm>

namespace faro::store {
namespace {

constexpr std::size_t kSpace = 3;
constexpr std::size_t kAffineNumbers = 16;

// Whether the axes of space are the first three as before, in any order.
bool keeps_space(const AxisChoice& axes) {
  for (std::size_t a = 0; a < std::min(kSpace, axes.from.size()); ++a) {
    if (axes.from[a] >= kSpace) return false;
  }
  return true;
}

}  // namespace

std::vector<double> nifti_numbers(const Json& attributes, const char* name, std::size_t count) {
  const auto found = attributes.find(name);
  if (found == attributes.end() || !found->is_array() || found->size() != count ||
      !std::all_of(found->begin(), found->end(), [](const Json& each) { return each.is_number(); }))
    return {};
  return found->get<std::vector<double>>();
}

void turn_nifti_notes(Json& attributes, const AxisChoice* axes, const Shape& shape,
                      std::vector<std::string>& left_out) {
  const auto forget = [&](const char* name) {
    if (attributes.erase(name) > 0)
      left_out.push_back("attribute `" + std::string(name) + "` for these axes");
  };
  const std::vector<double> affine = nifti_numbers(attributes, "nifti_affine", kAffineNumbers);
  if (axes == nullptr || !keeps_space(*axes)) {
    forget("nifti_affine");
    forget("nifti_xform_code");
  } else if (!affine.empty()) {
    std::vector<double> turned = affine;
    for (std::size_t row = 0; row < kSpace; ++row) {
      for (std::size_t a = 0; a < std::min(kSpace, axes->from.size()); ++a) {
        const std::size_t from = axes->from[a];
        const double step = affine[4 * row + from];
        turned[4 * row + a] = axes->flipped[a] ? -step : step;
        if (axes->flipped[a]) turned[4 * row + kSpace] += step * (static_cast<double>(shape[from]) - 1);
      }
    }
    attributes["nifti_affine"] = turned;
  }
  if (axes == nullptr) return forget("nifti_pixdim");
  const std::vector<double> spacing = nifti_numbers(attributes, "nifti_pixdim", shape.size());
  for (std::size_t a = 0; a < spacing.size(); ++a) attributes["nifti_pixdim"][a] = spacing[axes->from[a]];
}

}  // namespace faro::store
