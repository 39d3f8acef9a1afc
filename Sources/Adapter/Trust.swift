extension Adapter {
  /// What vouches for a message.
  package enum Trust: String, Sendable, CaseIterable {
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

    /// Whether what stands in it together may be taken for one customer's: a stranger's word joins nobody.
    var joinsCustomers: Bool {
      switch self {
      case .signature, .receipt, .sharedSecret, .apple: true
      case .none: false
      }
    }
  }
}
