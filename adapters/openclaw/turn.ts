/** One turn: what the model is given with a message, and what is kept once it has answered. */
import type { Foreword } from "../kit/client.ts";
import { Few } from "../kit/few.ts";
import { emptied } from "./bootstrap.ts";
import type { Given, Message, Received, Turn } from "./host.ts";
import { conversation, person, placeOf, type Place, type State } from "./state.ts";

/** Nobody waits for what is laid ready, but a gateway that shuts down does. */
const UNHURRIED_MS = 2_000;
/** A busy machine loses no word: a host gives a plugin half a minute behind an answer, and after a compaction. */
export const PATIENT_MS = 10_000;
// Who refuses does so at once; beyond this somebody was waited for.
const AT_ONCE_MS = 100;

/** The message has just come; its prompt is built some 400 ms later, and by then what belongs to it is found. */
export async function askAhead(event: Received, context: { channelId?: string; sessionKey?: string }, foreword: Foreword, state: State): Promise<void> {
  const senderId = event.senderId ?? event.metadata?.senderId;
  const place = placeOf({ sessionKey: context.sessionKey ?? event.sessionKey, senderId, channel: context.channelId });
  const text = event.content?.trim();
  if (!place.session || !text || state.off.has(conversation(place))) return;
  await foreword.call("brief", { ...place, text, holds_session: true, ahead: true }, { deadlineMs: UNHURRIED_MS });
}

/** What goes into the prompt. The same for every retry of a run. */
export function given(prompt: string, turn: Turn, foreword: Foreword, state: State): Promise<Given | undefined> {
  const place = placeOf(turn);
  if (state.off.has(conversation(place))) return emptied(place, state).then(() => undefined);
  const known = turn.runId ? state.runs.get(turn.runId) : undefined;
  if (known) return known;
  const found = foundFor(prompt.trim(), turn, place, foreword, state);
  if (turn.runId) {
    state.runs.set(turn.runId, found);
    state.prompts.set(turn.runId, prompt);
  }
  return found;
}

async function foundFor(text: string, turn: Turn, place: Place, foreword: Foreword, state: State): Promise<Given | undefined> {
  if (!(await caughtUp(place, foreword, state))) {
    state.last.set(person(place), { receipt: "", failure: foreword.lastFailure });
    return emptied(place, state).then(() => undefined);
  }
  const [hot, stable] = await Promise.all([asked(text, turn, place, foreword, state), frozen(place, foreword, state)]);
  if (!hot && !stable) return undefined;
  return { ...(hot && { prependContext: hot }), ...(stable && { appendSystemContext: stable }) };
}

/** Beside the user's message. */
async function asked(text: string, turn: Turn, place: Place, foreword: Foreword, state: State): Promise<string> {
  if (!text) return emptied(place, state).then(() => "");
  const brief = await foreword.call("brief", { ...place, ...set(turn), text, holds_session: true });
  if (!brief) await emptied(place, state);
  state.last.set(person(place), { receipt: brief?.receipt ?? "", failure: brief ? "" : foreword.lastFailure });
  return brief?.text ?? "";
}

/** At the end of the system prompt, before all history: a daemon that is away for a turn must not change it. */
async function frozen(place: Place, foreword: Foreword, state: State): Promise<string> {
  if (!place.session) return "";
  const people = state.stable.get(conversation(place)) ?? new Few<string>(50);
  const start = await foreword.call("start", place);
  if (start) state.stable.set(conversation(place), people.set(person(place), start.text));
  return start?.text ?? people.get(person(place)) ?? "";
}

/** Hands over what the user said and what the agent answered; what of it is kept, the engine decides. */
export async function keep(
  event: { messages?: Message[]; success?: boolean; runId?: string },
  turn: Turn,
  foreword: Foreword,
  state: State,
): Promise<void> {
  const place = placeOf(turn);
  if (!place.session || state.off.has(conversation(place))) return;
  const run = event.runId ?? turn.runId ?? "";
  const messages = event.messages ?? [];
  const asking = messages.findLastIndex((one) => one.role === "user" && words(one));
  const said = state.prompts.get(run) ?? words(messages[asking]);
  const answer = words(messages.slice(asking + 1).findLast((one) => one.role === "assistant" && words(one)));
  const record = (content: string, by: "user" | "agent") =>
    foreword.call(
      "ingest",
      { ...place, ...set(turn), content, ...(by === "agent" && { origin: by }), ...(run && { source_id: `openclaw:${run}:${by}` }) },
      { deadlineMs: PATIENT_MS },
    );
  // One after the other, as they were said; where the first does not get through, the second would only wait as well.
  if (said.trim() && !(await record(said, "user"))) return;
  if (answer.trim() && event.success !== false) await record(answer, "agent");
}

/** The host's model no longer has the conversation: what it was given counts as said no more, whoever was given it. */
export async function reset(turn: Turn, foreword: Foreword, state: State, deadlineMs = UNHURRIED_MS): Promise<void> {
  if (!turn.sessionKey) return;
  const place = placeOf({ sessionKey: turn.sessionKey, agentId: turn.agentId });
  state.stable.delete(conversation(place));
  if (!(await foreword.call("compact", place, { deadlineMs }))) state.unheard.set(conversation(place), place);
}

/**
 * Tells of a reset that did not get through; turns that come meanwhile wait for the same telling. False where it took a
 * turn's whole time and is still not through: what is asked behind it would be waited for as long again.
 */
function caughtUp(place: Place, foreword: Foreword, state: State): Promise<boolean> {
  const who = conversation(place);
  const missed = state.unheard.get(who);
  if (!missed) return Promise.resolve(true);
  const telling = state.telling.get(who) ?? told(who, missed, foreword, state);
  state.telling.set(who, telling);
  return telling;
}

async function told(who: string, missed: Place, foreword: Foreword, state: State): Promise<boolean> {
  const tell = async (options: { deadlineMs?: number }) => {
    const heard = (await foreword.call("compact", missed, options)) !== undefined;
    // Unless there was another one since.
    if (heard && state.unheard.get(who) === missed) state.unheard.delete(who);
    return heard;
  };
  const began = performance.now();
  if (await tell({})) {
    state.telling.delete(who);
    return true;
  }
  const inTime = performance.now() - began < AT_ONCE_MS;
  // Once more, with time for it, and no turn waits: what the model lost may be missing from a turn, and not more.
  state.telling.set(who, Promise.resolve(true));
  void tell({ deadlineMs: PATIENT_MS }).then(() => state.telling.delete(who));
  return inTime;
}

/** What set the run off, in the host's words. */
function set({ trigger, inputProvenance }: Turn): { trigger?: string; provenance?: string } {
  return { ...(trigger && { trigger }), ...(inputProvenance?.kind && { provenance: inputProvenance.kind }) };
}

function words(message: Message | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join("");
}
