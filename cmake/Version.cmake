# add_version(<target>): compiles base/version.h's definitions into the target.
# The commit is asked for at every build, so that it is never a stale one; the
# file is rewritten, and compiled, only when the answer is another.
function(add_version target)
  set(output ${CMAKE_BINARY_DIR}/generated/version.cc)
  add_custom_target(${target}_version
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DVERSION=${PROJECT_VERSION}
            -DSOURCE=${PROJECT_SOURCE_DIR}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/version_script.cmake
    BYPRODUCTS ${output}
    COMMENT "Looking up the commit" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  add_dependencies(${target} ${target}_version)
endfunction()
