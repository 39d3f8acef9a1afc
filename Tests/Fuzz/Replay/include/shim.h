#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer's own entry point; clang ships no header for it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
