// Shows an OpenAPI document. Everything is set as text, so nothing in it can become markup.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function resolved(schema, all) {
  return schema && schema.$ref ? all[schema.$ref.split("/").pop()] : schema || {};
}

function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const several = schema.anyOf || schema.oneOf;
  if (several) return several.map(typeOf).join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  return schema.format || schema.type || "any";
}

function bounds(schema) {
  const named = { minimum: "≥ ", exclusiveMinimum: "> ", maximum: "≤ ", minLength: "length ≥ ", maxLength: "length ≤ " };
  const parts = [schema, ...(schema.anyOf || [])];
  const said = parts.flatMap((part) => Object.keys(named).filter((key) => key in part).map((key) => named[key] + part[key]));
  if ("default" in schema && schema.default !== null) said.push(`default ${JSON.stringify(schema.default)}`);
  return said.join(", ");
}

function table(rows) {
  const head = element("tr", {}, ...["Name", "Type", "Meaning"].map((name) => element("th", { scope: "col" }, name)));
  return rows.length ? element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)) : null;
}

function row(name, schema, required, description) {
  const meaning = [description || schema.description, bounds(schema)].filter(Boolean).join(" · ");
  return element("tr", {}, element("td", {}, element("code", {}, name + (required ? " *" : ""))),
    element("td", {}, element("code", {}, typeOf(schema))), element("td", {}, meaning));
}

function fields(schema, all) {
  const own = resolved(schema, all);
  const required = own.required || [];
  return Object.entries(own.properties || {}).map(([name, field]) => row(name, field, required.includes(name)));
}

function shown(example) {
  return element("pre", {}, typeof example === "string" ? example : JSON.stringify(example, null, 2));
}

function exampleOf(content) {
  if (content.example !== undefined) return content.example;
  const first = Object.values(content.examples || {})[0];
  if (first) return first.value;
  return content.schema && content.schema.examples ? content.schema.examples[0] : undefined;
}

function bodies(title, contents, all) {
  return Object.entries(contents || {}).flatMap(([type, content]) => {
    const example = exampleOf(content);
    return [element("h4", {}, `${title} · ${type}`), table(fields(content.schema, all)), example === undefined ? null : shown(example)];
  });
}

function operationElement(path, method, operation, all) {
  const parameters = (operation.parameters || []).map((one) => row(`${one.name} (${one.in})`, one.schema || {}, one.required, one.description));
  const responses = Object.entries(operation.responses || {});
  const statuses = responses.map(([status, one]) => element("tr", {}, element("td", {}, status), element("td", {}, one.description || "")));
  const [, good] = responses.find(([status]) => status.startsWith("2")) || [];
  return element("details", { id: operation.operationId },
    element("summary", {}, element("span", { class: "method" }, method), element("code", {}, path), ` ${operation.summary || ""}`),
    element("p", {}, operation.description || ""), table(parameters),
    ...bodies("Request", (operation.requestBody || {}).content, all), ...bodies("Response", (good || {}).content, all),
    element("h4", {}, "Statuses"), element("table", {}, element("tbody", {}, ...statuses)));
}

function show(description) {
  const all = (description.components || {}).schemas || {};
  const byTag = new Map();
  for (const [path, item] of Object.entries(description.paths)) {
    for (const method of METHODS.filter((name) => name in item)) {
      const tag = (item[method].tags || ["other"])[0];
      if (!byTag.has(tag)) byTag.set(tag, []);
      byTag.get(tag).push(operationElement(path, method, item[method], all));
    }
  }
  const sections = [...byTag].map(([tag, found]) => element("section", {}, element("h2", {}, tag), ...found));
  document.getElementById("operations").replaceChildren(...sections);
}

function find(words) {
  for (const one of document.querySelectorAll("details")) one.hidden = !one.textContent.toLowerCase().includes(words.toLowerCase());
}

document.getElementById("find").addEventListener("input", (event) => find(event.target.value));
fetch("openapi.json")
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`${answer.status}`))))
  .then(show)
  .catch((error) => document.getElementById("operations").replaceChildren(`openapi.json could not be read: ${error.message}`));
