/**
 * Carries requests to Foreword's daemon and its answers back. It does not think, and it never harms its host: a call
 * never throws or rejects and is over at its deadline; whatever goes wrong resolves to undefined.
 */
import { spawn } from "node:child_process";
import { deadlines, type Environ, reachable, runFolder } from "./address.ts";
import { Deadline } from "./deadline.ts";
import { exchange, hook } from "./exchange.ts";
import { note } from "./trail.ts";
import type { Action, Answer, Payload } from "./wire.ts";

const COLD_DEADLINE_MS = 600;
const TRY_AGAIN_MS = 5;
const START_AGAIN_MS = 3_000;
// What a socket says when nobody listens, when who listened went away, and when too many stand at the door.
const ABSENT = new Set(["ENOENT", "ECONNREFUSED"]);
const LEFT = new Set(["ECONNRESET", "EPIPE"]);
const CROWDED = "EAGAIN";
/** What `foreword up` does in the end. Without the command line before it, the first message is answered in time. */
const COMMAND = ["foreword-daemon", "--detach"];

export interface Options {
  /** Who is named in failures.log. */
  host?: string;
  /** Where the daemon is looked for, and what it is started with. */
  environ?: Environ;
  /** How long a call waits; left out, as long as Foreword's settings say. */
  deadlineMs?: number;
  /** The same when the daemon has to be started first. */
  coldDeadlineMs?: number;
  /** What starts the daemon; an empty list starts none. */
  command?: readonly string[];
}

/** One try at a daemon that listens at `path`. */
type Send<T> = (path: string, deadline: Deadline) => Promise<T>;

export class Foreword {
  /** A sentence about the call that failed last; "" when none has. */
  lastFailure = "";
  readonly #options: Options;
  readonly #environ: Environ;
  #startedAt = -Infinity;
  #startFailure = "";

  constructor(options: Options = {}) {
    this.#options = options;
    this.#environ = options.environ ?? process.env;
  }

  call<A extends Action>(action: A, payload: Payload<A>, options: { deadlineMs?: number } = {}): Promise<Answer<A> | undefined> {
    return this.#carried(action, options, (path, deadline) => exchange(path, action, payload, deadline) as Promise<Answer<A>>);
  }

  /** Tells Foreword of an event as `foreword hook` does; what the host is told is "" for nothing. */
  hook(event: string, told: object, options: { deadlineMs?: number } = {}): Promise<string | undefined> {
    return this.#carried(event, options, (path, deadline) => hook(path, this.#host, event, told, deadline));
  }

  get #host(): string {
    return this.#options.host ?? "node";
  }

  async #carried<T>(what: string, options: { deadlineMs?: number }, send: Send<T>): Promise<T | undefined> {
    let folder = "";
    let deadline: Deadline | undefined;
    try {
      folder = runFolder(this.#environ);
      // No daemon has said that it is ready: then this one may have to be waited for.
      const [usualMs, usualColdMs] = deadlines(folder) ?? [COLD_DEADLINE_MS, COLD_DEADLINE_MS];
      deadline = new Deadline(options.deadlineMs ?? this.#options.deadlineMs ?? usualMs);
      const coldMs = this.#options.coldDeadlineMs ?? usualColdMs;
      return await Promise.race([this.#ask(folder, send, deadline, coldMs), deadline.over]);
    } catch (error) {
      const late = deadline?.signal.aborted ? deadline.sentence : "";
      this.lastFailure = late || (error instanceof Error ? error.message : String(error));
      if (folder) void note(folder, this.#host, what, this.lastFailure);
      return undefined;
    } finally {
      deadline?.end();
    }
  }

  #ask<T>(folder: string, send: Send<T>, deadline: Deadline, coldMs: number): Promise<T> {
    let left = false;
    return reachable(`${folder}/daemon.sock`, async (path) => {
      while (true) {
        try {
          const answer = await send(path, deadline);
          // It is there: when it is gone one day, it may be started again at once.
          this.#startedAt = -Infinity;
          return answer;
        } catch (error) {
          const code = (error as NodeJS.ErrnoException).code ?? "";
          if (ABSENT.has(code)) this.#start(deadline, coldMs);
          // It may have ended, idle, in this very moment. Asking again does no harm: what is known is not kept twice.
          else if (LEFT.has(code) && !left) left = true;
          else if (code !== CROWDED) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
        deadline.signal.throwIfAborted();
      }
    });
  }

  /** Throws where no daemon can be had. */
  #start(deadline: Deadline, coldMs: number): void {
    const [program, ...rest] = this.#options.command ?? COMMAND;
    if (program === undefined) throw new Error("no daemon runs");
    if (performance.now() - this.#startedAt > START_AGAIN_MS) {
      this.#startedAt = performance.now();
      this.#startFailure = "";
      // As `python -E` does: what the host's project sets for its own Python must not decide what the daemon loads.
      const env = Object.fromEntries(Object.entries(this.#environ).filter(([name]) => !name.startsWith("PYTHON")));
      const child = spawn(program, rest, { env, detached: true, stdio: "ignore" });
      child.on("error", (error) => (this.#startFailure = `the daemon cannot be started: ${error.message}`));
      child.on("exit", (code) => {
        if (code) this.#startFailure = `the daemon cannot be started: ${program} ended with ${code}`;
      });
      child.unref();
    }
    if (this.#startFailure) throw new Error(this.#startFailure);
    deadline.extend(coldMs, "the daemon did not start in time");
  }
}
