import Adapter
package import Ledger

extension IngestDecider.IngestDecision {
  /// Returns the decision for a message that does not come from Apple: what Apple signed about an app that is not
  /// registered counts as unproven.
  ///
  /// Anybody with a developer account can have such messages signed, as many as they like. They must take neither the part
  /// of quarantine that Apple's own have, nor the line in which these are committed. If it was genuine, it becomes proven
  /// when its app is registered and it is replayed.
  package func ofStranger(in directory: AppRegistrySnapshot) -> Self {
    // The app that the message itself names: the entry's may come from the URL.
    guard case .quarantined(var refused) = entry.content, refused.source == .authentic,
      refusal?.claimedApp.flatMap({ directory[$0] }) == nil
    else { return self }
    refused.source = .unproven
    var entry = entry
    entry.content = .quarantined(refused)
    entry.proof = .unproven
    return Self(entry: entry, reading: reading, refusal: refusal)
  }
}
