/** A line for a failure that no host noticed, as serve/trail.py has them; `foreword doctor` shows it. */
import { open, rename } from "node:fs/promises";

const LARGEST_BYTES = 64_000;
/** On a disk that hangs, lines are dropped rather than piled up in the host's memory. */
const MOST_AT_ONCE = 16;
let writing = 0;

/** Never rejects: a full disk or a folder that is gone leaves no other place to say it. */
export async function note(folder: string, host: string, event: string, cause: string): Promise<void> {
  if (writing >= MOST_AT_ONCE) return;
  writing += 1;
  try {
    const stamp = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const fields = [host, event, cause].map((one) => one.trim().replace(/\s+/g, " ").slice(0, 300));
    const file = `${folder}/failures.log`;
    const log = await open(file, "a", 0o600);
    try {
      await log.write(`${[stamp, ...fields].join("\t")}\n`);
      if ((await log.stat()).size > LARGEST_BYTES) await rename(file, `${file}.1`);
    } finally {
      await log.close();
    }
  } catch {
    return;
  } finally {
    writing -= 1;
  }
}
