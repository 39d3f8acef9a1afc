/// What the fuzzer begins with: tables of each delimiter and line end, and texts to write tables of.
enum RowSeeds {
  static func all() -> [[UInt8]] {
    let rows = [
      "alice,\"Dear team,\nI, bob, paid\",R1\nbob,x,R2\n", "alice,\"x\"\"y\",R1\r\nbob,\"\",R2\r\n",
      "a,b\n\n\"\"\n,,\n",
      "alice,\"x,R1\nbob,y,R2\ncarol,\"z,\nz\",R3\n", "alice,a 5\" screen,R1\nbob,{\"a\":\"\"},R2\n",
      "alice,Hello\nbob,paid,R1\ncarol,x,R3\n", "alice,\",\",R1\nbob,\"\n,\",R2\n",
    ]
    let texts = ["Dear team", "u9,x,R9\n", "\"", "\"\",\"", "\r\n", ",", "é \" \n\" ,"]
    let written = texts.map { Array($0.utf8) }.joined(separator: [0xFF])
    return (UInt8(0)..<12).flatMap { choice -> [[UInt8]] in
      let delimiter = [",", ";", "\t"][Int(choice % 3)]
      let lineEnd = ["\n", "\r\n", "\r", "\r\r\n"][Int(choice / 3)]
      let tables = rows.map { text in
        [choice] + Array(text.replacing(",", with: delimiter).replacing("\n", with: lineEnd).utf8)
      }
      // 132 is the first of the written ones that has the same delimiter and line end as 0.
      return tables
        + ([0, 0x45, 0x8A, 0xDF] as [UInt8]).map { order in [132 + choice, order, 0, order] + Array(written) }
    }
  }
}
