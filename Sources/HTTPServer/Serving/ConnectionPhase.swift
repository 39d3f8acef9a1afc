/// The part of a request that a connection is at.
enum ConnectionPhase {
  case reading
  /// What is left of a refused body is read and dropped, so that the client gets to read why.
  case discarding(left: Int)
  /// The handler decides whether to take the body.
  case deciding(PendingResult<HTTPAdmission>)
  case answering(PendingResult<HTTPResponse>)
  case sending
  /// The answer is out and the end announced. What still arrives is dropped for a moment: closing with unread bytes
  /// resets the connection, and the answer is lost with it.
  case lingering(left: Int)
  case over
}
