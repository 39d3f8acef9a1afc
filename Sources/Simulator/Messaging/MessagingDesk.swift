import JSON
import Time

/// What Retention Messaging keeps for one app and environment: images, messages, defaults, the URL.
///
/// Apple: Retention Messaging API 1.5. The Sandbox approves at once, Production a day later.
struct MessagingDesk: Sendable {
  private struct Image {
    var size: String
    var uploaded: Milliseconds
  }

  private struct Message {
    var image: String?
    var uploaded: Milliseconds
  }

  private var images: [String: Image] = [:]
  private var messages: [String: Message] = [:]
  /// By product and locale.
  private var defaults: [[String]: String] = [:]
  private var realtimeURL: String?
  /// Ids of the performance tests, the oldest first.
  private var tests: [String] = []
  private let isSandbox: Bool
  /// Apple's limit for images and for messages.
  private static let limit = 2_000

  init(isSandbox: Bool) { self.isSandbox = isSandbox }

  /// The answer's body; nil when it has none, and when `operation` is of another API.
  mutating func answer(
    _ operation: APIOperation, _ parameters: [String], imageSize: String?, body: [UInt8], at now: Milliseconds
  ) throws(APIErrorCode) -> JSONObject? {
    switch operation {
    case .getImageList:
      let list = images.sorted { $0.key < $1.key }.map { id, image -> JSONValue in
        [
          "imageIdentifier": .string(id), "imageState": .string(state(image.uploaded, now)),
          "imageSize": .string(image.size),
        ]
      }
      return ["imageIdentifiers": .array(list)]
    case .uploadImage: try upload(image: try id(parameters[0]), size: imageSize ?? "FULL_SIZE", body, now)
    case .deleteImage: try delete(image: try id(parameters[0]))
    case .getMessageList:
      let list = messages.sorted { $0.key < $1.key }.map { id, message -> JSONValue in
        ["messageIdentifier": .string(id), "messageState": .string(state(message.uploaded, now))]
      }
      return ["messageIdentifiers": .array(list)]
    case .uploadMessage: try upload(message: try id(parameters[0]), try object(body), now)
    case .deleteMessage: try delete(message: try id(parameters[0]))
    case .configureDefaultMessage:
      let message = try id(try object(body)["messageIdentifier"]?.string ?? "")
      guard let known = messages[message] else { throw .messageNotFound }
      guard isApproved(known.uploaded, now) else { throw .messageNotApproved }
      defaults[try place(parameters)] = message
    case .deleteDefaultMessage:
      guard defaults.removeValue(forKey: try place(parameters)) != nil else { throw .defaultMessageNotFound }
    case .getDefaultMessage:
      guard let message = defaults[try place(parameters)] else { throw .defaultMessageNotFound }
      return ["messageIdentifier": .string(message)]
    case .configureRealtimeURL:
      guard let url = try object(body)["realtimeURL"]?.string, url.hasPrefix("https://"), url.utf8.count <= 256 else {
        throw .badRequestRealtimeUrl
      }
      guard isSandbox || !tests.isEmpty else { throw .forbiddenNoPassingTest }
      realtimeURL = url
    case .deleteRealtimeURL:
      guard realtimeURL != nil else { throw .realtimeUrlNotFound }
      realtimeURL = nil
    case .getRealtimeURL:
      guard let realtimeURL else { throw .realtimeUrlNotFound }
      return ["realtimeURL": .string(realtimeURL)]
    default: return nil
    }
    return nil
  }

  // MARK: Performance tests

  /// - Parameter id: of the new test; it passes.
  mutating func beginTest(_ id: String) -> JSONObject {
    tests = tests.suffix(Self.limit - 1) + [id]
    return ["config": .object(Self.testConfiguration), "requestId": .string(id)]
  }

  func testResult(_ id: String) throws(APIErrorCode) -> JSONObject {
    guard Self.isUUID(id) else { throw .invalidRequestId }
    guard tests.contains(id.lowercased()) else { throw .performanceTestRunNotFound }
    return [
      "config": .object(Self.testConfiguration), "target": .string(realtimeURL ?? ""), "result": "PASS",
      "successRate": 100, "numPending": 0,
      "responseTimes": ["average": 80, "p50": 70, "p90": 120, "p95": 150, "p99": 210], "failures": [:],
    ]
  }

