"""Reads our answers of verifyReceipt and the simulated App Store's by clients that people use, and compares.

    interop_answers.py SWITCHYARD DIRECTORY

DIRECTORY is what `switchyard simulate --port` was given as --out. A service of ours is started beside it, live in the
Sandbox, with an old client's receipts (both generations). inapppy and itunes-iap are pointed at each of both with nothing
changed but the host. What a client makes of both answers has to be the same, but for what only Apple can sign
(latest_receipt) and the time of the request; for every status that a client can cause, too.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

import itunesiap
import itunesiap.exceptions
import itunesiap.request
from inapppy import AppStoreValidator, InAppPyValidationError

SWITCHYARD, DIRECTORY = sys.argv[1], Path(sys.argv[2])
WORLD = json.loads((DIRECTORY / "world.json").read_text())
APP = WORLD["apps"][0]
SECRET = APP["sharedSecret"]
APPLE = WORLD["productionURL"]
RECEIPTS = 20
# A receipt without purchases names no customer: Apple goes on answering it.
TRIES = 20
# Only Apple can sign it anew; the moments of two requests differ.
OWN = {"latest_receipt", "request_date", "request_date_ms", "request_date_pst"}
# The iOS 6 receipts that the simulated App Store hands out sign fewer keys than its own answer about them tells, and other
# numbers of the app and the device; Apple's answer tells what is signed, and so does ours.
UNSIGNED = {"item_id", "app_item_id", "bvrs", "version_external_identifier", "unique_identifier", "unique_vendor_identifier"}
counts = Counter()
csv.field_size_limit(1 << 30)


def fail(words):
    sys.exit(f"interop: FAILED: {words}")


def run(*words, **more):
    done = subprocess.run([SWITCHYARD, *words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        fail(f"switchyard {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def plain(value):
    """The same without what may differ."""
    if isinstance(value, dict):
        own = OWN
        if isinstance(value.get("receipt"), dict) and "in_app" not in value["receipt"]:
            value = {name: inner for name, inner in value.items() if name != "receipt"}
        if "bid" in value:
            own = OWN | UNSIGNED
        return {name: plain(inner) for name, inner in value.items() if name not in own}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def inapppy(host, receipt, secret, exclude_old, sandbox):
    class Pointed(AppStoreValidator):
        def _change_url_by_sandbox(self):
            super()._change_url_by_sandbox()
            for apple, ours in (
                ("https://sandbox.itunes.apple.com", f"{host}/sandbox"),
                ("https://buy.itunes.apple.com", host),
            ):
                self.url = self.url.replace(apple, ours)

    try:
        read = Pointed(sandbox=sandbox).validate(receipt, secret, exclude_old_transactions=exclude_old)
        return ["valid", plain(read)]
    except InAppPyValidationError as error:
        return [str(error).split("{")[0], plain(error.raw_response)]


def itunes_iap(host, receipt, secret, exclude_old, sandbox):
    class Pointed(itunesiap.request.Request):
        PRODUCTION_VALIDATION_URL = f"{host}/verifyReceipt"
        SANDBOX_VALIDATION_URL = f"{host}/sandbox/verifyReceipt"

    request = Pointed(receipt, secret, exclude_old_transactions=exclude_old)
    try:
        response = request.verify(use_production=not sandbox, use_sandbox=sandbox)
    except itunesiap.exceptions.InvalidReceipt as error:
        return ["invalid", error.status]
    read = response.receipt
    # It takes an iOS 6 receipt for a row of itself, with fields that the simulator's does not sign.
    rows = read.in_app if "in_app" in read else []
    return [
        "valid", response.status, plain(response._),
        [(row.product_id, row.transaction_id, row.quantity, str(row.purchase_date)) for row in rows],
    ]


def bare(base, path, body):
    """Status and body of what no client of the two sends."""
    call = urllib.request.Request(base + path, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(call, timeout=60) as answer:
        return answer.status, json.load(answer), answer.headers.get("Switchyard-Answered-By")


def compare(name, ours, theirs):
    counts[name.split(",")[0]] += 1
    if ours != theirs:
        fail(f"{name}: ours {json.dumps(ours)[:2000]}\ntheirs {json.dumps(theirs)[:2000]}")


def receipts():
    """Of both generations."""
    with open(DIRECTORY / "receipts.csv", newline="") as file:
        rows = [row["receipt"] for row in csv.DictReader(file) if row["app"] == APP["bundleId"]]
    told = [("app receipt", receipt) for receipt in rows[:RECEIPTS]]
    base = f"{WORLD['controlURL']}/customers"
    with urllib.request.urlopen(f"{base}?bundleId={APP['bundleId']}&limit={RECEIPTS}") as answer:
        customers = json.load(answer)["customers"]
    for customer in customers:
        # A subscription's newest, and something else; consumables that are used up are in no receipt.
        shown = [row["legacyTransactionId"] for row in customer["transactions"] if row["type"] != "Consumable"]
        for transaction in set(shown[:1] + shown[-1:]):
            path = f"{base}/{customer['customer']}/receipt?transactionId={transaction}"
            with urllib.request.urlopen(path) as answer:
                told.append(("iOS 6 receipt", answer.read().decode()))
    return told


def main():
    with tempfile.TemporaryDirectory() as place:
        secret = Path(place, "secret.txt")
        secret.write_text(SECRET)
        data = ["--data-dir", f"{place}/data"]
        run("app", "add", APP["bundleId"], "--key-file", WORLD["keyFile"], "--key-id", WORLD["keyId"],
            "--issuer", WORLD["issuerId"], *data)
        run("app", "secret", APP["bundleId"], "--file", str(secret), *data)
        run("rollout", "set", APP["bundleId"], "live", "--environment", "Sandbox", "--force", "--reason", "interop", *data)
        service = subprocess.Popen(
            [SWITCHYARD, "serve", "--listen", "127.0.0.1:0", "--trust-root", str(DIRECTORY / "root.der"), "--trust-root",
             str(DIRECTORY / "receipt-root.der"),
             # An iOS 6 receipt signs no environment: only a root of Production may vouch for it.
             "--trust-root", f"Production={DIRECTORY / 'receipt-root.der'}",
             "--i-know-this-root-can-make-purchases-count", "--reconcile-every", "0", "--heartbeat-every", "0",
             "--verify-receipt-url", f"{APPLE}/verifyReceipt", "--verify-receipt-sandbox-url",
             f"{APPLE}/sandbox/verifyReceipt", *data],
            env={**os.environ, "SWITCHYARD_BASE_URL": APPLE}, stdout=subprocess.PIPE, text=True)
        try:
            talk(json.loads(service.stdout.readline())["url"])
        finally:
            service.terminate()
            service.wait(timeout=60)
    print("interop: answers of verifyReceipt read alike: " + ", ".join(f"{n} {c}" for n, c in sorted(counts.items())))


def talk(ours):
    told = receipts()
    if {kind for kind, _ in told} != {"app receipt", "iOS 6 receipt"}:
        fail("the world has no receipts of both generations")
    sources = Counter()
    for kind, receipt in told:
        # Not known yet, Apple's answer is passed on; from then on it is ours.
        body = json.dumps({"receipt-data": receipt, "password": SECRET}).encode()
        for _ in range(TRIES):
            _, answer, source = bare(ours, "/sandbox/verifyReceipt", body)
            if source != "apple":
                break
            time.sleep(0.5)
        sources[source] += 1
        for client in (inapppy, itunes_iap):
            name = f"{client.__name__} of an {kind}" if kind[0] in "ai" else f"{client.__name__} of {kind}"
            for exclude_old in (False, True):
                compare(name, *(client(host, receipt, SECRET, exclude_old, True) for host in (ours, APPLE)))
        # The secret counts for subscriptions alone; the simulator refuses a wrong one with any receipt.
        other = "0" * 32 if "expires_date" in json.dumps(answer) else SECRET
        for label, args in (
            ("wrong secret", (receipt, other, False, True)), ("damaged", (receipt[:200], SECRET, False, True)),
            ("no receipt", ("", SECRET, False, True)), ("other environment", (receipt, SECRET, False, False)),
        ):
            for client in (inapppy, itunes_iap):
                compare(f"{client.__name__}, {label}", *(client(host, *args) for host in (ours, APPLE)))
    if sources["ledger"] + sources["lookup"] < len(told) / 2:
        fail(f"Apple answered most of it: {sources}")


main()
