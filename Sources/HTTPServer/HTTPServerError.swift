package struct HTTPServerError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case invalidAddress, addressInUse, addressNotAvailable, permissionDenied, certificateUnreadable, badCertificate
    case alreadyStarted, system
  }

  package var code: Code
  package var detail: String

  package init(code: Code, detail: String) {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  package var description: String { detail }
}
