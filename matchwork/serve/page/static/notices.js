// Messages: progress, success, errors and their remedies.

import { Trouble } from "./api.js";
import { element, find, reveal } from "./dom.js";

let countdown = 0;

export function say(message) {
  find("status").textContent = message;
}

export function busy(isBusy) {
  find("progress").hidden = !isBusy;
  find("cancel").hidden = !isBusy;
  find("run").disabled = isBusy;
  find("results").setAttribute("aria-busy", isBusy);
}

export function calm() {
  clearInterval(countdown);
  find("error").hidden = true;
  find("error").replaceChildren();
}

/** Show an error, with a button that calls `again` where a retry may help. */
export function fail(error, again) {
  calm();
  say("");
  const trouble = error instanceof Trouble ? error : unexpected(error);
  const box = find("error");
  box.hidden = false;
  box.append(element("strong", {}, sentence(trouble.message)), element("p", {}, trouble.remedy));
  const worthIt = trouble.retryAfter !== null || [0, 424, 500].includes(trouble.status);
  if (again && worthIt) box.append(retryButton(trouble.retryAfter ?? 0, again));
  reveal(box);
}

function unexpected(error) {
  console.error(error);
  return new Trouble("An error occurred in this page.", { remedy: "Reload it and try again." });
}

const sentence = (message) => (/[.!?]$/.test(message) ? message : `${message}.`);

function retryButton(seconds, again) {
  const button = element("button", { type: "button" });
  let left = seconds;
  const show = () => {
    button.disabled = left > 0;
    button.textContent = left > 0 ? `Try again in ${left} s` : "Try again";
    if (left <= 0) clearInterval(countdown);
    left -= 1;
  };
  show();
  countdown = setInterval(show, 1000);
  button.addEventListener("click", again);
  return button;
}
