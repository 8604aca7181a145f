// Taking back what was given: everything of this browser, or a session of another device by its receipt.

import { qrPicture } from "./collect-qr.js";
import * as sessions from "./collect-sessions.js";
import { closes } from "./dialogs.js";
import { copy } from "./output.js";
import { $, make, toast } from "./page.js";

const RECEIPT = /^[0-9A-HJKMNP-TV-Z]{16}$/u;

/** A receipt as the server prints it; null where it cannot be one. Case, spaces and hyphens do not matter, O is 0, I and L are 1. */
export function receiptOf(text) {
  const code = text.toUpperCase().replace(/[\s\p{Pd}]/gu, "").replaceAll("O", "0").replace(/[IL]/gu, "1");
  return RECEIPT.test(code) ? code.match(/.{4}/gu).join("-") : null;
}

/** "1 word", "2 words". */
export const counted = (number, one, several = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;

export class Withdrawal {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {import("./outbox.js").Outbox} outbox
   * @param {{say: (message: string) => void, gone: (secrets: string[]) => void}} on gone: these sessions are no more
   */
  constructor(dialog, outbox, on) {
    Object.assign(this, { dialog: closes(dialog), outbox, on, removed: 0, dropped: 0, unknown: 0 });
    $("#withdraw-all", dialog).addEventListener("click", () => this.#all());
    $("#withdraw-form", dialog).addEventListener("submit", (event) => { event.preventDefault(); this.#one(); });
  }

  /** Asks what to delete. receipt: one that is filled in. */
  open(receipt = "") {
    const own = sessions.all();
    const days = [...new Set(own.map((one) => one.date))].map((date) => (date ? dayOf(date) : "an earlier day"));
    $("#withdraw-own", this.dialog).textContent = own.length
      ? `This browser gave swipes on ${days.join(", ")}. All of them are deleted from the server, for good.`
      : "This browser holds nothing that was given.";
    $("#withdraw-all", this.dialog).hidden = !own.length;
    $("#withdraw-code", this.dialog).value = receipt;
    $("#withdraw-error", this.dialog).hidden = true;
    if (!this.dialog.open) this.dialog.showModal();
  }

  /** The server has removed something; says how much, once all is done. */
  done({ removed, sessions: rows }) {
    this.removed += removed;
    this.unknown += rows.filter((one) => !one.known).length;
    this.show();
  }

  /** Says how things stand. */
  show() {
    const left = this.outbox.withdrawing;
    const waited = this.dropped ? ` ${counted(this.dropped, "swipe")} that waited ${this.dropped === 1 ? "was" : "were"} dropped.` : "";
    if (this.outbox.trouble) this.on.say(`The server refused to delete: ${this.outbox.trouble}. It is tried again. You can also write to the contact above.`);
    else if (left) this.on.say(`What you gave is deleted as soon as the server can be reached.${waited}`);
    else if (this.asked === "receipt" && this.unknown && !this.removed) this.on.say("Nothing is stored under this receipt. Please compare it with what you wrote down.");
    else this.on.say(`Deleted: ${counted(this.removed, "word")} removed from the server.${waited}`);
  }

  #all() {
    const secrets = sessions.all().map((one) => one.session);
    this.#withdraw("all", secrets, secrets);
  }

  #one() {
    const code = receiptOf($("#withdraw-code", this.dialog).value);
    $("#withdraw-error", this.dialog).hidden = Boolean(code);
    if (!code) return;
    const own = sessions.all().filter((one) => one.receipt === code).map((one) => one.session);
    this.#withdraw("receipt", [code], own);
  }

  #withdraw(asked, codes, secrets) {
    this.dialog.close();
    Object.assign(this, { asked, removed: 0, unknown: 0 });
    this.dropped = this.outbox.withdraw(codes, secrets);
    for (const secret of secrets) sessions.forget(secret);
    this.on.gone(secrets);
    this.show();
  }
}

/** Shows the receipts of this browser, that of the latest session with its QR code. */
export function showReceipts(root) {
  const [last, ...earlier] = sessions.all().filter((one) => one.receipt).reverse();
  root.hidden = !last;
  if (!last) { root.replaceChildren(); return; }
  const code = make("p", { class: "receipt", text: last.receipt });
  const button = make("button", { class: "button", type: "button", text: "Copy", onclick: async () => toast(await copy(last.receipt) ? "Copied." : "The browser does not let this page copy.") });
  const lost = last.kept ? null : make("p", { class: "note", text: "This browser forgets everything when the page is closed. Write the receipt down: without it you cannot delete what you gave." });
  const list = earlier.length ? make("details", {}, make("summary", { class: "small muted", text: "Receipts of earlier sessions" }),
    make("ul", { class: "small" }, ...earlier.map((one) => make("li", {}, make("code", { text: one.receipt }), one.date ? ` of ${dayOf(one.date)}` : "")))) : null;
  root.replaceChildren(...[make("h2", { text: "Your receipt" }),
    make("p", { text: "With it you can delete this session from another device. Write it down, or scan the code. Whoever has it can delete what you gave, and can do nothing else." }),
    lost, code, button, qrPicture(last.qr, `The address that deletes the session ${last.receipt}`), list].filter(Boolean));
}

const dayOf = (date) => new Date(`${date}T12:00:00`).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
