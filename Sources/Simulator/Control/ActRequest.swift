import JSON

extension ManualAction {
  /// Parses the name of an act and its values, such as `{"act":"refund","transactionId":"…"}`.
  init(_ body: ControlBody) throws(ControlError) {
    let subscription = try body.optionalText("subscription")
    func transaction() throws(ControlError) -> String { try body.text("transactionId") }
    func must(_ key: String) throws(ControlError) -> Bool {
      guard let flag = try body.flag(key) else { throw ControlError(.missingValue, "\(key) is missing") }
      return flag
    }
    switch try body.text("act") {
    case "buy":
      self = .buy(
        product: try body.text("productId"), offer: try body.optionalText("offer"),
        quantity: Int(try body.number("quantity", in: 1...10) ?? 1))
    case "setAutoRenew": self = .setAutoRenew(try must("on"), subscription: subscription)
    case "setPayment": self = .setPayment(works: try must("works"))
    case "announcePrice":
      guard let price = try body.number("price", in: 0...1_000_000_000) else {
        throw ControlError(.missingValue, "price, in thousandths of a dollar, is missing")
      }
      self = .announcePrice(price, needsConsent: try body.flag("needsConsent") ?? true, subscription: subscription)
    case "agreeToPrice": self = .agreeToPrice(subscription: subscription)
    case "requestRefund":
      self = .requestRefund(
        transaction: try transaction(), reason: try body.optionalText("reason") ?? "UNINTENDED_PURCHASE")
    case "refund":
      self = .refund(
        transaction: try transaction(), percentage: try body.number("percentage", in: 1...100_000),
        isForAnIssue: try body.flag("isForAnIssue") ?? false)
    case "declineRefund": self = .declineRefund(transaction: try transaction())
    case "reverseRefund": self = .reverseRefund(transaction: try transaction())
    case "refuseRenewal":
      self = .refuseRenewal(isForSale: try body.flag("isForSale") ?? false, subscription: subscription)
    case "extend":
      guard let days = try body.number("days", in: 1...90) else { throw ControlError(.missingValue, "days is missing") }
      self = .extend(days: Int(days), subscription: subscription)
    case "share": self = .share(try must("on"))
    case "restore": self = .restore
    case "finish": self = .finish(transaction: try transaction())
    case "setAccountToken":
      self = .setAccountToken(try body.text("appAccountToken"), originalTransaction: try transaction())
    case let other: throw ControlError(.invalidValue, "\(other) is not an act: \(Self.names)")
    }
  }

  static let names = """
    buy, setAutoRenew, setPayment, announcePrice, agreeToPrice, requestRefund, refund, declineRefund, reverseRefund, \
    refuseRenewal, extend, share, restore, finish, setAccountToken
    """
}
