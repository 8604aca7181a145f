// The operator's page, behind the token: numbers of a selection, its export and its removal.

import { ApiError, call } from "./api.js";
import { closes } from "./dialogs.js";
import { histogram, hourChart } from "./operator-plots.js";
import { $, languageName, layoutName, make, themeButton, toast } from "./page.js";
import { drawTrail } from "./pad.js";

const TOKEN = "token"; // in the storage of this tab
const AGAIN = 15000; // ms between two looks, while the page is seen
const FAR = 2; // key widths: swipes that are farther away hardly follow their word
const SLOW = 60; // points per second: fewer than that come one per frame, or of an old screen

const selection = $("#selection");
const state = { loading: false, timer: 0, confirmed: null };

themeButton($("#theme"));
closes($("#confirm"));
$("#login").addEventListener("submit", (event) => {
  event.preventDefault();
  try { sessionStorage.setItem(TOKEN, $("#token").value); } catch { /* it lasts until the page is closed */ }
  state.token = $("#token").value;
  load();
});
$("#refresh").addEventListener("click", () => load());
$("#logout").addEventListener("click", () => logOut());
selection.addEventListener("submit", (event) => event.preventDefault());
selection.addEventListener("change", ({ target }) => { if (target.name) load(); });
$("#clear").addEventListener("click", () => { selection.reset(); load(); });
for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", () => exportAs(button));
$("#remove").addEventListener("click", () => askToRemove(chosen(), "of this selection"));
$("#remove-flagged").addEventListener("click", () => askToRemove({ ...chosen(), flagged: true }, "with a flag"));
$("#confirm-yes").addEventListener("click", () => remove());
document.addEventListener("visibilitychange", () => { if (!document.hidden && state.token) load(); });

const headers = () => ({ authorization: `Bearer ${state.token}` });

// The selection as the API takes it, without what is left open.
function chosen() {
  const fields = [...new FormData(selection)].filter(([, value]) => value !== "");
  const typed = { flagged: (value) => value === "true", max_key_distance: Number };
  return Object.fromEntries(fields.map(([name, value]) => [name, typed[name]?.(value) ?? value]));
}

// Shows the numbers of the selection, and again after a while. One request at a time: a change meanwhile is seen by the next.
async function load() {
  clearTimeout(state.timer);
  if (state.loading) { state.changed = true; return; }
  state.loading = true;
  try {
    const answer = await call(`api/operator/summary?${new URLSearchParams(chosen())}`, { headers: headers() });
    if (state.token) show(answer);
  } catch (error) {
    failed(error);
  }
  state.loading = false;
  if (!state.token) return;
  if (state.changed) { state.changed = false; load(); } else state.timer = setTimeout(() => { if (!document.hidden) load(); }, AGAIN);
}

function failed(error) {
  if (error.status === 401 || error.status === 404) {
    logOut();
    toast(error.status === 404 ? "The operator page is shut: the server runs without a token." : "This is not the operator's token.");
  } else toast(error.message);
}

// The token is forgotten, and what was shown goes.
function logOut() {
  state.token = null;
  clearTimeout(state.timer);
  try { sessionStorage.removeItem(TOKEN); } catch { /* it was never kept */ }
  for (const id of ["totals", "groups", "donors", "recent", "hours", "distances", "rates"]) $(`#${id}`).replaceChildren();
  $("#token").value = "";
  selection.reset();
  for (const id of ["summary", "session"]) $(`#${id}`).hidden = true;
  $("#login").hidden = false;
}

function show({ totals, groups, hours, key_distances: distances, rates, donors, recent, layouts }) {
  $("#login").hidden = true;
  for (const id of ["summary", "session"]) $(`#${id}`).hidden = false;
  $("#age").textContent = `As of ${new Date().toLocaleTimeString("en-GB")}; it is looked up again every ${AGAIN / 1000} seconds.`;
  showTotals(totals, groups);
  offer(groups);
  const narrowed = Object.keys(chosen()).length > 0;
  for (const id of ["remove", "clear"]) $(`#${id}`).hidden = !narrowed;
  $("#remove-flagged").disabled = !totals.flagged;
  $("#distances").replaceChildren(histogram(distances, { label: "Swipes by distance", poor: (bar) => bar.least >= FAR }));
  $("#rates").replaceChildren(histogram(rates, { label: "Swipes by points per second", poor: (bar) => bar.least < SLOW }));
  $("#hours").replaceChildren(hourChart(hours));
  $("#groups").replaceChildren(...rowsOr(groups.map((group) => make("tr", {},
    make("td", { text: layoutName(group.layout) }), make("td", { text: languageName(group.language) }), ...numbers(group, "swipes", "skipped", "flagged", "sessions"))), 6));
  $("#donors").replaceChildren(...rowsOr(donors.map(donorRow), 6));
  const byName = new Map(layouts.map((layout) => [layout.name, layout]));
  $("#recent").replaceChildren(...recent.map((swipe) => card(swipe, byName.get(swipe.layout))));
}

