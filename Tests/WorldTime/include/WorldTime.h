#ifndef WORLD_TIME_H
#define WORLD_TIME_H

#include <time.h>

/// What the C library's says, but CLOCK_REALTIME with what the file named by WORLD_TIME_FILE adds to it.
int clock_gettime(clockid_t clock, struct timespec *time);

#endif
