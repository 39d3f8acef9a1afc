import Mappings

/// Says what the rows of the tables know of a notification, and which V1 notifications it was before.
func lookUpEvent() -> (row: String, typesV1: [String]) {
  let vocabulary = Vocabulary.embedded
  let event = vocabulary.events["DID_RENEW", "BILLING_RECOVERY"]
  let earlier = vocabulary.eventsToLegacy["DID_RENEW", "BILLING_RECOVERY"]
  return (event?.id ?? "unknown", earlier.flatMap(\.typesV1))
}
