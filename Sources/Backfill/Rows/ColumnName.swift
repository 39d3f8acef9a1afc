/// What a column or a key is about, by the names that tables give it.
enum ColumnName {
  case app, userID, receipt, reason

  /// Nil for a name of something else; case, `_`, `-` and spaces make no difference.
  init?(_ name: some Sequence<UInt8>) {
    let letters = name.filter { ![0x20, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains($0) }
    switch String(decoding: letters, as: UTF8.self).lowercased() {
    case "app", "appid", "application", "applicationid", "bundle", "bundleid", "bid": self = .app
    case "user", "userid", "uid", "username", "customer", "customerid", "account", "accountid", "owner", "ownerid":
      self = .userID
    case "receipt", "receiptdata", "latestreceipt", "appreceipt", "appstorereceipt", "transactionreceipt",
      "base64receipt", "receiptbase64", "encodedreceipt":
      self = .receipt
    case "reason": self = .reason
    default: return nil
    }
  }
}