  private static let testConfiguration: JSONObject = [
    "maxConcurrentRequests": 5, "totalRequests": 100, "totalDuration": 60_000, "responseTimeThreshold": 700,
    "successRateThreshold": 90,
  ]

  // MARK: Images and messages

  private static let imageSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private mutating func upload(
    image id: String, size: String, _ body: [UInt8], _ now: Milliseconds
  ) throws(APIErrorCode) {
    guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else { throw .badRequestImageSize }
    guard body.starts(with: Self.imageSignature) else { throw .invalidImage }
    guard images[id] == nil else { throw .imageAlreadyExists }
    guard images.count < Self.limit else { throw .maximumNumberOfImagesReached }
    images[id] = Image(size: size, uploaded: now)
  }

  private mutating func delete(image id: String) throws(APIErrorCode) {
    guard images[id] != nil else { throw .imageNotFound }
    guard !messages.values.contains(where: { $0.image == id }) else { throw .imageInUse }
    images[id] = nil
  }

  private mutating func upload(
    message id: String, _ body: JSONObject, _ now: Milliseconds
  ) throws(APIErrorCode) {
    guard let header = body["header"]?.string, let text = body["body"]?.string else { throw .generalBadRequest }
    guard header.count <= 66 else { throw .headerTooLong }
    guard text.count <= 144 else { throw .bodyTooLong }
    let image = body["image"]?.object
    let points = body["bulletPoints"]?.array ?? []
    guard points.count <= 5 else { throw .badRequestTooManyBulletPoints }
    guard points.allSatisfy({ ($0.object?["text"]?.string ?? "").count <= 66 }) else {
      throw .badRequestBulletPointTextTooLong
    }
    for picture in [image].compactMap({ $0 }) + points.compactMap(\.object) {
      guard (picture["altText"]?.string ?? "").count <= 150 else { throw .altTextTooLong }
      guard let known = images[try self.id(picture["imageIdentifier"]?.string ?? "")] else { throw .imageNotFound }
      guard isApproved(known.uploaded, now) else { throw .imageNotApproved }
    }
    guard image != nil || body["headerPosition"] != "ABOVE_IMAGE" else { throw .badRequestAboveImageRequiresAnImage }
    guard messages[id] == nil else { throw .messageAlreadyExists }
    guard messages.count < Self.limit else { throw .maximumNumberOfMessagesReached }
    messages[id] = Message(image: image?["imageIdentifier"]?.string?.lowercased(), uploaded: now)
  }

  private mutating func delete(message id: String) throws(APIErrorCode) {
    guard messages.removeValue(forKey: id) != nil else { throw .messageNotFound }
    defaults = defaults.filter { $0.value != id }
  }

  // MARK: Words

  private func isApproved(_ uploaded: Milliseconds, _ now: Milliseconds) -> Bool {
    isSandbox || uploaded + .days(1) <= now
  }

  private func state(_ uploaded: Milliseconds, _ now: Milliseconds) -> String {
    isApproved(uploaded, now) ? "APPROVED" : "PENDING"
  }

  /// Product and locale: `en-US`, `de`, `zh-Hans`.
  private func place(_ parameters: [String]) throws(APIErrorCode) -> [String] {
    let parts = parameters[1].split(separator: "-", omittingEmptySubsequences: false)
    let isLocale =
      (2...3).contains(parts[0].utf8.count) && parts.count <= 3
      && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } }
    guard isLocale else { throw .invalidLocale }
    return parameters
  }

  private func id(_ text: String) throws(APIErrorCode) -> String {
    guard Self.isUUID(text) else { throw .generalBadRequest }
    return text.lowercased()
  }

  private func object(_ body: [UInt8]) throws(APIErrorCode) -> JSONObject {
    guard let object = (try? JSONReader.read(body))?.object else { throw .generalBadRequest }
    return object
  }

  static func isUUID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
      }
  }
}
