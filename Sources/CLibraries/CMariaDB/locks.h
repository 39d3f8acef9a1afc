#pragma once
// Locks of open file descriptions: fcntl(2) is variadic, which Swift cannot call.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

// Linux, include/uapi/asm-generic/fcntl.h; the C library names them for _GNU_SOURCE alone.
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#endif

// Takes, changes or releases (F_RDLCK, F_WRLCK, F_UNLCK) a lock on the whole file.
// Returns 0 or an errno: EAGAIN when somebody else's lock is in the way and `waits` is 0.
static inline int file_lock_set(int descriptor, int kind, int waits) {
  struct flock lock;
  __builtin_memset(&lock, 0, sizeof lock);
  lock.l_type = (short)kind;
  lock.l_whence = SEEK_SET;
  int status;
  do status = fcntl(descriptor, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
  while (status != 0 && errno == EINTR);
  return status == 0 ? 0 : errno;
}

// Returns the kind of somebody else's lock that would be in the way of an exclusive one; F_UNLCK when there is none,
// -1 when the kernel does not say.
static inline int file_lock_of_others(int descriptor) {
  struct flock lock;
  __builtin_memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 ? lock.l_type : -1;
}
