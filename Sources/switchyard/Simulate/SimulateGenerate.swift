import JSON
import Runtime
import Signing
import Simulator
import Time

/// `switchyard simulate --generate`: a world in files.
struct SimulateGenerate: Sendable {
  static let options: [Option] = [
    .flag("generate", "Write a world of customers into --out."),
    .flag("without-notifications", "Leave notifications.jsonl empty: they are ten times as long as the rest."),
  ]

  /// 2026-06-01T00:00:00Z, so that a world in files does not depend on the current day.
  private static let end = Timestamp(1_780_272_000_000)

  private let world: WorldOptions
  private let directory: String
  private let withNotifications: Bool

  init(_ arguments: ParsedArguments) throws {
    world = try WorldOptions(arguments, customers: 1...10_000_000, until: Self.end)
    let out = try arguments.required("out")
    directory = out.hasSuffix("/") && out.count > 1 ? String(out.dropLast()) : out
    withNotifications = !arguments.flag("without-notifications")
  }

  func run(_ terminal: Terminal) async throws -> ExitStatus {
    guard FileMetadata.makeDirectory(directory) else { throw FileError(directory, reason: "cannot be made") }
    let pki = try ApplePKI.generate(at: world.end, .covering(world.start...world.end, responder: nil))
    let receiptPKI = try ReceiptPKI.shared(at: world.end)
    let files = try WorldFiles(in: directory, hasNotifications: true)
    try OutputFile("\(directory)/world.json").write(description(pki, receiptPKI).encoded() + [0x0A])
    // The same roots as files for --root.
    try OutputFile("\(directory)/root.der").write(pki.root.certificate.der)
    try OutputFile("\(directory)/receipt-root.der").write(receiptPKI.root.certificate.der)
    let signer = try PayloadSigner(pki)
    let population = Population(plan: world.plan, seed: world.seed, start: world.start)
    let written = try await files.write(population.count) { [world, withNotifications] number, lines in
      var life = population.life(number)
      life.advance(to: world.end)
      for state in life.states { try lines.add(state, receiptsBy: receiptPKI) }
      guard withNotifications else { return }
      for notification in life.notifications { try lines.add(notification, signedBy: signer) }
    }
    terminal.note(
      "\(written.customers) customers, \(written.receipts) receipts, \(written.notifications) notifications in \(directory)"
    )
    return .done
  }

  private func description(_ pki: ApplePKI, _ receiptPKI: ReceiptPKI) -> JSONObject {
    var description: JSONObject = [
      "version": 1, "seed": .integer(Int64(bitPattern: world.seed)),
      "customers": .integer(Int64(world.plan.apps.reduce(0) { $0 + $1.customers })),
      "asOf": .integer(world.end.sinceEpoch),
    ]
    for member in world.plan.trust(pki, receiptPKI) { description[member.key] = member.value }
    return description
  }
}
