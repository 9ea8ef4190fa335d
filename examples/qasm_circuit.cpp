// A circuit of X, CNOT and SWAP gates on a state vector. Such gates only move amplitudes, so a circuit of any
// depth is one permutation, and one pass over the vector applies it.
//
//     qasm_circuit [FILE.qasm]       default: ghz.qasm, beside this file
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <faro/faro.hpp>
#include <string>
#include <vector>

namespace {

using Amplitude = std::complex<float>;

std::string circuit_path(int argc, char** argv) {
  if (argc > 1) return argv[1];
  const char* const examples = std::getenv("FARO_EXAMPLES");
  return std::string(examples != nullptr ? examples : "examples") + "/ghz.qasm";
}

int apply_circuit(const std::string& path) {
  // Qubit k is bit k of the index; qubits are numbered in order of declaration.
  const faro::Permutation circuit = faro::parse_permutation("@\"" + path + "\"");
  const auto plan = faro::plan({.permutation = circuit, .element_bytes = sizeof(Amplitude)});

  // (|0> + |1>) / sqrt(2) on qubit 0, |0> on all others.
  std::vector<Amplitude> state(faro::element_count(circuit));
  std::vector<Amplitude> result(state.size());
  const Amplitude half = std::sqrt(0.5F);
  state[0] = half;
  state[1] = half;
  plan.run<Amplitude>(state, result);

  // A permutation leaves two amplitudes of 1 / sqrt(2) and zeros; ghz.qasm says where.
  const auto occupied =
      std::count_if(result.begin(), result.end(), [](Amplitude a) { return a != Amplitude{}; });
  bool correct = occupied == 2 && std::count(result.begin(), result.end(), half) == 2;
  if (path.ends_with("ghz.qasm")) {
    const std::size_t top = result.size() / 2;
    correct = correct && result[top] == half && result[top - 1] == half;
  }
  for (std::size_t x = 0; x < result.size(); ++x) {
    if (result[x] != Amplitude{}) std::printf("|0x%05zx>  %.6f\n", x, static_cast<double>(result[x].real()));
  }
  if (!correct) std::fprintf(stderr, "%s: the amplitudes are not where they belong\n", path.c_str());
  return correct ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return apply_circuit(circuit_path(argc, argv));
  } catch (const std::exception& error) {  // a missing file, or a gate that is no permutation
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
