# The man page of the command and its shell completions, written from its own --help whenever the command is linked, and installed beside it.
if(TARGET faro AND NOT FARO_SANITIZE)
  set(faro_man_page ${PROJECT_BINARY_DIR}/man/faro.1)
  set(faro_completions ${PROJECT_BINARY_DIR}/completions)
  add_custom_command(TARGET faro POST_BUILD
    COMMAND ${PROJECT_SOURCE_DIR}/tools/make_man.sh $<TARGET_FILE:faro> ${faro_man_page}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/make_completions.sh $<TARGET_FILE:faro> ${faro_completions} VERBATIM)
  set_property(TARGET faro APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/tools/make_man.sh
    ${PROJECT_SOURCE_DIR}/tools/make_completions.sh ${PROJECT_SOURCE_DIR}/tools/list_verbs.sh)
  install(FILES ${faro_man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT faro_command EXCLUDE_FROM_ALL)
  install(FILES ${faro_completions}/faro DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT faro_command EXCLUDE_FROM_ALL)
  install(FILES ${faro_completions}/_faro DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT faro_command EXCLUDE_FROM_ALL)
  install(FILES ${faro_completions}/faro.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT faro_command EXCLUDE_FROM_ALL)
endif()
