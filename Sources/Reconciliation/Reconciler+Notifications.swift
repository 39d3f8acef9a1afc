import Adapter
import AppStore
import Intake
import JSON
import Ledger
import Purchases
import Signing
import Time
import Wire

/// Get Notification History held against the inbox.
extension Reconciler {
  /// Apple is asked for so much at once: then neither a walk nor what is remembered of it grows with the app.
  private static let window = Interval.days(7)
  private static let pagesAtMost = 100_000

  func compareNotifications(
    _ place: ReconciliationTarget, _ plan: Plan, from start: Timestamp, to end: Timestamp,
    _ report: inout ReconciliationReport
  ) async throws {
    // Rows may be on two pages, and on the border of two windows.
    var (before, seen): (Set<Digest>, Set<Digest>) = ([], [])
    var first = start
    while first < end {
      let last = min(first + Self.window, end)
      let request = NotificationHistoryRequest(
        startDate: first, endDate: last, onlyFailures: plan.onlyFailures ? true : nil)
      let pages = Pages(
        NotificationPages(request), client, as: place.credentials, in: place.api, verifiedBy: verifier,
        limit: Self.pagesAtMost)
      for try await page in pages {
        let items = page.items.map(HistoryItem.init).filter {
          !before.contains($0.digest) && seen.insert($0.digest).inserted
        }
        try await compare(items, place, plan, &report)
      }
      (before, seen, first) = (seen, [], last)
    }
  }

  private func compare(
    _ items: [HistoryItem], _ place: ReconciliationTarget, _ plan: Plan, _ report: inout ReconciliationReport
  ) async throws {
    let arrivals = try await ledger.arrivals(of: items.map(\.told), in: place.scope)
    var missing: [HistoryItem] = []
    for (item, arrival) in zip(items, arrivals) {
      report.notifications[item.day, default: Completeness()].count(arrival)
      if arrival == nil { missing.append(item) }
      if arrival == .inQuarantine { report.setAside += 1 }
    }
    if plan.isDry { report.takenIn += missing.count } else { try await take(missing, place, &report) }
  }

  private func take(
    _ missing: [HistoryItem], _ place: ReconciliationTarget, _ report: inout ReconciliationReport
  ) async throws {
    guard !missing.isEmpty else { return }
    let (directory, now) = (try await directory(), clock.now())
    let entries = missing.map { entry(for: $0, place, directory, at: now) }
    for (item, appended) in zip(missing, try await record(entries)) {
      switch appended {
      case .stored, .duplicate:
        report.takenIn += 1
        report.notifications[item.day]?.recovered += 1
      case .quarantined, .quarantinedBefore:
        report.setAside += 1
        report.notifications[item.day]?.refused += 1
      case .quarantineFull, .stageChanged: report.left += 1
      }
    }
  }
}

extension Reconciler {
  /// What to write for a notification that is missing; one that nobody can read is set aside, as all that is refused.
  private func entry(
    for item: HistoryItem, _ place: ReconciliationTarget, _ directory: AppRegistrySnapshot, at now: Timestamp
  ) -> LedgerEntry {
    let message = InboxMessage(notification: item.body, kind: .notificationHistory, receivedAt: now)
    do throws(MessageError) {
      var entry = try intake.notification(
        message, ReceivedBody(message.body), pathApp: place.app.bundleID, directory: directory
      ).entry
      // Somebody took it when Apple sent it: it is news to us, and not to the app's old back end.
      if item.wasTaken { entry.addressee = nil }
      return entry
    } catch {
      return LedgerEntry(
        message,
        .quarantined(
          LedgerEntry.QuarantineReason(
            source: .unproven, code: error.code, detail: error.detail, claimedApp: place.app.bundleID)))
    }
  }
}

/// A notification of the history, as the comparison looks at it.
private struct HistoryItem {
  let told: LedgerStore.Told
  let day: Timestamp
  /// As Apple would have posted it.
  let body: [UInt8]
  /// Whether a server answered Apple with 200.
  let wasTaken: Bool

  var digest: Digest { told.digest }

  init(_ item: NotificationItem) {
    let notification = item.notification
    let sent = item.sendAttempts.compactMap(\.attemptDate).min()
    day = (sent ?? notification?.signedDate ?? Timestamp(0)).startOfDay
    let body: JSONObject = ["signedPayload": .string(item.signedPayload)]
    self.body = body.encoded()
    told = LedgerStore.Told(
      notificationUUID: notification?.notificationUUID, digest: MessageIdentity(ofNotification: self.body).digest)
    wasTaken = item.sendAttempts.contains { $0.sendAttemptResult == "SUCCESS" }
  }
}

extension Completeness {
  fileprivate mutating func count(_ arrival: Arrival?) {
    expected += 1
    switch arrival {
    case .byItself: arrived += 1
    case .recovered: recovered += 1
    case .inQuarantine: refused += 1
    case nil: break
    }
  }
}
