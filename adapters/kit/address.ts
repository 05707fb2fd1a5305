/** Where the daemon is met: the same rule as src/foreword/serve/address.py has, for programs that read no settings. */
import { readFileSync } from "node:fs";
import { mkdtemp, rmdir, symlink, unlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";

export type Environ = Readonly<Record<string, string | undefined>>;

/** What the kernel takes as the path of a Unix socket: 108 bytes on Linux, 104 on macOS, with the NUL that ends it. */
const LONGEST_PATH = 100;

/** The folder with the daemon's socket and what it leaves behind. Throws where this process's own folder is gone. */
export function runFolder(environ: Environ): string {
  const home = environ.HOME || homedir();
  const absolute = (path: string): string => {
    const expanded = /^~(\/|$)/.test(path) ? home + path.slice(1) : path;
    // Not path.resolve: it would cut `link/..` short, which leads elsewhere.
    return isAbsolute(expanded) ? expanded : `${process.cwd()}/${expanded}`;
  };
  if (environ.FOREWORD_HOME) return `${absolute(environ.FOREWORD_HOME)}/run`;
  const base = `${environ.XDG_DATA_HOME ? absolute(environ.XDG_DATA_HOME) : `${home}/.local/share`}/foreword`;
  const config = environ.FOREWORD_CONFIG;
  return config ? `${base}/run-${crc32(Buffer.from(absolute(config))).toString(16).padStart(8, "0")}` : `${base}/run`;
}

/** How long a host waits, warm and cold, as the daemon published it from its settings; undefined before it ever ran. */
export function deadlines(folder: string): readonly [number, number] | undefined {
  try {
    const told = /^(\d{1,9}) (\d{1,9})$/.exec(readFileSync(join(folder, "deadlines"), "latin1").trim());
    return told ? [Number(told[1]), Number(told[2])] : undefined;
  } catch {
    return undefined;
  }
}

/** Gives `use` the socket's path as the kernel takes it; one too long is led to by a link in a short place. */
export async function reachable<T>(socket: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(socket) <= LONGEST_PATH) return use(socket);
  const folder = await mkdtemp(join(tmpdir(), "foreword-"));
  const link = join(folder, "run");
  try {
    await symlink(dirname(socket), link);
    return await use(join(link, basename(socket)));
  } finally {
    // One by one: nothing that deletes recursively comes near a link to the user's folder.
    await unlink(link).catch(() => {});
    await rmdir(folder).catch(() => {});
  }
}

/** Node 20 has none of its own. */
export function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
