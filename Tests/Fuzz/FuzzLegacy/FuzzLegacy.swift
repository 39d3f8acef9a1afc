import Adapter
import CLibFuzzer
import Glibc
import JSON
import Purchases
import Signing
import Time

/// Bodies of the old generation, of any bytes: nothing stops the process, and the same bytes are read the same way.
///
/// The first byte chooses what the rest is: a notification, an answer of verifyReceipt, or evidence of any kind.
private struct Subject {
  static let now = Milliseconds(1_767_225_600_000)
  let adapter = Adapter(verifier: SignedDataVerifier(roots: .apple))

  func check(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let body = Array(input.dropFirst())
    let first = read(body, choice)
    if read(body, choice) != first { preconditionFailure("read in two ways") }
    _ = MessageIdentity(ofNotification: body).bytes
  }

  private func read(_ body: [UInt8], _ choice: UInt8) -> Findings? {
    let message = Digest.sha256(body)
    let origin = LegacyOrigin(app: nil, environment: nil, trust: .none, receivedAt: Self.now)
    do {
      switch choice % 3 {
      case 0: return try adapter.notification(body, message: message, origin: origin, now: Self.now).findings
      case 1:
        return try adapter.answer(body, app: nil, environment: .sandbox, message: message, now: Self.now).findings
      default:
        return try adapter.evidence(
          body, app: "com.example.fuzz", environment: nil, message: message, now: Self.now
        ).findings
      }
    } catch {
      if error.detail.isEmpty { preconditionFailure("refused without a reason") }
      return nil
    }
  }
}

private let subject = Subject()

@c(LLVMFuzzerTestOneInput)
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  subject.check(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

@main struct FuzzLegacy {
  /// `seeds <directory>` writes what to begin with; anything else is libFuzzer's.
  static func main() throws {
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "seeds" {
      return try LegacySeeds.write(to: CommandLine.arguments[2])
    }
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
    exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe test($0, $1) })
  }
}
