# Thin names for what CMakePresets.json and tools/ do. `make help` lists them.
# Works on a bare Debian 12 as root, and asks nothing.

SHELL := /bin/bash
.DEFAULT_GOAL := help
gpu_benches := gpu-bench-network gpu-bench-index gpu-bench-transpose gpu-bench-aos gpu-bench-arithmetic gpu-bench-axes gpu-bench-bits gpu-bench-groups gpu-bench-family gpu-bench-swizzle gpu-bench-rows gpu-bench-shards
.PHONY: help build demo test check fuzz bench bench-axes bench-files bench-machine bench-python wheel wheel-aarch64 arm-test deb release gpu-test gpu-bench gpu-verify-model $(gpu_benches) docs page-test charts pictures format clean

help:
	@echo "make build    install what is missing, build Release; the command is build/faro"
	@echo "make demo     build, then permute a real .npy file, verify it, and time the same beside a copy"
	@echo "make test     build and run everything that guards a change, 20 minutes of two cores; the last lines are ctest's summary"
	@echo "make check    all of that and the long rest: clang-tidy of every file, all sanitizers, minutes of fuzzing, the benchmarks' build"
	@echo "make fuzz     every fuzzer, MINUTES=10 together; the last lines are a table of executions and branches reached"
	@echo "make bench    build and run the CPU benchmark, 20 minutes; ARGS=--quick: one"
	@echo "make bench-axes  permutations of axes on the CPU beside a copy and the peers that are installed; PEERS=hptt,onednn,fftw,openblas,mkl,numpy,torch or none; ARGS='--suites ttc': ten minutes"
	@echo "make bench-files  files larger than memory beside a plain copy; ARGS='36 16GiB /disk': 64 GiB, the budget, where; minutes"
	@echo "make wheel    build/wheel/, the Python package as a wheel with both engines; minutes"
	@echo "make wheel-aarch64  build-arm64/wheel/, the same for 64-bit ARM, by Debian's cross compiler; tools/test_arm_wheel.sh tests it by qemu"
	@echo "make arm-test  build-arm64/, the CPU engine's tests compiled for 64-bit ARM and run by qemu; the last lines are ctest's summary"
	@echo "make deb      build/deb-packages/, Debian's packages of the command, the libraries and the Python package; KIND=cuda: with the CUDA engine"
	@echo "make release  build/release/, sources, wheels, Debian's packages, what is in them, and sums of all, checked by what package indices use"
	@echo "make bench-python  the Python package beside NumPy on the CPU; ARGS=--quick: a minute; ARGS=--small: small arrays alone"
	@echo "make bench-machine  the memory machines and edge colouring, accesses and edges a second; seconds"
	@echo "make gpu-test   build/gpu-test/, a folder that tests the CUDA engine on a machine with a GPU; run where one is"
	@echo "make gpu-bench  build/gpu-bench/, the same for its benchmark; ARGS=--quick: seconds; ARGS=--ladder: the emitted kernels"
	@echo "make gpu-verify-model  build/gpu-verify/, the same for its predictions beside Nsight Compute's counters"
	@echo "make gpu-bench-network  build/gpu-network/, the same for networks beside CUB and cuFFT; ARGS=--quick: seconds"
	@echo "make gpu-bench-index  build/gpu-index/, the same for index arrays beside gather and scatter; ARGS='--budget 60': faster"
	@echo "make gpu-bench-transpose  build/gpu-transpose/, the same for transpositions of any shape, in place and out of place"
	@echo "make gpu-bench-aos  build/gpu-aos/, the same for arrays of structures"
	@echo "make gpu-bench-arithmetic  build/gpu-arithmetic/, the same for views whose numbers are changed while they are moved"
	@echo "make gpu-bench-groups  build/gpu-groups/, the same for many arrays in one launch, beside loops and a copy"
	@echo "make gpu-bench-family  build/gpu-family/, the same for extents that come with each call"
	@echo "make gpu-bench-axes  build/gpu-axes/, the same for permutations of axes: TTC's shapes, high ranks, primes, channels, skinny, odd, views, small"
	@echo "make gpu-bench-bits  build/gpu-bits/, the same for elements smaller than a byte"
	@echo "make gpu-bench-rows  build/gpu-rows/, the same for rows that are taken, put, added and routed"
	@echo "make gpu-bench-shards  build/gpu-shards/, the same for arrays over several GPUs, meshes and lists of weights too, by stores and by NCCL"
	@echo "make gpu-bench-swizzle  build/gpu-swizzle/, the same for convolutions and products from swizzles that were found"
	@echo "make docs     the site, build/docs/html/index.html; make charts: its charts; make pictures: its drawings of plans"
	@echo "make page-test  the site's planner against the command, and in a headless browser; installs emscripten and Chromium"
	@echo "make format   format the sources in place"
	@echo "make clean    remove the build trees"

