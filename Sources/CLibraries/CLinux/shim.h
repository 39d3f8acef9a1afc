#pragma once
/* What Swift's module of the C library leaves out. */
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Declared by <string.h> for those alone who ask for GNU's extensions before the first header. */
void *memmem(const void *text, size_t textLength, const void *sought, size_t soughtLength);

/*
 * Makes the calling thread nice, and has it give way after so many nanoseconds (100,000 at least) to one that wakes up.
 *
 * sched_setattr(2), which glibc has no name for before 2.41. 0, or -1 with errno. Linux before 6.12 heeds the niceness alone.
 */
static inline int switchyard_give_way(int32_t niceness, uint64_t nanoseconds) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {.size = 48, .nice = niceness, .runtime = nanoseconds};
  return (int)syscall(SYS_sched_setattr, 0, &attributes, 0u);
}
