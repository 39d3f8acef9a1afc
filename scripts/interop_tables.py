"""Holds `switchyard extract` against tables that Python's csv module writes, and Python against its rejects.

    interop_tables.py SWITCHYARD WORLD [TABLES]

WORLD was made by `switchyard simulate --generate`. Each of the tables (10,000) has its own columns, delimiter, quoting,
line ends and byte order mark, and texts with everything in them: quotes, delimiters, line breaks, whole rows with a
receipt of somebody else. Every receipt has to be its own user's, and every reject has to come back whole. Then one quote
of each table is lost or added: whatever is still taken has to be its own user's. Exit status 1 when something is not so.
"""

import base64
import csv
import io
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

SEED = 20260
USERS = ["user_id", "userId", "Customer", "account-id", "uid"]
RECEIPTS = ["receipt", "receipt-data", "latest_receipt", "Receipt Data", "encoded_receipt"]
APPS = ["app", "bundle_id", "bid"]
OTHERS = ["comment", "note", "id", "created at", "sub,ject", "a;b", 'said "so"', "two\nlines", "tab\tbed", "größe", "état"]
PIECES = [
    '"', '""', '"""', ",", ";", "\t", "\n", "\r\n", "\r", " ", "'", "\\", '\\"', "=1+2", "-", "@x", "é", "😀", "\u2028",
    "Dear team", "I, bob, paid", '",', ',"', '"\n', '\n"', "0", "null", "\ufeff",
]
DAMAGED = {"n/a!": "notBase64", "": "empty", "aGVsbG8gd29ybGQ=": "notAReceipt", "x, \"y\"\nz": "notBase64"}


class Table:
    """A table, its rows, and what has to become of them."""

    def __init__(self, dice, receipts, lookalikes):
        self.delimiter = dice.choice(",;\t")
        self.terminator = dice.choice(["\n", "\r\n", "\r", "\r\r\n"])
        self.quoting = dice.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        self.mark = "\ufeff" if dice.random() < 0.2 else ""
        user, receipt = dice.choice(USERS), dice.choice(RECEIPTS)
        app = [dice.choice(APPS)] if dice.random() < 0.5 else []
        self.columns = [user, receipt] + app + [self.quotable(name) for name in dice.sample(OTHERS, dice.randint(0, 4))]
        dice.shuffle(self.columns)
        self.lookalikes = lookalikes
        # Line, user and whose receipt it is; rejected rows with their reason; whose receipt a text is.
        self.usable, self.rejects, self.customers = [], [], {}
        output = io.StringIO()
        writer = csv.writer(
            output, delimiter=self.delimiter, lineterminator=self.terminator, quoting=self.quoting
        )
        writer.writerow(self.columns)
        header = len(output.getvalue())
        for number in range(dice.randint(0, 6)):
            owner = f"u{dice.randrange(10**9)}-{number}"
            bundle = "Inkwell"
            if dice.random() < 0.5 and receipts:
                text, own, customer = receipts.pop()
                bundle = own if dice.random() < 0.7 else bundle
                reason = "wrongBundle" if app and dice.random() < 0.1 else None
            else:
                text, reason = dice.choice(list(DAMAGED.items()))
                customer = None
            if reason == "wrongBundle":
                bundle = "com.example.other"
            if customer is not None:
                text = self.broken(dice, text) if dice.random() < 0.3 else text
                self.customers[text] = customer
            values = {user: owner, receipt: text, **dict.fromkeys(app, bundle)}
            row = [values.get(column) if column in values else self.text(dice) for column in self.columns]
            line = 1 + self.lines(output.getvalue())
            writer.writerow(row)
            if reason:
                self.rejects.append([str(value) for value in row] + [reason])
            else:
                self.usable.append((line, owner, customer))
        self.body = output.getvalue()
        if dice.random() < 0.3 and self.body.endswith(self.terminator):
            self.body = self.body[: -len(self.terminator)]
        self.header = min(header, len(self.body))

    def lines(self, text):
        return text.count("\r" if self.terminator == "\r" else "\n")

    @staticmethod
    def broken(dice, text):
        """Base64 in lines, as openssl and mail programs write it."""
        width, end = dice.choice([64, 76]), dice.choice(["\n", "\r\n"])
        return end.join(text[start : start + width] for start in range(0, len(text), width))

    def text(self, dice):
        """What somebody wrote, who may have known what a row looks like."""
        if dice.random() < 0.1:
            return dice.randrange(1000)
        parts = dice.choices(PIECES, k=dice.randint(0, 8))
        if dice.random() < 0.15:
            line = io.StringIO()
            row = ["victim" if column in USERS else "x" for column in self.columns]
            row = [dice.choice(self.lookalikes) if column in RECEIPTS else value for column, value in zip(self.columns, row)]
            csv.writer(line, delimiter=self.delimiter, lineterminator=self.terminator).writerow(row)
            parts.insert(dice.randint(0, len(parts)), self.terminator + line.getvalue())
        return self.quotable("".join(parts))

    def quotable(self, text):
        """With a line break of the table's own, if it has any: before 3.13 the module does not quote others."""
        is_broken = any(end in text for end in "\r\n") and not any(end in text for end in self.terminator)
        return text + self.terminator + "." if is_broken else text

    def encoded(self, body):
        return (self.mark + body).encode()

    def damaged(self, dice):
        """The table with one quote too few or too many."""
        quotes = [index for index, byte in enumerate(self.body) if byte == '"' and index >= self.header]
        if quotes and dice.random() < 0.5:
            place = dice.choice(quotes)
            return self.body[:place] + self.body[place + 1 :]
        place = dice.randint(self.header, len(self.body))
        return self.body[:place] + '"' + self.body[place:]

    def read(self, text):
        """The rows as Python's strict reader has them; None when it refuses."""
        try:
            return list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))
        except csv.Error:
            return None

    def owners(self, text):
        """Users and customers as Python's strict reader has them."""
        user = next(index for index, column in enumerate(self.columns) if column in USERS)
        receipt = next(index for index, column in enumerate(self.columns) if column in RECEIPTS)
        rows = [row for row in self.read(text) or [] if len(row) == len(self.columns)]
        return {(row[user], self.customers.get(row[receipt])) for row in rows}


