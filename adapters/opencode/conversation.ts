/**
 * One session as this process has met it. What was put beside its messages is not kept by the host, and is put there
 * again with every request: so the model still has it, and each request begins with the one before, byte for byte.
 * All of it is gone with the process, and then the engine is told.
 */
import type { Foreword } from "../kit/client.ts";
import { Few } from "../kit/few.ts";
import type { Client } from "./host.ts";
import type { Later } from "./later.ts";

const LOOKED_UP_WITHIN_MS = 300;
const TITLE_WITHIN_MS = 400;
const MOST_MESSAGES = 1_000;

export class Conversation {
  /** By message: what stands beside it; undefined where Foreword could not be asked. */
  readonly #beside = new Few<Promise<string | undefined>>(MOST_MESSAGES);
  #stable: Promise<string | undefined> | undefined;
  #answer: { message: string; text: string } | undefined;
  #summary = "";
  #command: string | undefined;
  #title: Promise<void> | undefined;
  #parent: string | undefined;
  /** Whether the model may have been given something by an earlier process. */
  #resumed = true;

  constructor(
    readonly id: string,
    readonly directory: string,
    readonly client: Client | undefined,
    readonly foreword: Foreword,
    readonly later: Later,
  ) {}

  /** It began in this process. Where it has no title yet, the host asks for one beside its first request. */
  created(parent: string | undefined, untitled: boolean): void {
    this.#parent = parent ?? "";
    this.#resumed = false;
    if (untitled && !parent) this.#title = new Promise((resolve) => (this.titled = resolve));
  }

  /** The host has written its request for a title. */
  titled: () => void = () => {};

  /** The title is made from the very messages that are added to: nothing is added before it is asked for. */
  async untouched(): Promise<void> {
    const title = this.#title;
    this.#title = undefined;
    if (title) await Promise.race([title, new Promise((resolve) => setTimeout(resolve, TITLE_WITHIN_MS))]);
  }

  /** The next message is a command's: only what stands behind its name is the user's, the rest is a template's. */
  commanded(own: string): void {
    this.#command = own;
  }

  /** The user has said something: what belongs to it is looked for while the host builds its request. */
  said(message: string, words: string): void {
    this.answered();
    const prompt = this.#command ?? words;
    this.#command = undefined;
    if (!prompt.trim()) return;
    const source = this.#resumed ? "resume" : "";
    this.#resumed = false;
    const found = this.#told("prompt", { messageID: message, prompt, source });
    this.#beside.set(message, found);
    // What a session that is gone on with begins with is decided once the engine knows that it is.
    const start = () => this.#told("start", { prompt });
    if (source) this.#stable = found.then(start);
    else if (this.#stable) this.#stable = this.#stable.then((text) => text ?? start());
    else this.#stable = start();
  }

  async beside(message: string): Promise<string> {
    return (await this.#beside.get(message)) ?? "";
  }

  /** The same until the session is compacted, or Foreword could not be asked: then the next message asks again. */
  async stable(): Promise<string> {
    return (await (this.#stable ??= this.#told("start", {}))) ?? "";
  }

  /** The host is about to write a summary. What stood beside the messages is no part of it, and comes again if due. */
  async compacting(): Promise<string> {
    this.#beside.clear();
    this.#stable = undefined;
    return (await this.#told("compact", {})) ?? "";
  }

  /** The agent's words so far; the last of a turn are its answer. */
  words(message: string, text: string): void {
    if (message !== this.#summary) this.#answer = { message, text };
  }

  /** This message is the summary of a compaction, which is the conversation once more. */
  summary(message: string): void {
    this.#summary = message;
    if (this.#answer?.message === message) this.#answer = undefined;
  }

  /** The turn is over. */
  answered(): void {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer) this.later.do((limit) => this.#told("answer", { messageID: answer.message, text: answer.text }, limit));
  }

  used(tool: string, callID: string | undefined, args: unknown, result: object): void {
    this.later.do((limit) => this.#told("tool", { tool, callID, args, result }, limit));
  }

  async #told(event: string, more: object, limit: { deadlineMs?: number } = {}): Promise<string | undefined> {
    const parentID = (this.#parent ??= await this.#lookedUp());
    return this.foreword.hook(event, { sessionID: this.id, parentID, cwd: this.directory, ...more }, limit);
  }

  async #lookedUp(): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const over = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), LOOKED_UP_WITHIN_MS)));
      const found = await Promise.race([this.client?.session?.get?.({ path: { id: this.id } }), over]);
      return found?.data?.parentID ?? "";
    } catch {
      return "";
    } finally {
      clearTimeout(timer);
    }
  }
}
