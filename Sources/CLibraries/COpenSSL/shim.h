#pragma once
#include <stdint.h>
#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/obj_mac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Macros and variadic functions that Swift cannot call.

static inline STACK_OF(X509) *shim_x509_stack_new(void) { return sk_X509_new_null(); }
static inline int shim_x509_stack_push(STACK_OF(X509) *stack, X509 *certificate) {
  return sk_X509_push(stack, certificate);
}
static inline void shim_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline void shim_x509_stack_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline int shim_x509_stack_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *shim_x509_stack_value(const STACK_OF(X509) *stack, int index) {
  return sk_X509_value(stack, index);
}

static inline EVP_PKEY *shim_generate_ec(const char *curve) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}
static inline EVP_PKEY *shim_generate_rsa(size_t bits) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

static inline long shim_bio_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

static inline int shim_gcm_set_tag(EVP_CIPHER_CTX *context, int count, void *tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, count, tag);
}
static inline int shim_gcm_get_tag(EVP_CIPHER_CTX *context, int count, void *tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, count, tag);
}

static inline const EVP_MD *shim_digest_of_object(const ASN1_OBJECT *object) {
  return EVP_get_digestbyobj(object);
}
// OpenSSL signs OCSP answers with the machine's time; ours is handed in.
static inline int shim_ocsp_set_produced_at(OCSP_BASICRESP *answer, time_t seconds) {
  ASN1_GENERALIZEDTIME *date = (ASN1_GENERALIZEDTIME *)OCSP_resp_get0_produced_at(answer);
  return date != NULL && ASN1_GENERALIZEDTIME_set(date, seconds) != NULL;
}

typedef STACK_OF(OPENSSL_STRING) shim_string_stack;
static inline shim_string_stack *shim_ocsp_urls(X509 *certificate) { return X509_get1_ocsp(certificate); }
static inline int shim_string_stack_count(const shim_string_stack *stack) { return sk_OPENSSL_STRING_num(stack); }
static inline const char *shim_string_stack_value(const shim_string_stack *stack, int index) {
  return sk_OPENSSL_STRING_value(stack, index);
}
static inline void shim_string_stack_free(shim_string_stack *stack) { X509_email_free(stack); }

// Tables of multiples of a point. OpenSSL 3 calls these functions deprecated and has them; where they are not, no table
// can be made. Only on these machines its code for P-256 is quicker with one.
#if OPENSSL_VERSION_MAJOR == 3 && !defined(OPENSSL_NO_DEPRECATED_3_0) && (defined(__x86_64__) || defined(__aarch64__))
static inline int shim_point_table_make(EC_GROUP *group, BN_CTX *context) {
  return EC_GROUP_precompute_mult(group, context);
}
static inline int shim_point_projective(
    const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
  return EC_POINT_get_Jprojective_coordinates_GFp(group, point, x, NULL, z, context);
}
#else
static inline int shim_point_table_make(EC_GROUP *group, BN_CTX *context) { return 0; }
static inline int shim_point_projective(
    const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
  return 0;
}
#endif

// TLS. The functions are macros over SSL_CTX_ctrl, and the options are macros that Swift does not see.
static inline int shim_tls_only_current_versions(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1;
}
// Buffers of idle connections are given back; a write that could not be finished is tried again from wherever its rest
// is by then. A client that ends without saying so is as good as one that does: requests carry their length.
static inline void shim_tls_set_modes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context,
                      SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION);
}
// Counts records that carry no data, and ends the stream of a client that sends more of them on end than any handshake takes.
// OpenSSL answers key updates and requests to renegotiate by itself and goes on reading in the same call, for as long as
// they come: one client would keep a thread for itself, and all connections that it serves.
static inline void shim_tls_count_record(int isWritten, int version, int type, const void *bytes, size_t count,
                                         SSL *session, void *seen) {
  (void)version;
  if (isWritten || count == 0 || (type != SSL3_RT_HEADER && type != SSL3_RT_INNER_CONTENT_TYPE) ||
      *(const unsigned char *)bytes == SSL3_RT_APPLICATION_DATA)
    return;
  const uintptr_t now = (uintptr_t)seen + 1;
  SSL_set_msg_callback_arg(session, (void *)now);
  if (now > 64) SSL_set_shutdown(session, SSL_get_shutdown(session) | SSL_RECEIVED_SHUTDOWN);
}
static inline void shim_tls_count_records(SSL *session) { SSL_set_msg_callback(session, shim_tls_count_record); }
// Begins to count anew, once data has come: a connection that lives for days may change its keys as often as it likes.
static inline void shim_tls_forget_records(SSL *session) { SSL_set_msg_callback_arg(session, NULL); }
static inline int shim_tls_add_to_chain(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}
