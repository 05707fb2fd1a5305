// Written by `make reference` from src/foreword/serve/wire.py. Change it there.

export const VERSION = 1;

/** What a session of this kind gets of its workspace: `keep` of what the host loaded, and `add`. `shed` was used in this conversation and is not sent again. With `enabled` false the host's own choice stands. `context_file` is the file that a brief of this session is written into, "" where none is: who gets no answer to a brief empties it. */
export interface BootstrapAnswer {
  enabled: boolean;
  kind: string;
  reason: string;
  keep: string[];
  add: WorkspaceFileDocument[];
  missing: string[];
  shed: string[];
  tokens: Record<string, number>;
  problems: string[];
  context_file: string;
}

/** `workspace` is the folder, `files` the names of what the host has loaded from it. */
export interface BootstrapPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  workspace: string;
  files: string[];
}

/** What to put into the prompt, "" for nothing; which memories it is made of, why, and the id of its receipt. `file` is the context file that holds them, where one does: with it and no text, they reach the model by the file alone. */
export interface BriefDocument {
  text: string;
  memories: string[];
  tokens: number;
  reason: string;
  receipt: string;
  file: string;
}

/** What the host is about to send to its model. After `deadline_ms` nothing is given, and the receipt says so. With `holds_session` nothing is given that the session itself recorded since its last compaction. With `ahead` nothing is given yet: what is found is laid ready for the same request without it, when the prompt is built. `trigger` and `provenance` are what the host says of the run. `workspace` is the folder in which the agent works, from a host that does not call `bootstrap`. */
export interface BriefPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  text: string;
  at?: number;
  holds_session?: boolean;
  ahead?: boolean;
  trigger?: string;
  provenance?: string;
  workspace?: string;
  deadline_ms?: number;
}

export interface FeedbackAnswer {
  receipt: string;
  feedback: string;
}

/** `clear` takes back what was said before. */
export interface FeedbackPayload {
  receipt: string;
  verdict: "good" | "noise" | "missed" | "clear";
}

/** How many memories, receipts that named or quoted them, and sections of journals are gone; `left` are notes in which a section had to be left. */
export interface ForgetAnswer {
  memories: number;
  receipts: number;
  sections: number;
  left: string[];
}

/** With a place told, only what may be seen from there. */
export interface ForgetPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  ids: string[];
}

/** `text` is the same for a model, quoted. */
export interface GetAnswer {
  memories: MemoryDocument[];
  text: string;
}

export interface GetPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  ids: string[];
  around?: number;
  whole_session?: boolean;
}

/** Something an agent saw. `at` is seconds since 1970; what is left out is derived. `trigger` and `provenance` are what the host says of the run: what set it off, and where its input came from. */
export interface IngestPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  content: string;
  kind?: "message" | "observation" | "summary" | "note" | "chunk";
  origin?: "owner" | "agent" | "tool" | "web" | "stranger";
  source_id?: string;
  at?: number;
  tool?: string;
  title?: string;
  type?: string;
  files?: string[];
  concepts?: string[];
  decisions?: string[];
  trigger?: string;
  provenance?: string;
}

/** One kept statement, in full. */
export interface MemoryDocument {
  id: string;
  content: string;
  metadata: MetadataDocument;
}

/** Where a memory came from, and what is known of it. `tokens` is what its whole text costs. */
export interface MetadataDocument {
  ts: string;
  kind: string;
  origin: string;
  audience: string;
  agent: string;
  session: string;
  project: string;
  channel: string;
  sender: string;
  source_id: string;
  title: string;
  type: string;
  files: string[];
  concepts: string[];
  decisions: string[];
  tokens: number;
}

/** The session that is compacted. */
export interface PlacePayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
}

/** What became of an event; `reason` is a sentence whenever it was not plainly stored. */
export interface RecordedDocument {
  outcome: "stored" | "known" | "skipped";
  id: string;
  reason: string;
  redactions: string[];
}

