"use strict";
// Everything is set as text: the document is not trusted to be HTML.
function el(tag, text, ...children) {
  const e = document.createElement(tag);
  if (text) e.textContent = text;
  e.append(...children);
  return e;
}

function typeOf(schema, doc) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.type === "array") return "[" + typeOf(schema.items, doc) + "]";
  if (schema.enum) return schema.enum.join(" | ");
  return schema.type || "any";
}

function fields(schema, doc, depth = 0) {
  const name = schema.$ref && schema.$ref.split("/").pop();
  const found = name ? doc.definitions[name] : schema;
  const props = (found && (found.properties || (found.items && [found.items]))) || {};
  const table = el("table");
  for (const [key, value] of Object.entries(props)) {
    const what = el("td", value.description || "");
    const inner = value.items || value;
    if (depth < 3 && (inner.$ref || inner.properties)) what.append(el("details", "", el("summary", typeOf(value, doc)), fields(inner, doc, depth + 1)));
    const required = (found.required || []).includes(key) ? " *" : "";
    table.append(el("tr", "", el("td", "", el("code", key + required)), el("td", typeOf(value, doc)), what));
  }
  return table;
}

function headers() {
  const h = {};
  const token = document.getElementById("token").value, user = document.getElementById("user").value;
  if (token) h.Authorization = "Bearer " + token;
  if (user) h["X-User-Id"] = user;
  return h;
}

// tryIt asks the gateway for what a GET answers, and shows a stream as it comes, for a while.
function tryIt(path, params) {
  const form = el("form"), out = el("pre"), inputs = [];
  out.hidden = true;
  for (const p of params.filter((p) => p.in === "path" || p.in === "query")) {
    const input = el("input");
    inputs.push([p, input]);
    form.append(el("label", p.name + " ", input));
  }
  form.append(el("button", "GET"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    out.hidden = false;
    out.textContent = "…";
    let url = path;
    const query = new URLSearchParams();
    for (const [p, input] of inputs) {
      if (p.in === "path") {
        const value = p.name === "path" ? input.value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(input.value);
        url = url.replace("{" + p.name + "}", value);
      } else if (input.value) query.set(p.name, input.value);
    }
    if (query.size) url += "?" + query;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 10000);
    try {
      const resp = await fetch(url, { headers: headers(), signal: stop.signal });
      out.textContent = resp.status + " " + resp.statusText + "\n\n";
      const reader = resp.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part; !(part = await reader.read()).done && out.textContent.length < 200000; ) out.textContent += part.value;
      stop.abort();
    } catch (err) {
      out.textContent += stop.signal.aborted ? "\n(no more is read here)" : "\n" + err;
    } finally {
      clearTimeout(timer);
    }
  });
  return el("div", "", form, out);
}

function operation(method, path, op, doc) {
  const params = op.parameters || [];
  const box = el("details", "", el("summary", "", Object.assign(el("span", method), { className: "method" }), Object.assign(el("span", path), { className: "path" }), " ", el("span", op.summary || "")));
  if (op.description) box.append(el("p", op.description));
  const table = el("table");
  for (const p of params.filter((p) => p.in !== "body")) {
    table.append(el("tr", "", el("td", "", el("code", p.name)), el("td", p.in), el("td", typeOf(p, doc)), el("td", p.description || "")));
  }
  if (table.rows.length) box.append(el("h4", "Parameters"), table);
  const body = params.find((p) => p.in === "body");
  if (body) box.append(el("h4", "Body"), fields(body.schema, doc));
  for (const [code, resp] of Object.entries(op.responses || {})) {
    box.append(el("h4", code === "default" ? "Refused" : code), el("p", resp.description || ""));
    if (resp.schema) box.append(el("details", "", el("summary", typeOf(resp.schema, doc)), fields(resp.schema, doc)));
  }
  if (method === "get") box.append(el("h4", "Try"), tryIt(path, params));
  return box;
}

(async () => {
  const main = document.querySelector("main"), nav = document.querySelector("nav");
  document.getElementById("who").addEventListener("submit", (e) => e.preventDefault());
  const doc = await (await fetch("/openapi.json")).json();
  document.getElementById("about").textContent = doc.info.description;
  for (const tag of doc.tags) {
    const link = el("a", tag.name);
    link.href = "#" + tag.name;
    nav.append(link);
    const section = el("section", "", el("h2", tag.name), el("p", tag.description || ""));
    section.id = tag.name;
    for (const [path, methods] of Object.entries(doc.paths)) {
      for (const [method, op] of Object.entries(methods)) {
        if ((op.tags || []).includes(tag.name)) section.append(operation(method, path, op, doc));
      }
    }
    main.append(section);
  }
})().catch((err) => document.querySelector("main").append(el("pre", String(err))));
