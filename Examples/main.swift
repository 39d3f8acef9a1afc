import AppStore
import JSON
import Receipts
import Signing
import Time

/// Runs each example of the libraries' documentation; ends with a message at the first whose result is not as documented.
func expect(_ isAsDocumented: Bool, _ example: String) throws {
  guard isAsDocumented else { throw OtherThanDocumented(example: example) }
  print("ok \(example)")
}

/// An example does not give what its page says.
struct OtherThanDocumented: Error { let example: String }

let document = try readNotification()
try expect(document["purchases"]?.array?.first?.object?["productId"] == "plus.monthly", "readNotification")
try expect(lookUpEvent().typesV1 == ["DID_RECOVER"], "lookUpEvent")
try expect(foldStatements()?.revocationDate == nil && foldStatements()?.productID == "plus.monthly", "foldStatements")
if case .failure(let refusal) = readReceipt("no receipt!") {
  try expect(refusal.code == .notBase64, "readReceipt")
} else {
  try expect(false, "readReceipt")
}
let decoded = try decodeRow()
try expect(decoded.productID == "plus.monthly" && decoded.news == ["brand_new_field"], "decodeRow")
let forged = Result { () throws(VerificationError) in
  try verifyTransaction("eyJhbGciOiJFUzI1NiJ9.e30.c2ln", now: Timestamp(1_767_600_000_000))
}
try expect((try? forged.get()) == nil, "verifyTransaction")
let nobody = AppStoreHosts(simulator: "http://127.0.0.1:1")
let asked = await askVerifyReceipt("MIIT", secret: "0123456789abcdef0123456789abcdef", at: nobody)
try expect(asked == ["unreachable: check network, proxy and host"], "askVerifyReceipt")
