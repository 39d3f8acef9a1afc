extension QuarantineSource {
  /// Returns the quota for messages from Apple's networks, or from elsewhere.
  ///
  /// Senders elsewhere can use only half of it, so that strangers cannot displace V1 notifications with an unregistered
  /// secret.
  package func quota(fromApple: Bool) -> QuarantineUsage {
    QuarantineUsage(messages: quota.messages * (fromApple ? 2 : 1), bytes: quota.bytes * (fromApple ? 2 : 1))
  }

  /// The quota for all senders.
  package var quota: QuarantineUsage {
    switch self {
    case .authentic: QuarantineUsage(messages: 200_000, bytes: 2 << 30)
    case .fetched: QuarantineUsage(messages: 20_000, bytes: 512 << 20)
    case .legacy: QuarantineUsage(messages: 50_000, bytes: 1 << 30)
    case .unproven: QuarantineUsage(messages: 20_000, bytes: 256 << 20)
    }
  }
}
