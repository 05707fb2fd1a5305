// The built client against a real daemon, and against everything that can stand in its place.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, afterEach, describe, test } from "node:test";
import { crc32, runFolder } from "./dist/address.mjs";
import { Foreword } from "./dist/client.mjs";

const BIN = process.env.VENV_BIN ?? join(import.meta.dirname, "../../.venv/bin");
const FIXTURES = join(import.meta.dirname, "../fixtures/wire");
const START = [join(BIN, "foreword-daemon"), "--detach"];
// Long where a busy machine may take its time, and short where nothing is going to come.
const PATIENT = { deadlineMs: 20_000, coldDeadlineMs: 30_000 };
const SHORT_MS = 150;
// When a call that gives up at SHORT_MS has surely given up, on any machine.
const SURELY_MS = 5_000;

const top = mkdtempSync(join(tmpdir(), "kit-"));
const unhandled = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
process.on("warning", (warning) => unhandled.push(warning));

const homes = [];
function home(name = `home-${homes.length}`) {
  const environ = { PATH: process.env.PATH, HOME: join(top, "user"), FOREWORD_HOME: join(top, name) };
  const folder = runFolder(environ);
  homes.push(folder);
  return { environ, folder };
}

function client(place, options = {}) {
  return new Foreword({ host: "test", environ: place.environ, command: START, ...PATIENT, ...options });
}

function holder(folder) {
  return existsSync(`${folder}/daemon.lock`) ? Number(readFileSync(`${folder}/daemon.lock`, "latin1")) : 0;
}

function failures(folder) {
  const file = `${folder}/failures.log`;
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  return lines.map((line) => line.split("\t"));
}

/** What Python makes of `asked`: the script leaves it in `said`. */
function python(script, asked, options = {}) {
  const plain = script.replace(/^ +/gm, "");
  const whole = `import json, sys; asked = json.load(sys.stdin)\n${plain}\nprint(json.dumps(said))`;
  const input = JSON.stringify(asked);
  return JSON.parse(execFileSync(join(BIN, "python"), ["-c", whole], { input, encoding: "utf8", ...options }));
}

