public import JSON

/// A text message to be shown to who wants to cancel.
///
/// Apple: retentionmessaging/uploadmessagerequestbody.
public struct UploadMessageRequestBody: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    header: String, body: String, image: UploadMessageImage? = nil, headerPosition: String? = nil,
    bulletPoints: [BulletPoint]? = nil
  ) {
    json = JSONObject(
      given: ("header", .string(header)), ("body", .string(body)), ("image", image.map { .object($0.json) }),
      ("headerPosition", JSONValue(headerPosition)),
      ("bulletPoints", bulletPoints.map { .array($0.map { .object($0.json) }) }))
  }

  /// At most 66 characters.
  public var header: String? { text("header") }
  /// At most 144 characters.
  public var body: String? { text("body") }
  public var image: UploadMessageImage? { structure("image") }
  public var headerPosition: String? { text("headerPosition") }
  /// At most 5.
  public var bulletPoints: [BulletPoint]? { structures("bulletPoints") }

  public static let schema = Schema([
    "header": .text,
    "body": .text,
    "image": .structure(UploadMessageImage.schema),
    "headerPosition": .word(Words.headerPosition),
    "bulletPoints": .structures(BulletPoint.schema),
  ])
}

/// The image of a message, uploaded before.
///
/// Apple: retentionmessaging/uploadmessageimage.
public struct UploadMessageImage: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    imageIdentifier: String, altText: String
  ) {
    json = JSONObject(
      given: ("imageIdentifier", .string(imageIdentifier)), ("altText", .string(altText)))
  }

  public var imageIdentifier: String? { text("imageIdentifier") }
  /// At most 150 characters.
  public var altText: String? { text("altText") }

  public static let schema = Schema([
    "imageIdentifier": .text,
    "altText": .text,
  ])
}

/// A point of a message with its image.
///
/// Apple: retentionmessaging/bulletpoint.
public struct BulletPoint: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    text: String, imageIdentifier: String, altText: String
  ) {
    json = JSONObject(
      given: ("text", .string(text)), ("imageIdentifier", .string(imageIdentifier)), ("altText", .string(altText)))
  }

  /// At most 66 characters.
  public var text: String? { text("text") }
  public var imageIdentifier: String? { text("imageIdentifier") }
  /// At most 150 characters.
  public var altText: String? { text("altText") }

  public static let schema = Schema([
    "text": .text,
    "imageIdentifier": .text,
    "altText": .text,
  ])
}

/// The answer of Get Image List.
///
/// Apple: retentionmessaging/getimagelistresponse.
public struct GetImageListResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var imageIdentifiers: [GetImageListResponseItem]? { structures("imageIdentifiers") }

  public static let schema = Schema([
    "imageIdentifiers": .structures(GetImageListResponseItem.schema)
  ])
}

/// An uploaded image and how far its review is.
///
/// Apple: retentionmessaging/getimagelistresponseitem.
public struct GetImageListResponseItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var imageIdentifier: String? { text("imageIdentifier") }
  public var imageState: String? { text("imageState") }
  public var imageSize: String? { text("imageSize") }

  public static let schema = Schema([
    "imageIdentifier": .text,
    "imageState": .word(Words.reviewState),
    "imageSize": .word(Words.imageSize),
  ])
}

/// The answer of Get Message List.
///
/// Apple: retentionmessaging/getmessagelistresponse.
public struct GetMessageListResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var messageIdentifiers: [GetMessageListResponseItem]? { structures("messageIdentifiers") }

  public static let schema = Schema([
    "messageIdentifiers": .structures(GetMessageListResponseItem.schema)
  ])
}

/// An uploaded message and how far its review is.
///
/// Apple: retentionmessaging/getmessagelistresponseitem.
public struct GetMessageListResponseItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var messageIdentifier: String? { text("messageIdentifier") }
  public var messageState: String? { text("messageState") }

  public static let schema = Schema([
    "messageIdentifier": .text,
    "messageState": .word(Words.reviewState),
  ])
}

/// What Configure Default Message asks.
///
/// Apple: retentionmessaging/defaultconfigurationrequest.
public struct DefaultConfigurationRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    messageIdentifier: String
  ) {
    json = JSONObject(
      given: ("messageIdentifier", .string(messageIdentifier)))
  }

  public var messageIdentifier: String? { text("messageIdentifier") }

  public static let schema = Schema([
    "messageIdentifier": .text
  ])
}

/// The answer of Get Default Message.
///
/// Apple: retentionmessaging/defaultconfigurationresponse.
public struct DefaultConfigurationResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var messageIdentifier: String? { text("messageIdentifier") }

  public static let schema = Schema([
    "messageIdentifier": .text
  ])
}

/// What Configure Realtime URL asks.
///
/// Apple: retentionmessaging/realtimeurlrequest.
public struct RealtimeUrlRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    realtimeURL: String
  ) {
    json = JSONObject(
      given: ("realtimeURL", .string(realtimeURL)))
  }

  /// At most 256 characters.
  public var realtimeURL: String? { text("realtimeURL") }

  public static let schema = Schema([
    "realtimeURL": .text
  ])
}

/// The answer of Get Realtime URL.
///
/// Apple: retentionmessaging/realtimeurlresponse.
public struct RealtimeUrlResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var realtimeURL: String? { text("realtimeURL") }

  public static let schema = Schema([
    "realtimeURL": .text
  ])
}
