/**
 * What the plugin knows between two hooks. The gateway loads this module twice, and a message arrives in one copy while
 * its prompt is built in the other: only globalThis is shared. All of it is gone when the gateway restarts, and little
 * is lost with it: what a session was given is kept by the engine. A reset that it has not heard of by then stays unheard.
 */
import { Few } from "../kit/few.ts";
import type { BootstrapAnswer } from "../kit/wire.ts";
import type { Given, Turn } from "./host.ts";

/** Who asks, as Foreword's wire has it. A session key alone is not enough: by default all senders share one. */
export interface Place {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
}

export class State {
  /** By run: a prompt is built again on every retry, and must not change. */
  readonly runs = new Few<Promise<Given | undefined>>();
  /** By run: what the user said, without anything around it. */
  readonly prompts = new Few<string>();
  /** By person: the receipt of its last turn, or why there is none. */
  readonly last = new Few<{ receipt: string; failure: string }>();
  /** By conversation and person: the stable part as it was last given. */
  readonly stable = new Few<Few<string>>();
  /** By conversation: whose reset or compaction the engine has not heard of. */
  readonly unheard = new Few<Place>();
  /** By conversation: the telling of it that is under way, and whether a turn may go on. */
  readonly telling = new Few<Promise<boolean>>();
  /** By conversation: the workspace files as they were last chosen. */
  readonly files = new Few<BootstrapAnswer>();
  /** Conversations where /foreword off was said. */
  readonly off = new Few<true>();
}

/** With the version in its name: a plugin that was updated does not find what its predecessor left. */
const KEY = Symbol.for("foreword.openclaw.0.1.0");

export function shared(): State {
  const all = globalThis as unknown as Record<symbol, State | undefined>;
  return (all[KEY] ??= new State());
}

/** What the gateway's own chat names as the sender: the program that the owner sits at, and no person. */
const PROGRAM = /^(cli|webchat(-ui)?|gateway-client|openclaw-[a-z-]+)$/;

/** What is not known is left out. */
export function placeOf(turn: Turn): Place {
  const sender = turn.channel === "webchat" && PROGRAM.test(turn.senderId ?? "") ? undefined : turn.senderId;
  const told = { session: turn.sessionKey, agent: turn.agentId, sender, channel: turn.channel };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value)) as Place;
}

/** Never by a session's id, which a host may use again: by agent and session key. A key may name the agent itself. */
export function conversation({ agent, session = "" }: Place): string {
  return JSON.stringify([agent ?? /^agent:([^:]+):/.exec(session)?.[1] ?? "", session]);
}

export function person(place: Place): string {
  return JSON.stringify([conversation(place), place.sender ?? ""]);
}
