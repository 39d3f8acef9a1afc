"""Compares `switchyard extract` with what Apple's own library finds in the same receipts.

    interop_receipts.py SWITCHYARD WORLD

WORLD was made by `switchyard simulate --generate`. Apple's library finds one id in a receipt, unverified; it has to be
among ours, for every receipt. Exit status 1 when one is not.
"""

import base64
import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from appstoreserverlibrary.receipt_utility import ReceiptUtility


def main():
    switchyard, world = sys.argv[1], Path(sys.argv[2])
    root = world / "receipt-root.der"
    root.write_bytes(base64.b64decode(json.loads((world / "world.json").read_text())["receiptRootDER"]))
    run = subprocess.run(
        [switchyard, "extract", "--root", str(root), str(world / "receipts.csv")], text=True, capture_output=True
    )
    if run.returncode != 0:
        sys.exit(f"interop: FAILED: extract ended with {run.returncode}\n{run.stderr}")
    ours = [json.loads(line) for line in run.stdout.splitlines()]
    with open(world / "receipts.csv", newline="") as file:
        csv.field_size_limit(1 << 24)
        rows = list(csv.DictReader(file))
    if len(ours) != len(rows):
        sys.exit(f"interop: FAILED: {len(ours)} lines for {len(rows)} receipts\n{run.stderr}")
    apple, counts, problems = ReceiptUtility(), Counter(), []
    for row, our in zip(rows, ours):
        if our["kind"] == "transaction":
            theirs = apple.extract_transaction_id_from_transaction_receipt(row["receipt"])
        else:
            theirs = apple.extract_transaction_id_from_app_receipt(row["receipt"])
        # Apple's library takes the first transaction id or original id that it meets.
        known = set(our["originalTransactionIds"]) | {purchase["transactionId"] for purchase in our["purchases"]}
        if theirs in our["originalTransactionIds"]:
            counts[f"{our['kind']} receipts: the id that Apple's library finds is an original id of ours"] += 1
        elif theirs in known:
            counts[f"{our['kind']} receipts: it is a transaction id of ours"] += 1
        else:
            problems.append(f"{row['user_id']}: Apple's library finds {theirs!r}, not among ours")
    for what, count in counts.most_common():
        print(f"interop: {count} {what}")
    for problem in problems[:20]:
        print(f"interop: DIFFERENT {problem}", file=sys.stderr)
    if problems or not counts:
        sys.exit("interop: FAILED")
    print("interop: ok: what Apple's library finds in a receipt is among what switchyard finds, for every one")


main()
