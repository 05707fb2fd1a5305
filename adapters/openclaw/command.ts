/** /foreword: what a person may ask and switch in the conversation itself. */
import type { Foreword } from "../kit/client.ts";
import type { Turn } from "./host.ts";
import { conversation, person, placeOf, type Place, type State } from "./state.ts";

const COMMAND_MS = 5_000;

export async function told(turn: Turn & { args?: string }, foreword: Foreword, state: State): Promise<string> {
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

async function status(off: boolean, foreword: Foreword): Promise<string> {
  const kept = await foreword.call("status", {}, { deadlineMs: COMMAND_MS });
  const here = `Foreword is ${off ? "off" : "on"} in this session.`;
  if (!kept) return `${here} Its daemon does not answer: ${foreword.lastFailure}`;
  const turns = `${kept.turns} turns, ${kept.silent_turns} of them silent, ${kept.tokens_injected} tokens injected`;
  return [`${here} ${kept.memories} memories; ${turns}; profile ${kept.profile}.`, ...kept.warnings].join("\n");
}

/** By the receipt of this very person's turn: the newest of the session may be somebody else's. */
async function why(place: Place, foreword: Foreword, state: State): Promise<string> {
  const last = state.last.get(person(place));
  if (!last) return "Foreword has not been asked for you in this session since the gateway started.";
  if (!last.receipt) return `Nothing was given with your last message: ${last.failure}`;
  const explained = await foreword.call("why", { receipt: last.receipt }, { deadlineMs: COMMAND_MS });
  return explained?.explanation ?? `The receipt cannot be read now: ${foreword.lastFailure}`;
}
