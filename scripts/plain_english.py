#!/usr/bin/env python3
"""Counts patterns that make Switchyard's prose hard to read, by rule and by file.

  plain_english.py                     count everything below the current directory; exit 1 if anything is found
  plain_english.py --budget 4000       exit 1 only above 4,000 findings (lower it with every change)
  plain_english.py --check             compare with the budgets in .plain-english, one a line; exit 1 above one
  plain_english.py --strings Sources   only string literals: help, errors, log text
  plain_english.py --show whom docs    print each finding of one rule, here in docs only
  plain_english.py --test-names        also check the test names written as raw identifiers

Read: comments in Swift; string literals in Sources, Mappings and Examples (not in Tests: expected output follows its source);
Markdown outside code fences and `code`; comment lines of the tables. Never read: identifiers, SQL, code.
A line that contains `plain:ok`, or the line after it, is skipped: say why beside the marker.
"""
import argparse, collections, os, re, sys

I = re.IGNORECASE
START = r"(?:^|[.;:(|] )"
BEFORE_PREP = r"\b(?:of|by|with|from|than|as|on|behind|before|after|to|for|in|and|or|but) "
# name: (pattern, flags, text allowed directly before the match, advice)
RULES = {
  "whom": (r"\b(?:whom|whomever)\b", I, None, "name the noun: customers that …, the app that …"),
  "whoever": (r"\bwho(?:so)?ever\b", I, None, "the caller, the operator, a process that …"),
  "who-noun": (START + r"Who(?! (?:is|are|can|may|should) [^.|]*\?)\b|" + BEFORE_PREP + r"who\b", 0, None, "the sender, the caller, people who …"),
  "whose-noun": (START + r"Whose\b|" + BEFORE_PREP + r"whose\b|\bwhose (?:it|they|this|that|he|she) (?:is|are|was|were)\b", 0, None, "the app that owns …"),
  "somebody": (r"\b(?:nobody|somebody|anybody|everybody|no one|someone)\b", I, None, "name the role: no source, a caller, every client"),
  "what-noun": (START + r"What(?! (?:happens|you see|it means|to do|it is)\b)(?![^.|]*\?)\b|\b(?:of|by|with|from|than|as|on|behind|before|after|to|for|in) what\b", 0, None, "name the thing: the message, the rows, the result"),
  "became-of": (r"\b(?:becomes?|became|comes?|came) of\b", I, None, "the result of …, the outcome"),
  "none": (r"\b(?:there|is|are|was|were|has|have|had) none\b", I, None, "is missing; is not a …; has no …"),
  "is-no": (r"\b(?:is|are|was|were|be|been) no (?!longer|more|less|fewer|later|earlier|larger|smaller|other|such)\w+", I, r"\b[Tt]here $", "is not a …"),
  "mend": (r"\bmend(?:s|ed|ing)?\b", I, None, "fix, repair, correct"),
  "tell": (r"\b(?:tells?|told|tellings?)\b", I, None, "reports, states, shows, notifies; to tell apart: distinguish"),
  "hear": (r"\b(?:un)?hear[ds]?\b|\bhearing\b", I, None, "receive; not heard: no notification received"),
  "beside": (r"\bbesides?\b", I, None, "next to, in addition to, in parallel with"),
  "held-against": (r"\b(?:held|holds?) (?:[\w']+ ){0,6}against\b", I, None, "compared with"),
  "of-which": (r"\bof which\b", I, r"\b(?:each|all|some|most|many|none|one|two|three|four|both|any|half|part|either|several|\d+) $", "split the sentence, or: whose"),
  "by-itself": (r"\bby (?:it|them)sel(?:f|ves)\b", I, None, "automatically; separately; on its own"),
  "alone": (r"\balone\b", I, r"\b(?:leave|leaves|left|let|stand|stands|it|them|is|are)[ -]$", "only X (before the noun)"),
  "as-it-is": (r"\bas (?:it|they) (?:is|are|was|were|came|stands?|stood)\b(?=\s*(?:[.,;:|)]|$))", I, None, "unchanged; as received"),
  "so-many": (r"\bso (?:many|much)\b(?! (?:as|that|more|less))", I, None, "N; this number of; that far"),
  "is-to": (r"\b(?:is|are|was|were) (?:still |not )?to (?:be|have|go|get|bring|say|stand|come|keep|take|ask)\b", I, None, "must, should, will"),
  "vouch": (r"\bvouch\w*", I, None, "signed by, verified by; nothing vouches for it: it is unverified"),
  "goes-on": (r"\b(?:go|goes|going|went) on\b(?! (?:the|a)\b)", I, None, "continue"),
  "at-once": (r"\bat once\b", I, None, "immediately, or: at the same time"),
  "any-more": (r"\bany ?more\b(?! than)", I, None, "no longer"),
  "look-up": (r"\blook-ups?\b", I, None, "lookup (noun), look up (verb)"),
  "take-in": (r"\b(?:take|takes|took|taken|taking)(?: (?!in\b)\w+){0,2} in\b(?! (?:the|a|an|its|their|one|order|place|turns?|account|which|this|that|each|all|any|pieces|some|by)\b)", I, None, "ingest, import, accept"),
  "set-aside": (r"\bset(?:s|ting)? (?:\w+ )?aside\b", I, None, "quarantine"),
  "says-so": (r"\b(?:says?|said|is|was|are|were) so\b(?! (?:that|far|long|much|many|large|small|often|few)\b)", I, None, "repeat the fact"),
  "of-about": (r"\b(?:known|knows?|said|says?|learned|noted|asks?|asked|answers?) of\b", I, None, "about; an answer of verifyReceipt: a verifyReceipt response"),
  "idiom": (r"\bby lot\b|\bin earnest\b|\bfor ever\b|\bin vain\b|\bin so many words\b|\bof old\b|\ball the same\b|\bfor nothing\b|\bput(?:s|ting)? (?:\w+ )?off\b|\bturn(?:s|ed)? away\b|\bup to (?:where|when)\b|\bbut for\b|\b(?:on|along) (?:its|their|the) way\b|\bunder way\b|\bnow and then\b|\bat will\b|\bof late\b|\bin the place of\b|\bof age\b|\bfed again\b|\bgives? word\b|\bleaves? word\b", I, None, "at random, forever, before, still, in flight, until, except, in progress, periodically, instead of"),
  "double-genitive": (r"\b(?:an?|one|any|every|each|no|some|two) [\w-]+ of (?:Apple's|ours|theirs|mine|his|hers|Switchyard's)\b", I, None, "Apple's answer, our answer"),
  "of-its-own": (r"\bof (?:its|their|our|his|her|your) own\b", I, None, "its own X"),
  "stands": (r"\b(?:stands?|stood|standing)\b", I, None, "is; its state is; its position is; stand for: represent"),
  "place": (r"\bplaces?\b", I, r"\b(?:take|takes|took|taking|in|decimal) $", "position, location; app and environment"),
  "metaphor": (r"\b(?:roads?|lanes?|voices?|testimon\w+|silence[sd]?|desks?|mailroom|stock|turns|rooms?|houses?|pulse)\b", I, None, "path, queue, sample, source value, omission, quota, pass, space, module, heartbeat"),
  "whatever": (r"\b(?:whatever|whichever|wherever|however (?:many|much|long|short|often|large|small|it|they))\b", I, None, "regardless of …; for any …"),
  "else": (r"(?:^|[,;:.(] )else\b(?! if\b)", I, None, "otherwise"),
  "give-back": (r"\b(?:give|gives|given|gave|giving) (?:\w+ )?back\b", I, None, "release, return"),
  "old-back-end": (r"\bold back ends?\b", I, None, "destination; your existing back end"),
  "first-person": (r"\b(?:[Ww]e|us|[Oo]urs?|OURS?)\b", 0, None, "Switchyard, the service, this process"),
  "nil": (r"(?:^|[.;] )Nil\b", 0, None, "`nil` if …"),
  "spelling": (r"\b(?:behaviou?rs?(?<!behavior)(?<!behaviors)|colours?|artefacts?|licences?|neighbours?|centres?|favou?r(?<!favor)\w*|honour\w*|judgements?|catalogues?|(?:recogn|organ|serial|initial|normal|optim|author|summar|synchron|minim|maxim)is(?:e|es|ed|er|ers|ing|ation)s?)\b", I, None, "US spelling, as Apple and Swift write"),
  "doc-opening": (None, 0, None, "start with a noun phrase, Returns, Creates or a verb in the third person; not with What, How, Who, Why, Of, …"),
  "long-sentence": (None, 0, None, "at most 30 words: one fact a sentence"),
  "long-cell": (None, 0, None, "at most 25 words in a table cell"),
}
COMPILED = {n: (re.compile(p, f), re.compile(b) if b else None) for n, (p, f, b, _) in RULES.items() if p}
DOC_OPENING = re.compile(r"(?:What|How|Who\w*|Why|Where|Which|Of|Up to|By|As|From|Something|Some|Nothing|Not|Everything|Every\w*body|Nobody|Somebody|All|Those|So|Until|More)\b")
DEFAULT = ["Sources", "Mappings", "Tests", "Benchmarks", "Examples", "docs", "runbooks", "README.md", "CONTRIBUTING.md"]
GENERATED = {"docs/mappings.md", "docs/fidelity.md"}
SQL = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE|FORCE INDEX|STRAIGHT_JOIN|ON DUPLICATE)\b")
QUOTE = re.compile(r'#*"""|#*"')

