/** The plugin in a host that tells less than the real one does: what a gateway cannot be made to do. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
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

/** A gateway's side of the plugin's door. No daemon is there, and none can be started. */
async function loaded(copy, home = join(folder, "home")) {
  const { default: plugin } = await import(`${pathToFileURL(outfile)}?${copy}`);
  const host = { handlers: new Map(), tools: [], commands: [], warnings: [] };
  plugin.register({
    registrationMode: copy,
    pluginConfig: { home, command: ["false"] },
    logger: { warn: (text) => void host.warnings.push(text) },
    on: (name, handler) => host.handlers.set(name, handler),
    registerHook: (name, handler) => host.handlers.set(name, handler),
    registerTool: (make, { name }) => host.tools.push({ name, make }),
    registerCommand: (command) => host.commands.push(command),
  });
  return host;
}

test("a missing or undefined list of files is left alone with a warning", async () => {
  const { handlers, warnings } = await loaded("full");
  const bootstrap = handlers.get("agent:bootstrap");
  for (const context of [undefined, {}, { workspaceDir: "/w" }, { workspaceDir: "/w", bootstrapFiles: null }]) {
    const event = { sessionKey: "agent:main:main", context: context && { ...context } };
    const before = structuredClone(event);
    const said = warnings.length;
    await bootstrap(event);
    assert.deepEqual(event, before);
    assert.match(warnings[said], /left alone/);
  }
});

test("a list of files is left alone where no daemon answers", async () => {
  const { handlers } = await loaded("full");
  const bootstrapFiles = [{ name: "SOUL.md", path: "/w/SOUL.md", content: "calm", missing: false }];
  const event = { sessionKey: "agent:main:main", context: { workspaceDir: "/w", bootstrapFiles } };
  await handlers.get("agent:bootstrap")(event);
  assert.equal(event.context.bootstrapFiles, bootstrapFiles);
});

test("no event is too poor: nothing is thrown and nothing is given", async () => {
  const { handlers } = await loaded("discovery");
  for (const [name, handler] of handlers) {
    assert.equal(await handler({}, {}), undefined, name);
    assert.equal(await handler({ messages: [null, { role: "user" }], prompt: 7, context: 7 }, { runId: 7 }), undefined, name);
  }
});

test("a tool says why it cannot answer, in words for a model", async () => {
  const { tools } = await loaded("discovery");
  assert.deepEqual(tools.map((one) => one.name), ["mem_search", "mem_get"]);
  for (const { name, make } of tools) {
    const tool = make({ sessionKey: "agent:main:main", agentId: "main" });
    assert.equal(tool.name, name);
    const { content } = await tool.execute("1", { query: "tide", ids: ["m1"], unknown: true });
    assert.match(content[0].text, /^Memory cannot be read now: /);
  }
});

test("what was switched off in one copy of the module is off in the other", async () => {
  const full = await loaded("full");
  const discovery = await loaded("discovery");
  assert.notEqual(full.handlers.get("agent_end"), discovery.handlers.get("agent_end"));
  const turn = { sessionKey: "agent:main:off", agentId: "main", runId: "r1" };
  assert.match((await full.commands[0].handler({ ...turn, args: "off" })).text, /Foreword is off/);
  assert.match((await discovery.commands[0].handler({ ...turn, args: "status" })).text, /Foreword is off/);
  assert.match((await discovery.commands[0].handler({ ...turn, agentId: "other", args: "status" })).text, /Foreword is on/);
});

/** A stand-in for the daemon: `answers` gives what each action is answered with, by name; the rest gets no text. */
async function daemonAt(home, answers = {}) {
  const log = [];
  const daemon = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { action, payload } = JSON.parse(body);
    log.push(`${action} ${payload.session}`);
    const answer = (await answers[action]?.()) ?? { status: "ok", data: { text: "" } };
    log.push(`${action} answered`);
    response.end(JSON.stringify(answer));
  });
  mkdirSync(join(home, "run"), { recursive: true, mode: 0o700 });
  await new Promise((resolve) => daemon.listen(join(home, "run", "daemon.sock"), resolve));
  return { log, end: () => new Promise((resolve) => daemon.close(resolve)) };
}

async function until(holds) {
  const end = performance.now() + 20_000;
  while (!holds()) {
    assert.ok(performance.now() < end, "it did not come about in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A conversation whose compaction nobody heard of, and what asks in it. */
async function missed(name) {
  const home = join(folder, name);
  const { handlers } = await loaded("full", home);
  const turn = { sessionKey: `agent:main:${name}`, agentId: "main" };
  await handlers.get("after_compaction")({}, turn);
  let run = 0;
  const asks = (changes = {}) =>
    handlers.get("before_prompt_build")({ prompt: "When is high water?" }, { ...turn, runId: `${name}${run++}`, ...changes });
  return { home, asks };
}

test("a compaction that nobody heard of is told before the next turns are asked about, once", async () => {
  const { home, asks } = await missed("once");
  let answered = () => {};
  const slowly = new Promise((resolve) => (answered = resolve));
  const daemon = await daemonAt(home, { compact: () => slowly });
  try {
    await asks({ sessionKey: "agent:main:other" });
    assert.ok(!daemon.log.some((one) => one.startsWith("compact")), "another conversation was not compacted");
    daemon.log.length = 0;
    const both = Promise.all([asks(), asks()]);
    await until(() => daemon.log.length > 0);
    answered();
    await both;
    assert.deepEqual(daemon.log.slice(0, 2), ["compact agent:main:once", "compact answered"]);
    assert.equal(daemon.log.filter((one) => one.startsWith("compact agent")).length, 1);
    assert.equal(daemon.log.filter((one) => one.startsWith("brief agent")).length, 2);
  } finally {
    await daemon.end();
  }
});

test("a compaction that is refused silences no turn", async () => {
  const { home, asks } = await missed("refused");
  const brief = () => ({ status: "ok", data: { text: "At noon.", receipt: "r1" } });
  const daemon = await daemonAt(home, { brief, compact: () => ({ status: "error", error: { code: "broken", message: "No." } }) });
  try {
    for (let turn = 0; turn < 3; turn++) assert.equal((await asks())?.prependContext, "At noon.");
  } finally {
    await daemon.end();
  }
});

test("a compaction that takes longer than a turn has is told behind it, and the next turn is given what there is", async () => {
  const { home, asks } = await missed("slow");
  let answered = () => {};
  const slowly = new Promise((resolve) => (answered = resolve));
  const brief = () => ({ status: "ok", data: { text: "At noon.", receipt: "r1" } });
  const daemon = await daemonAt(home, { brief, compact: () => slowly });
  try {
    assert.equal(await asks(), undefined);
    assert.equal((await asks())?.prependContext, "At noon.");
    answered();
    const told = daemon.log.filter((one) => one.startsWith("compact agent")).length;
    await until(() => daemon.log.filter((one) => one === "compact answered").length === told);
    await until(() => !globalThis[Symbol.for("foreword.openclaw.0.1.0")].telling.get(JSON.stringify(["main", "agent:main:slow"])));
    assert.equal((await asks())?.prependContext, "At noon.");
    assert.equal(daemon.log.filter((one) => one.startsWith("compact agent")).length, told, "it is told no more");
  } finally {
    await daemon.end();
  }
});
