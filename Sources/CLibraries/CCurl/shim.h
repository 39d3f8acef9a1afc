#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo are variadic macros; one function per kind of argument. */

static inline CURLcode switchyard_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode switchyard_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode switchyard_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode switchyard_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

/* Copied by curl. */
static inline CURLcode switchyard_curl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, option, &blob);
}

typedef size_t (*switchyard_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode switchyard_curl_set_receiver(CURL *easy, CURLoption option, switchyard_curl_receiver receiver) {
  return curl_easy_setopt(easy, option, receiver);
}

static inline int switchyard_curl_new_socket(void *milliseconds, curl_socket_t socket, curlsocktype purpose) {
  unsigned int limit = (unsigned int)(uintptr_t)milliseconds;
  (void)purpose;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
  return CURL_SOCKOPT_OK;
}

/* The kernel gives up a connection whose peer acknowledges nothing for so long; curl knows no option for it. */
static inline void switchyard_curl_limit_silence(CURL *easy, unsigned int milliseconds) {
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, switchyard_curl_new_socket);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, (void *)(uintptr_t)milliseconds);
}

static inline curl_socket_t switchyard_curl_open_socket(void *end, curlsocktype purpose, struct curl_sockaddr *address) {
  int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  (void)purpose;
  if (descriptor < 0) return CURL_SOCKET_BAD;
  if (descriptor < (int)(intptr_t)end) return descriptor;
  close(descriptor);
  return CURL_SOCKET_BAD;
}

/* No connection is opened whose descriptor is `end` or more: it fails as if it could not be made. */
static inline void switchyard_curl_limit_descriptors(CURL *easy, int end) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, switchyard_curl_open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, (void *)(intptr_t)end);
}

static inline CURLMcode switchyard_curl_set_multi(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline long switchyard_curl_long(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

static inline curl_off_t switchyard_curl_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

/* CURLMsg keeps its result in a union. */
static inline CURLcode switchyard_curl_result(const CURLMsg *message) {
  return message->data.result;
}
