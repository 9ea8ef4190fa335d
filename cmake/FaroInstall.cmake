# cmake --install: the libraries, their headers, and a package for find_package(faro CONFIG).
include(CMakePackageConfigHelpers)

set(faro_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/faro)
install(TARGETS faro_library EXPORT faroTargets FILE_SET HEADERS)
if(TARGET faro_swizzle)
  install(TARGETS faro_swizzle EXPORT faroTargets FILE_SET HEADERS)
endif()
install(EXPORT faroTargets NAMESPACE faro:: DESTINATION ${faro_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/faroConfig.cmake.in ${PROJECT_BINARY_DIR}/faroConfig.cmake
  INSTALL_DESTINATION ${faro_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/faroConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/faroConfig.cmake ${PROJECT_BINARY_DIR}/faroConfigVersion.cmake
  DESTINATION ${faro_package_dir})
