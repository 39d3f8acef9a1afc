public import JSON
public import Time

/// An originalTransactionId that passed to another account, for example with a device or by a new token.
public struct AccountTransfer: Hashable, Sendable {
  public let kind: AccountAssociation.Kind
  public let originalTransactionID: String
  public let from: String
  public let to: String
  /// The first statement of the later account, or the purchase of its period.
  public let date: Timestamp

  /// Returns every change of account, by date.
  ///
  /// Claims change no account. The first account of a period counts from its purchase, since a complete history has one
  /// time for all its statements. A later account counts from its statement. A new token, which Apple then reports for
  /// every period, is therefore one transfer.
  ///
  /// Several accounts at one time are not a transfer: their order is unknown. The earlier account continues until
  /// another one appears without it.
  public static func all(in attributions: [AccountAssociation], purchases: [Purchase]) -> [AccountTransfer] {
    let attributions = attributions.contains(where: \.isClaimed) ? attributions.filter { !$0.isClaimed } : attributions
    struct Subject: Hashable {
      var kind: AccountAssociation.Kind, original: String
    }
    func subject(_ attribution: AccountAssociation) -> Subject {
      Subject(kind: attribution.kind, original: attribution.originalTransactionID)
    }
    // Usually an originalTransactionId has one account, and needs no further work.
    var (first, passed): ([Subject: ByteComparedText], Set<Subject>) = ([:], [])
    for attribution in attributions {
      let (subject, account) = (subject(attribution), ByteComparedText(attribution.value))
      if let value = first[subject] {
        if value != account { passed.insert(subject) }
      } else {
        first[subject] = account
      }
    }
    if passed.isEmpty { return [] }
    let bySubject = Dictionary(
      grouping: AccountAssociation.merged(attributions.filter { passed.contains(subject($0)) }), by: subject)
    var purchased: [PurchaseKey.Place: Timestamp] = [:]
    for purchase in purchases {
      for statement in purchase.statements { purchased[statement.key.place] = purchase.purchaseDate }
    }
    var transfers: [AccountTransfer] = []
    for (subject, attributions) in bySubject {
      let periods = Dictionary(grouping: attributions) { purchased[$0.place] }
      let tellings = periods.flatMap { start, said in
        var tellings = Telling.inOrder(said)
        if let start {
          let first = tellings[0].date
          for index in tellings.indices where tellings[index].date == first { tellings[index].date = start }
        }
        return tellings
      }
      var last: ByteComparedText?
      for (date, said) in Dictionary(grouping: tellings, by: \.date).sorted(by: { $0.key < $1.key }) {
        let accounts = Set(said.map(\.value))
        if let last, accounts.contains(last) { continue }
        guard accounts.count == 1, let account = accounts.first else { continue }
        if let last {
          transfers.append(
            AccountTransfer(
              kind: subject.kind, originalTransactionID: subject.original, from: last.text, to: account.text,
              date: date))
        }
        last = account
      }
    }
    return transfers.sorted { a, b in
      (a.date, a.originalTransactionID, a.kind.rawValue, ByteComparedText(a.from), ByteComparedText(a.to))
        < (b.date, b.originalTransactionID, b.kind.rawValue, ByteComparedText(b.from), ByteComparedText(b.to))
    }
  }

  /// An account at one time of its statements.
  private struct Telling {
    var value: ByteComparedText
    var date: Timestamp

    /// Returns the accounts in the order of their first statements.
    ///
    /// The latest ones are repeated at the end.
    static func inOrder(_ attributions: [AccountAssociation]) -> [Telling] {
      let byFirst = attributions.sorted {
        ($0.firstAsOf, $0.lastAsOf, ByteComparedText($0.value)) < (
          $1.firstAsOf, $1.lastAsOf, ByteComparedText($1.value)
        )
      }
      var tellings = byFirst.map { Telling(value: ByteComparedText($0.value), date: $0.firstAsOf) }
      if let end = byFirst.map(\.lastAsOf).max() {
        for again in byFirst where again.lastAsOf == end && again.firstAsOf < end {
          tellings.append(Telling(value: ByteComparedText(again.value), date: end))
        }
      }
      return tellings
    }
  }
}

extension AccountTransfer {
  /// Returns the present account of each transferred originalTransactionId, by kind.
  ///
  /// - Parameter transfers: by date, as `all` returns them.
  public static func owners(after transfers: [AccountTransfer]) -> [String: [AccountAssociation.Kind: String]] {
    transfers.reduce(into: [:]) { owners, transfer in
      owners[transfer.originalTransactionID, default: [:]][transfer.kind] = transfer.to
    }
  }

  /// Whether `account`, a user ID or an account token, once had an originalTransactionId and no longer has it.
  ///
  /// - Parameters:
  ///   - owners: the present accounts.
  ///   - attributions: all accounts, past and present.
  public static func isFormer(
    _ account: String, _ owners: [AccountAssociation.Kind: String], among attributions: [AccountAssociation]
  ) -> Bool {
    let proven = attributions.filter { !$0.isClaimed }
    let had = proven.filter { $0.names(account) }.map(\.kind)
    // A new token of the same user removes no purchase. A token of a later purchase may be another user's.
    let isOfOneUser = owners[.userID] == nil && proven.contains { $0.kind == .userID }
    if isOfOneUser, had.allSatisfy({ $0 == .appAccountToken }), let token = owners[.appAccountToken] {
      let lines = Set(proven.filter { $0.kind == .appAccountToken && $0.names(account) }.map(\.line))
      if proven.contains(where: { $0.kind == .appAccountToken && $0.names(token) && lines.contains($0.line) }) {
        return false
      }
    }
    return had.contains { owners[$0] != nil }
      && !had.contains { kind in
        owners[kind].map { ByteComparedText($0) == ByteComparedText(AccountAssociation.value(kind, account)) } ?? false
      }
  }
}

extension JSONObject {
  /// Creates the owner of a subscription: a user ID, an account token, or both.
  public init(owner accounts: [AccountAssociation.Kind: String]) {
    self.init(accounts.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.name, .string($0.value)) })
  }
}

extension AccountAssociation {
  /// The account in the form of the attributions of this kind.
  fileprivate static func value(_ kind: Kind, _ account: String) -> String {
    kind == .appAccountToken ? Alias.normalized(accountToken: account) : account
  }

  fileprivate func names(_ account: String) -> Bool {
    ByteComparedText(value) == ByteComparedText(Self.value(kind, account))
  }
}

extension PurchaseKey {
  /// The position within one app and environment.
  fileprivate struct Place: Hashable {
    var original: String, line: Line
  }

  fileprivate var place: Place { Place(original: originalTransactionID, line: line) }
}

extension AccountAssociation {
  fileprivate var place: PurchaseKey.Place { PurchaseKey.Place(original: originalTransactionID, line: line) }
}