async function until(holds) {
  const end = performance.now() + 20_000;
  while (!holds()) {
    assert.ok(performance.now() < end, "it did not come about in time");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function refused(path) {
  const taken = () => new Promise((resolve) => {
    const line = connect(path, () => resolve(line.destroy())).on("error", () => resolve(false));
  });
  while (await taken());
}

async function silent(asked) {
  const started = performance.now();
  assert.equal(await asked, undefined);
  assert.ok(performance.now() - started < SURELY_MS, "it waited past its deadline");
}

/** Somebody else at the daemon's socket, who does with each connection what `talk` says. */
async function standIn(t, talk) {
  const place = home();
  mkdirSync(place.folder, { recursive: true });
  const open = new Set();
  const server = createServer((line) => {
    open.add(line);
    line.on("error", () => {});
    talk(line);
  });
  await new Promise((resolve) => server.listen(`${place.folder}/daemon.sock`, resolve));
  t.after(() => {
    for (const line of open) line.destroy();
    server.close();
  });
  return place;
}

const http = (body, head = "200 OK") => `HTTP/1.1 ${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const OK = '{"status":"ok","data":{}}';
const answering = (bytes) => (line) => line.once("data", () => line.end(bytes));

/** What a fixture says is there; a list is as long as it says; there may be more in an object. */
function matches(actual, wanted) {
  if (Array.isArray(wanted)) {
    assert.equal(actual.length, wanted.length);
    wanted.forEach((one, index) => matches(actual[index], one));
  } else if (wanted !== null && typeof wanted === "object") {
    for (const [key, inner] of Object.entries(wanted)) matches(actual[key], inner);
  } else {
    assert.equal(actual, wanted);
  }
}

afterEach(() => assert.deepEqual(unhandled, []));
after(() => {
  for (const daemon of homes.map(holder)) {
    // The number in a lock outlives its process, and may be another's by now.
    const about = `/proc/${daemon}/cmdline`;
    const ours = daemon && existsSync(about) && readFileSync(about, "utf8").includes("foreword");
    if (ours) process.kill(daemon, "SIGKILL");
  }
  rmSync(top, { recursive: true, force: true });
});

describe("the fixtures that Python is held to as well", () => {
  const foreword = client(home());
  const all = readdirSync(FIXTURES).sort().map((name) => JSON.parse(readFileSync(join(FIXTURES, name), "utf8")));
  // Of a request only what a call can send: it is always an object, and says the client's own version.
  for (const { name, request, answer } of all.filter(({ request }) => request.action && !request.version)) {
    test(name, async () => {
      const data = await foreword.call(request.action, request.payload ?? {});
      if (answer.status === "ok") matches(data, answer.data);
      else assert.equal(data, undefined);
      if (answer.error?.message) assert.equal(foreword.lastFailure, answer.error.message);
    });
  }
});

describe("a daemon that is not there", () => {
  test("is started by the first call, which is answered", async () => {
    const place = home();
    const data = await client(place).call("status", {});
    assert.equal(data.memories, 0);
    assert.equal(data.daemon.process, holder(place.folder));
  });

  test("is started once for many calls", async () => {
    const place = home();
    const started = join(top, "started");
    const command = ["/bin/sh", "-c", `echo once >> ${started}; exec ${START.join(" ")}`];
    const foreword = client(place, { command });
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, () => foreword.call("status", {})));
    assert.deepEqual(new Set(answers.map((one) => one.daemon.process)), new Set([holder(place.folder)]));
    const often = 1 + Math.floor((performance.now() - began) / 3_000);
    assert.ok(readFileSync(started, "utf8").length <= "once\n".length * often);
  });

  test("is started by its name, and without what the project sets for its own Python", async () => {
    const { environ } = home();
    const theirs = { ...environ, PATH: [BIN, process.env.PATH].join(delimiter), PYTHONHOME: "/nowhere" };
    const foreword = client({ environ: theirs }, { command: undefined });
    assert.equal((await foreword.call("status", {})).memories, 0);
  });

  test("is started again after it was killed", async () => {
    const place = home();
    const before = (await client(place).call("status", {})).daemon.process;
    process.kill(before, "SIGKILL");
    await refused(`${place.folder}/daemon.sock`);
    const now = (await client(place).call("status", {})).daemon.process;
    assert.notEqual(now, before);
  });

  test("goes away in the very moment of a call: the call is made once more", async (t) => {
    let calls = 0;
    const place = await standIn(t, (line) => {
      calls += 1;
      line.once("data", () => (calls === 1 ? line.destroy() : line.end(http(OK))));
    });
    assert.deepEqual(await client(place).call("status", {}), {});
    assert.equal(calls, 2);
  });

  test("and may not be started: silence, at once", async () => {
    const place = home();
    const foreword = client(place, { command: [] });
    await silent(foreword.call("status", {}));
    assert.equal(foreword.lastFailure, "no daemon runs");
  });

  test("and cannot be started: silence, without waiting for it", async () => {
    for (const [command, says] of [[[join(top, "nowhere")], /ENOENT/], [["/bin/sh", "-c", "exit 3"], /ended with 3/]]) {
      const foreword = client(home(), { command });
      await silent(foreword.call("status", {}));
      assert.match(foreword.lastFailure, says);
      await silent(foreword.call("status", {}));
      assert.match(foreword.lastFailure, says);
    }
  });

  test("and does not come in time: silence, and a line", async () => {
    const place = home();
    mkdirSync(place.folder, { recursive: true });
    const foreword = client(place, { command: ["/bin/true"], deadlineMs: 20, coldDeadlineMs: SHORT_MS });
    await silent(foreword.call("brief", { text: "Which platform?" }));
    await until(() => failures(place.folder).length);
    const [[at, ...rest]] = failures(place.folder);
    assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(rest, ["test", "brief", "the daemon did not start in time"]);
  });
});

describe("a daemon that hangs", () => {
  test("is not waited for, leaves a line that Python reads, and answers again once it goes on", async () => {
    const place = home();
    const foreword = client(place);
    const { daemon } = await foreword.call("status", {});
    process.kill(daemon.process, "SIGSTOP");
    await silent(foreword.call("brief", { text: "Which platform?" }, { deadlineMs: SHORT_MS }));
    assert.equal(foreword.lastFailure, "the daemon did not answer in time");
    await until(() => failures(place.folder).length);
    const [[, ...told]] = python(`
      from pathlib import Path; from dataclasses import astuple; from foreword.serve.trail import failures
      said = [astuple(one) for one in failures(Path(asked), since_s=600)]`, `${place.folder}/failures.log`);
    assert.deepEqual(told, ["test", "brief", "the daemon did not answer in time"]);
    process.kill(daemon.process, "SIGCONT");
    assert.equal((await foreword.call("status", {})).daemon.process, daemon.process);
  });
});

describe("nonsense at the socket", () => {
  const wrong = {
    "no HTTP at all": "what?\r\n\r\n",
    "nothing": "",
    "half an answer": 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"status":"ok"',
    "no JSON": http("Erika's diary"),
    "JSON that is no envelope": http("[1]"),
    "null": http("null"),
    "an envelope without data": http('{"status":"ok"}'),
    "an error without a message": http('{"status":"error","error":{}}', "500 Oops"),
    "another version": http('{"version":2,"status":"ok","data":{}}'),
    "another protocol": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    "a redirection": "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "bytes that are no text": Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\xfe\x00", "latin1"),
  };
  for (const [name, bytes] of Object.entries(wrong)) {
    test(`${name}: silence, a sentence, and no word of it in the log`, async (t) => {
      const place = await standIn(t, answering(bytes));
      const foreword = client(place, { deadlineMs: SHORT_MS });
      await silent(foreword.call("status", {}));
      assert.notEqual(foreword.lastFailure, "");
      assert.doesNotMatch(foreword.lastFailure, /Erika/);
      await until(() => failures(place.folder).length === 1);
    });
  }

  test("an answer without end is not read to its end", async (t) => {
    const place = await standIn(t, (line) => {
      line.write("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n");
      const pour = () => line.writable && line.write(Buffer.alloc(1 << 20, " "), pour);
      pour();
    });
    const foreword = client(place);
    await silent(foreword.call("status", {}));
    assert.equal(foreword.lastFailure, "the daemon's answer is too large");
  });

  test("an answer byte by byte is over at the deadline", async (t) => {
    const place = await standIn(t, (line) => {
      line.write("HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n");
      const drip = setInterval(() => line.write(" "), 5);
      line.on("close", () => clearInterval(drip));
    });
    await silent(client(place).call("status", {}, { deadlineMs: SHORT_MS }));
  });

  test("a file in the socket's place", async () => {
    const place = home();
    mkdirSync(place.folder, { recursive: true });
    writeFileSync(`${place.folder}/daemon.sock`, "");
    await silent(client(place, { command: [] }).call("status", {}));
  });
});

describe("what a call can be given", () => {
  test("nothing that JSON cannot say makes it throw", async () => {
    const place = home();
    const round = {};
    round.round = round;
    for (const payload of [round, { at: 1n }, null, undefined, 7, "text", () => {}]) {
      await silent(client(place, { command: [] }).call("search", payload));
    }
    await silent(client(place, { command: [] }).call(Symbol("search"), {}));
  });

  test("no deadline that is none makes it wait", async (t) => {
    const place = await standIn(t, () => {});
    for (const deadlineMs of [0, -1, NaN, "soon", SHORT_MS]) {
      await silent(client(place).call("status", {}, { deadlineMs }));
    }
  });

  test("an environment that leads nowhere", async () => {
    const places = [{ FOREWORD_HOME: "/dev/null" }, { FOREWORD_HOME: "/proc/1/\0" }, { HOME: "" }];
    for (const environ of places) await silent(new Foreword({ environ, command: [] }).call("status", {}));
  });

  test("the deadline is what the daemon published, unless the host has its own", async (t) => {
    // Well past what is waited for where no daemon has published anything, and well within what is published below.
    const slow = (line) => setTimeout(() => line.end(http(OK)), 3_000);
    const place = await standIn(t, slow);
    const { environ } = place;
    await silent(new Foreword({ environ }).call("status", {}));
    writeFileSync(`${place.folder}/deadlines`, "20000 30000\n");
    assert.deepEqual(await new Foreword({ environ }).call("status", {}), {});
    await silent(new Foreword({ environ, deadlineMs: SHORT_MS }).call("status", {}));
  });

  test("a brief tells until when it is wanted", async (t) => {
    const asked = [];
    const place = await standIn(t, (line) => {
      line.on("data", (part) => asked.push(part));
      setTimeout(() => line.end(http(OK)), SHORT_MS);
    });
    await client(place).call("brief", { text: "Which platform?" });
    const [head, body] = Buffer.concat(asked).toString().split("\r\n\r\n");
    assert.equal(JSON.parse(body).version, 1);
    const left = Number(/x-until: ([\d.]+)/i.exec(head)[1]) - Number(process.hrtime.bigint()) / 1e9;
    assert.ok(left > -60 && left <= PATIENT.deadlineMs / 1000, String(left));
  });

  test("an answer that came while the host was busy past its deadline is read", async (t) => {
    const place = home();
    mkdirSync(place.folder, { recursive: true });
    const asked = join(top, "asked");
    const server = spawn(process.execPath, ["-e", `
      require("node:http").createServer((request, response) => {
        require("node:fs").writeFileSync(${JSON.stringify(asked)}, "");
        setTimeout(() => response.end('{"status":"ok","data":{"late":true}}'), 500);
      }).listen(${JSON.stringify(`${place.folder}/daemon.sock`)})`]);
    t.after(() => server.kill());
    await until(() => existsSync(`${place.folder}/daemon.sock`));
    const deadlineMs = 1_500;
    const answer = client(place).call("status", {}, { deadlineMs });
    await until(() => existsSync(asked));
    // From here Node looks at its clocks before it looks at its sockets.
    await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, deadlineMs + 200);
    assert.deepEqual(await answer, { late: true });
  });
});

describe("the place", () => {
  test("a long path is reached, and nothing is left of the way there", async () => {
    const place = home(`${"long/".repeat(30)}home`);
    assert.ok(Buffer.byteLength(place.folder) > 150);
    const way = mkdtempSync(join(tmpdir(), "w-"));
    const usual = process.env.TMPDIR;
    process.env.TMPDIR = way;
    try {
      assert.equal((await client(place).call("status", {})).memories, 0);
      assert.deepEqual(readdirSync(way), []);
    } finally {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
      rmSync(way, { recursive: true });
    }
  });

  test("is where Python says it is", () => {
    const config = "/etc/Straße/🚂 config.toml";
    const environs = [
      { FOREWORD_HOME: "/srv/memory" },
      { FOREWORD_HOME: "memory" },
      { FOREWORD_HOME: "~/memory" },
      { FOREWORD_HOME: "~" },
      { FOREWORD_HOME: "", XDG_DATA_HOME: "/data" },
      { XDG_DATA_HOME: "/data", FOREWORD_CONFIG: config },
      { FOREWORD_CONFIG: "x" },
      { FOREWORD_CONFIG: "/a/config.toml", FOREWORD_HOME: "/srv/memory" },
      {},
    ].map((one) => ({ HOME: "/home/erika", ...one }));
    const told = python(`
      from foreword.serve.address import address
      said = [str(address(one).folder) for one in asked]`, environs, { env: { HOME: "/home/erika" }, cwd: top });
    const here = process.cwd();
    process.chdir(top);
    try {
      assert.deepEqual(environs.map(runFolder), told);
    } finally {
      process.chdir(here);
    }
  });

  test("sums as Python does", () => {
    const texts = ["", "a", "123456789", "ü🚂", "x".repeat(10_000)];
    const told = python("from binascii import crc32; said = [crc32(one.encode()) for one in asked]", texts);
    assert.deepEqual(texts.map((one) => crc32(Buffer.from(one))), told);
  });
});

describe("the trail", () => {
  test("is the user's alone, one line for each failure, and does not grow without end", async () => {
    const place = home();
    mkdirSync(place.folder, { recursive: true });
    writeFileSync(`${place.folder}/failures.log`, "x".repeat(64_000), { mode: 0o600 });
    const foreword = client(place, { command: [], host: "my\thost\n" });
    await foreword.call("status", {});
    await until(() => existsSync(`${place.folder}/failures.log.1`));
    await foreword.call("status", {});
    await until(() => failures(place.folder)[0]?.length === 4);
    assert.deepEqual(failures(place.folder).map(([, ...rest]) => rest), [["my host", "status", "no daemon runs"]]);
    assert.equal(statSync(`${place.folder}/failures.log`).mode & 0o777, 0o600);
  });

  test("that cannot be written does no harm", async () => {
    const place = home();
    mkdirSync(join(place.folder, "failures.log"), { recursive: true });
    await silent(client(place, { command: [] }).call("status", {}));
  });
});

test("a process ends by itself after it has asked", (t) => {
  const place = home();
  const script = join(top, "asks.mjs");
  const kit = JSON.stringify(join(import.meta.dirname, "dist/client.mjs"));
  const options = JSON.stringify({ environ: place.environ, command: START, ...PATIENT });
  const stuck = join(top, "stuck");
  const command = ["/bin/sh", "-c", `echo $$ > ${stuck}; exec sleep 60`];
  t.after(() => existsSync(stuck) && process.kill(Number(readFileSync(stuck, "latin1"))));
  const others = JSON.stringify({ environ: home().environ, command, coldDeadlineMs: 2_000 });
  writeFileSync(script, `
    import { Foreword } from ${kit};
    const foreword = new Foreword(${options});
    const { memories } = await foreword.call("status", {});
    const nothing = await foreword.call("get", { ids: ["m9"] });
    const never = await new Foreword(${others}).call("status", {});
    process.stdout.write(JSON.stringify({ memories, silent: nothing === never }));
  `);
  // Sooner than a deadline that was left ticking would let it.
  const timeout = PATIENT.deadlineMs - 5_000;
  const said = execFileSync(process.execPath, [script], { encoding: "utf8", timeout });
  assert.deepEqual(JSON.parse(said), { memories: 0, silent: true });
});
