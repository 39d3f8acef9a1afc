/// The documented values of the old generation's enumerations; others are kept and counted.
///
/// Apple: appstoreservernotifications/notification_type, with what was retired in 2021.
extension DocumentedValues {
  static let notificationTypeV1: Set<String> = [
    "INITIAL_BUY", "INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "CANCEL",
    "DID_FAIL_TO_RENEW", "DID_RECOVER", "DID_RENEW", "RENEWAL", "PRICE_INCREASE_CONSENT", "REFUND", "REVOKE",
    "CONSUMPTION_REQUEST",
  ]
  static let environmentV1: Set<String> = ["PROD", "Production", "Sandbox"]
}
