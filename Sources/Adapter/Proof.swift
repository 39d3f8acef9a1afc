extension MessageDecoder {
  /// What vouches for a message.
  public enum Proof: String, Sendable, CaseIterable {
    /// Apple signed what is in it.
    case signature
    /// A V1 body or an answer is unsigned, but a receipt of this app inside it was proven.
    case receipt
    /// A V1 body with the app's shared secret, which every old copy of the app carries.
    case sharedSecret
    /// An answer that we fetched from Apple ourselves, over TLS.
    case apple
    /// Nobody but whoever sent it.
    case none

    /// Whether everything in one body belongs to one customer.
    ///
    /// Only Apple can say so. A proven receipt joins its own lines and nothing that stands beside it; a back end that
    /// hands in a history may have put two customers' signed transactions into it.
    var joinsCustomers: Bool {
      switch self {
      case .apple: true
      case .signature, .receipt, .sharedSecret, .none: false
      }
    }
  }
}
