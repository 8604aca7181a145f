// One quiet line that says who reads the swipes.

const WORTH_SAYING = 1e5; // bytes of a download
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** The line for a status of decoder.js. */
export function describe({ reader, why, loaded, total }) {
  const loading = total > WORTH_SAYING ? `Loading: ${megabytes(loaded)} of ${megabytes(total)} MB.` : "";
  const because = why ? `, because ${why}` : "";
  if (reader === "device") return loading || "Swipes are read on this device.";
  if (reader === "server") return loading ? `${loading} Until then the server reads your swipes.` : `The server reads your swipes${because}.`;
  return why && !loading ? `Swipes cannot be read now${because}.` : `${loading || "Loading."} You can swipe already: words come when it is done.`;
}
