/// The 87 error codes of the App Store Server API 1.21, under the names of Apple's Swift library.
package enum APIErrorCode: Int64, Error, Hashable, Sendable, CaseIterable {
  case generalBadRequest = 4_000_000
  case invalidAppIdentifier = 4_000_002
  case invalidRequestRevision = 4_000_005
  case invalidTransactionId = 4_000_006
  case invalidOriginalTransactionId = 4_000_008
  case invalidExtendByDays = 4_000_009
  case invalidExtendReasonCode = 4_000_010
  case invalidRequestIdentifier = 4_000_011
  case startDateTooFarInPast = 4_000_012
  case startDateAfterEndDate = 4_000_013
  case invalidPaginationToken = 4_000_014
  case invalidStartDate = 4_000_015
  case invalidEndDate = 4_000_016
  case paginationTokenExpired = 4_000_017
  case invalidNotificationType = 4_000_018
  case multipleFiltersSupplied = 4_000_019
  case invalidTestNotificationToken = 4_000_020
  case invalidSort = 4_000_021
  case invalidProductType = 4_000_022
  case invalidProductId = 4_000_023
  case invalidSubscriptionGroupIdentifier = 4_000_024
  case invalidExcludeRevoked = 4_000_025
  case invalidInAppOwnershipType = 4_000_026
  case invalidEmptyStorefrontCountryCodeList = 4_000_027
  case invalidStorefrontCountryCode = 4_000_028
  case invalidRevoked = 4_000_030
  case invalidStatus = 4_000_031
  case invalidAccountTenure = 4_000_032
  case invalidAppAccountToken = 4_000_033
  case invalidConsumptionStatus = 4_000_034
  case invalidCustomerConsented = 4_000_035
  case invalidDeliveryStatus = 4_000_036
  case invalidLifetimeDollarsPurchased = 4_000_037
  case invalidLifetimeDollarsRefunded = 4_000_038
  case invalidPlatform = 4_000_039
  case invalidPlayTime = 4_000_040
  case invalidSampleContentProvided = 4_000_041
  case invalidUserStatus = 4_000_042
  case invalidTransactionNotConsumable = 4_000_043
  case invalidTransactionTypeNotSupported = 4_000_047
  case appTransactionIdNotSupported = 4_000_048
  case invalidImage = 4_000_161
  case headerTooLong = 4_000_162
  case bodyTooLong = 4_000_163
  case invalidLocale = 4_000_164
  case altTextTooLong = 4_000_175
  case invalidAppAccountTokenUUID = 4_000_183
  case familyTransactionNotSupported = 4_000_185
  case transactionIdNotOriginalTransactionId = 4_000_187
  case invalidPerformanceTestRequest = 4_000_211
  case invalidRequestId = 4_000_212
  case existingPerformanceTestRun = 4_000_213
  case badRequestRealtimeUrl = 4_000_215
  case badRequestImageSize = 4_000_216
  case badRequestTooManyBulletPoints = 4_000_218
  case badRequestBulletPointTextTooLong = 4_000_219
  case badRequestAboveImageRequiresAnImage = 4_000_224

  case subscriptionExtensionIneligible = 4_030_004
  case subscriptionMaxExtension = 4_030_005
  case familySharedSubscriptionExtensionIneligible = 4_030_007
  case maximumNumberOfImagesReached = 4_030_014
  case maximumNumberOfMessagesReached = 4_030_016
  case messageNotApproved = 4_030_017
  case imageNotApproved = 4_030_018
  case imageInUse = 4_030_019
  case forbiddenNoPassingTest = 4_030_026

  case accountNotFound = 4_040_001
  case accountNotFoundRetryable = 4_040_002
  case appNotFound = 4_040_003
  case appNotFoundRetryable = 4_040_004
  case originalTransactionIdNotFound = 4_040_005
  case originalTransactionIdNotFoundRetryable = 4_040_006
  case serverNotificationUrlNotFound = 4_040_007
  case testNotificationNotFound = 4_040_008
  case statusRequestNotFound = 4_040_009
  case transactionIdNotFound = 4_040_010
  case imageNotFound = 4_040_014
  case messageNotFound = 4_040_015
  case performanceTestRunNotFound = 4_040_018
  case appTransactionDoesNotExist = 4_040_019
  case defaultMessageNotFound = 4_040_020
  case realtimeUrlNotFound = 4_040_021

  case imageAlreadyExists = 4_090_000
  case messageAlreadyExists = 4_090_001

  case rateLimitExceeded = 4_290_000

  case generalInternal = 5_000_000
  case generalInternalRetryable = 5_000_001

  package var status: Int { Int(rawValue / 10_000) }

  /// Whether Apple's name for the code ends in `Retryable`.
  package var isRetryable: Bool { "\(self)".hasSuffix("Retryable") }

  /// Apple's text is a sentence of the same words.
  package var message: String {
    var words = ""
    for character in "\(self)" {
      if character.isUppercase { words.append(" ") }
      words += character.lowercased()
    }
    return words.prefix(1).uppercased() + words.dropFirst() + "."
  }
}
