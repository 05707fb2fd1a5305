/** One request and its answer, in the one envelope, over a Unix socket. */
import { request } from "node:http";
import type { Deadline } from "./deadline.ts";
import { VERSION } from "./wire.ts";

const LARGEST_ANSWER_BYTES = 16_000_000;

/** The answer's data. Rejects with a sentence that holds no word of what was asked or kept. */
export async function exchange(path: string, action: string, payload: object, deadline: Deadline): Promise<object> {
  return opened(await post(path, JSON.stringify({ version: VERSION, action, payload }), deadline));
}

/** A connection of its own for each call: nothing stays open that keeps the host's process alive, or goes stale. */
function post(path: string, body: string, deadline: Deadline): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      Host: "foreword",
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      // Foreword must know how long its brief is wanted: one that comes too late was never said.
      "X-Until": deadline.until.toFixed(6),
    };
    const signal = deadline.signal;
    const options = { socketPath: path, method: "POST", path: "/v1", agent: false as const, headers, signal };
    const asking = request(options, (answer) => {
      const parts: Buffer[] = [];
      let size = 0;
      answer.on("data", (part: Buffer) => {
        size += part.length;
        if (size > LARGEST_ANSWER_BYTES) asking.destroy(new Error("the daemon's answer is too large"));
        else parts.push(part);
      });
      answer.on("end", () => resolve(Buffer.concat(parts).toString("utf8")));
      answer.on("error", reject);
    });
    asking.on("error", reject);
    asking.end(body);
  });
}

function opened(text: string): object {
  const envelope = parsed(text);
  if ((envelope?.version ?? VERSION) !== VERSION) throw new Error("the daemon speaks another version of the protocol");
  if (envelope?.status === "ok" && typeof envelope.data === "object" && envelope.data !== null) return envelope.data;
  const told: unknown = envelope?.error?.message;
  throw new Error(typeof told === "string" ? told : "the daemon's answer is not one of Foreword's");
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes what it read, and no word of a memory goes into a log.
    throw new Error("the daemon's answer is not JSON");
  }
}
