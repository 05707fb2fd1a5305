// A context file is emptied where it is Foreword's, and nothing else is ever touched.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { empty } from "./dist/context.mjs";

const top = mkdtempSync(join(tmpdir(), "context-"));
const OURS = "<!-- ethos:context ts=2026-03-04T12:00:00Z query_score=0.89 -->\nremembered\n";
after(() => rmSync(top, { recursive: true }));

test("a file of Foreword's is emptied, and stays", async () => {
  const file = join(top, "FOREWORD.md");
  writeFileSync(file, OURS);
  await empty(file);
  assert.equal(readFileSync(file, "utf8"), "");
  await empty(file);
  assert.equal(readFileSync(file, "utf8"), "");
});

test("a file of somebody else's, and one behind a link, are left as they are", async () => {
  const [mine, linked, link] = ["mine.md", "linked.md", "link.md"].map((name) => join(top, name));
  writeFileSync(mine, "# My own preface\n");
  writeFileSync(linked, OURS);
  symlinkSync(linked, link);
  await empty(mine);
  await empty(link);
  assert.equal(readFileSync(mine, "utf8"), "# My own preface\n");
  assert.equal(readFileSync(linked, "utf8"), OURS);
});

test("what is missing is not made, and what is no file is not waited for", async () => {
  const [missing, folder, pipe] = ["missing", "folder", "pipe"].map((name) => join(top, name));
  mkdirSync(folder);
  execFileSync("mkfifo", [pipe]);
  for (const path of [undefined, "", missing, folder, pipe]) await empty(path);
  assert.equal(existsSync(missing), false);
});
