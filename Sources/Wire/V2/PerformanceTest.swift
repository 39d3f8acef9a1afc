public import JSON

/// What Initiate Performance Test asks.
///
/// Apple: retentionmessaging/performancetestrequest.
public struct PerformanceTestRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    originalTransactionId: String
  ) {
    json = JSONObject(
      given: ("originalTransactionId", .string(originalTransactionId)))
  }

  public var originalTransactionId: String? { text("originalTransactionId") }

  public static let schema = Schema([
    "originalTransactionId": .text
  ])
}

/// The answer of Initiate Performance Test: it has begun.
///
/// Apple: retentionmessaging/performancetestresponse.
public struct PerformanceTestResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var config: PerformanceTestConfig? { structure("config") }
  public var requestId: String? { text("requestId") }

  public static let schema = Schema([
    "config": .structure(PerformanceTestConfig.schema),
    "requestId": .text,
  ])
}

/// What a performance test sends and what it takes to pass.
///
/// Apple: retentionmessaging/performancetestconfig.
public struct PerformanceTestConfig: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var maxConcurrentRequests: Int64? { integer("maxConcurrentRequests") }
  public var totalRequests: Int64? { integer("totalRequests") }
  /// In milliseconds.
  public var totalDuration: Int64? { integer("totalDuration") }
  /// In milliseconds.
  public var responseTimeThreshold: Int64? { integer("responseTimeThreshold") }
  /// In per cent.
  public var successRateThreshold: Int64? { integer("successRateThreshold") }

  public static let schema = Schema([
    "maxConcurrentRequests": .integer,
    "totalRequests": .integer,
    "totalDuration": .integer,
    "responseTimeThreshold": .integer,
    "successRateThreshold": .integer,
  ])
}

/// The answer of Get Performance Test Results.
///
/// Apple: retentionmessaging/performancetestresultresponse.
public struct PerformanceTestResultResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var config: PerformanceTestConfig? { structure("config") }
  public var target: String? { text("target") }
  public var result: String? { text("result") }
  public var successRate: Int64? { integer("successRate") }
  public var numPending: Int64? { integer("numPending") }
  public var responseTimes: PerformanceTestResponseTimes? { structure("responseTimes") }
  public var failures: PerformanceTestFailures? { structure("failures") }

  public static let schema = Schema([
    "config": .structure(PerformanceTestConfig.schema),
    "target": .text,
    "result": .word(Words.performanceTestStatus),
    "successRate": .integer,
    "numPending": .integer,
    "responseTimes": .structure(PerformanceTestResponseTimes.schema),
    "failures": .structure(PerformanceTestFailures.schema),
  ])
}

/// How fast the answers of a performance test came, in milliseconds.
///
/// Apple: retentionmessaging/performancetestresponsetimes.
public struct PerformanceTestResponseTimes: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var average: Int64? { integer("average") }
  public var p50: Int64? { integer("p50") }
  public var p90: Int64? { integer("p90") }
  public var p95: Int64? { integer("p95") }
  public var p99: Int64? { integer("p99") }

  public static let schema = Schema([
    "average": .integer,
    "p50": .integer,
    "p90": .integer,
    "p95": .integer,
    "p99": .integer,
  ])
}

/// How many requests of a performance test failed in which way; each key is a SendAttemptResult.
///
/// Apple: retentionmessaging/performancetestresultresponse.
public struct PerformanceTestFailures: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  /// The count of one way to fail; nil when it did not occur.
  public subscript(sendAttemptResult: String) -> Int64? { integer(sendAttemptResult) }

  public static let schema = Schema(
    Dictionary(uniqueKeysWithValues: Words.sendAttemptResult.map { ($0, Schema.Kind.integer) }))
}
