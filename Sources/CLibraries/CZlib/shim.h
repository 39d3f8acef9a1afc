#pragma once
#include <zlib.h>

/* inflateInit2 is a macro; 31 is the largest window, gzip's frame alone. */
static inline int switchyard_gzip_init(z_stream *stream) { return inflateInit2(stream, 31); }
