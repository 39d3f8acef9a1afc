/// The optional members of V1 bodies in a period of time.
package struct V1Era: Hashable, Sendable {
  /// `latest_receipt_info` and its companions next to `unified_receipt`, until March 2021.
  package var hasDeprecatedFields: Bool
  /// `unified_receipt`, since September 2019.
  package var hasUnifiedReceipt: Bool
  /// `bid` and `bvrs`, since 2020.
  package var hasBundle: Bool
  /// `in_app_ownership_type` in rows, and attribute 1722 in receipts, since the end of 2020.
  package var hasOwnership: Bool
  /// `subscription_group_identifier` in rows, since about the end of 2019.
  package var hasSubscriptionGroup: Bool
  /// Whether `latest_receipt_info` ascends by transaction ID, until 2020.
  ///
  /// Since then the latest end is first.
  package var ascendsByTransactionID: Bool
  /// `original_transaction_id` next to the type, since 2021.
  package var hasOriginalTransactionID: Bool
  /// The deprecation notice, since 2023.
  package var hasDeprecation: Bool
  /// Whether an upgrade also sends CANCEL, until 2021.
  package var cancelsUpgrades: Bool
  /// Whether a recovered renewal is RENEWAL instead of DID_RECOVER, until March 2021.
  package var saysRenewal: Bool
  /// Whether the Sandbox sends every type.
  ///
  /// Apple's sends seven.
  package var sandboxSendsEverything = false

  /// The members since 2023.
  package static let current = Self(
    hasDeprecatedFields: false, hasUnifiedReceipt: true, hasBundle: true, hasOwnership: true,
    hasSubscriptionGroup: true, ascendsByTransactionID: false, hasOriginalTransactionID: true, hasDeprecation: true,
    cancelsUpgrades: false, saysRenewal: false)
  /// The members in 2020.
  package static let of2020 = Self(
    hasDeprecatedFields: true, hasUnifiedReceipt: true, hasBundle: true, hasOwnership: false,
    hasSubscriptionGroup: true, ascendsByTransactionID: true, hasOriginalTransactionID: false, hasDeprecation: false,
    cancelsUpgrades: true, saysRenewal: true)
  /// The members until autumn 2019.
  package static let of2018 = Self(
    hasDeprecatedFields: true, hasUnifiedReceipt: false, hasBundle: false, hasOwnership: false,
    hasSubscriptionGroup: false, ascendsByTransactionID: true, hasOriginalTransactionID: false, hasDeprecation: false,
    cancelsUpgrades: true, saysRenewal: true)
}
