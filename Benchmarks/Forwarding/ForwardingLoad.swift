import Simulator
import Time

/// Notifications of an app that a service takes in and forwards, made as they are needed.
struct ForwardingLoad: Sendable {
  /// So many notifications lie between two of one customer: none is sent before its forerunner was answered.
  static let customersAtOnce = 500

  let app: SimulatedApp
  private let stream: NotificationStream
  private let backEnd: ListeningBackEnd
  private let perCustomer: Int
  private var made = 0

  init(_ samples: NotificationSamples, app: SimulatedApp, seed: UInt64, perCustomer: Int, to backEnd: ListeningBackEnd)
    throws
  {
    self.app = app
    self.backEnd = backEnd
    self.perCustomer = perCustomer
    stream = try NotificationStream(
      seed: seed, app: app, pki: samples.pki, start: NotificationSamples.start, customers: Self.customersAtOnce,
      length: perCustomer)
  }

  /// Requests of the next notifications, and the number under which the back end expects each.
  mutating func next(_ count: Int) async throws -> (requests: [[UInt8]], numbers: [Int]) {
    let first = made
    made += count
    var (requests, numbers): ([[UInt8]], [Int]) = ([], [])
    for (place, body) in try await stream.generate(count, from: first, keeping: { $0.body }).enumerated() {
      let (block, rest) = (first + place).quotientAndRemainder(dividingBy: Self.customersAtOnce * perCustomer)
      let (number, customer) = rest.quotientAndRemainder(dividingBy: Self.customersAtOnce)
      numbers.append(
        backEnd.expect(body, .init(customer: block * Self.customersAtOnce + customer, number: number)))
      requests.append(LoadGenerator.request(DurableHTTP.path, body))
    }
    return (requests, numbers)
  }

  /// Sends notifications that were made; when they are forwarded the back end learns when each was sent.
  func send(
    _ batch: (requests: [[UInt8]], numbers: [Int]), to port: UInt16, _ pace: LoadGenerator.Pace, seconds: Double,
    isForwarded: Bool = true
  ) async throws -> LoadReport {
    let (numbers, backEnd) = (batch.numbers, backEnd)
    return try await LoadGenerator(
      port: port, connections: DurableHTTP.connections, pace: pace, seconds: seconds
    ) { place, now in if isForwarded { backEnd.noteSent(numbers[place], at: now) } }.run(batch.requests)
  }
}
