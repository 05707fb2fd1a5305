/** What this plugin uses of OpenCode 1.18, as it was seen there. Every field may be missing: the host is not ours. */

export interface Part {
  id: string;
  type: string;
  messageID: string;
  sessionID: string;
  text?: string;
  /** Not the user's words, but the host's or a plugin's. */
  synthetic?: boolean;
}

export interface Message {
  info?: { id: string; role: string; sessionID: string };
  parts?: Part[];
}

export interface SessionInfo {
  id?: string;
  title?: string;
  /** A sub-agent's session has the one that sent it. */
  parentID?: string;
}

/** A session that was made or ended, or a message that has got further; `summary` marks that of a compaction. */
export interface HostEvent {
  type?: string;
  properties?: {
    sessionID?: string;
    info?: SessionInfo & { role?: string; sessionID?: string; summary?: unknown };
  };
}

export interface Client {
  session?: { get?(options: { path: { id: string } }): Promise<{ data?: SessionInfo } | undefined> };
  app?: { log?(options: { body: { service: string; level: "warn"; message: string } }): Promise<unknown> };
}

/** One for each folder that the host works in. */
export interface Context {
  directory?: string;
  client?: Client;
}

export interface Tool {
  description: string;
  args: object;
  execute(args: Record<string, unknown>): Promise<string>;
}

/** What a tool gave: text in `output`, or in `content` where it is one of an MCP server. */
export interface Used {
  output?: unknown;
  content?: unknown;
}

export interface Hooks {
  event(input: { event?: HostEvent }): Promise<void>;
  "command.execute.before"(input: { sessionID?: string; arguments?: string }): Promise<void>;
  "chat.message"(input: { sessionID?: string }, output: { message?: { id?: string }; parts?: Part[] }): Promise<void>;
  "experimental.chat.messages.transform"(input: object, output: { messages?: Message[] }): Promise<void>;
  "experimental.chat.system.transform"(input: { sessionID?: string }, output: { system?: string[] }): Promise<void>;
  "experimental.session.compacting"(input: { sessionID?: string }, output: { context?: string[] }): Promise<void>;
  "experimental.text.complete"(input: { sessionID?: string; messageID?: string }, output: { text?: string }): Promise<void>;
  "tool.execute.after"(input: { tool?: string; sessionID?: string; callID?: string; args?: unknown }, output: Used): Promise<void>;
  dispose(): Promise<void>;
  tool: Record<string, Tool>;
}
