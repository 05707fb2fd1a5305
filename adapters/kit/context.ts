/** The context file that the engine writes into a workspace; it can be emptied by whoever finds no engine to do it. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** A file that begins otherwise is not Foreword's. */
const MARK = "<!-- ethos:context";

/** Never rejects: what cannot be opened cannot be emptied, and the turn goes on. No link is followed. */
export async function empty(path: string | undefined): Promise<void> {
  if (!path) return;
  try {
    // Without O_NONBLOCK a pipe of that name would be waited for.
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MARK.length), 0, MARK.length, 0);
      if (buffer.subarray(0, bytesRead).toString() === MARK) await file.truncate(0);
    } finally {
      await file.close();
    }
  } catch {
    return;
  }
}
