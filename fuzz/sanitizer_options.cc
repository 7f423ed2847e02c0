// Owns: the options of the address sanitizer in fuzzers, whose runs and mutations consist mostly of allocations.
// Must never: turn a check off. The options keep less freed memory and shorter traces, and fill less of new memory.
//
// ASAN_OPTIONS still overrides them. To inspect a finding, use malloc_context_size=30.
extern "C" const char* __asan_default_options();   // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
  return "quarantine_size_mb=8:malloc_context_size=2:max_malloc_fill_size=256:allocator_release_to_os_interval_ms=-1";
}