function showTotals(totals, groups) {
  const { donors, swipes, skipped, words, checked, right, flagged, withdrawn } = totals;
  const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part && part < whole ? 1 : 0)}%` : "–");
  const tiles = [[donors, "donors"], [swipes, "swipes"], [words, "different words"], [new Set(groups.map((one) => one.language)).size, "languages"], [new Set(groups.map((one) => one.layout)).size, "layouts"],
    [share(right, checked), "read as asked"], [share(flagged, checked), `flagged: ${flagged.toLocaleString("en")}`], [skipped, "skipped"], [withdrawn, "withdrawn sessions"]];
  $("#totals").replaceChildren(...tiles.map(([value, text]) => make("li", {}, make("strong", { text: value.toLocaleString("en") }), make("span", { text }))));
}

// The languages and layouts that can be chosen: those that were seen since the page was opened.
function offer(groups) {
  for (const [name, title, label] of [["language", "All languages", languageName], ["layout", "All layouts", layoutName]]) {
    const select = selection.elements[name];
    const kept = select.value;
    const values = [...new Set([...[...select.options].map((one) => one.value), ...groups.map((one) => one[name])])].filter(Boolean).sort();
    select.replaceChildren(make("option", { value: "", text: title }), ...values.map((value) => make("option", { value, text: label(value) })));
    select.value = kept;
  }
}

const numbers = (row, ...names) => names.map((name) => make("td", { class: "number", text: row[name].toLocaleString("en") }));
const rowsOr = (rows, columns) => (rows.length ? rows : [make("tr", {}, make("td", { colspan: columns, class: "muted", text: "Nothing." }))]);

function donorRow(donor) {
  const choose = () => { selection.elements.session.value = donor.session; load(); };
  const when = new Date(donor.hour * 1000).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return make("tr", {}, make("td", {}, make("button", { class: "link", type: "button", text: donor.session.slice(0, 8), title: donor.session, onclick: choose })), make("td", { text: when }),
    ...numbers(donor, "swipes", "skipped", "flagged"),
    make("td", {}, make("button", { class: "button danger", type: "button", text: "Remove …", "aria-label": `Remove donor ${donor.session.slice(0, 8)}`, onclick: () => askToRemove({ session: donor.session }, `of donor ${donor.session.slice(0, 8)}`) })));
}

function card(swipe, layout) {
  const canvas = make("canvas", { width: 300, height: Math.round(300 * (layout?.aspect ?? 0.4)), role: "img", "aria-label": `Swipe of ${swipe.word}` });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--muted");
  context.font = "17px system-ui";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const key of layout?.keys ?? []) context.fillText(key.letter, key.cx * canvas.width, key.cy * canvas.height);
  drawTrail(context, swipe.points, 0.95);
  const read = swipe.flagged === null ? "not checked" : swipe.read === null ? "nothing read" : swipe.read;
  return make("li", { class: swipe.flagged ? "flagged" : null }, canvas, make("span", { class: "small", text: swipe.word }),
    make("span", { class: swipe.flagged ? "small bad" : "small muted", text: swipe.flagged ? `flagged: ${read}` : read }));
}

// Downloads the selection. The token cannot be part of an address, so the file comes through the page.
async function exportAs(button) {
  const query = new URLSearchParams({ ...chosen(), format: button.dataset.export, skipped: $("#skipped").checked });
  button.disabled = true;
  try {
    const response = await fetch(new URL(`../api/operator/export?${query}`, import.meta.url), { headers: headers(), credentials: "omit" }).catch(() => { throw new ApiError("The server cannot be reached.", 0); });
    if (!response.ok) throw new ApiError((await response.json().catch(() => null))?.error?.message ?? `The server says ${response.status}.`, response.status);
    const name = /filename="([^"]+)"/u.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "swipes";
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    toast(`${name} is downloaded.`);
  } catch (error) {
    if (error.status === 401) failed(error);
    else toast(error.message);
  }
  button.disabled = false;
}

const isDonor = (what) => Object.keys(what).join() === "session";

// Counts what would be removed, and asks. what: in words.
async function askToRemove(what, text) {
  try {
    const { found } = await call("api/operator/removal", { method: "POST", headers: headers(), body: { selection: what, confirm: null } });
    if (!found) { toast("There is nothing to remove."); return; }
    state.confirmed = { what, text, found };
    const count = found === 1 ? "1 swipe or skipped word" : `${found.toLocaleString("en")} swipes and skipped words`;
    const donor = isDonor(what) ? " The donor is removed: nothing of this session is taken any more." : "";
    $("#confirm-text").textContent = `${count} ${text}. This cannot be undone.${donor}`;
    $("#confirm-yes").textContent = `Remove ${found.toLocaleString("en")}`;
    if (!$("#confirm").open) $("#confirm").showModal();
  } catch (error) {
    failed(error);
  }
}

async function remove() {
  const { what, text, found } = state.confirmed;
  try {
    const { removed } = await call("api/operator/removal", { method: "POST", headers: headers(), body: { selection: what, confirm: found } });
    $("#confirm").close();
    toast(`${removed.toLocaleString("en")} removed.`);
    if (isDonor(what) && what.session === chosen().session) selection.elements.session.value = "";
    load();
  } catch (error) {
    if (error.kind === "ConfirmationError") { await askToRemove(what, text); toast("Meanwhile the number has changed. Please look again."); }
    else { $("#confirm").close(); failed(error); }
  }
}

try { state.token = sessionStorage.getItem(TOKEN); } catch { /* storage is forbidden */ }
if (state.token) load();