def extract(switchyard, root, source, rejects, customers):
    """What came out, by file (line, user and whose receipt it is), and the accounts."""
    run = subprocess.run(
        [switchyard, "extract", "--json", "--root", str(root), "--rejects", f"{rejects}/", str(source)],
        text=True, capture_output=True,
    )
    if run.returncode not in (0, 3):
        sys.exit(f"interop: FAILED: extract ended with {run.returncode}\n{run.stderr}")
    found = {}
    for line in run.stdout.splitlines():
        receipt = json.loads(line)
        (customer,) = {customers[id] for id in receipt["originalTransactionIds"]}
        found.setdefault(Path(receipt["file"]).name, []).append((receipt["line"], receipt["userId"], customer))
    return found, json.loads(run.stderr.splitlines()[-1])


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def main():
    switchyard, world = sys.argv[1], Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    csv.field_size_limit(1 << 24)
    root = world / "receipt-root.der"
    root.write_bytes(base64.b64decode(json.loads((world / "world.json").read_text())["receiptRootDER"]))
    with open(world / "receipts.csv", newline="") as file:
        texts = [(row["receipt"], row["app"]) for row in csv.DictReader(file)]
    with open(world / "truth.jsonl") as file:
        truth = [json.loads(line) for line in file]
    people = [line["customer"] for line in truth if line["kind"] == "customer" and "receipt" in line]
    numbers = {customer: number for number, customer in enumerate(people)}
    customers = {
        line["transaction"]["originalTransactionId"]: numbers[line["customer"]]
        for line in truth
        if line["kind"] == "purchase" and line["customer"] in numbers
    }
    dice = random.Random(SEED)
    receipts = [(text, app, number) for number, (text, app) in enumerate(texts)]
    dice.shuffle(receipts)
    lookalikes = sorted((text for text, _ in texts), key=len)[:200]
    names = [f"{number:05}" for number in range(count)]
    tables = {name: Table(dice, receipts, lookalikes) for name in names}
    problems, counts = [], Counter()
    for folder in ("tables", "damaged"):
        (world / folder).mkdir()
    for name, table in tables.items():
        (world / "tables" / name).write_bytes(table.encoded(table.body))

    # Every receipt to its own user.
    found, accounts = extract(switchyard, root, world / "tables", world / "rejects", customers)
    for name, table in tables.items():
        if found.get(name, []) != table.usable:
            problems.append(f"{name}: {found.get(name, [])} instead of {table.usable}")
        counts["receipts, each its own user's"] += len(table.usable)
    if accounts["in"] != sum(len(table.usable) + len(table.rejects) for table in tables.values()):
        problems.append(f"the accounts are {accounts}")

    # Every reject back whole, and again.
    rejects = files(world / "rejects")
    for name, table in tables.items():
        text = rejects.get(name, b"").decode("utf-8-sig" if table.mark else "utf-8")
        expected = [table.columns + ["reason"]] + table.rejects if table.rejects else []
        if table.read(text) != expected:
            problems.append(f"{name}: the rejects read otherwise: {text[:2000]!r}")
        counts["rejects, read back by Python row for row"] += len(table.rejects)
    again, accounts = extract(switchyard, root, world / "rejects", world / "again", customers)
    if again or files(world / "again") != rejects:
        problems.append(f"the rejects of the rejects are others: {accounts}")

    # A quote lost or added: nobody gets another one's receipt.
    damaged = {name: table.damaged(dice) for name, table in tables.items() if table.usable or table.rejects}
    for name, text in damaged.items():
        (world / "damaged" / name).write_bytes(tables[name].encoded(text))
    found, accounts = extract(switchyard, root, world / "damaged", world / "doubtful", customers)
    taken = 0
    for name, rows in found.items():
        table = tables[name]
        own = {(user, customer) for _, user, customer in table.usable}
        rows = [(user, customer) for _, user, customer in rows]
        taken += len(rows)
        if not own.issuperset(rows):
            # Unless RFC 4180 allows the damaged text: then it says whose they are.
            if not table.owners(damaged[name]).issuperset(rows):
                problems.append(f"{name}: {set(rows) - own} of {damaged[name][:2000]!r}")
            else:
                counts["damaged tables that Python's strict reader reads too"] += 1
    counts["receipts of damaged tables, each its own user's"] = taken
    rejects = files(world / "doubtful")
    again, _ = extract(switchyard, root, world / "doubtful", world / "doubtful-again", customers)
    if again or files(world / "doubtful-again") != rejects:
        problems.append("the rejects of the rejects of damaged tables are others")
    for name, text in rejects.items():
        table = tables[name]
        if table.read(text.decode("utf-8-sig" if table.mark else "utf-8")) is None:
            problems.append(f"{name}: Python refuses the rejects of a damaged table")

    for what, number in counts.items():
        print(f"interop: {number} {what}")
    for problem in problems[:20]:
        print(f"interop: DIFFERENT {problem}", file=sys.stderr)
    if problems or not counts["receipts, each its own user's"]:
        sys.exit(f"interop: FAILED: {len(problems)} differences (seed {SEED})")
    print(f"interop: ok: {count} tables of Python's csv module, written and read by either, say the same")


main()
