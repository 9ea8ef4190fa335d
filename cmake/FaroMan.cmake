# The man page of the command, written from its own --help whenever the command is linked, and installed beside it.
if(TARGET faro AND NOT FARO_SANITIZE)
  set(faro_man_page ${PROJECT_BINARY_DIR}/man/faro.1)
  add_custom_command(TARGET faro POST_BUILD
    COMMAND ${PROJECT_SOURCE_DIR}/tools/make_man.sh $<TARGET_FILE:faro> ${faro_man_page} VERBATIM)
  set_property(TARGET faro APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/tools/make_man.sh)
  install(FILES ${faro_man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
