#pragma once
/* What Swift's module of the C library leaves out. */
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* Declared by <string.h> for those alone who ask for GNU's extensions before the first header. */
void *memmem(const void *text, size_t textLength, const void *sought, size_t soughtLength);
