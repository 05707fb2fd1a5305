/** One turn: what the model is given with a message, and what is kept once it has answered. */
import type { Foreword } from "../kit/client.ts";
import type { BriefDocument } from "../kit/wire.ts";
import { emptied } from "./bootstrap.ts";
import type { Message, Received, Turn } from "./host.ts";
import { conversation, Few, person, placeOf, type Place, type State } from "./state.ts";

// Machines' own talk: jobs, helpers of an agent, and another memory's inner run.
const NOT_KEPT = /(^|:)(cron|subagent|acp|active-memory)(:|$)/;
const INNER_RUN = /(^|:)active-memory(:|$)/;
/** Nobody waits for what is recorded, but a gateway that shuts down does. */
const RECORD_MS = 2_000;
const AHEAD_MS = 60_000;

/** The message has just come; its prompt is built some 400 ms later, and by then the brief is there. */
export function askAhead(event: Received, context: { channelId?: string; sessionKey?: string }, foreword: Foreword, state: State): void {
  const session = context.sessionKey ?? event.sessionKey;
  const text = event.content?.trim();
  const agent = /^agent:([^:]+):/.exec(session ?? "")?.[1];
  // A command reaches no model, and without an agent the question may not be the one that is asked then.
  if (!session || !agent || !text || text.startsWith("/") || INNER_RUN.test(session)) return;
  const senderId = event.senderId ?? event.metadata?.senderId;
  const place = placeOf({ sessionKey: session, agentId: agent, senderId, channel: context.channelId });
  if (state.off.has(conversation(place))) return;
  const waiting = state.ahead.get(person(place)) ?? [];
  waiting.push({ text, at: Date.now(), brief: asked(text, place, foreword, state) });
  state.ahead.set(person(place), waiting.slice(-3));
}

/** What goes beside the user's message, "" for nothing. The same for every retry of a run. */
export function given(prompt: string, turn: Turn, foreword: Foreword, state: State): Promise<string> {
  const place = placeOf(turn);
  const text = prompt.trim();
  // Nobody asks there. A heartbeat is known by its trigger alone: its words are whatever the user has set.
  const nobodys = turn.trigger === "heartbeat" || turn.inputProvenance?.kind === "inter_session";
  if (!text || nobodys || INNER_RUN.test(turn.sessionKey ?? "") || state.off.has(conversation(place))) {
    return emptied(place, state).then(() => "");
  }
  const known = turn.runId ? state.runs.get(turn.runId) : undefined;
  if (known) return known;
  const people = state.places.get(conversation(place)) ?? new Few<Place>(50);
  state.places.set(conversation(place), people.set(person(place), place));
  const found = foundFor(text, place, foreword, state);
  if (turn.runId) {
    state.runs.set(turn.runId, found);
    state.prompts.set(turn.runId, prompt);
  }
  return found;
}

async function foundFor(text: string, place: Place, foreword: Foreword, state: State): Promise<string> {
  const waiting = (state.ahead.get(person(place)) ?? []).filter((one) => Date.now() - one.at < AHEAD_MS);
  state.ahead.delete(person(place));
  const briefs = await Promise.all(waiting.map((one) => one.brief));
  // Several messages may have become one prompt. What was found for each of them counts as said, so it is said.
  if (!waiting.some((one, number) => one.text === text && briefs[number])) briefs.push(await asked(text, place, foreword, state));
  const last = briefs.at(-1);
  state.last.set(person(place), { receipt: last?.receipt ?? "", failure: last ? "" : foreword.lastFailure });
  return briefs.map((one) => one?.text).filter(Boolean).join("\n\n");
}

async function asked(text: string, place: Place, foreword: Foreword, state: State): Promise<BriefDocument | undefined> {
  const brief = await foreword.call("brief", { ...place, text, holds_session: true });
  if (!brief) await emptied(place, state);
  return brief;
}

/** Keeps what the user said and what the agent answered. */
export async function keep(
  event: { messages?: Message[]; success?: boolean; runId?: string },
  turn: Turn,
  foreword: Foreword,
  state: State,
): Promise<void> {
  const place = placeOf(turn);
  const provenance = turn.inputProvenance?.kind ?? "external_user";
  if (!turn.sessionKey || NOT_KEPT.test(turn.sessionKey) || state.off.has(conversation(place))) return;
  if (turn.trigger === "heartbeat" || turn.trigger === "cron" || provenance !== "external_user") return;
  const run = event.runId ?? turn.runId ?? "";
  const messages = event.messages ?? [];
  const asking = messages.findLastIndex((one) => one.role === "user" && words(one));
  const said = state.prompts.get(run) ?? words(messages[asking]);
  const answer = words(messages.slice(asking + 1).findLast((one) => one.role === "assistant" && words(one)));
  const record = (content: string, by: "user" | "agent") =>
    foreword.call(
      "ingest",
      { ...place, content, ...(by === "agent" && { origin: by }), ...(run && { source_id: `openclaw:${run}:${by}` }) },
      { deadlineMs: RECORD_MS },
    );
  // One after the other, as they were said; where the first does not get through, the second would only wait as well.
  if (said.trim() && !(await record(said, "user"))) return;
  if (answer.trim() && event.success !== false) await record(answer, "agent");
}

/** The host's model no longer has the conversation: what it was given counts as said no more, whoever was given it. */
export async function reset(turn: Turn, foreword: Foreword, state: State): Promise<void> {
  if (!turn.sessionKey) return;
  const place = placeOf({ sessionKey: turn.sessionKey, agentId: turn.agentId });
  const people = state.places.get(conversation(place))?.values() ?? [];
  for (const one of [place, ...people]) await foreword.call("compact", one);
  state.places.delete(conversation(place));
}

function words(message: Message | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join("");
}
