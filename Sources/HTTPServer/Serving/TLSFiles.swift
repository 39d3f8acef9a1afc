import Glibc

struct TLSFiles {
  let certificate: [UInt8]
  let key: [UInt8]

  init(_ tls: HTTPServerTLS) throws(HTTPServerError) {
    certificate = try Self.contents(of: tls.certificateFile)
    key = try Self.contents(of: tls.keyFile)
  }

  private static func contents(of path: String) throws(HTTPServerError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, unsafe String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let got = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard got >= 0 else { throw unreadable(path, unsafe String(cString: strerror(errno))) }
      if got == 0 { break }
      bytes += chunk.prefix(got)
      guard bytes.count <= 1 << 20 else { throw unreadable(path, "larger than 1 MiB") }
    }
    return bytes
  }

  private static func unreadable(_ path: String, _ reason: String) -> HTTPServerError {
    HTTPServerError(code: .certificateUnreadable, detail: "\(path): \(reason)")
  }
}
