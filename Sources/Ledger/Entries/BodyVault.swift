import Compression
import Database
package import Signing
import Time

/// Seals the bodies of messages before they are stored, and opens them: a body may hold a shared secret.
///
/// A stored body is a byte for the form and a zstd frame. It is sealed under a key of the month of receipt. It is bound
/// to the message's digest, so that one row cannot replace another.
package struct BodyVault: Sendable {
  private let keys: Keyring

  package init(_ keys: Keyring) { self.keys = keys }

  package struct Stored: Sendable {
    package let bytes: [UInt8]
    /// The JWS headers, which the table `headers` stores once for all bodies.
    let headers: [Digest: [UInt8]]
  }

  fileprivate enum Form: UInt8 {
    case plain = 0
    /// A `CompactBody`, whose headers are in `headers`.
    case compact = 1
  }

  /// - Parameter sharesHeaders: true only for a proven message.
  ///
  /// Headers are not sealed, and a stranger can create any number of them.
  package func seal(_ message: InboxMessage, sharesHeaders: Bool) -> Stored {
    let compact = sharesHeaders ? CompactBody(message.body) : nil
    let headers = compact?.headers ?? [:]
    let (form, body) = headers.isEmpty ? (Form.plain, message.body) : (.compact, compact?.bytes ?? [])
    let sealed = keys.seal(
      [form.rawValue] + ZstdFrame.compress(body), context: Self.context(message.digest),
      month: Month(message.receivedAt).number)
    return Stored(bytes: sealed.bytes, headers: headers)
  }

  /// An opened body that may still lack its headers.
  struct Opened {
    fileprivate let form: Form
    fileprivate let bytes: [UInt8]
    let headers: Set<Digest>

    func body(with headers: [Digest: [UInt8]]) throws(BodyDamage) -> [UInt8] {
      switch form {
      case .plain: return bytes
      case .compact:
        do throws(CompactBody.Damage) { return try CompactBody.expand(bytes, headers: headers) } catch {
          throw .compact(error)
        }
      }
    }
  }

  func open(_ bytes: [UInt8], of digest: Digest, receivedAt: Timestamp) throws(BodyDamage) -> Opened {
    let content: [UInt8]
    do throws(SealingError) {
      content = try keys.open(
        try Sealed(bytes), context: Self.context(digest), month: Month(receivedAt).number)
    } catch {
      throw .sealing(error)
    }
    guard let form = content.first.flatMap(Form.init),
      let body = try? ZstdFrame.open(content.dropFirst(), upTo: CompactBody.longest)
    else { throw .compact(.malformed) }
    switch form {
    case .plain: return Opened(form: form, bytes: body, headers: [])
    case .compact:
      do throws(CompactBody.Damage) {
        return Opened(form: form, bytes: body, headers: try CompactBody.headers(in: body))
      } catch {
        throw .compact(error)
      }
    }
  }

  private static func context(_ digest: Digest) -> String { "bodies/\(digest.hex)" }
}

enum BodyDamage: Error {
  /// The body was sealed under a missing master key, or was changed later.
  case sealing(SealingError)
  case compact(CompactBody.Damage)

  /// Throws the damage as a database error that names the message.
  static func named<R>(_ digest: Digest, _ body: () throws(BodyDamage) -> R) throws(DatabaseError) -> R {
    do throws(BodyDamage) { return try body() } catch {
      let reason =
        switch error {
        case .sealing(let error): "does not open: \(error.detail)"
        case .compact(let damage): "is damaged: \(damage)"
        }
      throw DatabaseError(.column, "the stored body of the message \(digest.hex) \(reason) (runbooks/backup.md)")
    }
  }
}
