// The state of the page in the URL fragment, which never reaches a server or its log.

const MAX_LENGTH = 8000; // of a link; mail and chat programs cut longer ones
const MARK = "#s=";

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function pack(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const small = await through(bytes, new CompressionStream("deflate-raw"));
  const letters = Array.from(small, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Return the URL of a state; without candidates (not `complete`) if it would be too long. */
export async function address(state) {
  const base = location.href.split("#")[0] + MARK;
  const whole = base + (await pack(state));
  if (whole.length <= MAX_LENGTH) return { url: whole, complete: true };
  return { url: base + (await pack({ ...state, candidates: [] })), complete: false };
}

/** Return the state in a URL fragment, or null; throws if it is damaged. */
export async function stateOf(fragment) {
  if (!fragment.startsWith(MARK)) return null;
  const letters = atob(fragment.slice(MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const small = await through(bytes, new DecompressionStream("deflate-raw"));
  const state = JSON.parse(new TextDecoder().decode(small));
  const { query, candidates, models } = state;
  const texts = [query, ...candidates, ...models];
  if (!texts.every((each) => typeof each === "string")) throw new TypeError("not our link");
  return state;
}
