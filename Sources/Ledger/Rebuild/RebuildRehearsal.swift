import Database
import JSON
import Signing
package import Time

extension Rebuild {
  package struct Rehearsal: Sendable {
    package var messages = 0
    package var refused = Refused()
    package var gone = Lines()
    package var new = Lines()

    package var isEqual: Bool { gone.count == 0 && new.count == 0 }

    package struct Lines: Sendable {
      package var count = 0
      package var examples: [String] = []
    }
  }

  /// Derives all data in a second database, compares the canonical dumps and changes no data.
  ///
  /// If messages that arrive meanwhile cannot be distinguished from differences, it compares again.
  package func rehearse(now: Timestamp, examples: Int = 10) async throws -> Rehearsal {
    try await staged(now: now) { stage in
      let (database, staging) = (configuration.database ?? "", stage.staging.name)
      var caught = Caught()
      var rehearsal = Rehearsal()
      for _ in 0..<Self.attempts {
        caught += try await catchUp(stage, into: stage.target)
        // Each time, since an app may be added meanwhile.
        try await stage.source.read { session throws(DatabaseError) in
          try session.run(
            "REPLACE INTO \(identifier: staging).apps SELECT * FROM \(identifier: database).apps")
        }
        rehearsal = try await compare(stage.source, stage.target, examples: examples)
        if rehearsal.isEqual { break }
      }
      (rehearsal.messages, rehearsal.refused) = (caught.messages, caught.refused)
      return rehearsal
    }
  }

  private static let attempts = 3

  private func compare(_ source: Connection, _ target: Connection, examples: Int) async throws -> Rehearsal {
    let present = try await lines(of: source)
    let rebuilt = try await lines(of: target)
    var rehearsal = Rehearsal()
    rehearsal.gone = try await lines(of: source, except: rebuilt, examples: examples)
    rehearsal.new = try await lines(of: target, except: present, examples: examples)
    return rehearsal
  }

  /// 32 bytes for each line: a ledger of millions fits into memory.
  private func lines(of connection: Connection) async throws -> Set<Digest> {
    try await connection.read { session throws(DatabaseError) in
      var digests: Set<Digest> = []
      try CanonicalDump.write(from: session) { digests.insert(.sha256($0.encoded())) }
      return digests
    }
  }

  private func lines(
    of connection: Connection, except known: Set<Digest>, examples: Int
  ) async throws -> Rehearsal.Lines {
    try await connection.read { session throws(DatabaseError) in
      var lines = Rehearsal.Lines()
      try CanonicalDump.write(from: session) { line in
        let bytes = line.encoded()
        guard !known.contains(.sha256(bytes)) else { return }
        lines.count += 1
        if lines.examples.count < examples { lines.examples.append(String(decoding: bytes, as: UTF8.self)) }
      }
      return lines
    }
  }
}
