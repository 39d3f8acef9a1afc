import Backfill
import BulkMigration
import Database
import Ledger
import Runtime
import Signing

/// The sources of a job on the command line: files, folders, stdin, a table.
struct MigrateSources {
  static let options: [Option] = [
    .value(
      "source-database", "URL", environment: "SWITCHYARD_SOURCE_DATABASE",
      "The old back end's MySQL, for --table; with a password use the variable. An account that may only SELECT is enough."
    ),
    .value(
      "table", "NAME", "Read this table of --source-database, page by page in the order of its key; nothing is locked."),
    .value(
      "column", "WHAT=COLUMN", repeats: true,
      """
      Which column holds what: receipt, user or app of a table, a CSV (its headers) or JSON objects (their members), by \
      their usual names unless named; key of a table, which has to be unique and never NULL: the primary key \
      unless named.
      """),
    .value("where", "CONDITION", "Read only these rows of the table, as \"created_at < '2026-01-01'\"."),
  ]

  /// The copy of stdin.
  ///
  /// Each command removes it unless a job or a plan will read it.
  let spooled: SpooledInput
  private let paths: [String]
  private let arguments: ParsedArguments
  private let table: String?
  private let condition: WhereClause?
  private let wishes: TableInspection.Wishes

  init(_ arguments: ParsedArguments, _ options: DatabaseOptions) throws(UsageError) {
    self.arguments = arguments
    paths = arguments.positionals
    spooled = SpooledInput(in: options.dataDirectory)
    table = arguments.value("table")
    do throws(WhereClause.Flaw) {
      condition = try arguments.value("where").map { text throws(WhereClause.Flaw) in try WhereClause(text)
      }
    } catch {
      throw UsageError(.invalidValue, "--where is one condition of SQL: \(error.rawValue).", path: arguments.path)
    }
    var wishes = TableInspection.Wishes()
    var named: Set<String> = []
    for text in arguments.values("column") {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts.count, parts.first) {
      case (2, "key"): wishes.key = parts[1]
      case (2, "receipt"): wishes.content = parts[1]
      case (2, "user"): wishes.userID = parts[1]
      case (2, "app"): wishes.app = parts[1]
      default:
        throw UsageError(
          .invalidValue, "--column takes receipt=COLUMN, user=COLUMN, app=COLUMN or key=COLUMN.", path: arguments.path)
      }
      guard named.insert(parts[0]).inserted else {
        throw UsageError(.invalidValue, "Give --column \(parts[0])=COLUMN only once.", path: arguments.path)
      }
    }
    if let name = wishes.ambiguous {
      throw UsageError(
        .invalidValue, "--column names \(UsageError.shown(name)) for two things; each needs its own column.",
        path: arguments.path)
    }
    self.wishes = wishes
    if table != nil, arguments.value("source-database") == nil {
      throw UsageError(
        .missingOption, "Say where --table is: --source-database, or SWITCHYARD_SOURCE_DATABASE.", path: arguments.path)
    }
    if table == nil, paths.isEmpty {
      throw UsageError(.missingArgument, "Name a SOURCE: a file, a folder, - or --table.", path: arguments.path)
    }
  }

  /// Returns the table's source for a plan; `nil` without a table.
  func tableSource() async throws -> (source: TableSource, password: String?)? {
    guard let table, let text = arguments.value("source-database") else { return nil }
    let configuration: DatabaseConfiguration
    do throws(DatabaseURLError) { configuration = try DatabaseURL(text).configuration } catch {
      throw UsageError(.invalidValue, "--source-database: \(error)", path: arguments.path)
    }
    let password = configuration.password.isEmpty ? nil : configuration.password
    let connection: Connection
    do throws(DatabaseError) {
      connection = try await Connection.open(TableSource.careful(configuration))
    } catch {
      throw SourceCheck.Flaw(error, of: "table \(table)", hasPassword: password != nil)
    }
    let found: Result<TableSource, any Error>
    do {
      found = .success(
        try await TableInspection.source(
          table, at: DatabaseURL.withoutPassword(configuration), wishes: wishes, condition: condition, on: connection))
    } catch { found = .failure(error) }
    await connection.close()
    return (try found.get(), password)
  }

  /// Returns the parts of all sources, which must exist; stdin is stored first.
  ///
  /// - Returns: also the operator's names of the files and folders, by their absolute paths.
  func parts(
    sealedWith keys: () throws -> Keyring
  ) async throws -> (parts: [MigrationJobTable.NewPart], names: [String: String]) {
    var (parts, names): ([MigrationJobTable.NewPart], [String: String]) = ([], [:])
    // With a table, the names are the table's.
    let columns =
      table == nil
      ? NamedColumns(receipt: wishes.content, userID: wishes.userID, app: wishes.app) : NamedColumns()
    for path in paths {
      let file = try path == "-" ? spooled.keep() : path
      parts += try FileSource.parts(of: file, columns: columns)
      names[FileMetadata.absolute(file)] = path == "-" ? "standard input" : path
    }
    if let (source, password) = try await tableSource() {
      parts.append(source.part(password: password, sealedWith: password == nil ? nil : try keys()))
    }
    return (parts, names)
  }
}
