public import JSON
public import Time

/// An originalTransactionId that passed from one account to another: a device handed on, a resubscription from another
/// login, a token that the back end set anew.
public struct AccountTransfer: Hashable, Sendable {
  public let kind: AccountAssociation.Kind
  public let originalTransactionID: String
  public let from: String
  public let to: String
  /// When the later account was first said, or bought the period that it was said of.
  public let date: Timestamp

  /// Every change of account among `attributions`, by date; claims change no account.
  ///
  /// The first account that was said of a period counts from its purchase, since a history that is read in one go says
  /// everything at one time; one that was said of it later counts from then. So a token that the back end sets anew, and that
  /// Apple then tells of every period, is one transfer.
  ///
  /// Several accounts that were said at one time, as when two users bring the same receipt, are no transfer: which of
  /// them came first is not known. One that was known before goes on until another account is said alone.
  public static func all(in attributions: [AccountAssociation], purchases: [Purchase]) -> [AccountTransfer] {
    let attributions = attributions.contains(where: \.isClaimed) ? attributions.filter { !$0.isClaimed } : attributions
    struct Subject: Hashable {
      var kind: AccountAssociation.Kind, original: String
    }
    func subject(_ attribution: AccountAssociation) -> Subject {
      Subject(kind: attribution.kind, original: attribution.originalTransactionID)
    }
    // Mostly an originalTransactionId belongs to one account for ever, and nothing more need be looked at.
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

  /// An account at one of the times at which it was said.
  private struct Telling {
    var value: ByteComparedText
    var date: Timestamp

    /// In the order in which they were first said; those that were said last of all come once more at the end.
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
  /// Whose each originalTransactionId is now that passed from one account to another, by the kind of account.
  ///
  /// - Parameter transfers: by date, as `all` gives them.
  public static func owners(after transfers: [AccountTransfer]) -> [String: [AccountAssociation.Kind: String]] {
    transfers.reduce(into: [:]) { owners, transfer in
      owners[transfer.originalTransactionID, default: [:]][transfer.kind] = transfer.to
    }
  }

  /// Whether `account`, a user id or an account token, had an originalTransactionId once and has it no more.
  ///
  /// - Parameters:
  ///   - owners: whose it is now.
  ///   - attributions: to whom it was ever said to belong.
  public static func isFormer(
    _ account: String, _ owners: [AccountAssociation.Kind: String], among attributions: [AccountAssociation]
  ) -> Bool {
    let proven = attributions.filter { !$0.isClaimed }
    let had = proven.filter { $0.names(account) }.map(\.kind)
    // A token that is set anew for one and the same user takes nothing from them; one of a later purchase may be another's.
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
  /// Whose a subscription is: a user id, an account token, or both.
  public init(owner accounts: [AccountAssociation.Kind: String]) {
    self.init(accounts.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.name, .string($0.value)) })
  }
}

extension AccountAssociation {
  /// An account as attributions of the kind have it.
  fileprivate static func value(_ kind: Kind, _ account: String) -> String {
    kind == .appAccountToken ? Alias.normalized(accountToken: account) : account
  }

  fileprivate func names(_ account: String) -> Bool {
    ByteComparedText(value) == ByteComparedText(Self.value(kind, account))
  }
}

extension PurchaseKey {
  /// Where it is within one app and environment.
  fileprivate struct Place: Hashable {
    var original: String, line: Line
  }

  fileprivate var place: Place { Place(original: originalTransactionID, line: line) }
}

extension AccountAssociation {
  fileprivate var place: PurchaseKey.Place { PurchaseKey.Place(original: originalTransactionID, line: line) }
}
