// The time of a simulated world for whole processes, as they are: LD_PRELOAD puts this before the C library.
//
// The file named by WORLD_TIME_FILE holds 64 bits: by how many milliseconds the world is ahead of the machine. Every
// process has it mapped, so that one write moves the time of all of them at once. Only CLOCK_REALTIME is another: what
// is waited for by the monotonic clock takes as long as ever.
#include "WorldTime.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const volatile int64_t *ahead;

__attribute__((constructor)) static void openWorld(void) {
  const char *path = getenv("WORLD_TIME_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) {
    // A process in another time than it is meant to be in would only mislead.
    fputs("WORLD_TIME_FILE cannot be read\n", stderr);
    _exit(125);
  }
  ahead = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  long status = syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_REALTIME && ahead) {
    int64_t nanoseconds = time->tv_nsec + (*ahead % 1000) * 1000000;
    time->tv_sec += *ahead / 1000 + nanoseconds / 1000000000;
    time->tv_nsec = nanoseconds % 1000000000;
    if (time->tv_nsec < 0) {
      time->tv_nsec += 1000000000;
      time->tv_sec -= 1;
    }
  }
  return (int)status;
}
