// Requests to the server; errors come with a message and a remedy.

const KEY = "matchwork-key";
const REMEDIES = {
  0: "Check that the service is running and that you are connected, then try again.",
  400: "Change the query or the candidates and try again.",
  401: "Enter a valid key.",
  404: "Pick another matcher; the list has been reloaded.",
  413: "Send fewer or shorter candidates.",
  422: "Change the query or the candidates and try again.",
  424: "Try again; if it keeps failing, look in the server's log.",
  429: "The server is overloaded.",
  500: "Try again; if it keeps failing, look in the server's log.",
  503: "The server is starting or stopping.",
  504: "Use fewer candidates, or try again when the server is less busy.",
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
  // Storage is disabled: the key must be entered again after a reload.
}

export const savedKey = () => key;

export function saveKey(given) {
  key = given.trim();
  try {
    if (key) sessionStorage.setItem(KEY, key);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage is disabled.
  }
}

/** Send a GET, or a POST if there is a body, and return the JSON; throws `Trouble`. */
export async function ask(path, body, signal) {
  if (/[^\x21-\x7e]/.test(key)) {
    throw new Trouble("This key contains invalid characters.", { status: 401 });
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
    said = key ? "the server does not accept this key" : "the server needs an API key";
  }
  const message = `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  const seconds = Number.parseInt(response.headers.get("Retry-After"), 10);
  const retryAfter = Number.isNaN(seconds) ? null : seconds;
  return new Trouble(message, { status: response.status, retryAfter });
}
