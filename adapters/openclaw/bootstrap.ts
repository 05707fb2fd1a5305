/** Which workspace files a session gets: the engine chooses, this carries the choice into the host's list. */
import type { Foreword } from "../kit/client.ts";
import { empty } from "../kit/context.ts";
import type { BootstrapEvent, BootstrapFile } from "./host.ts";
import { conversation, placeOf, type Place, type State } from "./state.ts";

/** After this hook the host drops every entry of such sessions that does not bear this name, whatever its path. */
const SURVIVES = "AGENTS.md";
const FILTERED = new Set(["subagent", "heartbeat_cron"]);

/** No brief was had for this turn: what the session's context file holds is of an earlier one. */
export function emptied(place: Place, state: State): Promise<void> {
  return empty(state.files.get(conversation(place))?.context_file);
}

export async function choose(event: BootstrapEvent, foreword: Foreword, state: State, warn: (text: string) => void): Promise<void> {
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
  // These files are in the cached part of the prompt: a daemon that is away for a turn must not change them.
  const chosen = answer ?? known;
  if (!chosen?.enabled) return;
  const kept = loaded.filter((one) => chosen.keep.includes(one.name));
  const added = chosen.add.map(({ name, path, content }) => ({ name, path, content, missing: false }));
  // Copies: the host may keep its own entries for other sessions.
  const named = (one: BootstrapFile) => (FILTERED.has(chosen.kind) ? { ...one, name: SURVIVES } : one);
  context.bootstrapFiles = [...kept, ...added].map(named);
}
