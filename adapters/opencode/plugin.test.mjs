/** The plugin in a host that tells less than the real one does, without a daemon: what OpenCode cannot be made to do. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "foreword-plugin-"));
after(() => rmSync(folder, { recursive: true }));
const outfile = join(folder, "index.mjs");
const entryPoints = [join(import.meta.dirname, "index.ts")];
await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
const { default: plugin } = await import(pathToFileURL(outfile));

/** No daemon is there, and none can be started. */
const loaded = (directory, client) => plugin.server({ directory, client }, { home: join(folder, "home"), command: ["false"] });
const HOOKS = [
  "event",
  "chat.message",
  "experimental.chat.messages.transform",
  "experimental.chat.system.transform",
  "experimental.session.compacting",
  "experimental.text.complete",
  "tool.execute.after",
  "dispose",
];

test("no event is too poor, and no host too broken: nothing is thrown", async () => {
  const broken = { session: { get: () => Promise.reject(new Error("gone")) }, app: { log: () => Promise.reject(new Error("gone")) } };
  for (const [number, client] of [undefined, {}, broken].entries()) {
    const hooks = await loaded(`/poor/${number}`, client);
    for (const name of HOOKS) {
      for (const told of [[], [{}, {}], [null, null], [{ sessionID: 7, event: 7 }, { messages: [null, {}], system: 7, parts: 7, context: 7 }]]) {
        assert.equal(await hooks[name](...told), undefined, name);
      }
    }
  }
});

test("a turn without a daemon is the turn as it was", async () => {
  const hooks = await loaded("/without");
  const message = { id: "msg_1", role: "user", sessionID: "ses_1" };
  const parts = [{ id: "prt_1", type: "text", text: "Where is the ladder kept?", messageID: "msg_1", sessionID: "ses_1" }];
  const messages = [{ info: message, parts }];
  const system = ["You are opencode."];
  const context = [];
  await hooks["chat.message"]({ sessionID: "ses_1" }, { message, parts });
  await hooks["experimental.chat.messages.transform"]({}, { messages });
  await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system });
  await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, { context });
  assert.equal(parts.length, 1);
  assert.deepEqual(system, ["You are opencode."]);
  assert.deepEqual(context, []);
  await hooks.dispose();
});

test("a tool says why it cannot answer, in words for a model", async () => {
  const { tool } = await loaded("/tools");
  assert.deepEqual(Object.keys(tool), ["mem-search", "mem-get"]);
  for (const one of Object.values(tool)) {
    assert.match(await one.execute({ query: "tide", ids: ["m1"], unknown: true }), /^Memory cannot be read now: /);
  }
});

test("a second copy in the same folder keeps quiet, until the first is gone", async () => {
  const first = await loaded("/twice");
  assert.deepEqual(await loaded("/twice"), {});
  await first.dispose();
  assert.deepEqual(Object.keys(await loaded("/twice")).sort(), [...HOOKS, "tool"].sort());
});
