# cmake --install: the libraries, their headers, and a package for find_package(faro CONFIG).
include(CMakePackageConfigHelpers)

set(faro_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/faro)
install(TARGETS faro_library EXPORT faroTargets FILE_SET HEADERS)
if(TARGET faro_swizzle)
  install(TARGETS faro_swizzle EXPORT faroTargets FILE_SET HEADERS)
endif()
if(TARGET faro_c)
  install(TARGETS faro_c EXPORT faroTargets)
endif()
install(EXPORT faroTargets NAMESPACE faro:: DESTINATION ${faro_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/faroConfig.cmake.in ${PROJECT_BINARY_DIR}/faroConfig.cmake
  INSTALL_DESTINATION ${faro_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/faroConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/faroConfig.cmake ${PROJECT_BINARY_DIR}/faroConfigVersion.cmake
  DESTINATION ${faro_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# faro.pc, faro_swizzle.pc and faro_c.pc, for those who build without CMake: `g++ -std=c++20 main.cpp $(pkg-config --cflags --libs faro)`. A static
# libfaro must be linked with what it uses; a shared one is linked with it already. Paths are relative to the files, so that an
# installed folder may be moved.
set(faro_pc_uses "-lhwy -lfmt")
if(FARO_HAVE_CUDA)
  string(APPEND faro_pc_uses " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
if(FARO_URING_LIBRARY)
  string(APPEND faro_pc_uses " -luring")
endif()
foreach(library IN LISTS CMAKE_DL_LIBS)
  string(APPEND faro_pc_uses " -l${library}")
endforeach()
string(APPEND faro_pc_uses " ${OpenMP_CXX_FLAGS} -pthread")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE faro_pc_up)

# One file: LIBRARY, what it is, the packages that it requires, what else it uses.
function(faro_install_pc library description requires uses)
  set(uses_always "${uses}")
  set(uses_private "")
  if(BUILD_SHARED_LIBS)
    set(uses_always "")
    set(uses_private "${uses}")
  endif()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/faro.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
faro_install_pc(faro "${PROJECT_DESCRIPTION}" "" "${faro_pc_uses}")
if(TARGET faro_c)
  faro_install_pc(faro_c "${PROJECT_DESCRIPTION}, from C and other languages" "" "")
endif()
if(TARGET faro_swizzle)
  faro_install_pc(faro_swizzle "Sketches of kernels with holes, and the search that fills them" faro "")
endif()
