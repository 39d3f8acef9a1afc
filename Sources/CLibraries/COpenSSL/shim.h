#pragma once
#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
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
