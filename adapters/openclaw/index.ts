/**
 * Foreword in OpenClaw. It carries and does not think: what is worth saying, to whom, and which files a session needs
 * is decided by the engine. It does not take the memory slot.
 */
import { Foreword } from "../kit/client.ts";
import { choose } from "./bootstrap.ts";
import { told } from "./command.ts";
import type { Api, BootstrapEvent, ResetEvent } from "./host.ts";
import { shared } from "./state.ts";
import { NAMES, spelled, tool } from "./tools.ts";
import { askAhead, given, keep, PATIENT_MS, reset } from "./turn.ts";

const GRANT = "openclaw config set plugins.entries.foreword.hooks.allowConversationAccess true --strict-json";

export default {
  id: "foreword",
  name: "Foreword",
  description: "Puts the few memories worth knowing beside a message before the model answers it, or nothing at all.",
  // In every mode: the host builds prompts with the copy that it loaded for "discovery".
  register(api: Api): void {
    const state = shared();
    const { home, command } = api.pluginConfig ?? {};
    const environ = home ? { ...process.env, FOREWORD_HOME: home } : process.env;
    const foreword = new Foreword({ host: "openclaw", environ, ...(command?.length && { command }) });
    const warn = (text: string) => api.logger?.warn?.(`foreword: ${text}`);
    const quietly = async <T>(what: string, work: () => T | Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        warn(`${what} failed: ${error instanceof Error ? error.message : String(error)}`);
        return undefined;
      }
    };

    if (api.registrationMode === "full" && !api.config?.plugins?.entries?.foreword?.hooks?.allowConversationAccess) {
      warn(`nothing is injected or recorded until this is granted: ${GRANT}`);
    }
    api.on("message_received", (event, context) => quietly("asking ahead", () => askAhead(event, context, foreword, state)));
    api.on("before_prompt_build", (event, turn) => quietly("the brief", () => given(event.prompt ?? "", turn, foreword, state)));
    api.on("agent_end", (event, turn) => quietly("recording", () => keep(event, turn, foreword, state)));
    api.on("after_compaction", (_event, turn) => quietly("the reset", () => reset(turn, foreword, state, PATIENT_MS)));
    api.on("before_reset", (_event, turn) => quietly("the reset", () => reset(turn, foreword, state)));
    // A session that the host ended by itself, at night or because it was idle, is told of here alone.
    api.registerHook(
      "session:auto-reset",
      ({ sessionKey, context }: ResetEvent) =>
        quietly("the reset", () => reset({ sessionKey, agentId: context?.agentId }, foreword, state)),
      { name: "foreword-reset" },
    );
    api.registerHook(
      "agent:bootstrap",
      (event: BootstrapEvent) => quietly("the choice of files", () => choose(event, foreword, state, warn)),
      { name: "foreword-bootstrap" },
    );
    for (const name of NAMES) api.registerTool(tool(name, foreword), { name: spelled(name) });
    api.registerCommand({
      name: "foreword",
      description: "Foreword's memory in this session: status, why, off, on",
      acceptsArgs: true,
      handler: async (turn) => ({
        text: (await quietly("the command", () => told(turn, foreword, state))) ?? "Foreword failed inside.",
      }),
    });
  },
};