def swift(text, strings, names):
  """Yields (line, kind, prose) of Swift source."""
  i, line, n = 0, 1, len(text)
  while i < n:
    if text[i] == "\n": line += 1; i += 1
    elif text.startswith("//", i):
      j = text.find("\n", i); j = n if j < 0 else j
      yield line, "doc" if text.startswith("///", i) else "comment", text[i:j].lstrip("/").strip(); i = j
    elif text[i] == "`":
      j = text.find("`", i + 1)
      if j > 0 and " " in text[i:j] and "\n" not in text[i:j]:
        if names: yield line, "name", text[i + 1:j]
        i = j + 1
      else: i += 1
    elif (m := QUOTE.match(text, i)):
      mark = m.group(0); hashes = "#" * (len(mark) - len(mark.lstrip("#"))); close = mark[len(hashes):] + hashes
      j, start, out = m.end(), line, []
      while j < n and not text.startswith(close, j):
        if text.startswith("\\" + hashes, j):
          k = j + 1 + len(hashes)
          if text[k:k + 1] == "(":
            depth, k = 1, k + 1
            while k < n and depth:
              depth += (text[k] == "(") - (text[k] == ")")
              if text[k] == '"': k = max(k, text.find('"', k + 1))
              k += 1
            out.append("X"); line += text.count("\n", j, k); j = k; continue
          out.append(" "); line += text[k:k + 1] == "\n"; j = k + 1; continue
        if text[j] == "\n":
          line += 1
          if len(close) == 1 + len(hashes): break
        out.append(text[j]); j += 1
      prose = "".join(out)
      if strings and " " in prose and not SQL.search(prose): yield start, "string", " ".join(prose.split())
      i = j + len(close)
    else: i += 1

