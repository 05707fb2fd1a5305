/** What nobody waits for: it is done one after the other, as it happened. */

const UNHURRIED_MS = 2_000;
/** With a daemon that hangs, what is to be kept is dropped rather than piled up in the host's memory. */
const MOST_WAITING = 200;

export class Later {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  do(work: (limit: { deadlineMs: number }) => Promise<unknown>): void {
    if (this.#waiting >= MOST_WAITING) return;
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => work({ deadlineMs: UNHURRIED_MS }))
      .catch(() => undefined)
      .finally(() => (this.#waiting -= 1));
  }

  /** All of it, or what can be done while a host that ends may be held up. */
  async done(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise((resolve) => (timer = setTimeout(resolve, UNHURRIED_MS)));
    await Promise.race([this.#last, over]);
    clearTimeout(timer);
  }
}
