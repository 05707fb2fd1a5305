/** One request and its answer over a Unix socket: in the one envelope, or as a host's hook. */
import { request } from "node:http";
import type { Deadline } from "./deadline.ts";
import { VERSION } from "./wire.ts";

const LARGEST_ANSWER_BYTES = 16_000_000;

/** The answer's data. Rejects with a sentence that holds no word of what was asked or kept. */
export async function exchange(path: string, action: string, payload: object, deadline: Deadline): Promise<object> {
  const { text } = await post(path, "/v1", JSON.stringify({ version: VERSION, action, payload }), deadline);
  return opened(text);
}

/** What the host is told at one of its events, "" for nothing. Rejects as `exchange` does. */
export async function hook(path: string, host: string, event: string, told: object, deadline: Deadline): Promise<string> {
  const { status, text } = await post(path, `/hook/${host}/${event}`, JSON.stringify(told), deadline);
  if (status === 200) return text;
  opened(text);
  throw new Error("the daemon's answer is not one of Foreword's");
}

/** A connection of its own for each call: nothing stays open that keeps the host's process alive, or goes stale. */
function post(socket: string, path: string, body: string, deadline: Deadline): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const until = deadline.until;
    const headers = {
      Host: "foreword",
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      // Foreword must know how long its brief is wanted: one that comes too late was never said.
      ...(until !== undefined && { "X-Until": until.toFixed(6) }),
    };
    const signal = deadline.signal;
    const options = { socketPath: socket, method: "POST", path, agent: false as const, headers, signal };
    const asking = request(options, (answer) => {
      const parts: Buffer[] = [];
      let size = 0;
      answer.on("data", (part: Buffer) => {
        size += part.length;
        if (size > LARGEST_ANSWER_BYTES) asking.destroy(new Error("the daemon's answer is too large"));
        else parts.push(part);
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }));
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
