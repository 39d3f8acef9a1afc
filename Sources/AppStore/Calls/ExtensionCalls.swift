public import Wire

extension APIRequest<ExtendRenewalDateResponse> {
  /// Extend a Subscription Renewal Date, at most twice a year: the customer pays later.
  public static func extend(_ request: ExtendRenewalDateRequest, of originalTransactionID: String) -> Self {
    Self(
      .extendSubscriptionRenewalDate, path: ["originalTransactionId": originalTransactionID],
      body: .json(request.json), read: { ExtendRenewalDateResponse($0) })
  }
}

extension APIRequest<MassExtendRenewalDateResponse> {
  /// Extend Subscription Renewal Dates for All Active Subscribers of a product.
  public static func extendAll(_ request: MassExtendRenewalDateRequest) -> Self {
    Self(
      .extendRenewalDatesForAllActiveSubscribers, body: .json(request.json), read: { MassExtendRenewalDateResponse($0) }
    )
  }
}

extension APIRequest<MassExtendRenewalDateStatusResponse> {
  /// Get Status of Subscription Renewal Date Extensions.
  public static func extensionStatus(of productID: String, requestIdentifier: String) -> Self {
    Self(
      .getStatusOfSubscriptionRenewalDateExtensions,
      path: ["productId": productID, "requestIdentifier": requestIdentifier],
      read: { MassExtendRenewalDateStatusResponse($0) })
  }
}
