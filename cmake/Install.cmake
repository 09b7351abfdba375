# Installation: headers, both libraries, the program, models, manual page, pkg-config file and
# CMake package. Everything can be moved after installation (no absolute paths inside).
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/noslip")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(DIRECTORY include/noslip DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(TARGETS noslip_shared EXPORT noslip)
install(TARGETS noslip_static EXPORT noslip_static)
if(TARGET noslip_program)
  install(TARGETS noslip_program)
endif()
if(models)
  install(DIRECTORY models/ DESTINATION "${CMAKE_INSTALL_DATADIR}/noslip/models"
          FILES_MATCHING PATTERN "*.mech")
endif()
file(GLOB manuals CONFIGURE_DEPENDS "docs/*.1" "docs/man/*.1")
if(manuals)
  install(FILES ${manuals} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()

# What the program prints about itself.
if(TARGET noslip_program AND NOT CMAKE_CROSSCOMPILING)
  set(shell "${CMAKE_BINARY_DIR}/shell")
  add_custom_command(TARGET noslip_program POST_BUILD
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:noslip_program>" "-DOUT=${shell}"
            -P "${CMAKE_SOURCE_DIR}/cmake/Shell.cmake" VERBATIM)
  install(DIRECTORY "${shell}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
  install(DIRECTORY "${shell}/bash/"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(DIRECTORY "${shell}/zsh/" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(DIRECTORY "${shell}/fish/"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

# pkg-config
file(RELATIVE_PATH pc_to_prefix "/${pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_hdf5 "")
set(pc_cvode "")
if(NOSLIP_HDF5)
  set(pc_hdf5 "${NOSLIP_HDF5_MODULE_NAME}")
endif()
if(NOSLIP_CVODE)
  string(CONCAT pc_cvode "-lsundials_cvode -lsundials_sunlinsoldense "
    "-lsundials_sunmatrixdense -lsundials_nvecserial ")
endif()
configure_file(cmake/noslip.pc.in noslip.pc @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/noslip.pc" DESTINATION "${pkgconfig_dir}")

# CMake: find_package(noslip) gives noslip::noslip; COMPONENTS static adds noslip::static.
configure_package_config_file(cmake/noslipConfig.cmake.in noslipConfig.cmake
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(noslipConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/noslipConfig.cmake"
  "${CMAKE_BINARY_DIR}/noslipConfigVersion.cmake"
              cmake/Dependencies.cmake cmake/FindSundialsCvode.cmake
        DESTINATION "${package_dir}")
install(EXPORT noslip NAMESPACE noslip:: FILE noslipTargets.cmake DESTINATION "${package_dir}")
install(EXPORT noslip_static NAMESPACE noslip:: FILE noslipStaticTargets.cmake
        DESTINATION "${package_dir}")
