public import Wire

/// Retention Messaging: what is shown to a customer who is about to cancel.
extension Call<Void> {
  /// Upload Image; `imageSize` is FULL_SIZE or BULLET_POINT, Apple's default when nil.
  public static func uploadImage(_ png: [UInt8], as imageIdentifier: String, imageSize: String? = nil) -> Self {
    Self(
      .uploadImage, path: ["imageIdentifier": imageIdentifier],
      query: imageSize.map { [("imageSize", $0)] } ?? [], body: .png(png))
  }

  public static func deleteImage(_ imageIdentifier: String) -> Self {
    Self(.deleteImage, path: ["imageIdentifier": imageIdentifier], body: .none)
  }

  public static func uploadMessage(_ message: UploadMessageRequestBody, as messageIdentifier: String) -> Self {
    Self(.uploadMessage, path: ["messageIdentifier": messageIdentifier], body: .json(message.json))
  }

  public static func deleteMessage(_ messageIdentifier: String) -> Self {
    Self(.deleteMessage, path: ["messageIdentifier": messageIdentifier], body: .none)
  }

  /// Configure Default Message of a product in a language.
  public static func configureDefaultMessage(
    _ messageIdentifier: String, of productID: String, locale: String
  ) -> Self {
    Self(
      .configureDefaultMessage, path: ["productId": productID, "locale": locale],
      body: .json(DefaultConfigurationRequest(messageIdentifier: messageIdentifier).json))
  }

  public static func deleteDefaultMessage(of productID: String, locale: String) -> Self {
    Self(.deleteDefaultMessage, path: ["productId": productID, "locale": locale], body: .none)
  }

  /// Configure Realtime URL: where Apple asks which message to show.
  public static func configureRealtimeURL(_ url: String) -> Self {
    Self(.configureRealtimeURL, body: .json(RealtimeUrlRequest(realtimeURL: url).json))
  }

  public static func deleteRealtimeURL() -> Self { Self(.deleteRealtimeURL, body: .none) }
}

extension Call<GetImageListResponse> {
  public static func imageList() -> Self { Self(.getImageList, read: { GetImageListResponse($0) }) }
}

extension Call<GetMessageListResponse> {
  public static func messageList() -> Self { Self(.getMessageList, read: { GetMessageListResponse($0) }) }
}

extension Call<DefaultConfigurationResponse> {
  public static func defaultMessage(of productID: String, locale: String) -> Self {
    Self(
      .getDefaultMessage, path: ["productId": productID, "locale": locale], read: { DefaultConfigurationResponse($0) })
  }
}

extension Call<RealtimeUrlResponse> {
  public static func realtimeURL() -> Self { Self(.getRealtimeURL, read: { RealtimeUrlResponse($0) }) }
}

extension Call<PerformanceTestResponse> {
  /// Initiate Performance Test of the realtime URL, in the sandbox.
  public static func performanceTest(of originalTransactionID: String) -> Self {
    Self(
      .initiatePerformanceTest,
      body: .json(PerformanceTestRequest(originalTransactionId: originalTransactionID).json),
      read: { PerformanceTestResponse($0) })
  }
}

extension Call<PerformanceTestResultResponse> {
  public static func performanceTestResult(_ requestID: String) -> Self {
    Self(
      .getPerformanceTestResults, path: ["requestId": requestID], read: { PerformanceTestResultResponse($0) })
  }
}
