enum ConnectionPhase {
  case reading
  /// The rest of a rejected body is dropped, so that the client can read the reason.
  case discarding(left: Int)
  case deciding(PendingResult<HTTPAdmission>)
  case answering(PendingResult<HTTPResponse>)
  case sending
  /// The response is out and the end announced.
  ///
  /// Further input is dropped for a moment: closing with unread bytes resets the connection, which loses the response.
  case lingering(left: Int)
  case over
}