/** A memory that was found. `score` is the confidence, 0 to 1, that it answers; `lanes` is what each way of looking said of it. */
export interface ResultDocument {
  id: string;
  content: string;
  metadata: MetadataDocument;
  score: number;
  lanes: Record<string, number>;
}

/** `text` is the same for a model: a row for each, with what reading it costs. */
export interface SearchAnswer {
  results: ResultDocument[];
  text: string;
}

export interface SearchPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  query: string;
  limit?: number;
}

/** One conversation of which something is kept. */
export interface SessionDocument {
  session: string;
  agent: string;
  kind: string;
  audience: string;
  project: string;
  channel: string;
  started: string;
  last: string;
  memories: number;
  summary: string;
}

export interface SessionsAnswer {
  sessions: SessionDocument[];
}

export interface SessionsPayload {
  limit?: number;
  agent?: string;
}

/** The session that starts. Where the host knows them, the `text` it is about to send and the `files` in play put what has to do with them first. */
export interface StartPayload {
  session?: string;
  agent?: string;
  sender?: string;
  channel?: string;
  project?: string;
  audience?: "private" | "group" | "external";
  text?: string;
  files?: string[];
}

/** What is kept and how turns were answered; `daemon` is who answers, where a daemon does. */
export interface StatusAnswer {
  memories: number;
  sessions: number;
  by_agent: Record<string, number>;
  by_kind: Record<string, number>;
  by_audience: Record<string, number>;
  outdated: number;
  summary_failure: string;
  bytes: number;
  turns: number;
  silent_turns: number;
  feedback: Record<string, number>;
  tokens_injected: number;
  tokens_avoided: number;
  profile: string;
  embedder: Record<string, unknown>;
  excluded: Record<string, string[]>;
  lanes: Record<string, unknown>;
  warnings: string[];
  daemon?: Record<string, unknown>;
}

/** Nothing is asked for in particular. */
export type StatusPayload = Record<string, never>;

/** The receipt as it is kept, and the same for people. */
export interface WhyAnswer {
  receipt: Record<string, unknown>;
  explanation: string;
}

/** The newest turn, of a session, an agent or a project where told; with an agent or a project, no other's. */
export interface WhyPayload {
  receipt?: string;
  session?: string;
  agent?: string;
  project?: string;
}

/** A workspace file that the host does not load by itself. */
export interface WorkspaceFileDocument {
  name: string;
  path: string;
  content: string;
  tokens: number;
}

/** What each action takes, and what it answers. */
export interface Actions {
  /** Keep what an agent saw. */
  ingest: { payload: IngestPayload; answer: RecordedDocument };
  /** Memories by meaning, best first. */
  search: { payload: SearchPayload; answer: SearchAnswer };
  /** What the model should be given with this message. */
  brief: { payload: BriefPayload; answer: BriefDocument };
  /** The stable part for a session. */
  start: { payload: StartPayload; answer: BriefDocument };
  /** What should survive the host's compaction. */
  compact: { payload: PlacePayload; answer: BriefDocument };
  /** Which workspace files a session gets. */
  bootstrap: { payload: BootstrapPayload; answer: BootstrapAnswer };
  /** Memories in full, with neighbours on request. */
  get: { payload: GetPayload; answer: GetAnswer };
  /** Forget memories for good. */
  forget: { payload: ForgetPayload; answer: ForgetAnswer };
  /** Why a turn was answered as it was. */
  why: { payload: WhyPayload; answer: WhyAnswer };
  /** Keep what a person says of a turn. */
  feedback: { payload: FeedbackPayload; answer: FeedbackAnswer };
  /** The conversations of which something is kept. */
  sessions: { payload: SessionsPayload; answer: SessionsAnswer };
  /** What is kept. */
  status: { payload: StatusPayload; answer: StatusAnswer };
}

export type Action = keyof Actions;
export type Payload<A extends Action> = Actions[A]["payload"];
export type Answer<A extends Action> = Actions[A]["answer"];