# Also where a tree was made for less.
everything = -DFARO_CPU_TARGETS=ALL -DFARO_EXTRAS=ON

build:
	@tools/install_dependencies.sh build
	@cmake --preset release $(everything) -DFARO_CHECKS=OFF --log-level=WARNING >/dev/null
	@cmake --build --preset release --target faro faro_c

# Only what it shows is compiled, for this machine alone, in build/demo; where the command has been built, that one is shown.
for_demo = -DFARO_DEMO=ON -DFARO_CPU_TARGETS=NATIVE -DFARO_EXTRAS=OFF -DFARO_MPI=OFF
demo: demo_tree = $(if $(wildcard build/faro),build,build/demo)
demo:
	@tools/install_dependencies.sh build
	@cmake --preset release -B $(demo_tree) $(if $(filter build/demo,$(demo_tree)),$(for_demo)) --log-level=WARNING >/dev/null
	@cmake --build $(demo_tree) --target faro
	@tools/demo.sh $(demo_tree)/faro

# Kernels are compiled for one architecture where tests only compile them: for that of the GPUs that faro is measured on.
cuda_of_tests = $$(tools/find_nvcc.sh >/dev/null && echo -DFARO_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real)

# More tests at once than processors, since some wait for a disk, a terminal or the network; so threads that wait for their team sleep,
# lest they take the processor that it needs.
run_tests = OMP_WAIT_POLICY=passive ctest --preset release -j $$(($$(nproc) + 2))

test:
	@tools/install_dependencies.sh test
	cmake --preset release $(everything) -DFARO_BUILD_TESTS=ON -DFARO_CHECKS=quick $(cuda_of_tests)
	cmake --build --preset release
	@$(run_tests)

check:
	@tools/install_dependencies.sh test
	cmake --preset release $(everything) -DFARO_BUILD_TESTS=ON -DFARO_BUILD_BENCH=ON -DFARO_CHECKS=all $(cuda_of_tests)
	cmake --build --preset release
	@rm -f build/python-*.txt; $(run_tests); status=$$?; cat build/python-*.txt; exit $$status

fuzz:
	@tools/install_dependencies.sh test
	@tools/fuzz.sh $(or $(MINUTES),10)

bench:
	@tools/install_dependencies.sh build
	@cmake --preset release $(everything) -DFARO_BUILD_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset release --target cpu_bench
	@build/bench/cpu_bench $(ARGS)

bench-axes:
	@tools/install_dependencies.sh build
	@cmake --preset release $(everything) -DFARO_BUILD_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset release --target axes_bench
	@build/bench/axes_bench $(if $(PEERS),--peers $(PEERS)) $(ARGS)

bench-files:
	@tools/install_dependencies.sh build
	@cmake --preset release -DFARO_BUILD_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset release --target faro file_requests_bench
	@bench/files.sh build/faro $(ARGS)

# For every processor, and every GPU that faro knows: code for each generation, and PTX for those to come; on a machine that cannot fetch a
# CUDA compiler for the CPU alone. FARO_WHEEL_GPUS=90-real compiles a seventh of that, none leaves the CUDA engine out, of the wheel for ARM
# FARO_ARM_WHEEL_GPUS=none.
export FARO_WHEEL_GPUS ?= 80-real;86-real;89-real;90-real;100-real;120-real;90-virtual
FARO_ARM_WHEEL_GPUS ?= $(FARO_WHEEL_GPUS)
cuda_of_wheel = $(if $(filter none,$(1)),-DFARO_CUDA=OFF,$$(tools/find_nvcc.sh >/dev/null && echo '-DFARO_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=$(1)'))

