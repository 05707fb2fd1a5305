/** The tools that read memory: what a host's model hands them, and what it is answered. */
import type { Foreword } from "./client.ts";
import { TOOLS } from "./tools.ts";

/** A model that asks is worth more patience than a prompt that waits. */
const TOOL_MS = 5_000;
const ACTIONS = { "mem-search": "search", "mem-get": "get" } as const;

export type Name = keyof typeof ACTIONS;
export const NAMES = Object.keys(ACTIONS) as Name[];

/** A text in any case: a model reads a sentence about what is wrong. */
export async function read(name: Name, params: Record<string, unknown>, place: object, foreword: Foreword): Promise<string> {
  const known = Object.keys(TOOLS[name].parameters.properties).filter((one) => params[one] !== undefined);
  const asked = Object.fromEntries(known.map((one) => [one, params[one]]));
  // Whether they fit is said by the engine, in a sentence that a model can read.
  const found = await foreword.call(ACTIONS[name], { ...place, ...asked } as never, { deadlineMs: TOOL_MS });
  return found?.text ?? `Memory cannot be read now: ${foreword.lastFailure}`;
}
