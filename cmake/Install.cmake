# `cmake --install`, and the Debian packages that CPack makes of it: the
# program in inferdiff, the library with its one header in libinferdiff-dev.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Made by the program of what --help says. -n: no time of day in the .gz.
find_program(GZIP gzip REQUIRED)
set(manual ${CMAKE_BINARY_DIR}/manual/inferdiff.1.gz)
set(completion ${CMAKE_BINARY_DIR}/manual/inferdiff.bash)
add_custom_command(
  OUTPUT ${manual} ${completion}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/manual
  COMMAND inferdiff man | ${GZIP} -9n > ${manual}
  COMMAND inferdiff completion > ${completion}
  DEPENDS inferdiff VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual} ${completion})

install(TARGETS inferdiff RUNTIME COMPONENT inferdiff)
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        COMPONENT inferdiff)
install(FILES ${completion} RENAME inferdiff
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        COMPONENT inferdiff)
# The README's links into docs/ hold.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT inferdiff)
install(FILES README.md NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT inferdiff)
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT inferdiff)

install(TARGETS inferdiff_lib ARCHIVE COMPONENT dev)
install(FILES src/embed/inferdiff.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT dev)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/inferdiff)
configure_package_config_file(
  cmake/inferdiff-config.cmake.in ${CMAKE_BINARY_DIR}/inferdiff-config.cmake
  INSTALL_DESTINATION ${config_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/inferdiff-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/inferdiff-config.cmake
              ${CMAKE_BINARY_DIR}/inferdiff-config-version.cmake
        DESTINATION ${config_dir} COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME inferdiff)
set(CPACK_PACKAGE_VENDOR inferdiff)
set(CPACK_PACKAGE_CONTACT "inferdiff maintainers <inferdiff@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "compare LLM inference on two platforms from GPU traces")
set(CPACK_COMPONENTS_ALL inferdiff dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_INFERDIFF_PACKAGE_NAME inferdiff)
set(CPACK_DEBIAN_INFERDIFF_PACKAGE_SECTION science)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libinferdiff-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# What linking the static library needs.
string(CONCAT CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libfmt-dev, libisal-dev, libre2-dev, libsimdjson-dev, libsqlite3-dev, "
  "libtomlplusplus-dev, libzstd-dev, pkg-config")
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "the library behind inferdiff, static, with its one header")
include(CPack)