wheel:
	@tools/install_dependencies.sh wheel
	@cmake --preset release $(everything) -DFARO_CHECKS=OFF $(call cuda_of_wheel,$(FARO_WHEEL_GPUS)) --log-level=WARNING >/dev/null
	@cmake --build --preset release --target faro_libraries
	@tools/make_wheel.sh build build/wheel

# The libraries of Debian and of CUDA for ARM are fetched to build-arm64.
wheel-aarch64:
	@tools/install_dependencies.sh wheel
	@tools/arm_sysroot.sh $(if $(filter none,$(FARO_ARM_WHEEL_GPUS)),,$$(tools/find_nvcc.sh >/dev/null && echo cuda))
	@cmake --preset arm64 $(everything) -DFARO_BUILD_TESTS=OFF -DFARO_CHECKS=OFF $(call cuda_of_wheel,$(FARO_ARM_WHEEL_GPUS)) --log-level=WARNING >/dev/null
	@cmake --build --preset arm64 --target faro_libraries
	@tools/make_wheel.sh build-arm64 build-arm64/wheel

# The engines' unit tests, as `make check` runs them.
arm-test:
	@tools/install_dependencies.sh arm
	@tools/run_preset.sh arm64 all

# Debian's packages, in build/deb-packages: KIND=source, binary (the default) or cuda, for the GPUs of FARO_WHEEL_GPUS.
deb:
	@tools/install_dependencies.sh deb
	@$(if $(filter cuda,$(KIND)),tools/install_dependencies.sh wheel)
	@tools/make_deb.sh build build/deb-packages $(KIND)

# All that is given away, in build/release; tests are `make test`'s.
release: wheel wheel-aarch64
	@tools/install_dependencies.sh deb
	@tools/make_release.sh build build-arm64

# With the kernels that the tree has.
bench-python:
	@tools/install_dependencies.sh python
	@cmake --preset release $(everything) -DFARO_CHECKS=OFF --log-level=WARNING >/dev/null
	@cmake --build --preset release --target faro_libraries
	@tools/make_wheel.sh build build/wheel
	@tools/bench_python.sh build $(ARGS)

bench-machine:
	@tools/install_dependencies.sh build
	@cmake --preset release $(everything) -DFARO_BUILD_BENCH=ON --log-level=WARNING >/dev/null
	@cmake --build --preset release --target machine_bench schedule_bench
	@build/bench/machine_bench
	@build/bench/schedule_bench

# $(call gpu_folder,TARGET,NAME): builds the program and makes build/gpu-NAME/, which runs it on a machine with a GPU.
define gpu_folder
@tools/install_dependencies.sh gpu
@cmake --preset release $(everything) -DFARO_BUILD_$(if $(filter test,$(2)),TESTS,BENCH)=ON -DFARO_CHECKS=OFF -DFARO_CUDA=ON --log-level=WARNING >/dev/null
@cmake --build --preset release --target $(1)
@ARGS="$(ARGS)" tools/gpu_folder.sh $(2) build
endef

gpu-test:
	$(call gpu_folder,gpu_test,test)

gpu-bench:
	$(call gpu_folder,gpu_bench,bench)

gpu-verify-model:
	$(call gpu_folder,gpu_verify_model,verify)

$(gpu_benches): gpu-bench-%:
	$(call gpu_folder,gpu_$*_bench,$*)

# Its planner and the page in a browser, which `make test` skips where emscripten and Chromium are not installed.
page-test: build
	@tools/install_dependencies.sh page
	@tests/page/parity.sh build/faro
	@tools/docs.sh site
	@python3 -B tests/page/page_test.py build/docs/html build/docs/screenshots

docs charts:
	@tools/install_dependencies.sh docs
	@tools/docs.sh $(if $(filter docs,$@),site,charts)

pictures: build
	@tools/draw_pictures.sh build/faro

format:
	@tools/install_dependencies.sh test
	@tools/format.sh

clean:
	rm -rf build build-asan build-tsan build-arm64 build-page
