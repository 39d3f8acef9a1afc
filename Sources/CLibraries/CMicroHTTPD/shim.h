#pragma once
#include <malloc.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>

/* Each function here exists because Swift cannot say it: a variadic call, or a callback that takes a va_list. */

typedef void (*switchyard_mhd_log)(void *context, const char *message);

struct switchyard_mhd_logger {
  switchyard_mhd_log log;
  void *context;
};

/* Formats the library's message before Swift sees it; `logger` must outlive the daemon. */
static inline void switchyard_mhd_format(void *logger, const char *format, va_list arguments) {
  const struct switchyard_mhd_logger *to = (const struct switchyard_mhd_logger *)logger;
  char message[512];
  vsnprintf(message, sizeof message, format, arguments);
  to->log(to->context, message);
}

/* MHD_start_daemon is variadic; the logger comes first, so that what the other options say is heard. */
static inline struct MHD_Daemon *switchyard_mhd_start(unsigned int flags, MHD_AccessHandlerCallback handler,
                                                      void *context, struct switchyard_mhd_logger *logger,
                                                      struct MHD_OptionItem *options) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_EXTERNAL_LOGGER, &switchyard_mhd_format,
                          logger, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/* MHD_get_connection_info is variadic. The pointer given to the notification as `socket_context`. */
static inline void *switchyard_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

static inline MHD_socket switchyard_mhd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

/* The bytes of the request line and the headers. */
static inline size_t switchyard_mhd_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

/* Swift's Glibc module does not have malloc.h. */
static inline void switchyard_return_free_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
