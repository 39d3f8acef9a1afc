extension MessageDecoder {
  /// The proof of a message.
  public enum Proof: String, Sendable, CaseIterable {
    /// Apple signed its content.
    case signature
    /// The V1 body or response is unsigned, but a receipt of this app inside it was proven.
    case receipt
    /// A V1 body with the app's shared secret, which every old copy of the app carries.
    case sharedSecret
    /// A response that Switchyard fetched from Apple over TLS.
    case apple
    case none

    /// Whether everything in one body belongs to one customer.
    ///
    /// Only Apple can state that. A proven receipt joins its own lines, but not the data next to it. A back end that
    /// submits a history may combine two customers' signed transactions.
    var joinsCustomers: Bool {
      switch self {
      case .apple: true
      case .signature, .receipt, .sharedSecret, .none: false
      }
    }
  }
}
