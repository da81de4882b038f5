// Asking the server, and saying in words what went wrong and what helps.

const KEY = "matchwork-key";
const REMEDIES = {
  0: "Check that the service is running and that you are connected, then try again.",
  400: "Change the query or the candidates and try again.",
  401: "Enter a key that it accepts.",
  404: "Pick another matcher; the list has been read again.",
  413: "Send fewer or shorter candidates.",
  422: "Change the query or the candidates and try again.",
  424: "Try again; if it stays so, the server's log says more.",
  429: "Too much is being asked of the server just now.",
  500: "Try again; if it stays so, the server's log says more.",
  503: "The server is starting or stopping.",
  504: "Ask with fewer candidates, or when the server is less busy.",
};

export class Trouble extends Error {
  constructor(message, { status = 0, retryAfter = null, remedy = REMEDIES[status] } = {}) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.remedy = remedy ?? "Try again.";
  }
}

let key = "";
try {
  key = sessionStorage.getItem(KEY) ?? "";
} catch {
  // Storage is switched off: the key is then asked for again after a reload.
}

export const savedKey = () => key;

export function saveKey(given) {
  key = given.trim();
  try {
    if (key) sessionStorage.setItem(KEY, key);
    else sessionStorage.removeItem(KEY);
  } catch {
    // As above.
  }
}

/** The answer to a GET, or to a POST where there is a body; anything else is a `Trouble`. */
export async function ask(path, body, signal) {
  if (/[^\x21-\x7e]/.test(key)) {
    throw new Trouble("This key holds characters that no key has.", { status: 401 });
  }
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const request = { headers, signal };
  if (body !== undefined) {
    request.method = "POST";
    request.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let response;
  let answer;
  try {
    response = await fetch(path, request);
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The server cannot be reached.");
  }
  if (!response.ok) throw refusal(response, answer);
  return answer;
}

function refusal(response, answer) {
  let said = String(answer.detail ?? answer.message ?? `status ${response.status}`);
  if (response.status === 401) {
    said = key ? "this server does not know your key" : "this server wants an API key";
  }
  const message = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  const seconds = Number.parseInt(response.headers.get("Retry-After"), 10);
  const retryAfter = Number.isNaN(seconds) ? null : seconds;
  return new Trouble(message, { status: response.status, retryAfter });
}
