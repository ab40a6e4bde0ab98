// The player's connection: goes on by itself where it was lost, asks again under the same ids.

const SUBPROTOCOL = "upcard.play.1";
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 8_000;
const PONG_MS = 12_000;
const MOST_WAITING = 30;
const ANSWER_MS = 20_000;

/** A new id of a wish. */
export function fresh() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Connection {
  /**
   * `hello` gives who this is (without resume); `told` is called with each message; `changed` with
   * "connecting", "open", "lost" or "ended".
   */
  constructor(path, { hello, told, changed }) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.hello = hello;
    this.told = told;
    this.changed = changed;
    this.table = null;
    this.places = {};
    this.waiting = new Map();
    this.failures = 0;
    this.state = "connecting";
    this.silence = 60_000;
    this.socket = null;
    addEventListener("online", () => this.state === "lost" && this.again(0));
  }

  open() {
    clearTimeout(this.timer);
    this.become(this.failures ? "lost" : "connecting");
    const socket = new WebSocket(this.url, [SUBPROTOCOL]);
    this.socket = socket;
    this.heard = performance.now();
    socket.onopen = () => {
      const hello = { type: "hello", ...this.hello() };
      if (this.table) {
        hello.table = this.table;
        if (this.places.table || this.places.own || this.places.chat) hello.resume = { ...this.places };
      }
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = (event) => this.socket === socket && this.take(JSON.parse(event.data));
    socket.onclose = () => this.socket === socket && this.lost();
    this.watch(socket);
  }

  /** Be at a table: its messages follow. */
  join(table) {
    this.table = table;
    this.places = {};
    return this.ask({ type: "join", table });
  }

  leave() {
    this.table = null;
    this.places = {};
    return this.ask({ type: "leave" });
  }

  /** Say something; its answer. Whatever happens to the connection, it is one wish. */
  ask(message) {
    const asked = { id: fresh(), ...message };
    if (this.waiting.size >= MOST_WAITING) return Promise.resolve({ accepted: false, reason: "busy" });
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.delete(asked.id);
        resolve({ accepted: false, reason: "no_answer", money: "unknown" });
      }, ANSWER_MS);
      this.waiting.set(asked.id, { message: asked, resolve, timer });
      if (this.state === "open") this.say(asked);
    });
  }

  /** The connection is not wanted any more. */
  end() {
    this.become("ended");
    clearTimeout(this.timer);
    clearInterval(this.beat);
    this.socket?.close(1000);
    this.socket = null;
  }

  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.spoke = performance.now();
      this.socket.send(JSON.stringify(message));
    }
  }

  take(message) {
    this.heard = performance.now();
    if (message.seq !== undefined && message.seq !== null) this.places[message.channel] = message.seq;
    if (message.type === "welcome") {
      this.failures = 0;
      this.silence = Math.max(3, message.bounds.silence_s) * 1_000;
      this.become("open");
      this.told(message);
      for (const { message: asked } of this.waiting.values()) this.say(asked);
      return;
    }
    if (message.type === "answer" || message.type === "error") this.answered(message);
    if (message.type === "ended") {
      this.told(message);
      if (message.resumable) this.lost();
      else this.end();
      return;
    }
    if (message.type !== "pong") this.told(message);
  }

  answered(message) {
    const asked = this.waiting.get(message.id);
    if (!asked) return;
    clearTimeout(asked.timer);
    this.waiting.delete(message.id);
    asked.resolve(message.type === "error" ? { ...message, accepted: false, reason: message.code } : message);
  }

  watch(socket) {
    clearInterval(this.beat);
    this.spoke = performance.now();
    this.pinged = null;
    this.beat = setInterval(() => {
      const now = performance.now();
      if (this.pinged !== null && this.heard < this.pinged && now - this.pinged > PONG_MS) {
        this.socket = null;
        socket.close();
        this.lost();
      } else if (this.state === "open" && now - this.spoke > this.silence / 3) {
        this.pinged = now;
        this.say({ type: "ping", id: fresh() });
      }
    }, 1_000);
  }

  lost() {
    if (this.state === "ended") return;
    clearInterval(this.beat);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.failures += 1;
    this.become("lost");
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.failures - 1));
    this.again(pause * (0.5 + Math.random() / 2));
  }

  again(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.state === "lost" && this.open(), pause);
  }

  become(state) {
    const before = this.state;
    this.state = state;
    if (before !== state) this.changed(state);
  }
}
