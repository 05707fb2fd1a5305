// kit/client.ts
import { spawn } from "node:child_process";

// kit/address.ts
import { readFileSync } from "node:fs";
import { mkdtemp, rmdir, symlink, unlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
var LONGEST_PATH = 100;
function runFolder(environ) {
  const home = environ.HOME || homedir();
  const absolute = (path) => {
    const expanded = /^~(\/|$)/.test(path) ? home + path.slice(1) : path;
    return isAbsolute(expanded) ? expanded : `${process.cwd()}/${expanded}`;
  };
  if (environ.FOREWORD_HOME) return `${absolute(environ.FOREWORD_HOME)}/run`;
  const base = `${environ.XDG_DATA_HOME ? absolute(environ.XDG_DATA_HOME) : `${home}/.local/share`}/foreword`;
  const config = environ.FOREWORD_CONFIG;
  return config ? `${base}/run-${crc32(Buffer.from(absolute(config))).toString(16).padStart(8, "0")}` : `${base}/run`;
}
function deadlines(folder) {
  try {
    const told3 = /^(\d{1,9}) (\d{1,9})$/.exec(readFileSync(join(folder, "deadlines"), "latin1").trim());
    return told3 ? [Number(told3[1]), Number(told3[2])] : void 0;
  } catch {
    return void 0;
  }
}
async function reachable(socket, use) {
  if (Buffer.byteLength(socket) <= LONGEST_PATH) return use(socket);
  const folder = await mkdtemp(join(tmpdir(), "foreword-"));
  const link = join(folder, "run");
  try {
    await symlink(dirname(socket), link);
    return await use(join(link, basename(socket)));
  } finally {
    await unlink(link).catch(() => {
    });
    await rmdir(folder).catch(() => {
    });
  }
}
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 3988292384 : 0);
  }
  return ~crc >>> 0;
}

// kit/deadline.ts
var LONGEST_MS = 6e5;
var Deadline = class {
  /** What is said of a call that ended here. */
  sentence = "the daemon did not answer in time";
  #abort = new AbortController();
  signal = this.#abort.signal;
  over = new Promise((_, reject) => this.signal.addEventListener("abort", reject, { once: true }));
  #started = performance.now();
  #ms = 0;
  #timer;
  constructor(ms) {
    this.extend(ms, this.sentence);
  }
  /** Only ever later. */
  extend(ms, sentence) {
    if (this.#timer && !(ms > this.#ms)) return;
    this.sentence = sentence;
    this.#ms = Math.min(Math.max(ms || 0, 0), LONGEST_MS);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => setImmediate(() => this.#abort.abort()), this.leftMs);
  }
  get leftMs() {
    return Math.max(this.#ms - (performance.now() - this.#started), 0);
  }
  /** On the machine's monotonic clock, in seconds, which every process of it reads alike. Bun has no such clock, only
   * one that begins with the process: there it is undefined. */
  get until() {
    if (process.versions.bun) return void 0;
    return Number(process.hrtime.bigint()) / 1e9 + this.leftMs / 1e3;
  }
  /** Whatever is still under way ends too. */
  end() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
};

// kit/exchange.ts
import { request } from "node:http";

// kit/wire.ts
var VERSION = 1;

// kit/exchange.ts
var LARGEST_ANSWER_BYTES = 16e6;
async function exchange(path, action, payload, deadline) {
  const { text } = await post(path, "/v1", JSON.stringify({ version: VERSION, action, payload }), deadline);
  return opened(text);
}
async function hook(path, host, event, told3, deadline) {
  const { status: status2, text } = await post(path, `/hook/${host}/${event}`, JSON.stringify(told3), deadline);
  if (status2 === 200) return text;
  opened(text);
  throw new Error("the daemon's answer is not one of Foreword's");
}
function post(socket, path, body, deadline) {
  return new Promise((resolve, reject) => {
    const until = deadline.until;
    const headers = {
      Host: "foreword",
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      // Foreword must know how long its brief is wanted: one that comes too late was never said.
      ...until !== void 0 && { "X-Until": until.toFixed(6) }
    };
    const signal = deadline.signal;
    const options = { socketPath: socket, method: "POST", path, agent: false, headers, signal };
    const asking = request(options, (answer) => {
      const parts = [];
      let size = 0;
      answer.on("data", (part) => {
        size += part.length;
        if (size > LARGEST_ANSWER_BYTES) asking.destroy(new Error("the daemon's answer is too large"));
        else parts.push(part);
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }));
      answer.on("error", reject);
    });
    asking.on("error", reject);
    asking.end(body);
  });
}
function opened(text) {
  const envelope = parsed(text);
  if ((envelope?.version ?? VERSION) !== VERSION) throw new Error("the daemon speaks another version of the protocol");
  if (envelope?.status === "ok" && typeof envelope.data === "object" && envelope.data !== null) return envelope.data;
  const told3 = envelope?.error?.message;
  throw new Error(typeof told3 === "string" ? told3 : "the daemon's answer is not one of Foreword's");
}
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the daemon's answer is not JSON");
  }
}

