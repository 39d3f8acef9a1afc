import CCurl

extension HTTPClientError {
  /// What a transfer's result means; `said` is curl's own sentence, which names hosts and nothing else of the URL.
  init(_ result: CURLcode, said: String) {
    let sentence = unsafe said.isEmpty ? String(cString: curl_easy_strerror(result)) : said
    self.init(Self.code(of: result), sentence)
  }

  private static func code(of result: CURLcode) -> Code {
    switch result {
    case CURLE_URL_MALFORMAT: .unsupportedURL
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .couldNotResolve
    // A connection that is lost in the handshake looks like one whose TLS is not agreed upon; either may pass.
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_SSL_CONNECT_ERROR: .couldNotConnect
    case CURLE_OPERATION_TIMEDOUT: .timedOut
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
      .tlsFailed
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2_STREAM,
      CURLE_SEND_FAIL_REWIND, CURLE_SSL_SHUTDOWN_FAILED:
      .closed
    // Schemes have been checked before curl sees them: what is unsupported is the version of the answer.
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_BAD_CONTENT_ENCODING:
      .malformedResponse
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    default: .other
    }
  }
}
