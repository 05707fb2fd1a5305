/** Memory as tools, as every host has them: what they are told to be, and what they answer, comes from Foreword. */
import type { Foreword } from "../kit/client.ts";
import { TOOLS } from "../kit/tools.ts";
import type { Tool, ToolContext } from "./host.ts";
import { placeOf, type Place } from "./state.ts";

/** A model that asks is worth more patience than a prompt that waits. */
const TOOL_MS = 5_000;
const ACTIONS = { "mem-search": "search", "mem-get": "get" } as const;

export type Name = keyof typeof ACTIONS;
export const NAMES = Object.keys(ACTIONS) as Name[];

export function tool(name: Name, foreword: Foreword): (context: ToolContext) => Tool {
  const { title, description, parameters } = TOOLS[name];
  return (context) => ({
    name,
    label: title,
    description,
    parameters,
    execute: async (_id, params) => {
      const known = Object.keys(parameters.properties).filter((one) => params[one] !== undefined);
      const asked = Object.fromEntries(known.map((one) => [one, params[one]]));
      // Whether they fit is said by the engine, in a sentence that a model can read.
      const payload = { ...placed(context), ...asked } as never;
      const found = await foreword.call(ACTIONS[name], payload, { deadlineMs: TOOL_MS });
      const text = found?.text ?? `Memory cannot be read now: ${foreword.lastFailure}`;
      return { content: [{ type: "text", text }], details: {} };
    },
  });
}

function placed({ sessionKey, agentId, requesterSenderId, messageChannel }: ToolContext): Place {
  return placeOf({ sessionKey, agentId, senderId: requesterSenderId, channel: messageChannel });
}
