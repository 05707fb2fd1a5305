/** Memory as tools, as every host has them: what they are told to be, and what they answer, comes from Foreword. */
import type { Foreword } from "../kit/client.ts";
import { type Name, read } from "../kit/reading.ts";
import { TOOLS } from "../kit/tools.ts";
import type { Tool, ToolContext } from "./host.ts";
import { placeOf, type Place } from "./state.ts";

export { NAMES } from "../kit/reading.ts";

export function tool(name: Name, foreword: Foreword): (context: ToolContext) => Tool {
  const { title, description, parameters } = TOOLS[name];
  return (context) => ({
    name: spelled(name),
    label: title,
    description,
    parameters,
    execute: async (_id, params) => {
      const text = await read(name, params, placed(context), foreword);
      return { content: [{ type: "text", text }], details: {} };
    },
  });
}

/** As the host's own tools are: memory_search, and not memory-search. */
export function spelled(name: Name): string {
  return name.replace("-", "_");
}

function placed({ sessionKey, agentId, requesterSenderId, messageChannel }: ToolContext): Place {
  return placeOf({ sessionKey, agentId, senderId: requesterSenderId, channel: messageChannel });
}
