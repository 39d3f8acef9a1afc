public import Wire

extension APIRequest<HistoryResponse> {
  /// Get Transaction History: every purchase of the customer of `anyTransactionID`, a page of 20.
  ///
  /// `revision` is the one of the page before. `HistoryPages` walks through all of them.
  public static func transactionHistory(
    of anyTransactionID: String, _ filter: HistoryFilter = HistoryFilter(), revision: String? = nil
  ) -> Self {
    Self(
      .getTransactionHistory, path: ["anyTransactionId": anyTransactionID],
      query: filter.query + (revision.map { [("revision", $0)] } ?? []), read: { HistoryResponse($0) })
  }

  /// The deprecated Get Transaction History V1, which leaves finished consumables out.
  public static func transactionHistoryV1(
    of anyTransactionID: String, _ filter: HistoryFilter = HistoryFilter(), revision: String? = nil
  ) -> Self {
    Self(
      .getTransactionHistoryV1, path: ["anyTransactionId": anyTransactionID],
      query: filter.query + (revision.map { [("revision", $0)] } ?? []), read: { HistoryResponse($0) })
  }
}

extension APIRequest<RefundHistoryResponse> {
  /// Get Refund History: the refunded purchases of the customer, a page of 20; `RefundPages` walks through all of them.
  public static func refundHistory(of anyTransactionID: String, revision: String? = nil) -> Self {
    Self(
      .getRefundHistory, path: ["anyTransactionId": anyTransactionID],
      query: revision.map { [("revision", $0)] } ?? [], read: { RefundHistoryResponse($0) })
  }
}

extension APIRequest<TransactionInfoResponse> {
  /// Get Transaction Info: one purchase.
  public static func transactionInfo(_ transactionID: String) -> Self {
    Self(.getTransactionInfo, path: ["transactionId": transactionID], read: { TransactionInfoResponse($0) })
  }
}

extension APIRequest<AppTransactionInfoResponse> {
  /// Get App Transaction Info: the download of the app by the customer of `anyTransactionID`.
  public static func appTransactionInfo(of anyTransactionID: String) -> Self {
    Self(
      .getAppTransactionInfo, path: ["anyTransactionId": anyTransactionID], read: { AppTransactionInfoResponse($0) })
  }
}

extension APIRequest<StatusResponse> {
  /// Get All Subscription Statuses: the latest transaction and renewal of each subscription of the customer.
  ///
  /// `statuses` (1 to 5) leaves out the others; all when empty.
  public static func subscriptionStatuses(of anyTransactionID: String, statuses: [Int64] = []) -> Self {
    Self(
      .getAllSubscriptionStatuses, path: ["anyTransactionId": anyTransactionID],
      query: statuses.map { ("status", String($0)) }, read: { StatusResponse($0) })
  }
}

extension APIRequest<OrderLookupResponse> {
  /// Look Up Order ID: the purchases of an order, by the id on the customer's invoice; Production alone has orders.
  public static func order(_ orderID: String) -> Self {
    Self(.lookUpOrderId, path: ["orderId": orderID], read: { OrderLookupResponse($0) })
  }
}

extension APIRequest<Void> {
  /// Send Consumption Information, asked for by CONSUMPTION_REQUEST, within 12 hours of it.
  public static func consumption(_ request: ConsumptionRequest, of transactionID: String) -> Self {
    Self(.sendConsumptionInformation, path: ["transactionId": transactionID], body: .json(request.json))
  }

  /// The deprecated Send Consumption Information V1, for consumables alone.
  public static func consumptionV1(_ request: ConsumptionRequestV1, of transactionID: String) -> Self {
    Self(.sendConsumptionInformationV1, path: ["transactionId": transactionID], body: .json(request.json))
  }

  /// Set App Account Token of a purchase that was made without one, or with another.
  public static func setAppAccountToken(_ token: String, of originalTransactionID: String) -> Self {
    Self(
      .setAppAccountToken, path: ["originalTransactionId": originalTransactionID],
      body: .json(UpdateAppAccountTokenRequest(appAccountToken: token).json))
  }

  /// Finish Transaction: what the customer bought has been given to them.
  public static func finish(_ transactionID: String) -> Self {
    Self(.finishTransaction, path: ["transactionId": transactionID], body: .none)
  }
}
