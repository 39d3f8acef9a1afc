#include "shim.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the place of libFuzzer's driver, which is not everywhere and wants everything built again: tries every file of the
// directories that the arguments name, once and in order. A stop ends the process, after the name of its input.
static int replay(const char *directory, int (*test)(const uint8_t *, size_t)) {
  struct dirent **files;
  int count = scandir(directory, &files, NULL, alphasort), tried = 0;
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, files[i]->d_name);
    free(files[i]);
    FILE *file = path[strlen(path) - 1] == '.' ? NULL : fopen(path, "rb");
    if (!file) continue;
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    test(bytes, size);
    tried++;
  }
  if (count >= 0) free(files);
  return tried;
}

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size)) {
  int tried = 0;
  for (int i = 1; i < *argc; i++) tried += replay((*argv)[i], test);
  printf("%d inputs\n", tried);
  return tried == 0;
}
