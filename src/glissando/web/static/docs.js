// Shows openapi.json as a page, with an example to try for every operation.

import { call } from "./api.js";
import { $, make, themeButton, toast } from "./page.js";

themeButton($("#theme"));
let schema;

async function start() {
  schema = await call("/openapi.json");
  const operations = Object.entries(schema.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => card(method, path, operation)));
  $("#operations").replaceChildren(...operations);
}

const resolve = (part) => (part?.$ref ? part.$ref.slice(2).split("/").reduce((node, name) => node[name], schema) : part ?? {});

function card(method, path, operation) {
  const body = resolve(operation.requestBody?.content?.["application/json"]?.schema);
  const parts = [make("h2", {}, make("code", { class: "method", text: method.toUpperCase() }), make("code", { text: path })), make("p", { text: operation.description ?? operation.summary })];
  if (operation.parameters?.length) parts.push(fields("Parameters", operation.parameters.map((one) => [one.name, one.schema, one.required])));
  if (body.properties) parts.push(fields("Body", Object.entries(body.properties).map(([name, part]) => [name, part, body.required?.includes(name)])));
  const answer = resolve(Object.entries(operation.responses).find(([code]) => code.startsWith("2"))?.[1].content?.["application/json"]?.schema);
  if (answer.properties) parts.push(fields("Answer", Object.entries(answer.properties).map(([name, part]) => [name, part, true])));
  const example = body.examples?.[0];
  if (example && method === "post") parts.push(trial(method, path, example));
  return make("section", { class: "card" }, ...parts);
}

function fields(title, rows) {
  return make("div", { class: "scroll" }, make("h3", { text: title }), make("table", {}, ...rows.map(([name, part, required]) => make("tr", {},
    make("td", {}, make("code", { text: name })), make("td", { class: "muted", text: `${type(part)}${required ? "" : ", optional"}` }), make("td", { text: part.description ?? resolve(part).description ?? "" })))));
}

function type(part) {
  if (part.$ref) return part.$ref.split("/").at(-1);
  if (part.anyOf) return part.anyOf.map(type).join(" or ");
  if (part.type === "array") return `list of ${part.items ? type(part.items) : "values"}`;
  if (part.enum) return part.enum.join(" | ");
  if (part.const !== undefined) return String(part.const);
  return part.type ?? "value";
}

function trial(method, path, example) {
  const input = make("textarea", { rows: 6, spellcheck: "false", "aria-label": "Example body" });
  input.value = JSON.stringify(example);
  const output = make("pre", { tabindex: "0", "aria-live": "polite" });
  const send = make("button", { class: "button", type: "button", text: "Try it", onclick: async () => {
    try { output.textContent = JSON.stringify(await call(path, { method: method.toUpperCase(), body: JSON.parse(input.value), timeout: 60000 }), null, 1); } catch (error) { output.textContent = `${error.status ?? ""} ${error.message}`; }
  } });
  return make("div", { class: "trial" }, input, send, output);
}

start().catch((error) => toast(error.message, 60000));
