"""Compares `switchyard jws verify` with Apple's own verifier, message by message.

    interop.py SWITCHYARD OURS STRANGERS

OURS and STRANGERS are worlds of `switchyard simulate --generate`; the root of the first is trusted. Both sides have to accept
its notifications with the same contents, and to refuse each of them damaged, and the strangers'. Exit status 1 when they differ.
"""

import base64
import json
import subprocess
import sys
from collections import Counter
from enum import Enum
from pathlib import Path

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

def payload(jws):
    """The payload of a JWS, unverified."""
    segment = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))


def plain(value):
    return value.value if isinstance(value, Enum) else value


def differences(decoded, raw, place):
    """The fields of `raw` that Apple's library knows and reads otherwise."""
    found = []
    for name, value in raw.items():
        if not hasattr(decoded, name) or isinstance(value, (dict, list)):
            continue
        seen = plain(getattr(decoded, name))
        if seen is None:
            seen = getattr(decoded, "raw" + name[0].upper() + name[1:], None)
        if seen != value:
            found.append(f"{place}.{name} is {seen!r} to Apple's library, {value!r} in what was signed")
    return found


class Apple:
    """Apple's verifier, told what an app's back end would tell it."""

    def __init__(self, root):
        self.root = root
        self.verifiers = {}

    def verifier(self, data):
        key = (data["bundleId"], data["environment"], data.get("appAppleId"))
        if key not in self.verifiers:
            self.verifiers[key] = SignedDataVerifier([self.root], False, Environment(key[1]), key[0], key[2])
        return self.verifiers[key]

    def read(self, body):
        """What a notification and the JWS inside it say; raises when Apple's library refuses any of them."""
        jws = json.loads(body)["signedPayload"]
        claims = payload(jws)
        # What the envelope claims is what is expected of everything inside it.
        carriers = ("data", "summary", "externalPurchaseToken", "appData")
        data = dict(next(claims[name] for name in carriers if name in claims))
        if "externalPurchaseToken" in claims:
            is_sandbox = data["externalPurchaseId"].startswith("SANDBOX")
            data["environment"] = "Sandbox" if is_sandbox else "Production"
        verifier = self.verifier(data)
        problems = differences(verifier.verify_and_decode_notification(jws), claims, "notification")
        inside = {}
        for kind, verify in (
            ("Transaction", verifier.verify_and_decode_signed_transaction),
            ("Renewal", verifier.verify_and_decode_renewal_info),
        ):
            nested = (claims.get("data") or {}).get(f"signed{kind}Info")
            if nested:
                inside[kind.lower()] = payload(nested)
                problems += differences(verify(nested), payload(nested), kind.lower())
        return claims, inside, problems


def damaged(body, stranger):
    """The same notification with its payload, signature, header or certificate changed."""
    header, claims, signature = json.loads(body)["signedPayload"].split(".")
    other = json.loads(stranger)["signedPayload"].split(".")
    last = "A" if signature[10] != "A" else "B"
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for what, jws in (
        ("another payload", [header, other[1], signature]),
        ("another signature", [header, claims, signature[:10] + last + signature[11:]]),
        ("another's certificates", [other[0], claims, signature]),
        ("no algorithm", [none, claims, ""]),
        ("no signature", [header, claims, ""]),
    ):
        yield what, json.dumps({"signedPayload": ".".join(jws)}, separators=(",", ":"))


def main():
    switchyard, ours, strangers = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    root = ours / "root.der"
    bodies = (ours / "notifications.jsonl").read_text().splitlines()
    foreign = (strangers / "notifications.jsonl").read_text().splitlines()
    signed = [(f"notification {number}", True, body) for number, body in enumerate(bodies, 1)]
    signed += [(f"stranger's {number}", False, body) for number, body in enumerate(foreign, 1)]
    for number, (body, other) in enumerate(zip(bodies[:40], foreign[1:]), 1):
        signed += [(f"notification {number} with {what}", False, made) for what, made in damaged(body, other)]
    apple = Apple(root.read_bytes())
    counts, problems = Counter(), []

    lines = "\n".join(body for _, _, body in signed)
    run = subprocess.run(
        [switchyard, "jws", "verify", "--json", "--root", str(root), "-"], input=lines, text=True, capture_output=True
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(signed):
        sys.exit(f"interop: {len(answers)} answers to {len(signed)} messages (exit {run.returncode})\n{run.stderr}")

    for (name, should_be_genuine, body), our in zip(signed, answers):
        try:
            claims, inside, found = apple.read(body)
            theirs = None
        except VerificationException as refusal:
            theirs = refusal.status.name
        expected = "genuine" if should_be_genuine else "refused"
        if (theirs is None) != should_be_genuine:
            problems.append(f"{name}: Apple's library says {theirs or 'genuine'}, expected {expected}")
        if ("error" not in our) != should_be_genuine:
            problems.append(f"{name}: switchyard says {our.get('error', 'genuine')}, expected {expected}")
        if theirs is not None or "error" in our:
            counts[f"refused by both ({our.get('error', {}).get('code')}; {theirs})"] += 1
            continue
        counts["accepted by both, contents equal"] += 1
        problems += [f"{name}: {problem}" for problem in found]
        if our["payload"] != claims:
            problems.append(f"{name}: the notification reads otherwise")
        for kind in ("transaction", "renewal"):
            if our[kind] != inside.get(kind):
                problems.append(f"{name}: the {kind} reads otherwise")

    for what, count in counts.most_common():
        print(f"interop: {count} {what}")
    for problem in problems:
        print(f"interop: DIFFERENT {problem}", file=sys.stderr)
    if problems or not counts["accepted by both, contents equal"]:
        sys.exit("interop: FAILED")
    print("interop: ok: Apple's own verifier and switchyard agree on every message")


main()