def markdown(text):
  fence = False
  for line, s in enumerate(text.split("\n"), 1):
    if s.lstrip().startswith("```"): fence = not fence; continue
    if fence or s.startswith("#"): continue
    s = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "X", s.strip()))
    if s.startswith("|"):
      if not re.fullmatch(r"[|\s:-]+", s):
        for cell in s.strip("|").split(" | "): yield line, "cell", cell.strip()
    elif s: yield line, "md", s

def blocks(items):
  """Joins consecutive lines of one comment or paragraph, so that sentences are whole."""
  out = []
  for line, kind, prose in items:
    new = not prose or kind in ("string", "name", "cell") or re.match(r"[-*] |\d+\. |- (Returns|Parameter)", prose)
    if out and not new and out[-1][1] == kind and out[-1][3] + 1 == line and out[-1][2]:
      out[-1][2] += " " + prose; out[-1][3] = line
    else: out.append([line, kind, prose, line])
  return out

def findings(path, text, test_names, only_strings=False):
  swiftFile = path.endswith(".swift")
  strings = path.startswith(("Sources/", "Mappings/", "Examples/"))
  if swiftFile: items = swift(text, strings, test_names)
  elif path.endswith(".tsv"): items = ((n, "comment", l[1:].strip()) for n, l in enumerate(text.split("\n"), 1) if l.startswith("#"))
  else: items = markdown(text)
  lines, last = text.split("\n"), (0, "")
  for line, kind, prose, end in blocks(items):
    if only_strings and kind != "string": continue
    if any("plain:ok" in l for l in lines[max(0, line - 2):end]): continue
    for name, (pattern, before) in COMPILED.items():
      if name == "first-person" and kind in ("comment", "doc", "name"): continue
      for m in pattern.finditer(prose):
        if not (before and before.search(prose[:m.start()])): yield line, name, prose[max(0, m.start() - 40):m.end() + 40]
    if kind == "doc" and last != (line - 1, "doc") and DOC_OPENING.match(prose): yield line, "doc-opening", prose[:80]
    if kind in ("md", "cell", "doc", "comment"):
      for sentence in re.split(r"(?<=[.;?!:])\s+", prose):
        if len(sentence.split()) > 30: yield line, "long-sentence", sentence[:80]
    if kind == "cell" and len(prose.split()) > 25: yield line, "long-cell", prose[:80]
    last = (end, kind)

