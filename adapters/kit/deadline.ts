/** When a call gives up, counted from when it was made. */
const LONGEST_MS = 600_000;

export class Deadline {
  /** What is said of a call that ended here. */
  sentence = "the daemon did not answer in time";
  readonly #abort = new AbortController();
  readonly signal = this.#abort.signal;
  readonly over = new Promise<never>((_, reject) => this.signal.addEventListener("abort", reject, { once: true }));
  readonly #started = performance.now();
  #ms = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.extend(ms, this.sentence);
  }

  /** Only ever later. */
  extend(ms: number, sentence: string): void {
    if (this.#timer && !(ms > this.#ms)) return;
    this.sentence = sentence;
    // What is no number is no time at all, rather than for ever.
    this.#ms = Math.min(Math.max(ms || 0, 0), LONGEST_MS);
    clearTimeout(this.#timer);
    // Where the host itself was busy for longer than that, an answer that has arrived meanwhile is still read.
    this.#timer = setTimeout(() => setImmediate(() => this.#abort.abort()), this.leftMs);
  }

  get leftMs(): number {
    return Math.max(this.#ms - (performance.now() - this.#started), 0);
  }

  /** On the machine's monotonic clock, in seconds, which every process of it reads alike. Bun has no such clock, only
   * one that begins with the process: there it is undefined. */
  get until(): number | undefined {
    if (process.versions.bun) return undefined;
    return Number(process.hrtime.bigint()) / 1e9 + this.leftMs / 1000;
  }

  /** Whatever is still under way ends too. */
  end(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
}
