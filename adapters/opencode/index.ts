/**
 * Foreword in OpenCode. It carries and does not think: what is worth saying, and what is kept, is decided by the engine.
 * The host awaits every hook without a limit, and a throw ends its turn: each is over at Foreword's deadline, and none
 * throws.
 */
import { Foreword } from "../kit/client.ts";
import { Few } from "../kit/few.ts";
import { NAMES, read } from "../kit/reading.ts";
import { TOOLS } from "../kit/tools.ts";
import { Conversation } from "./conversation.ts";
import type { Context, Hooks, HostEvent, Message, Part, Tool } from "./host.ts";
import { Later } from "./later.ts";

/** The host asks its model for a title and for summaries too, and nothing is due there. */
const AUXILIARY = /^You are a (title generator|context summarization agent)/;

/** The folders that a copy of this plugin works in. The user's settings and a project's may each name one. */
const KEY = Symbol.for("foreword.opencode");

function taken(): Set<string> {
  const all = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  return (all[KEY] ??= new Set());
}

async function server(context: Context, options?: { home?: string; command?: string[] }): Promise<Partial<Hooks>> {
  const { home, command } = options ?? {};
  const directory = context.directory || process.cwd();
  // A second copy would give everything twice.
  if (taken().has(directory)) return {};
  taken().add(directory);
  const environ = home ? { ...process.env, FOREWORD_HOME: home } : process.env;
  const foreword = new Foreword({ host: "opencode", environ, ...(command?.length && { command }) });
  const later = new Later();
  const known = new Few<Conversation>(200);

  const session = (id: string): Conversation => {
    const one = known.get(id) ?? new Conversation(id, directory, context.client, foreword, later);
    known.set(id, one);
    return one;
  };

  /** Nothing comes out of a hook but what it does. */
  const quietly =
    <A extends unknown[]>(what: string, work: (...told: A) => void | Promise<void>) =>
    async (...told: A): Promise<void> => {
      try {
        await work(...told);
      } catch (error) {
        const message = `${what} failed: ${error instanceof Error ? error.message : String(error)}`;
        context.client?.app?.log?.({ body: { service: "foreword", level: "warn", message } })?.catch(() => {});
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
      NAMES.map((name): [string, Tool] => {
        const { description, parameters } = TOOLS[name];
        const place = { agent: "opencode", project: directory, audience: "private" };
        return [name, { description, args: parameters.properties, execute: (args) => read(name, args ?? {}, place, foreword) }];
      }),
    ),
  };
}

function happened(event: HostEvent | undefined, session: (id: string) => Conversation): void {
  const { sessionID, info } = event?.properties ?? {};
  if (event?.type === "session.created" && info?.id) session(info.id).created(info.parentID, /^New session/.test(info.title ?? ""));
  else if (event?.type === "session.idle" && sessionID) session(sessionID).answered();
  else if (event?.type === "message.updated" && info?.role === "assistant" && info.summary === true && info.id) {
    const within = sessionID ?? info.sessionID;
    if (within) session(within).summary(info.id);
  }
}

/** What belongs to a message is put behind its words, in a copy: the host is writing a title from the same messages. It
 * does not store what was added. */
async function completed(messages: Message[], at: number, session: (id: string) => Conversation): Promise<void> {
  const { info, parts } = messages[at] ?? {};
  if (info?.role !== "user" || !info.sessionID || !Array.isArray(parts)) return;
  const text = await session(info.sessionID).beside(info.id);
  const id = `prt_foreword_${info.id}`;
  if (!text || parts.some((one) => one.id === id)) return;
  await session(info.sessionID).untouched();
  const added = { id, type: "text", messageID: info.id, sessionID: info.sessionID, synthetic: true, text };
  messages[at] = { info, parts: [...parts, added] };
}

/** What the user wrote, without what the host wrote beside it. */
function words(parts: Part[] | undefined): string {
  const own = (parts ?? []).filter((one) => one?.type === "text" && !one.synthetic && typeof one.text === "string");
  return own.map((one) => one.text).join("\n");
}

export default { id: "foreword", server };