def count(paths, only_strings=False, test_names=False, show=None):
  """Returns the findings by rule and by file."""
  byRule, byFile = collections.Counter(), collections.defaultdict(collections.Counter)
  for f in sorted(set(files(paths))):
    with open(f, encoding="utf-8", errors="replace") as h: text = h.read()
    for line, rule, excerpt in findings(f, text, test_names, only_strings):
      if show and rule != show: continue
      if show: print(f"{f}:{line}: …{excerpt}…")
      byRule[rule] += 1; byFile[f][rule] += 1
  return byRule, byFile

def check(path):
  """Compares each line of the file of budgets: the number of findings that are allowed, then options and paths."""
  failed = False
  for line in open(path, encoding="utf-8"):
    words = line.split("#")[0].split()
    if not words: continue
    allowed, paths = int(words[0]), [w for w in words[1:] if w != "--strings"]
    if missing := [p for p in paths if not os.path.exists(p)]: sys.exit(f"{path}: there is no {missing[0]}")
    found = sum(count(paths, only_strings="--strings" in words)[0].values())
    verdict = "ok" if found == allowed else "lower the budget" if found < allowed else "too many"
    failed |= found > allowed
    print(f"{found:6} of {allowed:6}  {' '.join(words[1:])}: {verdict}")
  return 1 if failed else 0

def files(paths):
  for p in paths:
    if os.path.isfile(p): yield p
    for folder, _, names in os.walk(p):
      for n in sorted(names):
        f = os.path.relpath(os.path.join(folder, n))
        if f.endswith((".swift", ".md", ".tsv")) and f not in GENERATED: yield f

def main():
  a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  a.add_argument("paths", nargs="*"); a.add_argument("--budget", type=int, default=0); a.add_argument("--show", metavar="RULE")
  a.add_argument("--check", action="store_true"); a.add_argument("--strings", action="store_true")
  a.add_argument("--test-names", action="store_true"); a.add_argument("--files", type=int, default=40, help="files to print")
  o = a.parse_args()
  if o.check: return check(".plain-english")
  byRule, byFile = count(o.paths or DEFAULT, o.strings, o.test_names, o.show)
  total = sum(byRule.values())
  for f, c in sorted(byFile.items(), key=lambda x: -sum(x[1].values()))[:0 if o.show else o.files]:
    print(f"{sum(c.values()):5}  {f}  " + " ".join(f"{r}={n}" for r, n in c.most_common(5)))
  print("\n".join(f"{n:6}  {r:16} {RULES[r][3]}" for r, n in byRule.most_common()))
  print(f"{total:6}  in {len(byFile)} files, budget {o.budget}")
  return 1 if total > o.budget else 0

if __name__ == "__main__":
  try: sys.exit(main())
  except BrokenPipeError: sys.exit(1)
