// The kernels of packed elements (kernels/packed_launch.hpp).
#include "engines/cuda/kernels/value_kernel.cuh"
#include "kernels/packed_affine.hpp"
#include "kernels/packed_box.hpp"
#include "kernels/packed_in_place.hpp"
#include "kernels/packed_matrix.hpp"
#include "kernels/packed_runs.hpp"
#include "kernels/packed_strided.hpp"
#include "kernels/packed_words.hpp"

namespace faro::cuda {

template const void* value_kernel<kernels::MovePackedTiles<0>>();
template const void* value_kernel<kernels::MovePackedTiles<1>>();
template const void* value_kernel<kernels::MovePackedTiles<2>>();
template const void* value_kernel<kernels::MovePackedTiles<3>>();
template const void* value_kernel<kernels::MovePackedTiles<4>>();
template const void* value_kernel<kernels::MovePackedTiles<5>>();
template const void* value_kernel<kernels::MovePackedTiles<0, kernels::SquareSteps::transpose>>();
template const void* value_kernel<kernels::MovePackedTiles<0, kernels::SquareSteps::all>>();
template const void* value_kernel<kernels::MovePackedTiles<1, kernels::SquareSteps::transpose>>();
template const void* value_kernel<kernels::MovePackedTiles<1, kernels::SquareSteps::all>>();
template const void* value_kernel<kernels::MovePackedTiles<2, kernels::SquareSteps::transpose>>();
template const void* value_kernel<kernels::MovePackedTiles<2, kernels::SquareSteps::all>>();
template const void* value_kernel<kernels::MovePackedTiles<3, kernels::SquareSteps::transpose>>();
template const void* value_kernel<kernels::MovePackedTiles<3, kernels::SquareSteps::all>>();
template const void* value_kernel<kernels::MovePackedTiles<4, kernels::SquareSteps::transpose>>();
template const void* value_kernel<kernels::MovePackedTiles<4, kernels::SquareSteps::all>>();
template const void* value_kernel<kernels::MovePackedTiles<5, kernels::SquareSteps::transpose>>();
template const void* value_kernel<kernels::MovePackedTiles<5, kernels::SquareSteps::all>>();
template const void* value_kernel<kernels::MovePackedTiles<6>>();
template const void* value_kernel<kernels::MovePackedTiles<7>>();
template const void* value_kernel<kernels::MovePackedTiles<8>>();
template const void* value_kernel<kernels::MovePackedTiles<9>>();
template const void* value_kernel<kernels::MovePackedTiles<10>>();
template const void* value_kernel<kernels::MovePackedTiles<11>>();
template const void* value_kernel<kernels::MovePackedStrided<0>>();
template const void* value_kernel<kernels::MovePackedStrided<1>>();
template const void* value_kernel<kernels::MovePackedStrided<2>>();
template const void* value_kernel<kernels::MovePackedStrided<3>>();
template const void* value_kernel<kernels::MovePackedStrided<4>>();
template const void* value_kernel<kernels::MovePackedStrided<5>>();
template const void* value_kernel<kernels::MovePackedStrided<6>>();
template const void* value_kernel<kernels::MovePackedStrided<7>>();
template const void* value_kernel<kernels::MovePackedStrided<8>>();
template const void* value_kernel<kernels::MovePackedStrided<9>>();
template const void* value_kernel<kernels::MovePackedStrided<10>>();
template const void* value_kernel<kernels::MovePackedStrided<11>>();
template const void* value_kernel<kernels::MovePackedMatrix<3>>();
template const void* value_kernel<kernels::MovePackedMatrix<4>>();
template const void* value_kernel<kernels::MovePackedMatrix<5>>();
template const void* value_kernel<kernels::MovePackedBox<3>>();
template const void* value_kernel<kernels::MovePackedBox<4>>();
template const void* value_kernel<kernels::MovePackedBox<5>>();
template const void* value_kernel<kernels::MovePackedRuns<false>>();
template const void* value_kernel<kernels::MovePackedRuns<true>>();
template const void* value_kernel<kernels::MovePackedWords<kernels::PackedAxes>>();
template const void* value_kernel<kernels::MovePackedWords<kernels::PackedPlaces>>();
template const void* value_kernel<kernels::MovePackedWords<kernels::PackedEntries<std::uint32_t>>>();
template const void* value_kernel<kernels::MovePackedWords<kernels::PackedEntries<std::uint64_t>>>();
template const void* value_kernel<kernels::MovePackedInPlace<0>>();
template const void* value_kernel<kernels::MovePackedInPlace<1>>();
template const void* value_kernel<kernels::MovePackedInPlace<2>>();
template const void* value_kernel<kernels::MovePackedInPlace<3>>();
template const void* value_kernel<kernels::MovePackedInPlace<4>>();
template const void* value_kernel<kernels::MovePackedInPlace<5>>();
template const void* value_kernel<kernels::ClearPackedPads>();

}  // namespace faro::cuda
