import Synchronization

/// Verifies signatures by EVP, and by a key's table after many signatures of the key.
///
/// A handful of keys signs nearly all of Apple's data. A table is never trusted more than EVP: it is compared before
/// its first use, and EVP checks its rejections, so that no error in it can reject a purchase. If they ever differ,
/// EVP's result counts and the table is no longer used.
package final class KeyTables: Sendable {
  package struct Limits: Sendable {
    /// Good signatures of a key before its table is made: by then EVP has cost the price of the table (30 ms against 60
    /// µs of each).
    package var signatures: Int
    /// Tables at one time, 150 KB each.
    package var tables: Int
    /// The number of keys with a count of signatures.
    package var keys: Int

    package init(signatures: Int = 512, tables: Int = 8, keys: Int = 64) {
      self.signatures = signatures
      self.tables = tables
      self.keys = keys
    }
  }

  private enum KeyState {
    /// EVP verifies; this number of signatures was good.
    case counting(Int)
    /// EVP verifies while one thread makes the table or compares it.
    case making
    /// Made; the next caller compares it with EVP.
    case untried(Table)
    case trusted(Table)
    /// A table is impossible, or it contradicted EVP.
    case without

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

  /// The numbers of tables in use, tables ever made, and those that contradicted EVP, which should be 0.
  package var counts: (used: Int, made: Int, distrusted: Int) {
    state.withLock { state in
      let used = state.entries.values.count { if case .trusted = $0.standing { true } else { false } }
      return (used, state.made, state.distrusted)
    }
  }

  /// The number of tables that contradicted EVP in this process, of any instance.
  package static var distrustedInProcess: Int { distrusted.load(ordering: .relaxed) }
  private static let distrusted = Atomic(0)

  /// Whether the private half of `key`, whose certificate is `leaf`, signed `digest`.
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
      // The point is read here: a process that ends removes OpenSSL's providers while its other threads run.
      let point = key.point
      making.aside { [self] in install(making.table(point), for: leaf) }
    case .compare(let table):
      settle(leaf, Self.agree(table, key, signature, digest) ? .trusted(table) : .without)
    }
    return true
  }

  /// Whether table and EVP agree on a signature, and on three that differ from it by one bit.
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
  private func use(_ leaf: Digest) -> Table? {
    state.withLock { state in
      state.uses += 1
      let uses = state.uses
      guard let entry = state.entries[leaf] else { return nil }
      state.entries[leaf]?.lastUse = uses
      return if case .trusted(let table) = entry.standing { table } else { nil }
    }
  }

  /// Counts a signature that EVP accepted; returns the work for this caller only.
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

  /// Removes the least recently used key without a table; only a new table replaces a table.
  private func forgetOne(_ state: inout State) {
    let others = state.entries.filter { !$0.value.standing.holdsTable }
    if let oldest = others.min(by: { $0.value.lastUse < $1.value.lastUse }) { state.entries[oldest.key] = nil }
  }

  /// Whether one more table is possible; a table without uses while `entry` was counted is replaced.
  private func hasRoom(for entry: Entry, _ state: inout State) -> Bool {
    let holders = state.entries.filter(\.value.standing.holdsTable)
    guard holders.count >= limits.tables else { return true }
    guard let idle = holders.min(by: { $0.value.lastUse < $1.value.lastUse }), idle.value.lastUse < entry.countedSince
    else { return false }
    state.entries[idle.key] = nil
    return true
  }

  private func install(_ table: Table?, for leaf: Digest) {
    state.withLock { state in
      if table != nil { state.made += 1 }
      guard case .making = state.entries[leaf]?.standing else { return }
      state.entries[leaf]?.standing = table.map { .untried($0) } ?? .without
    }
  }

  /// Stores the result of comparing a table with EVP, unless its key was removed meanwhile.
  private func settle(_ leaf: Digest, _ standing: KeyState) {
    state.withLock { state in
      if case .without = standing {
        // Another thread that used the table reports it too: it is one table.
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