// kit/trail.ts
import { open, rename } from "node:fs/promises";
var LARGEST_BYTES = 64e3;
var MOST_AT_ONCE = 16;
var writing = 0;
async function note(folder, host, event, cause) {
  if (writing >= MOST_AT_ONCE) return;
  writing += 1;
  try {
    const stamp = (/* @__PURE__ */ new Date()).toISOString().replace(/\.\d+Z$/, "Z");
    const fields = [host, event, cause].map((one) => one.trim().replace(/\s+/g, " ").slice(0, 300));
    const file = `${folder}/failures.log`;
    const log = await open(file, "a", 384);
    try {
      await log.write(`${[stamp, ...fields].join("	")}
`);
      if ((await log.stat()).size > LARGEST_BYTES) await rename(file, `${file}.1`);
    } finally {
      await log.close();
    }
  } catch {
    return;
  } finally {
    writing -= 1;
  }
}

// kit/client.ts
var COLD_DEADLINE_MS = 600;
var TRY_AGAIN_MS = 5;
var START_AGAIN_MS = 3e3;
var ABSENT = /* @__PURE__ */ new Set(["ENOENT", "ECONNREFUSED"]);
var LEFT = /* @__PURE__ */ new Set(["ECONNRESET", "EPIPE"]);
var CROWDED = "EAGAIN";
var COMMAND = ["foreword-daemon", "--detach"];
var Foreword = class {
  /** A sentence about the call that failed last; "" when none has. */
  lastFailure = "";
  #options;
  #environ;
  #startedAt = -Infinity;
  #startFailure = "";
  constructor(options = {}) {
    this.#options = options;
    this.#environ = options.environ ?? process.env;
  }
  call(action, payload, options = {}) {
    return this.#carried(action, options, (path, deadline) => exchange(path, action, payload, deadline));
  }
  /** Tells Foreword of an event as `foreword hook` does; what the host is told is "" for nothing. */
  hook(event, told3, options = {}) {
    return this.#carried(event, options, (path, deadline) => hook(path, this.#host, event, told3, deadline));
  }
  get #host() {
    return this.#options.host ?? "node";
  }
  async #carried(what, options, send) {
    let folder = "";
    let deadline;
    try {
      folder = runFolder(this.#environ);
      const [usualMs, usualColdMs] = deadlines(folder) ?? [COLD_DEADLINE_MS, COLD_DEADLINE_MS];
      deadline = new Deadline(options.deadlineMs ?? this.#options.deadlineMs ?? usualMs);
      const coldMs = this.#options.coldDeadlineMs ?? usualColdMs;
      return await Promise.race([this.#ask(folder, send, deadline, coldMs), deadline.over]);
    } catch (error) {
      const late = deadline?.signal.aborted ? deadline.sentence : "";
      this.lastFailure = late || (error instanceof Error ? error.message : String(error));
      if (folder) void note(folder, this.#host, what, this.lastFailure);
      return void 0;
    } finally {
      deadline?.end();
    }
  }
  #ask(folder, send, deadline, coldMs) {
    let left = false;
    return reachable(`${folder}/daemon.sock`, async (path) => {
      while (true) {
        try {
          const answer = await send(path, deadline);
          this.#startedAt = -Infinity;
          return answer;
        } catch (error) {
          const code = error.code ?? "";
          if (ABSENT.has(code)) this.#start(deadline, coldMs);
          else if (LEFT.has(code) && !left) left = true;
          else if (code !== CROWDED) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
        deadline.signal.throwIfAborted();
      }
    });
  }
  /** Throws where no daemon can be had. */
  #start(deadline, coldMs) {
    const [program, ...rest] = this.#options.command ?? COMMAND;
    if (program === void 0) throw new Error("no daemon runs");
    if (performance.now() - this.#startedAt > START_AGAIN_MS) {
      this.#startedAt = performance.now();
      this.#startFailure = "";
      const env = Object.fromEntries(Object.entries(this.#environ).filter(([name]) => !name.startsWith("PYTHON")));
      const child = spawn(program, rest, { env, detached: true, stdio: "ignore" });
      child.on("error", (error) => this.#startFailure = `the daemon cannot be started: ${error.message}`);
      child.on("exit", (code) => {
        if (code) this.#startFailure = `the daemon cannot be started: ${program} ended with ${code}`;
      });
      child.unref();
    }
    if (this.#startFailure) throw new Error(this.#startFailure);
    deadline.extend(coldMs, "the daemon did not start in time");
  }
};

// kit/context.ts
import { constants } from "node:fs";
import { open as open2 } from "node:fs/promises";
var MARK = "<!-- ethos:context";
async function empty(path) {
  if (!path) return;
  try {
    const file = await open2(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MARK.length), 0, MARK.length, 0);
      if (buffer.subarray(0, bytesRead).toString() === MARK) await file.truncate(0);
    } finally {
      await file.close();
    }
  } catch {
    return;
  }
}

// kit/few.ts
var Few = class extends Map {
  constructor(most = 500) {
    super();
    this.most = most;
  }
  most;
  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value);
    return this;
  }
};

// openclaw/state.ts
var State = class {
  /** By run: a prompt is built again on every retry, and must not change. */
  runs = new Few();
  /** By run: what the user said, without anything around it. */
  prompts = new Few();
  /** By person: the receipt of its last turn, or why there is none. */
  last = new Few();
  /** By conversation and person: the stable part as it was last given. */
  stable = new Few();
  /** By conversation: whose reset or compaction the engine has not heard of. */
  unheard = new Few();
  /** By conversation: the telling of it that is under way, and whether a turn may go on. */
  telling = new Few();
  /** By conversation: the workspace files as they were last chosen. */
  files = new Few();
  /** Conversations where /foreword off was said. */
  off = new Few();
};
var KEY = /* @__PURE__ */ Symbol.for("foreword.openclaw.0.1.0");
function shared() {
  const all = globalThis;
  return all[KEY] ??= new State();
}
var PROGRAM = /^(cli|webchat(-ui)?|gateway-client|openclaw-[a-z-]+)$/;
function placeOf(turn) {
  const sender = turn.channel === "webchat" && PROGRAM.test(turn.senderId ?? "") ? void 0 : turn.senderId;
  const told3 = { session: turn.sessionKey, agent: turn.agentId, sender, channel: turn.channel };
  return Object.fromEntries(Object.entries(told3).filter(([, value]) => value));
}
function conversation({ agent, session = "" }) {
  return JSON.stringify([agent ?? /^agent:([^:]+):/.exec(session)?.[1] ?? "", session]);
}
function person(place) {
  return JSON.stringify([conversation(place), place.sender ?? ""]);
}

// openclaw/bootstrap.ts
var SURVIVES = "AGENTS.md";
var FILTERED = /* @__PURE__ */ new Set(["subagent", "heartbeat_cron"]);
function emptied(place, state) {
  return empty(state.files.get(conversation(place))?.context_file);
}
async function choose(event, foreword, state, warn) {
  const context = event.context;
  const loaded = context?.bootstrapFiles;
  if (!context || !Array.isArray(loaded)) return warn("the host told of no workspace files: they are left alone");
  if (!context.workspaceDir) return warn("the host told of no workspace: its files are left alone");
  const place = placeOf({ sessionKey: event.sessionKey ?? context.sessionKey, agentId: context.agentId });
  const files = loaded.filter((one) => !one.missing).map((one) => one.name);
  const known = state.files.get(conversation(place));
  const answer = await foreword.call("bootstrap", { ...place, workspace: context.workspaceDir, files });
  if (!answer) await emptied(place, state);
  else state.files.set(conversation(place), answer);
  for (const problem of (answer?.problems ?? []).filter((one) => !known?.problems.includes(one))) warn(problem);
  const chosen = answer ?? known;
  if (!chosen?.enabled) return;
  const kept = loaded.filter((one) => chosen.keep.includes(one.name));
  const added = chosen.add.map(({ name, path, content }) => ({ name, path, content, missing: false }));
  const named = (one) => FILTERED.has(chosen.kind) ? { ...one, name: SURVIVES } : one;
  context.bootstrapFiles = [...kept, ...added].map(named);
}

// openclaw/command.ts
var COMMAND_MS = 5e3;
async function told(turn, foreword, state) {
  const place = placeOf(turn);
  const here = conversation(place);
  switch (turn.args?.trim().toLowerCase() || "status") {
    case "status":
      return status(state.off.has(here), foreword);
    case "why":
      return why(place, foreword, state);
    case "off":
      state.off.set(here, true);
      return "Foreword is off in this session: nothing is injected and nothing is recorded, until /foreword on or the gateway's next start.";
    case "on":
      state.off.delete(here);
      return "Foreword is on in this session.";
    default:
      return "/foreword status | why | off | on";
  }
}
async function status(off, foreword) {
  const kept = await foreword.call("status", {}, { deadlineMs: COMMAND_MS });
  const here = `Foreword is ${off ? "off" : "on"} in this session.`;
  if (!kept) return `${here} Its daemon does not answer: ${foreword.lastFailure}`;
  const turns = `${kept.turns} turns, ${kept.silent_turns} of them silent, ${kept.tokens_injected} tokens injected`;
  return [`${here} ${kept.memories} memories; ${turns}; profile ${kept.profile}.`, ...kept.warnings].join("\n");
}
async function why(place, foreword, state) {
  const last = state.last.get(person(place));
  if (!last) return "Foreword has not been asked for you in this session since the gateway started.";
  if (!last.receipt) return `Nothing was given with your last message: ${last.failure}`;
  const explained = await foreword.call("why", { receipt: last.receipt }, { deadlineMs: COMMAND_MS });
  return explained?.explanation ?? `The receipt cannot be read now: ${foreword.lastFailure}`;
}

// kit/tools.ts
var TOOLS = {
  "mem-search": {
    "title": "Search memory",
    "description": "Find what earlier conversations, tools and notes held about something. Rows come best first, each with its id, date, who said it, what reading it costs in tokens, and how sure it is to answer.",
    "parameters": {
      "properties": {
        "query": {
          "description": "what you want to know, in plain words",
          "type": "string"
        },
        "limit": {
          "default": 8,
          "description": "how many rows",
          "maximum": 50,
          "minimum": 1,
          "type": "integer"
        }
      },
      "required": [
        "query"
      ],
      "type": "object"
    }
  },
  "mem-get": {
    "title": "Read memories",
    "description": "Read memories in full, by id, with their neighbours or their whole conversation where asked for.",
    "parameters": {
      "properties": {
        "ids": {
          "description": "ids such as m12, as mem-search shows them",
          "items": {
            "type": "string"
          },
          "maxItems": 50,
          "type": "array"
        },
        "around": {
          "default": 0,
          "description": "neighbours of the same conversation on each side",
          "maximum": 50,
          "minimum": 0,
          "type": "integer"
        },
        "whole_session": {
          "default": false,
          "description": "the whole conversation instead",
          "type": "boolean"
        }
      },
      "required": [
        "ids"
      ],
      "type": "object"
    }
  }
};

// kit/reading.ts
var TOOL_MS = 5e3;
var ACTIONS = { "mem-search": "search", "mem-get": "get" };
var NAMES = Object.keys(ACTIONS);
async function read(name, params, place, foreword) {
  const known = Object.keys(TOOLS[name].parameters.properties).filter((one) => params[one] !== void 0);
  const asked2 = Object.fromEntries(known.map((one) => [one, params[one]]));
  const found = await foreword.call(ACTIONS[name], { ...place, ...asked2 }, { deadlineMs: TOOL_MS });
  return found?.text ?? `Memory cannot be read now: ${foreword.lastFailure}`;
}

// openclaw/tools.ts
function tool(name, foreword) {
  const { title, description, parameters } = TOOLS[name];
  return (context) => ({
    name: spelled(name),
    label: title,
    description,
    parameters,
    execute: async (_id, params) => {
      const text = await read(name, params, placed(context), foreword);
      return { content: [{ type: "text", text }], details: {} };
    }
  });
}
function spelled(name) {
  return name.replace("-", "_");
}
function placed({ sessionKey, agentId, requesterSenderId, messageChannel }) {
  return placeOf({ sessionKey, agentId, senderId: requesterSenderId, channel: messageChannel });
}

// openclaw/turn.ts
var UNHURRIED_MS = 2e3;
var PATIENT_MS = 1e4;
var AT_ONCE_MS = 100;
async function askAhead(event, context, foreword, state) {
  const senderId = event.senderId ?? event.metadata?.senderId;
  const place = placeOf({ sessionKey: context.sessionKey ?? event.sessionKey, senderId, channel: context.channelId });
  const text = event.content?.trim();
  if (!place.session || !text || state.off.has(conversation(place))) return;
  await foreword.call("brief", { ...place, text, holds_session: true, ahead: true }, { deadlineMs: UNHURRIED_MS });
}
function given(prompt, turn, foreword, state) {
  const place = placeOf(turn);
  if (state.off.has(conversation(place))) return emptied(place, state).then(() => void 0);
  const known = turn.runId ? state.runs.get(turn.runId) : void 0;
  if (known) return known;
  const found = foundFor(prompt.trim(), turn, place, foreword, state);
  if (turn.runId) {
    state.runs.set(turn.runId, found);
    state.prompts.set(turn.runId, prompt);
  }
  return found;
}
async function foundFor(text, turn, place, foreword, state) {
  if (!await caughtUp(place, foreword, state)) {
    state.last.set(person(place), { receipt: "", failure: foreword.lastFailure });
    return emptied(place, state).then(() => void 0);
  }
  const [hot, stable] = await Promise.all([asked(text, turn, place, foreword, state), frozen(place, foreword, state)]);
  if (!hot && !stable) return void 0;
  return { ...hot && { prependContext: hot }, ...stable && { appendSystemContext: stable } };
}
async function asked(text, turn, place, foreword, state) {
  if (!text) return emptied(place, state).then(() => "");
  const brief = await foreword.call("brief", { ...place, ...set(turn), text, holds_session: true });
  if (!brief) await emptied(place, state);
  state.last.set(person(place), { receipt: brief?.receipt ?? "", failure: brief ? "" : foreword.lastFailure });
  return brief?.text ?? "";
}
async function frozen(place, foreword, state) {
  if (!place.session) return "";
  const people = state.stable.get(conversation(place)) ?? new Few(50);
  const start = await foreword.call("start", place);
  if (start) state.stable.set(conversation(place), people.set(person(place), start.text));
  return start?.text ?? people.get(person(place)) ?? "";
}
async function keep(event, turn, foreword, state) {
  const place = placeOf(turn);
  if (!place.session || state.off.has(conversation(place))) return;
  const run = event.runId ?? turn.runId ?? "";
  const messages = event.messages ?? [];
  const asking = messages.findLastIndex((one) => one.role === "user" && words(one));
  const said = state.prompts.get(run) ?? words(messages[asking]);
  const answer = words(messages.slice(asking + 1).findLast((one) => one.role === "assistant" && words(one)));
  const record = (content, by) => foreword.call(
    "ingest",
    { ...place, ...set(turn), content, ...by === "agent" && { origin: by }, ...run && { source_id: `openclaw:${run}:${by}` } },
    { deadlineMs: PATIENT_MS }
  );
  if (said.trim() && !await record(said, "user")) return;
  if (answer.trim() && event.success !== false) await record(answer, "agent");
}
async function reset(turn, foreword, state, deadlineMs = UNHURRIED_MS) {
  if (!turn.sessionKey) return;
  const place = placeOf({ sessionKey: turn.sessionKey, agentId: turn.agentId });
  state.stable.delete(conversation(place));
  if (!await foreword.call("compact", place, { deadlineMs })) state.unheard.set(conversation(place), place);
}
function caughtUp(place, foreword, state) {
  const who = conversation(place);
  const missed = state.unheard.get(who);
  if (!missed) return Promise.resolve(true);
  const telling = state.telling.get(who) ?? told2(who, missed, foreword, state);
  state.telling.set(who, telling);
  return telling;
}
async function told2(who, missed, foreword, state) {
  const tell = async (options) => {
    const heard = await foreword.call("compact", missed, options) !== void 0;
    if (heard && state.unheard.get(who) === missed) state.unheard.delete(who);
    return heard;
  };
  const began = performance.now();
  if (await tell({})) {
    state.telling.delete(who);
    return true;
  }
  const inTime = performance.now() - began < AT_ONCE_MS;
  state.telling.set(who, Promise.resolve(true));
  void tell({ deadlineMs: PATIENT_MS }).then(() => state.telling.delete(who));
  return inTime;
}
function set({ trigger, inputProvenance }) {
  return { ...trigger && { trigger }, ...inputProvenance?.kind && { provenance: inputProvenance.kind } };
}
function words(message) {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => part?.type === "text" && typeof part.text === "string" ? part.text : "").join("");
}

// openclaw/index.ts
var GRANT = "openclaw config set plugins.entries.foreword.hooks.allowConversationAccess true --strict-json";
var index_default = {
  id: "foreword",
  name: "Foreword",
  description: "Puts the few memories worth knowing beside a message before the model answers it, or nothing at all.",
  // In every mode: the host builds prompts with the copy that it loaded for "discovery".
  register(api) {
    const state = shared();
    const { home, command } = api.pluginConfig ?? {};
    const environ = home ? { ...process.env, FOREWORD_HOME: home } : process.env;
    const foreword = new Foreword({ host: "openclaw", environ, ...command?.length && { command } });
    const warn = (text) => api.logger?.warn?.(`foreword: ${text}`);
    const quietly = async (what, work) => {
      try {
        return await work();
      } catch (error) {
        warn(`${what} failed: ${error instanceof Error ? error.message : String(error)}`);
        return void 0;
      }
    };
    if (api.registrationMode === "full" && !api.config?.plugins?.entries?.foreword?.hooks?.allowConversationAccess) {
      warn(`nothing is injected or recorded until this is granted: ${GRANT}`);
    }
    api.on("message_received", (event, context) => quietly("asking ahead", () => askAhead(event, context, foreword, state)));
    api.on("before_prompt_build", (event, turn) => quietly("the brief", () => given(event.prompt ?? "", turn, foreword, state)));
    api.on("agent_end", (event, turn) => quietly("recording", () => keep(event, turn, foreword, state)));
    api.on("after_compaction", (_event, turn) => quietly("the reset", () => reset(turn, foreword, state, PATIENT_MS)));
    api.on("before_reset", (_event, turn) => quietly("the reset", () => reset(turn, foreword, state)));
    api.registerHook(
      "session:auto-reset",
      ({ sessionKey, context }) => quietly("the reset", () => reset({ sessionKey, agentId: context?.agentId }, foreword, state)),
      { name: "foreword-reset" }
    );
    api.registerHook(
      "agent:bootstrap",
      (event) => quietly("the choice of files", () => choose(event, foreword, state, warn)),
      { name: "foreword-bootstrap" }
    );
    for (const name of NAMES) api.registerTool(tool(name, foreword), { name: spelled(name) });
    api.registerCommand({
      name: "foreword",
      description: "Foreword's memory in this session: status, why, off, on",
      acceptsArgs: true,
      handler: async (turn) => ({
        text: await quietly("the command", () => told(turn, foreword, state)) ?? "Foreword failed inside."
      })
    });
  }
};
export {
  index_default as default
};
