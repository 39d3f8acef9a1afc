import Synchronization

/// Verifies signatures by EVP, and by a key's table once the key has signed much.
///
/// Nearly everything Apple signs is signed by a handful of keys. A table is never trusted more than EVP: it is compared with
/// it before its first use, and what it refuses EVP is asked again, so that no mistake of ours can turn a purchase away.
/// Should they ever differ, EVP is right and the table is not used any more.
package final class KeyTables: Sendable {
  package struct Limits: Sendable {
    /// Good signatures of a key before its table is made: by then EVP has cost what the table costs (30 ms against 60 µs
    /// of each).
    package var signatures: Int
    /// Tables at one time, 150 KB each.
    package var tables: Int
    /// Keys of which it is known how much they signed.
    package var keys: Int

    package init(signatures: Int = 512, tables: Int = 8, keys: Int = 64) {
      self.signatures = signatures
      self.tables = tables
      self.keys = keys
    }
  }

  private enum KeyState {
    /// EVP verifies; so many signatures were good.
    case counting(Int)
    /// EVP verifies while one thread makes the table or compares it.
    case making
    /// Made, and to be compared with EVP by whoever comes next.
    case untried(Table)
    case trusted(Table)
    /// There can be no table, or it contradicted EVP.
    case without

    /// Whether it has a table, or will have one.
    var holdsTable: Bool {
      switch self {
      case .making, .untried, .trusted: true
      case .counting, .without: false
      }
    }
  }

  private struct Entry {
    var standing = KeyState.counting(0)
    /// In uses of all keys.
    var countedSince: UInt64
    var lastUse: UInt64
  }

  private struct State {
    var entries: [Digest: Entry] = [:]
    var uses: UInt64 = 0
    var made = 0
    var distrusted = 0
  }

  private enum Work {
    case make
    case compare(Table)
  }

  private let limits: Limits
  private let making: KeyTableBuilder
  private let state = Mutex(State())

  package init(_ limits: Limits = Limits(), making: KeyTableBuilder = KeyTableBuilder()) {
    self.limits = limits
    self.making = making
  }

  /// Tables in use, tables made since the beginning, and those that contradicted EVP, which no table should.
  package var counts: (used: Int, made: Int, distrusted: Int) {
    state.withLock { state in
      let used = state.entries.values.count { if case .trusted = $0.standing { true } else { false } }
      return (used, state.made, state.distrusted)
    }
  }

  /// How many tables contradicted EVP in this process, whosever they were.
  package static var distrustedInProcess: Int { distrusted.load(ordering: .relaxed) }
  private static let distrusted = Atomic(0)

  /// Whether `signature` was made for `digest` by the private half of `key`, whose certificate is `leaf`.
  package func verifies(_ signature: RawSignature, of digest: Digest, by key: PublicKey, leaf: Digest) -> Bool {
    let table = use(leaf)
    if let table, table(signature, digest) { return true }
    guard key.verifies(signature, of: digest) else { return false }
    guard table == nil else {
      settle(leaf, .without)
      return true
    }
    switch count(leaf) {
    case nil: break
    case .make:
      // The point is read here: a process that ends takes OpenSSL's providers from under its other threads.
      let point = key.point
      making.aside { [self] in install(making.table(point), for: leaf) }
    case .compare(let table):
      settle(leaf, Self.agree(table, key, signature, digest) ? .trusted(table) : .without)
    }
    return true
  }

  /// Whether table and EVP say the same of a signature, and of three that differ from it by one bit.
  private static func agree(_ table: Table, _ key: PublicKey, _ signature: RawSignature, _ digest: Digest) -> Bool {
    let (r, s) = (signature.bytes.prefix(32), signature.bytes.suffix(32))
    let cases = [
      (Array(r + s), digest.bytes), (r.withLastBitChanged + s, digest.bytes), (r + s.withLastBitChanged, digest.bytes),
      (Array(r + s), digest.bytes[...].withLastBitChanged),
    ]
    return cases.allSatisfy { bytes, digest in
      guard let signature = RawSignature(bytes: bytes), let digest = Digest(bytes: digest) else { return false }
      return table(signature, digest) == key.verifies(signature, of: digest)
    }
  }
}

extension KeyTables {
  /// The table of a key that is trusted.
  private func use(_ leaf: Digest) -> Table? {
    state.withLock { state in
      state.uses += 1
      let uses = state.uses
      guard let entry = state.entries[leaf] else { return nil }
      state.entries[leaf]?.lastUse = uses
      return if case .trusted(let table) = entry.standing { table } else { nil }
    }
  }

  /// Takes that EVP found a signature good; what is to be done now, by the caller alone.
  private func count(_ leaf: Digest) -> Work? {
    state.withLock { state in
      var entry = state.entries[leaf] ?? Entry(countedSince: state.uses, lastUse: state.uses)
      var work: Work?
      switch entry.standing {
      case .making, .trusted, .without: return nil
      case .untried(let table):
        entry.standing = .making
        work = .compare(table)
      case .counting(let good) where good + 1 < limits.signatures: entry.standing = .counting(good + 1)
      case .counting:
        if hasRoom(for: entry, &state) {
          entry.standing = .making
          work = .make
        } else {
          entry = Entry(countedSince: state.uses, lastUse: state.uses)
        }
      }
      let isNew = state.entries.updateValue(entry, forKey: leaf) == nil
      if isNew, state.entries.count > limits.keys { forgetOne(&state) }
      return work
    }
  }

  /// Forgets the key that was unused for longest of those that have no table: a table goes for another one alone.
  private func forgetOne(_ state: inout State) {
    let others = state.entries.filter { !$0.value.standing.holdsTable }
    if let oldest = others.min(by: { $0.value.lastUse < $1.value.lastUse }) { state.entries[oldest.key] = nil }
  }

  /// Whether there may be one more table; one that nobody used while `entry` was counted goes for it.
  private func hasRoom(for entry: Entry, _ state: inout State) -> Bool {
    let holders = state.entries.filter(\.value.standing.holdsTable)
    guard holders.count >= limits.tables else { return true }
    guard let idle = holders.min(by: { $0.value.lastUse < $1.value.lastUse }), idle.value.lastUse < entry.countedSince
    else { return false }
    state.entries[idle.key] = nil
    return true
  }

  /// Takes a table that was made, unless its key was forgotten meanwhile.
  private func install(_ table: Table?, for leaf: Digest) {
    state.withLock { state in
      if table != nil { state.made += 1 }
      guard case .making = state.entries[leaf]?.standing else { return }
      state.entries[leaf]?.standing = table.map { .untried($0) } ?? .without
    }
  }

  /// Takes how a table and EVP compared, unless its key was forgotten meanwhile.
  private func settle(_ leaf: Digest, _ standing: KeyState) {
    state.withLock { state in
      if case .without = standing {
        // Whoever else was using the table says so too: it is one table.
        if case .without = state.entries[leaf]?.standing { return }
        state.distrusted += 1
        Self.distrusted.add(1, ordering: .relaxed)
      }
      state.entries[leaf]?.standing = standing
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var withLastBitChanged: [UInt8] {
    var changed = Array(self)
    if let last = changed.popLast() { changed.append(last ^ 1) }
    return changed
  }
}
