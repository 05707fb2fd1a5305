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
    const told = /^(\d{1,9}) (\d{1,9})$/.exec(readFileSync(join(folder, "deadlines"), "latin1").trim());
    return told ? [Number(told[1]), Number(told[2])] : void 0;
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
async function hook(path, host, event, told, deadline) {
  const { status, text } = await post(path, `/hook/${host}/${event}`, JSON.stringify(told), deadline);
  if (status === 200) return text;
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
  const told = envelope?.error?.message;
  throw new Error(typeof told === "string" ? told : "the daemon's answer is not one of Foreword's");
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
  hook(event, told, options = {}) {
    return this.#carried(event, options, (path, deadline) => hook(path, this.#host, event, told, deadline));
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
  const asked = Object.fromEntries(known.map((one) => [one, params[one]]));
  const found = await foreword.call(ACTIONS[name], { ...place, ...asked }, { deadlineMs: TOOL_MS });
  return found?.text ?? `Memory cannot be read now: ${foreword.lastFailure}`;
}

// opencode/conversation.ts
var LOOKED_UP_WITHIN_MS = 300;
var TITLE_WITHIN_MS = 400;
var MOST_MESSAGES = 1e3;
var Conversation = class {
  constructor(id, directory, client, foreword, later) {
    this.id = id;
    this.directory = directory;
    this.client = client;
    this.foreword = foreword;
    this.later = later;
  }
  id;
  directory;
  client;
  foreword;
  later;
  /** By message: what stands beside it; undefined where Foreword could not be asked. */
  #beside = new Few(MOST_MESSAGES);
  #stable;
  #answer;
  #summary = "";
  #command;
  #title;
  #parent;
  /** Whether the model may have been given something by an earlier process. */
  #resumed = true;
  /** It began in this process. Where it has no title yet, the host asks for one beside its first request. */
  created(parent, untitled) {
    this.#parent = parent ?? "";
    this.#resumed = false;
    if (untitled && !parent) this.#title = new Promise((resolve) => this.titled = resolve);
  }
  /** The host has written its request for a title. */
  titled = () => {
  };
  /** The title is made from the very messages that are added to: nothing is added before it is asked for. */
  async untouched() {
    const title = this.#title;
    this.#title = void 0;
    if (title) await Promise.race([title, new Promise((resolve) => setTimeout(resolve, TITLE_WITHIN_MS))]);
  }
  /** The next message is a command's: only what stands behind its name is the user's, the rest is a template's. */
  commanded(own) {
    this.#command = own;
  }
  /** The user has said something: what belongs to it is looked for while the host builds its request. */
  said(message, words2) {
    this.answered();
    const prompt = this.#command ?? words2;
    this.#command = void 0;
    if (!prompt.trim()) return;
    const source = this.#resumed ? "resume" : "";
    this.#resumed = false;
    const found = this.#told("prompt", { messageID: message, prompt, source });
    this.#beside.set(message, found);
    const start = () => this.#told("start", { prompt });
    if (source) this.#stable = found.then(start);
    else if (this.#stable) this.#stable = this.#stable.then((text) => text ?? start());
    else this.#stable = start();
  }
  async beside(message) {
    return await this.#beside.get(message) ?? "";
  }
  /** The same until the session is compacted, or Foreword could not be asked: then the next message asks again. */
  async stable() {
    return await (this.#stable ??= this.#told("start", {})) ?? "";
  }
  /** The host is about to write a summary. What stood beside the messages is no part of it, and comes again if due. */
  async compacting() {
    this.#beside.clear();
    this.#stable = void 0;
    return await this.#told("compact", {}) ?? "";
  }
  /** The agent's words so far; the last of a turn are its answer. */
  words(message, text) {
    if (message !== this.#summary) this.#answer = { message, text };
  }
  /** This message is the summary of a compaction, which is the conversation once more. */
  summary(message) {
    this.#summary = message;
    if (this.#answer?.message === message) this.#answer = void 0;
  }
  /** The turn is over. */
  answered() {
    const answer = this.#answer;
    this.#answer = void 0;
    if (answer) this.later.do((limit) => this.#told("answer", { messageID: answer.message, text: answer.text }, limit));
  }
  used(tool, callID, args, result) {
    this.later.do((limit) => this.#told("tool", { tool, callID, args, result }, limit));
  }
  async #told(event, more, limit = {}) {
    const parentID = this.#parent ??= await this.#lookedUp();
    return this.foreword.hook(event, { sessionID: this.id, parentID, cwd: this.directory, ...more }, limit);
  }
  async #lookedUp() {
    let timer;
    try {
      const over = new Promise((resolve) => timer = setTimeout(() => resolve(void 0), LOOKED_UP_WITHIN_MS));
      const found = await Promise.race([this.client?.session?.get?.({ path: { id: this.id } }), over]);
      return found?.data?.parentID ?? "";
    } catch {
      return "";
    } finally {
      clearTimeout(timer);
    }
  }
};

// opencode/later.ts
var UNHURRIED_MS = 2e3;
var MOST_WAITING = 200;
var Later = class {
  #last = Promise.resolve();
  #waiting = 0;
  do(work) {
    if (this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    this.#last = this.#last.then(() => work({ deadlineMs: UNHURRIED_MS })).catch(() => void 0).finally(() => this.#waiting -= 1);
  }
  /** All of it, or what can be done while a host that ends may be held up. */
  async done() {
    let timer;
    const over = new Promise((resolve) => timer = setTimeout(resolve, UNHURRIED_MS));
    await Promise.race([this.#last, over]);
    clearTimeout(timer);
  }
};

// opencode/index.ts
var AUXILIARY = /^You are a (title generator|context summarization agent)/;
var KEY = /* @__PURE__ */ Symbol.for("foreword.opencode");
function taken() {
  const all = globalThis;
  return all[KEY] ??= /* @__PURE__ */ new Set();
}
async function server(context, options) {
  const { home, command } = options ?? {};
  const directory = context.directory || process.cwd();
  if (taken().has(directory)) return {};
  taken().add(directory);
  const environ = home ? { ...process.env, FOREWORD_HOME: home } : process.env;
  const foreword = new Foreword({ host: "opencode", environ, ...command?.length && { command } });
  const later = new Later();
  const known = new Few(200);
  const session = (id) => {
    const one = known.get(id) ?? new Conversation(id, directory, context.client, foreword, later);
    known.set(id, one);
    return one;
  };
  const quietly = (what, work) => async (...told) => {
    try {
      await work(...told);
    } catch (error) {
      const message = `${what} failed: ${error instanceof Error ? error.message : String(error)}`;
      context.client?.app?.log?.({ body: { service: "foreword", level: "warn", message } })?.catch(() => {
      });
    }
  };
  return {
    event: quietly("an event", ({ event }) => happened(event, session)),
    "command.execute.before": quietly("a command", ({ sessionID, arguments: own }) => {
      if (sessionID) session(sessionID).commanded(own ?? "");
    }),
    "chat.message": quietly("asking", ({ sessionID }, { message, parts }) => {
      if (sessionID && message?.id) session(sessionID).said(message.id, words(parts));
    }),
    "experimental.chat.messages.transform": quietly("the brief", async (_input, { messages }) => {
      await Promise.all((messages ?? []).map((_one, at) => completed(messages ?? [], at, session)));
    }),
    "experimental.chat.system.transform": quietly("the start of a session", async ({ sessionID }, { system }) => {
      if (!sessionID || !system) return;
      if (AUXILIARY.test(system[0] ?? "")) return session(sessionID).titled();
      const text = await session(sessionID).stable();
      if (text) system.push(text);
    }),
    "experimental.session.compacting": quietly("the compaction", async ({ sessionID }, { context: added }) => {
      const text = sessionID ? await session(sessionID).compacting() : "";
      if (text) added?.push(text);
    }),
    "experimental.text.complete": quietly("the answer", ({ sessionID, messageID }, { text }) => {
      if (sessionID && messageID && text?.trim()) session(sessionID).words(messageID, text);
    }),
    "tool.execute.after": quietly("a tool's result", ({ sessionID, tool, callID, args }, { output, content }) => {
      if (sessionID && tool) session(sessionID).used(tool, callID, args ?? null, { output, content });
    }),
    dispose: quietly("the end", async () => {
      taken().delete(directory);
      for (const one of known.values()) one.answered();
      await later.done();
    }),
    tool: Object.fromEntries(
      NAMES.map((name) => {
        const { description, parameters } = TOOLS[name];
        const place = { agent: "opencode", project: directory, audience: "private" };
        return [name, { description, args: parameters.properties, execute: (args) => read(name, args ?? {}, place, foreword) }];
      })
    )
  };
}
function happened(event, session) {
  const { sessionID, info } = event?.properties ?? {};
  if (event?.type === "session.created" && info?.id) session(info.id).created(info.parentID, /^New session/.test(info.title ?? ""));
  else if (event?.type === "session.idle" && sessionID) session(sessionID).answered();
  else if (event?.type === "message.updated" && info?.role === "assistant" && info.summary === true && info.id) {
    const within = sessionID ?? info.sessionID;
    if (within) session(within).summary(info.id);
  }
}
async function completed(messages, at, session) {
  const { info, parts } = messages[at] ?? {};
  if (info?.role !== "user" || !info.sessionID || !Array.isArray(parts)) return;
  const text = await session(info.sessionID).beside(info.id);
  const id = `prt_foreword_${info.id}`;
  if (!text || parts.some((one) => one.id === id)) return;
  await session(info.sessionID).untouched();
  const added = { id, type: "text", messageID: info.id, sessionID: info.sessionID, synthetic: true, text };
  messages[at] = { info, parts: [...parts, added] };
}
function words(parts) {
  const own = (parts ?? []).filter((one) => one?.type === "text" && !one.synthetic && typeof one.text === "string");
  return own.map((one) => one.text).join("\n");
}
var index_default = { id: "foreword", server };
export {
  index_default as default
};
