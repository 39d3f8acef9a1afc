/// How much quarantine keeps of each source.
extension QuarantineSource {
  /// How much it may keep of what was posted from one of Apple's networks, or from elsewhere.
  ///
  /// Whoever fills it from elsewhere leaves as much again to Apple: a V1 notification with a secret that is not registered
  /// yet must not be lost to strangers with many addresses.
  package func quota(fromApple: Bool) -> QuarantineUsage {
    QuarantineUsage(messages: quota.messages * (fromApple ? 2 : 1), bytes: quota.bytes * (fromApple ? 2 : 1))
  }

  /// How much it may keep for everybody.
  package var quota: QuarantineUsage {
    switch self {
    case .authentic: QuarantineUsage(messages: 200_000, bytes: 2 << 30)
    case .fetched: QuarantineUsage(messages: 20_000, bytes: 512 << 20)
    case .legacy: QuarantineUsage(messages: 50_000, bytes: 1 << 30)
    case .unproven: QuarantineUsage(messages: 20_000, bytes: 256 << 20)
    }
  }
}
