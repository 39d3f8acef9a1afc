/// What V1's bodies had at some time, beyond what they always have.
package struct V1Era: Hashable, Sendable {
  /// `latest_receipt_info` and its companions beside `unified_receipt`, until March 2021.
  package var hasDeprecatedFields: Bool
  /// `unified_receipt`, since September 2019.
  package var hasUnifiedReceipt: Bool
  /// `bid` and `bvrs`, since 2020.
  package var hasBundle: Bool
  /// `in_app_ownership_type` in rows, and attribute 1722 in receipts, since the end of 2020.
  package var hasOwnership: Bool
  /// `subscription_group_identifier` in rows, since about the end of 2019.
  package var hasSubscriptionGroup: Bool
  /// Rows of `latest_receipt_info` ascend by their transaction id, until 2020; since then the latest end is first.
  package var ascendsByTransactionID: Bool
  /// `original_transaction_id` beside the type, since 2021.
  package var hasOriginalTransactionID: Bool
  /// The notice that all this ends, since 2023.
  package var hasDeprecation: Bool
  /// CANCEL for an upgrade too, until 2021.
  package var cancelsUpgrades: Bool
  /// A recovered renewal is RENEWAL in place of DID_RECOVER, until March 2021.
  package var saysRenewal: Bool
  /// The Sandbox sends every type; Apple's sends seven of them.
  package var sandboxSendsEverything = false

  /// As bodies are since 2023.
  package static let current = Self(
    hasDeprecatedFields: false, hasUnifiedReceipt: true, hasBundle: true, hasOwnership: true,
    hasSubscriptionGroup: true, ascendsByTransactionID: false, hasOriginalTransactionID: true, hasDeprecation: true,
    cancelsUpgrades: false, saysRenewal: false)
  /// As they were in 2020.
  package static let of2020 = Self(
    hasDeprecatedFields: true, hasUnifiedReceipt: true, hasBundle: true, hasOwnership: false,
    hasSubscriptionGroup: true, ascendsByTransactionID: true, hasOriginalTransactionID: false, hasDeprecation: false,
    cancelsUpgrades: true, saysRenewal: true)
  /// As they were until autumn 2019.
  package static let of2018 = Self(
    hasDeprecatedFields: true, hasUnifiedReceipt: false, hasBundle: false, hasOwnership: false,
    hasSubscriptionGroup: false, ascendsByTransactionID: true, hasOriginalTransactionID: false, hasDeprecation: false,
    cancelsUpgrades: true, saysRenewal: true)
}
