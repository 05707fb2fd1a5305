/** What this plugin uses of OpenClaw 2026.9, as it was seen there. Every field may be missing: the host is not ours. */

/** Who says something where, in the host's words; hooks, tools and commands each tell a part of it. */
export interface Turn {
  runId?: string;
  agentId?: string;
  sessionKey?: string;
  senderId?: string;
  channel?: string;
  trigger?: string;
  inputProvenance?: { kind?: string };
}

/** What a prompt gets: beside the user's message, and at the end of the system prompt. Neither is kept in history. */
export interface Given {
  prependContext?: string;
  appendSystemContext?: string;
}

export interface Message {
  role?: string;
  content?: unknown;
}

export interface Received {
  content?: string;
  senderId?: string;
  sessionKey?: string;
  metadata?: { senderId?: string };
}

/** `name` decides whether the entry survives in this session, `path` is what the model reads above it. */
export interface BootstrapFile {
  name: string;
  path: string;
  content?: string;
  missing: boolean;
}

export interface BootstrapEvent {
  sessionKey?: string;
  context?: { workspaceDir?: string; bootstrapFiles?: BootstrapFile[]; agentId?: string; sessionKey?: string };
}

export interface ResetEvent {
  sessionKey?: string;
  context?: { agentId?: string };
}

export interface ToolContext {
  agentId?: string;
  sessionKey?: string;
  requesterSenderId?: string;
  messageChannel?: string;
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: object;
  execute(id: string, params: Record<string, unknown>): Promise<{ content: { type: "text"; text: string }[]; details: object }>;
}

export interface Command {
  name: string;
  description: string;
  acceptsArgs: boolean;
  handler(context: Turn & { args?: string }): Promise<{ text: string }>;
}

interface Hooks {
  message_received(event: Received, context: { channelId?: string; sessionKey?: string; senderId?: string }): unknown;
  before_prompt_build(event: { prompt?: string }, turn: Turn): Promise<Given | undefined>;
  agent_end(event: { messages?: Message[]; success?: boolean; runId?: string }, turn: Turn): Promise<void>;
  after_compaction(event: object, turn: Turn): Promise<void>;
  before_reset(event: object, turn: Turn): Promise<void>;
}

export interface Api {
  registrationMode?: string;
  pluginConfig?: { home?: string; command?: string[] };
  config?: { plugins?: { entries?: Record<string, { hooks?: { allowConversationAccess?: boolean } }> } };
  logger?: { warn?(text: string): void };
  on<N extends keyof Hooks>(name: N, handler: Hooks[N]): void;
  registerHook(event: string, handler: (event: never) => Promise<void>, options: { name: string }): void;
  registerTool(make: (context: ToolContext) => Tool, options: { name: string }): void;
  registerCommand(command: Command): void;
}
