// Talks to the server; every failure becomes an ApiError with a message fit to be shown.

export class ApiError extends Error {
  constructor(message, status, kind, wait) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.wait = wait;
  }
  get offline() { return this.status === 0; }
  get temporary() { return this.offline || this.status === 429 || this.status >= 500; }
}

const ROOT = new URL("..", import.meta.url); // of the site, which need not be that of the host

// path: relative to the site's root.
export async function call(path, { method = "GET", body, headers = {}, timeout = 15000, signal } = {}) {
  const options = { method, headers: { ...headers }, signal: either(signal, AbortSignal.timeout(timeout)), credentials: "omit" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(new URL(path, ROOT), options);
  } catch {
    throw new ApiError("The server cannot be reached.", 0, "offline", 2);
  }
  let data = null;
  try {
    data = await response.json();
  } catch {
    if (response.ok) throw new ApiError("The server's answer cannot be read.", 0, "offline", 2);
  }
  if (response.ok) return data;
  const wait = Number(response.headers.get("retry-after")) || 1;
  throw new ApiError(data?.error?.message ?? `The server says ${response.status}.`, response.status, data?.error?.kind, wait);
}

// A signal that aborts with the first of two; browsers before 2024 have no AbortSignal.any.
function either(mine, limit) {
  if (!mine) return limit;
  const both = new AbortController();
  for (const one of [mine, limit]) one.addEventListener("abort", () => both.abort(), { once: true });
  if (mine.aborted) both.abort();
  return both.signal;
}
